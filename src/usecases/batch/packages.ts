import type { Services } from '../services.ts'
import type { Package } from '../../contract/package.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import { successions, likelySuccessor, schemaChanges } from '../../domain/batch/succession.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import { type SchemaServices, loadSchema } from '../form/load-schema.ts'
import { NotFoundError, IncompleteError } from '../../errors/kinds.ts'
import { readJson } from '../../domain/form/json-text.ts'
import { sentence } from '../../domain/form/problem.ts'
import { validateBody } from '../../domain/form/validate.ts'

interface LinkServices extends Pick<Services, 'api' | 'waiting' | 'clock'> {
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
}: LinkServices): Promise<readonly Package[]> {
  const packages = await api.listPackages(undefined, signal)
  await waiting.linkPackages(api.baseUrl, successions(packages), clock.now())
  return packages
}

/** What became of a package that cannot be ordered; undefined where all can, or where that is not known. */
export async function notOrderable(
  ports: SchemaServices,
  packages: readonly Package[] | undefined,
  packageIds: readonly number[],
  batchId?: string,
): Promise<RefcheckError | undefined> {
  if (packages === undefined || packageIds.length === 0) return undefined
  const { api, schemas, signal } = ports
  return packageGone(packageIds, { api, schemas, signal, packages, batchId })
}

/**
 * The same for the rows of a batch that were not sent; the hint names the move to its successor. Also what keeps the
 * packages from being read.
 */
export async function packageOfBatchGone(
  ports: LinkServices & SchemaServices & { batches: Pick<Batches, 'bodies'> },
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

interface Sources extends SchemaServices {
  /** As they were read already. */
  packages?: readonly Package[] | undefined
  /** The batch whose package it is, which can be moved. */
  batchId?: string | undefined
}

/**
 * Whether packages can still be ordered; a NotFoundError that says what became of the first that cannot, names its likely
 * successor ("a new required field creates a new package version with a new `id`") and tells what the
 * rows lack for that one, where it cannot.
 */
export async function packageGone(
  packageIds: readonly number[],
  sources: Sources,
): Promise<NotFoundError | undefined> {
  const packages = sources.packages ?? (await sources.api.listPackages(undefined, sources.signal))
  const active = new Set(packages.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id))
  const packageId = packageIds.find((id) => !active.has(id))
  if (packageId === undefined) return undefined
  const known = packages.find(({ id }) => id === packageId)
  const what =
    known === undefined
      ? `package ${packageId} is no longer available to this user`
      : `package ${packageId} ("${known.name}") is ${known.status} and can no longer be ordered`
  const successor = known && likelySuccessor(known, packages)
  const next =
    successor === undefined
      ? 'List the packages that can be ordered with: refcheck packages list --status active'
      : await succession(packageId, successor, sources)
  const move =
    sources.batchId === undefined
      ? ''
      : ` Move what is left of the batch to it with: refcheck batch move ${sources.batchId} --package ${successor?.id ?? 'N'}`
  return new NotFoundError(what, { hint: `${next}${move}` })
}

async function succession(packageId: number, successor: Package, sources: Sources): Promise<string> {
  const named = `Its likely successor is package ${successor.id} (same name, newer id).`
  try {
    const [before, after] = [
      await sources.schemas.get(packageId),
      await loadSchema(successor.id, { ...sources, refresh: true }),
    ]
    if (before === undefined) return named
    const changes = schemaChanges(before, after)
    if (changes.length === 0) return `${named} It has the same fields.`
    return `${named} ${changes.map(({ field, change }) => `${field}: ${change}`).join('; ')}.`
  } catch (error) {
    // What became of the package matters more than what could be said of the next one.
    if (error instanceof RefcheckError) return named
    throw error
  }
}

/**
 * "A 400 for an unknown or missing field: read the schema again, check the remaining rows against it,
 * and halt if they no longer fit" (ordering protocol). What is to be told, or undefined where all fit.
 */
export async function rowsNoLongerFit(
  ports: SchemaServices & Pick<Services, 'batches'>,
  batchId: string,
  packageId: number,
): Promise<IncompleteError | undefined> {
  const schema = await loadSchema(packageId, { ...ports, refresh: true })
  let invalid = 0
  let first: string | undefined
  for await (const { row, packageId: wanted, body } of ports.batches.bodies(batchId, {
    states: ['pending'],
  })) {
    if (wanted !== packageId) continue
    const { problems } = validateBody(readJson(new TextDecoder().decode(body)).value, schema)
    const problem = problems?.[0]
    if (problem === undefined) continue
    invalid += 1
    first ??= `row ${row}: ${sentence(problem)}`
  }
  if (first === undefined) return undefined
  return new IncompleteError(
    `the schema of package ${packageId} has changed: ${invalid} of the rows not sent no longer match it (${first})`,
    {
      hint: `Show its fields with: refcheck schema show ${packageId}`,
    },
  )
}
