import type { ColumnFlags } from '../../cli/flags/columns.ts'
import type { Services } from '../../cli/services.ts'
import type { NewFileBatch } from '../../domain/batch/batch.ts'
import type { Intake, Reading } from '../../domain/batch/intake.ts'
import type { Plan } from '../../domain/batch/plan.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { BatchFile } from './open-file.ts'
import { noteGuess } from './read-orders.ts'
import type { Orders } from './understand-orders.ts'

/** A file checked and compared with the store; nothing is sent. */
export interface Planned {
  plan: Plan
  intake: Intake
  batch: NewFileBatch
  reading: Reading
}

export interface PlanOptions {
  flags: ColumnFlags & { 'allow-duplicate'?: boolean | undefined }
  packageId: number | undefined
  resultsFile: string | undefined
}

export async function planBatch(
  services: Services,
  file: BatchFile,
  orders: Orders,
  { flags, packageId, resultsFile }: PlanOptions,
): Promise<Planned> {
  const [{ takeIn }, { fileIdentity, readingText }, { planOf }] = await Promise.all([
    import('./take-in.ts'),
    import('../../domain/batch/intake.ts'),
    import('../../domain/batch/plan.ts'),
  ])
  const { clock, random } = services.context
  const { baseUrl, userEmail } = await services.api()
  const { batches } = await services.store()
  const intake = await takeIn(orders, baseUrl)
  noteGuess(services, file)
  const reading = readingOf(flags, orders.mapping)
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
    allowDuplicate: flags['allow-duplicate'] === true,
  }
  const windows = await services.quotaWindows()
  const preview = await batches.preview(batch, intake.rows)
  return { plan: planOf(intake.check, preview, { windows, now: clock.now() }), intake, batch, reading }
}

export function readingOf(flags: ColumnFlags, { map, ignore }: Pick<Reading, 'map' | 'ignore'>): Reading {
  return {
    sheet: flags.sheet ?? null,
    map,
    ignore,
    default_country: flags['default-country'] ?? null,
  }
}

/**
 * What became of a package of a plan that cannot be ordered; undefined where all can, or where that cannot be
 * read: the service's own word on the first order decides then. Costs one read.
 */
export async function notOrderable(
  services: Services,
  signal: AbortSignal,
  { packages }: Plan,
): Promise<RefcheckError | undefined> {
  const { packageGone } = await import('./package-gone.ts')
  const [api, cache] = [await services.api(), await services.schemas()]
  const ids = packages.map(({ package_id }) => package_id)
  return packageGone(ids, { api, cache, signal }).catch((error: unknown) => {
    if (error instanceof RefcheckError && !signal.aborted) return undefined
    throw error
  })
}
