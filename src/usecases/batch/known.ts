import type { Api } from '../../api/api.ts'
import type { Batch } from '../../domain/batch/batch.ts'
import type { ColumnChoices } from '../../domain/batch/columns.ts'
import { UsageError } from '../../errors/kinds.ts'
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

/** A file that is a batch already is read as it was the first time; choices that say otherwise are refused. */
export async function requireSameReading(
  ports: ReadingPorts,
  file: BatchFile,
  choices: ColumnChoices,
  known: Batch,
): Promise<void> {
  const [{ readOrders }, { readingText }] = await Promise.all([
    import('./read-orders.ts'),
    import('../../domain/batch/new-row.ts'),
  ])
  const orders = await readOrders(ports, file, choices, known.packageId)
  if (readingText(readingOf(choices, orders.mapping)) === known.reading) return
  throw new UsageError(`${file.name} is already batch ${known.id}, which read it with other flags`, {
    hint: 'Nothing was sent. Resume it with: refcheck batch resume ${known.id}',
  })
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
