import type { CarriedOut } from './carry-out.ts'
import type { ColumnFlags } from '../../cli/flags/columns.ts'
import type { Services } from '../../cli/services.ts'
import { batchRunning, unclaimedRequests } from '../../compose/batch.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import { UsageError } from '../../errors/kinds.ts'
import type { BatchFile } from './open-file.ts'
import { progressMeter } from '../../output/batch-meter.ts'
import { reconciliationText } from '../../output/views/batches.ts'
import { readingOf } from './plan.ts'
import { fileOfBatch, loadForResults, resultsPlace, writeResults } from './results-file.ts'
import type { Hold } from '../../store/ledger/ledger.ts'

/** The batch that this file is already, if it is one. */
export async function knownBatch(
  services: Services,
  { sha256 }: BatchFile,
  packageId: number | undefined,
): Promise<Batch | undefined> {
  const { fileIdentity } = await import('../../domain/batch/intake.ts')
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
    import('./read-orders.ts'),
    import('../../domain/batch/intake.ts'),
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
  const { carryOut } = await import('./carry-out.ts')
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
