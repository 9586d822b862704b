import type { Api } from '../../api/api.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import type { ColumnChoices } from '../../domain/batch/columns.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import type { BatchFile } from './open-file.ts'
import { readingOf } from './plan.ts'
import type { FilePlace, NoticePort, ReadingPorts } from './ports.ts'
import { resultsPlace } from './results-file.ts'

/** The batch that this file is already, if it is one. */
export async function knownBatch(
  {
    api,
    account,
    batches,
  }: { api: Pick<Api, 'baseUrl'>; account: string; batches: Pick<Batches, 'findByIdentity'> },
  { sha256 }: BatchFile,
  packageId: number | undefined,
): Promise<Batch | undefined> {
  const { fileIdentity } = await import('../../domain/batch/new-row.ts')
  return batches.findByIdentity(fileIdentity({ account, baseUrl: api.baseUrl }, sha256, packageId))
}

/**
 * "Read otherwise it is another" (ordering protocol): the batch that a file is already when it is read as somebody says now,
 * or that it is none yet.
 */
export async function readAsSaid(
  ports: ReadingPorts & { account: string; batches: Pick<Batches, 'findByIdentity'> },
  file: BatchFile,
  choices: ColumnChoices,
  known: Batch,
): Promise<Batch | 'another'> {
  const [{ readOrders }, { fileIdentity, readingText }] = await Promise.all([
    import('./read-orders.ts'),
    import('../../domain/batch/new-row.ts'),
  ])
  const { mapping } = await readOrders(ports, file, choices, known.packageId)
  const reading = readingOf(choices, mapping)
  if (readingText(reading) === known.reading) return known
  const { account, api, batches } = ports
  const identity = fileIdentity({ account, baseUrl: api.baseUrl }, file.sha256, known.packageId, reading)
  return (await batches.findByIdentity(identity)) ?? 'another'
}

/** Takes over what is said again of a file that is a batch already; tells of what comes too late. */
export async function applyToKnown(
  ports: NoticePort & Pick<FilePlace, 'cwd'> & { batches: Pick<Batches, 'list' | 'recordResultsFile'> },
  file: BatchFile,
  known: Batch,
  { results, allowDuplicate }: { results: string | undefined; allowDuplicate: boolean },
): Promise<void> {
  const { id, resultsFile, counts } = known
  if (allowDuplicate && !known.allowDuplicate && counts.duplicate > 0) {
    ports.onNotice({ name: 'duplicates-too-late', batchId: id })
  }
  if (results === undefined) return
  const place = await resultsPlace(ports, file, results, resultsFile)
  if (place !== undefined) await ports.batches.recordResultsFile(id, place)
}
