import type { Api } from '../../api/api.ts'
import type { Package } from '../../contract/package.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import { successions } from '../../domain/batch/succession.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { Clock } from '../../host/clock.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { HeldRows } from '../../store/ledger/held-rows.ts'
import type { SchemaPorts } from '../form/load-schema.ts'
import { packageGone } from './package-gone.ts'

export interface LinkPorts {
  api: Pick<Api, 'baseUrl' | 'listPackages'>
  waiting: Pick<HeldRows, 'linkPackages'>
  clock: Clock
  signal?: AbortSignal | undefined
}

/**
 * The service's packages; which of them are gone, each with its likely successor, is kept for comparing. Throws where they
 * cannot be read: nothing is ordered then, since people may have been ordered under a package that was replaced. Costs
 * one read.
 */
export async function linkedPackages({
  api,
  waiting,
  clock,
  signal,
}: LinkPorts): Promise<readonly Package[]> {
  const packages = await api.listPackages(undefined, signal)
  await waiting.linkPackages(api.baseUrl, successions(packages), clock.now())
  return packages
}

/** What became of a package that cannot be ordered; undefined where all can, or where that is not known. */
export async function notOrderable(
  ports: SchemaPorts,
  packages: readonly Package[] | undefined,
  packageIds: readonly number[],
  batchId?: string,
): Promise<RefcheckError | undefined> {
  if (packages === undefined || packageIds.length === 0) return undefined
  const { api, cache, signal } = ports
  return packageGone(packageIds, { api, cache, signal, packages, batchId })
}

/**
 * The same for the rows of a batch that were not sent; the hint names the move to its successor. Also what keeps the
 * packages from being read.
 */
export async function packageOfBatchGone(
  ports: LinkPorts & SchemaPorts & { batches: Pick<Batches, 'bodies'> },
  batch: Batch,
): Promise<RefcheckError | undefined> {
  const ids = new Set<number>()
  if (batch.packageId !== undefined) ids.add(batch.packageId)
  else {
    for await (const { packageId } of ports.batches.bodies(batch.id, { states: ['pending'] })) {
      ids.add(packageId)
    }
  }
  try {
    return await notOrderable(ports, await linkedPackages(ports), [...ids], batch.id)
  } catch (error) {
    if (error instanceof RefcheckError && error.code !== 'io' && ports.signal?.aborted !== true) return error
    throw error
  }
}
