import type { Api } from '../../api/api.ts'
import type { NewFileBatch } from '../../domain/batch/batch.ts'
import type { ColumnChoices } from '../../domain/batch/columns.ts'
import type { Intake, Reading } from '../../domain/batch/intake.ts'
import type { Plan } from '../../domain/batch/plan.ts'
import type { QuotaWindow } from '../../domain/quota/windows.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { Clock } from '../../host/clock.ts'
import type { Random } from '../../host/random.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { SchemaCache } from '../form/load-schema.ts'
import type { BatchFile } from './open-file.ts'
import type { Noticing } from './ports.ts'
import type { Orders } from './understand-orders.ts'

/** A file checked and compared with the store; nothing is sent. */
export interface Planned {
  plan: Plan
  intake: Intake
  batch: NewFileBatch
  reading: Reading
}

export interface PlanOptions {
  choices: ColumnChoices
  allowDuplicate: boolean
  packageId: number | undefined
  resultsFile: string | undefined
}

export interface PlanPorts extends Noticing {
  clock: Clock
  random: Random
  api: Pick<Api, 'baseUrl' | 'userEmail'>
  batches: Pick<Batches, 'preview'>
  windows: readonly QuotaWindow[]
}

export async function planBatch(
  ports: PlanPorts,
  file: BatchFile,
  orders: Orders,
  { choices, allowDuplicate, packageId, resultsFile }: PlanOptions,
): Promise<Planned> {
  const [{ takeIn }, { fileIdentity, readingText }, { planOf }] = await Promise.all([
    import('./take-in.ts'),
    import('../../domain/batch/intake.ts'),
    import('../../domain/batch/plan.ts'),
  ])
  const { clock, random, batches, windows } = ports
  const { baseUrl, userEmail } = ports.api
  const intake = await takeIn(orders, baseUrl)
  const reading = readingOf(choices, orders.mapping)
  const batch: NewFileBatch = {
    id: random.uuid(),
    addedAt: clock.now(),
    baseUrl,
    userEmail,
    identity: fileIdentity(baseUrl, file.sha256, packageId),
    name: file.name,
    sha256: file.sha256,
    packageId,
    path: file.path,
    resultsFile,
    reading: readingText(reading),
    allowDuplicate,
  }
  const preview = await batches.preview(batch, intake.rows)
  return { plan: planOf(intake.check, preview, { windows, now: clock.now() }), intake, batch, reading }
}

export function readingOf(choices: ColumnChoices, { map, ignore }: Pick<Reading, 'map' | 'ignore'>): Reading {
  return {
    sheet: choices.sheet ?? null,
    map,
    ignore,
    default_country: choices.defaultCountry ?? null,
    header_row: choices.headerRow ?? null,
    encoding: choices.encoding ?? null,
    hidden: choices.hidden ?? null,
    accept_lines: choices.acceptLines ?? [],
  }
}

/**
 * What became of a package of a plan that cannot be ordered; undefined where all can, or where that cannot be
 * read: the service's own word on the first order decides then. Costs one read.
 */
export async function notOrderable(
  { api, cache, signal }: { api: Api; cache: SchemaCache; signal: AbortSignal },
  { packages }: Plan,
): Promise<RefcheckError | undefined> {
  const { packageGone } = await import('./package-gone.ts')
  const ids = packages.map(({ package_id }) => package_id)
  return packageGone(ids, { api, cache, signal }).catch((error: unknown) => {
    if (error instanceof RefcheckError && !signal.aborted) return undefined
    throw error
  })
}
