import type { Intake, Reading } from '../domain/batch/intake.ts'
import type { Orders } from '../domain/batch/orders.ts'
import type { Plan } from '../domain/batch/plan.ts'
import type { CarriedOut } from '../domain/batch/run/carry-out.ts'
import type { RunEvent, Running } from '../domain/batch/run/running.ts'
import { batchProgressText, reconciliationText, runEventText } from '../output/views/batches.ts'
import { RefcheckError } from '../errors/base.ts'
import { UsageError } from '../errors/kinds.ts'
import type { Hold } from '../store/ledger/ledger.ts'
import type { Batch, BatchCounts, NewFileBatch } from '../store/ledger/batches.ts'
import { type BatchFile, noteGuess } from './batch-file.ts'
import { fileOfBatch, loadForResults, resultsPlace, writeResults } from './batch-results.ts'
import type { ColumnFlags } from './flags/columns.ts'
import type { Services } from './services.ts'

export type { Batch } from '../store/ledger/batches.ts'

/** What running, resuming and settling need; made once a command. */
export async function batchRunning(services: Services, signal: AbortSignal): Promise<Running> {
  const { api, ledger, clock, random, cache } = await services.ordering(signal)
  const governor = await services.governor()
  const { batches } = await services.store()
  return { api, ledger, clock, random, signal, cache, batches, governor }
}

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
  const [{ takeIn, fileIdentity, readingText }, { planOf }] = await Promise.all([
    import('../domain/batch/intake.ts'),
    import('../domain/batch/plan.ts'),
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

function readingOf(flags: ColumnFlags, { map, ignore }: Pick<Reading, 'map' | 'ignore'>): Reading {
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
  const { packageGone } = await import('../domain/batch/run/succession.ts')
  const [api, cache] = [await services.api(), await services.schemas()]
  const ids = packages.map(({ package_id }) => package_id)
  return packageGone(ids, { api, cache, signal }).catch((error: unknown) => {
    if (error instanceof RefcheckError && !signal.aborted) return undefined
    throw error
  })
}

/** The batch that this file is already, if it is one. */
export async function knownBatch(
  services: Services,
  { sha256 }: BatchFile,
  packageId: number | undefined,
): Promise<Batch | undefined> {
  const { fileIdentity } = await import('../domain/batch/intake.ts')
  const { baseUrl } = await services.api()
  const { batches } = await services.store()
  return batches.findByIdentity(fileIdentity(baseUrl, sha256, packageId))
}

/** A file that is a batch already is read as it was the first time; flags that say otherwise are refused. */
export async function requireSameReading(
  services: Services,
  file: BatchFile,
  flags: ColumnFlags,
  known: Batch,
): Promise<void> {
  const told = [flags.map, flags.ignore, flags.mapping, flags.sheet, flags['default-country']]
  if (told.every((each) => each === undefined)) return
  const [{ readOrders }, { readingText }] = await Promise.all([
    import('./batch-file.ts'),
    import('../domain/batch/intake.ts'),
  ])
  const orders = await readOrders(services, file, flags, known.packageId)
  if (readingText(readingOf(flags, orders.mapping)) === known.reading) return
  throw new UsageError(`${file.name} is batch ${known.id} already, and was read in another way then`, {
    hint: 'Nothing was sent. Run it without these flags to go on, or mend the file: what was accepted is not ordered twice.',
  })
}

/** Takes over what flags say anew of a file that is a batch already; tells of one that comes too late. */
export async function applyToKnown(
  services: Services,
  file: BatchFile,
  { id, resultsFile, counts, allowDuplicate }: Batch,
  flags: { results?: string | undefined; 'allow-duplicate'?: boolean | undefined },
): Promise<void> {
  if (flags['allow-duplicate'] === true && !allowDuplicate && counts.duplicate > 0) {
    services.reporter.warn(
      `--allow-duplicate comes too late for the duplicate rows of this batch. Make a file of them: refcheck batch export ${id} --state duplicate --output again.csv`,
    )
  }
  if (flags.results === undefined) return
  const place = await resultsPlace(services, file, flags.results, resultsFile)
  if (place !== undefined) await (await services.store()).batches.recordResultsFile(id, place)
}

/** Runs a batch from where it stands, telling how far it has come. `file`: the one it was made from, if at hand. */
export async function carryOutBatch(
  services: Services,
  signal: AbortSignal,
  batchId: string,
  options: {
    file?: BatchFile | undefined
    max?: number | undefined
    only?: number | undefined
    held?: Hold | undefined
  },
): Promise<CarriedOut> {
  const { carryOut } = await import('../domain/batch/run/carry-out.ts')
  await loadForResults()
  const running = await batchRunning(services, signal)
  const meter = await progressMeter(services)
  return carryOut({ ...running, onEvent: meter.onEvent }, batchId, {
    max: options.max ?? Number.POSITIVE_INFINITY,
    only: options.only,
    held: options.held,
    waitBudgetMs: services.timeoutMs ?? Number.POSITIVE_INFINITY,
    unclaimed: () => unclaimedRequests(services),
    onStart: (batch) => {
      tellOtherUser(services, running.api.userEmail, batch)
      meter.onStart(batch)
    },
    onReconciled: (found) => {
      const text = reconciliationText(found)
      if (text !== '') services.reporter.note(text)
    },
    async writeResults(batch) {
      const file = options.file ?? (await fileOfBatch(services, batch))
      if (file !== undefined) return writeResults(running.batches, batch, file)
      if (batch.resultsFile !== undefined) {
        services.reporter.warn(
          `${batch.name} is not what it was, so no results file is written; "refcheck batch export ${batch.id}" has all of it.`,
        )
      }
    },
    onUnwritten: ({ message }, { id }) =>
      services.reporter.warn(
        `the results file was not written: ${message}; "refcheck batch export ${id}" has all of it.`,
      ),
  })
}

/** Orders are attributed to whoever goes on with a batch, and count for that one's organisation. */
function tellOtherUser({ reporter }: Services, now: string, { userEmail, counts }: Batch): void {
  if (counts.pending === 0 || userEmail.toLowerCase() === now.toLowerCase()) return
  reporter.warn(`this batch was begun as ${userEmail}, and its other rows are ordered as ${now}.`)
}

/** Ids of requests that events told of and no order holds. */
async function unclaimedRequests(services: Services): Promise<string[]> {
  return (await services.store()).inbox.unclaimed()
}

/** Counts what happens and shows it. */
async function progressMeter(services: Services) {
  const { progressOf } = await import('../domain/batch/progress.ts')
  const { clock } = services.context
  const windows = await services.quotaWindows()
  const progress = services.progress()
  const startedAt = clock.monotonic()
  let counts: BatchCounts | undefined
  let settled = 0
  const show = (): void => {
    const seconds = (clock.monotonic() - startedAt) / 1000
    if (counts !== undefined) {
      progress.show(
        batchProgressText(progressOf(counts, windows, settled > 0 ? settled / seconds : undefined)),
      )
    }
  }
  return {
    onStart: (batch: Batch): void => {
      counts = { ...batch.counts }
      show()
    },
    onEvent: (event: RunEvent): void => {
      if (event.name === 'row' && event.state !== 'pending' && counts !== undefined) {
        counts.pending -= 1
        counts[event.state] += 1
        settled += 1
      }
      const text = runEventText(event)
      if (text !== undefined) services.reporter.note(text)
      show()
    },
  }
}
