import type { Services } from '../services.ts'
import type { Batch, BatchRow, RowFilter } from '../../domain/batch/batch.ts'
import {
  toListedBatch,
  type ListedBatch,
  type ListedRow,
  toListedRow,
  type StoppedRow,
  toStoppedRow,
} from '../../domain/batch/batch-status.ts'
import type { HeldRow } from '../../domain/batch/held-question.ts'
import { isUnmatched } from '../../domain/submission/unmatched.ts'
import { type AboutToOrder, maxNamed } from '../../domain/submission/confirmation.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Recipient } from '../../contract/request.ts'
import { ambiguousStart, isWholeId } from '../../domain/request/id-start.ts'
import { localDay } from '../../domain/wording/time.ts'
import { NotFoundError, UsageError, InternalError, InterruptedError } from '../../errors/kinds.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import { linesOfRows } from './results-file.ts'
import type { BatchProgressNow } from '../../domain/overview/overview.ts'
import type { ExportedRow, ResultsOf } from '../../domain/batch/results.ts'

export type BatchServices = Pick<Services, 'batches' | 'waiting' | 'ledger' | 'clock'>

/** By its id or the beginning of it. Rows of runs that died are `unknown` from then on. */
export async function findBatch({ batches, ledger, clock }: BatchServices, id: string): Promise<Batch> {
  await ledger.recover(clock.now())
  const batch = await batches.find(id)
  if (batch !== undefined) return batch
  if (!isWholeId(id)) {
    const similar = (await batches.list({ singles: true })).filter((each) => each.id.startsWith(id))
    const candidates = similar.map(
      ({ id: own, name, addedAt }) => [own, `${name}, ${localDay(addedAt)}`] as const,
    )
    if (candidates.length > 1) throw new UsageError(...ambiguousStart('batch', id, candidates))
  }
  throw new NotFoundError(`no batch ${id} in this store`, {
    hint: 'List the batches with: refcheck batch list',
  })
}

/** The same, with held rows and duplicates compared again: their conflicts may have ended. */
export async function findToRun(stored: BatchServices, id: string): Promise<Batch> {
  const batch = await findBatch(stored, id)
  const changed = await stored.waiting.recheck(batch.id, stored.clock.now())
  return changed === 0 ? batch : findBatch(stored, batch.id)
}

export async function findRow(
  batches: Pick<Batches, 'rows'>,
  batchId: string,
  number: number,
): Promise<BatchRow | undefined> {
  const { value: row } = await batches.rows(batchId, { after: number - 1, limit: 1 }).next()
  return row?.row === number ? row : undefined
}

/** What is left to send of a batch. */
export async function leftToOrder(
  { batches, packageNames }: Pick<Services, 'batches' | 'packageNames'>,
  { id, packageId, counts, ...service }: Batch,
): Promise<AboutToOrder> {
  const people: (Recipient | undefined)[] = []
  for await (const row of batches.rows(id, { states: ['pending'], limit: maxNamed + 1 }))
    people.push(row.recipient)
  const names = await packageNames.get(service)
  return {
    package: packageId === undefined ? undefined : { id: packageId, name: names.get(packageId) },
    count: counts.pending,
    people,
  }
}

/** Newest first. */
export async function listBatches({ batches, ledger, clock }: BatchServices): Promise<ListedBatch[]> {
  await ledger.recover(clock.now())
  return (await batches.list()).map(toListedBatch)
}

/** A batch's rows in the order of the file. */
export async function listRows(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
  states: readonly SubmissionState[] | undefined,
): Promise<ListedRow[]> {
  const lines = await linesOfRows(files, batch)
  const rows: ListedRow[] = []
  for await (const row of batches.rows(batch.id, { states })) rows.push(toListedRow(row, lines.get(row.row)))
  return rows
}

/** The order that a held row conflicts with; undefined where this store does not have it. */
export async function conflictingRow(
  batches: Pick<Batches, 'rows'>,
  { matches }: BatchRow,
): Promise<BatchRow | undefined> {
  const isStored = matches !== undefined && matches.externalResult === undefined && !isUnmatched(matches)
  return isStored ? findRow(batches, matches.batchId, matches.row) : undefined
}

/** The held rows of a batch, each with the order that it conflicts with. */
export async function listHeld({ batches }: Pick<Services, 'batches'>, { id }: Batch): Promise<HeldRow[]> {
  const rows: HeldRow[] = []
  for await (const held of batches.rows(id, { states: ['held'] }))
    rows.push({ held, other: await conflictingRow(batches, held) })
  return rows
}

/** The rows that were not sent because of what they match, in the order of the file. */
export async function stoppedRows(
  ports: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
): Promise<StoppedRow[]> {
  if (batch.counts.duplicate + batch.counts.held === 0) return []
  return (await listRows(ports, batch, ['duplicate', 'held'])).map(toStoppedRow)
}

const everyMs = 500
/** What others than the runner write, such as statuses, is read again after so long. */
const readAgainMs = 5000

interface WatchOptions {
  signal: AbortSignal
  read: (batch: Batch) => Promise<BatchProgressNow>
  /** At each look, whether something changed or only time went by. */
  onLook: (batch: Batch, now: BatchProgressNow) => void | Promise<void>
}

/** Follows a batch in the store until no process runs it. Throws InterruptedError on Ctrl-C. */
export async function watchBatch(
  { batches, clock }: BatchServices,
  batchId: string,
  { signal, read, onLook }: WatchOptions,
): Promise<void> {
  let last: { changedAt: number; readAt: number; now: BatchProgressNow } | undefined
  for (;;) {
    const batch = await batches.find(batchId)
    if (batch === undefined) throw new InternalError(`batch ${batchId} is gone from the store`)
    if (batch.holder === undefined) return
    const at = clock.monotonic()
    if (last?.changedAt !== batch.changedAt || at - last.readAt >= readAgainMs)
      last = { changedAt: batch.changedAt, readAt: at, now: await read(batch) }
    await onLook(batch, last.now)
    try {
      await clock.sleep(everyMs, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      throw new InterruptedError('stopped watching; the batch continues')
    }
  }
}

/** Rows with the values they were or will be ordered with, in the order of the file. */
export async function allRows(
  batches: Batches,
  { id: batchId, ...of }: ResultsOf & { id: string },
  filter: RowFilter,
): Promise<ExportedRow[]> {
  const { toExportedRow } = await import('../../domain/batch/results.ts')
  const rows: ExportedRow[] = []
  const bodies = batches.bodies(batchId, filter)[Symbol.asyncIterator]()
  try {
    let next = await bodies.next()
    for await (const row of batches.rows(batchId, filter)) {
      while (next.done !== true && next.value.row < row.row) next = await bodies.next()
      const body = next.done !== true && next.value.row === row.row ? next.value.body : undefined
      rows.push(toExportedRow(row, body, of))
    }
    return rows
  } finally {
    await bodies.return?.()
  }
}
