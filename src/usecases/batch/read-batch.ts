import type { Services } from '../services.ts'
import { type Batch, type BatchRow, type LaterOrder, formatRow } from '../../domain/batch/batch.ts'
import {
  toCountedBatch,
  type CountedBatch,
  isOrderedMeanwhile,
  isOrderedOtherwise,
  isPerhapsOrderedOtherwise,
  type OrderedElsewhere,
  orderedUnderSuccessorText,
  toListedRow,
  type StoppedRow,
  toStoppedRow,
} from '../../domain/batch/batch-status.ts'
import { countFailed, type FailedPerson, noConflicts } from '../../domain/batch/conflict-counts.ts'
import type { BatchResult } from '../../domain/batch/verdict.ts'
import { findOtherOrder } from '../../domain/overview/attention.ts'
import { repeatedOrderKey } from '../../domain/overview/people.ts'
import type { HeldRow } from '../../domain/batch/held-question.ts'
import { decisionCommand } from '../../domain/submission/duplicate.ts'
import { type OrderToConfirm, maxNamed } from '../../domain/submission/confirmation.ts'
import { joinFirst } from '../../domain/wording/text.ts'
import { type SubmissionState, waitingStates } from '../../domain/submission/states.ts'
import type { Recipient } from '../../contract/request.ts'
import { isUnmatched } from '../../domain/submission/submission.ts'
import { ambiguousStart, isWholeId } from '../../domain/request/id-start.ts'
import { localDay } from '../../domain/wording/time.ts'
import { NotFoundError, UsageError, InternalError, InterruptedError } from '../../errors/kinds.ts'
import type { Batches } from '../../store/ledger/batches.ts'
import { readLinesOfRows } from './read-file.ts'
import type { BatchOverview } from '../../domain/overview/overview.ts'

export type BatchServices = Pick<Services, 'batches' | 'heldRows' | 'ledger' | 'clock'>

/**
 * Finds a batch by its id or the beginning of its id. Before that, `sending` rows of runs whose process has
 * ended become `unknown`.
 */
export async function findBatch({ batches, ledger, clock }: BatchServices, id: string): Promise<Batch> {
  await ledger.recover(clock.now())
  const batch = await batches.find(id)
  if (batch !== undefined) return batch
  if (!isWholeId(id)) {
    const matchingBatches = (await batches.list({ includesSingleOrders: true })).filter((each) =>
      each.id.startsWith(id),
    )
    const candidates = matchingBatches.map(
      ({ id: candidateId, name, addedAt }) => [candidateId, `${name}, ${localDay(addedAt)}`] as const,
    )
    if (candidates.length > 1) throw new UsageError(...ambiguousStart('batch', id, candidates))
  }
  throw new NotFoundError(`no batch ${id} in this store`, {
    hint: 'List the batches with: refcheck batch list',
  })
}

/** Finds a batch as `findBatch` does, and repeats the conflict detection of its held rows and duplicates. */
export async function findBatchToRun(services: BatchServices, id: string): Promise<Batch> {
  const batch = await findBatch(services, id)
  const changed = await services.heldRows.recheck(batch.id, services.clock.now())
  return changed === 0 ? batch : findBatch(services, batch.id)
}

/**
 * Counts the rows of a batch whose people were ordered before, and all requests of the batch that ended without a
 * result, also those of its own orders. The times are those of the earlier orders.
 */
export async function countOrdered(
  { batches, heldRows }: Pick<Services, 'batches' | 'heldRows'>,
  { id, counts }: Pick<Batch, 'id' | 'counts'>,
): Promise<BatchResult['earlierOrders']> {
  const { orderedBefore } = await heldRows.countConflicts(id)
  if (counts.accepted === 0) return orderedBefore
  for await (const { requestStatus } of batches.rows(id, { states: ['accepted'] }))
    countFailed(orderedBefore.failedByStatus, requestStatus)
  return orderedBefore
}

/**
 * Counts the rejected, cancelled, held, invalid and pending rows whose people are ordered by another row, file or command,
 * by state.
 */
export async function readOrderedElsewhere(
  services: Pick<Services, 'batches' | 'heldRows'>,
  batch: Batch,
): Promise<OrderedElsewhere> {
  const { rejected, cancelled, invalid } = batch.counts
  const { orderedBefore } =
    rejected + cancelled + invalid === 0 ? noConflicts() : await services.heldRows.countConflicts(batch.id)
  const elsewhere = {
    rejected: orderedBefore.rejectedCount,
    cancelled: orderedBefore.cancelledCount,
    invalid: orderedBefore.invalidCount,
    held: 0,
    pending: 0,
  }
  for (const { state } of (await readOrdersOfWaiting(services, batch)).values())
    elsewhere[state === 'held' ? 'held' : 'pending'] += 1
  return elsewhere
}

/** Returns the people of a batch whose requests ended without a result, also those of orders of other batches. */
export async function readFailedPeople(
  { batches, ledger, files }: Pick<Services, 'batches' | 'ledger' | 'files'>,
  batch: Batch,
): Promise<FailedPerson[]> {
  const lines = await readLinesOfRows(files, batch)
  const people = new Map<string, FailedPerson>()
  for await (const row of batches.rows(batch.id, {
    states: ['accepted', 'duplicate', 'cancelled', 'rejected', 'invalid'],
  })) {
    const order =
      row.state === 'accepted' ? row : repeatedOrderKey(row) === undefined ? undefined : row.matches
    const { requestStatus: status, requestId } = order ?? {}
    if (requestId === undefined || (status !== 'CANCELLED' && status !== 'ERROR')) continue
    if (people.has(requestId)) continue
    // The person of an invalid row is known from the order.
    const { recipient, packageId } = row.state === 'invalid' ? (row.matches ?? row) : row
    const rowText = formatRow({ ...row, line: lines.get(row.row) })
    const isOrderedAgain = await isOrderedAgainIn(ledger, batch, { recipient, packageId, requestId })
    people.set(requestId, { status, requestId, rowText, packageId, recipient, isOrderedAgain })
  }
  return [...people.values()]
}

/** Whether the person of a row whose request failed has another order of the account, as `findOtherOrder` finds it. */
export async function isOrderedAgainIn(
  ledger: Pick<Services['ledger'], 'list'>,
  { account = '', baseUrl }: Batch,
  { recipient, packageId, requestId }: Pick<BatchRow, 'recipient' | 'packageId' | 'requestId'>,
): Promise<boolean> {
  const { email } = recipient ?? {}
  if (email === undefined) return false
  const states = ['sending', 'accepted', 'unknown'] as const
  const orders = await ledger.list({ email, account, states })
  return findOtherOrder(orders, { baseUrl, packageId, requestId }) !== undefined
}

export async function findRow(
  batches: Pick<Batches, 'rows'>,
  batchId: string,
  number: number,
): Promise<BatchRow | undefined> {
  const { value: row } = await batches.rows(batchId, { after: number - 1, limit: 1 }).next()
  return row?.row === number ? row : undefined
}

/** Maximum number of people whom a message about waiting rows names. */
const maxNamedWaiting = 3

/** Rows of a batch that wait to be sent: their numbers, and the first people with their lines. */
export interface WaitingRows {
  numbers: number[]
  people: string
}

/**
 * Finds the rows that wait to be sent, without those that may have been sent, because the store had lost attempts.
 * `numbers`: only these rows, whatever they are held for.
 */
export async function describeWaitingRows(
  services: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
  numbers?: readonly number[],
): Promise<WaitingRows> {
  const rows: BatchRow[] = []
  for await (const row of services.batches.rows(batch.id, { states: waitingStates }))
    if (numbers === undefined ? row.heldFor !== 'store_forgot' : numbers.includes(row.row)) rows.push(row)
  return { numbers: rows.map(({ row }) => row), people: await nameFirstPeople(services.files, batch, rows) }
}

/**
 * Returns the first people of cancelled rows for whom no order is known, with their lines, those who may have been
 * ordered otherwise with the command to settle the first of these orders, and whether each of the people is ordered
 * otherwise. `numbers`: only these rows.
 */
export async function describeCancelledRows(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
  numbers: readonly number[],
): Promise<{ notOrdered: string; perhapsOrdered: string; decisionHint: string; areAllOrdered: boolean }> {
  const rows: BatchRow[] = []
  const cancelled = new Set(numbers)
  for await (const row of batches.rows(batch.id, { states: ['cancelled'] }))
    if (cancelled.has(row.row)) rows.push(row)
  // The outcome of the order that a row repeats may be unknown: such a person may not be ordered once more.
  const isRepeat = ({ matches, heldFor }: BatchRow): boolean =>
    matches !== undefined && (heldFor === undefined || heldFor === 'recent')
  const perhapsOrdered = rows.filter(isPerhapsOrderedOtherwise)
  const order = perhapsOrdered[0]?.matches
  const notOrdered = rows.filter(
    (row) => !isRepeat(row) && !isOrderedOtherwise(row) && !perhapsOrdered.includes(row),
  )
  return {
    notOrdered: await nameFirstPeople(files, batch, notOrdered),
    perhapsOrdered: await nameFirstPeople(files, batch, perhapsOrdered),
    decisionHint: order === undefined ? '' : `Settle that order with: ${decisionCommand(order)}`,
    areAllOrdered: rows.length > 0 && rows.every(isOrderedOtherwise),
  }
}

/** Returns the people of the first rows with their lines, and the number of the others. */
async function nameFirstPeople(
  files: Services['files'],
  batch: Batch,
  rows: readonly BatchRow[],
): Promise<string> {
  const lines = await readLinesOfRows(files, batch)
  const named = rows.slice(0, maxNamedWaiting).map((row) => formatRow({ ...row, line: lines.get(row.row) }))
  return joinFirst(named, maxNamedWaiting, rows.length)
}

/** Finds the rows that are held because the store had lost attempts: each of them may have been ordered. */
export async function findRowsOfLostAttempts(
  services: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
): Promise<{ count: number; people: string }> {
  const numbers: number[] = []
  for await (const { row, heldFor } of services.batches.rows(batch.id, { states: ['held'] }))
    if (heldFor === 'store_forgot') numbers.push(row)
  const people = numbers.length === 0 ? '' : (await describeWaitingRows(services, batch, numbers)).people
  return { count: numbers.length, people }
}

/**
 * Returns the first pending rows whose people were ordered under a package that probably replaced the row's, each with
 * that order; conflict detection does not compare a row with orders of the successor.
 */
async function findOrderedUnderSuccessor(
  { batches, heldRows, files }: PendingServices,
  batch: Batch,
): Promise<BatchRow[]> {
  const orders = await heldRows.findOrdersMadeLater(batch.id, 'pending')
  if (orders.size === 0) return []
  const lines = await readLinesOfRows(files, batch)
  const rows: BatchRow[] = []
  for await (const row of batches.rows(batch.id, { states: ['pending'] })) {
    const order = orders.get(row.row)?.match
    if (order !== undefined && order.packageId !== row.packageId)
      rows.push({ ...row, line: lines.get(row.row), matches: order })
  }
  return rows
}

type PendingServices = Pick<Services, 'batches' | 'heldRows' | 'files'>

/** Returns the pending rows of a batch as the confirmation shows them. */
export async function readPendingOrders(
  services: PendingServices & Pick<Services, 'packageNames'>,
  batch: Batch,
): Promise<OrderToConfirm> {
  const { id, packageId, counts, ...service } = batch
  const people: (Recipient | undefined)[] = []
  for await (const row of services.batches.rows(id, { states: ['pending'], limit: maxNamed + 1 }))
    people.push(row.recipient)
  const names = await services.packageNames.get(service)
  const orderedUnderSuccessor = await findOrderedUnderSuccessor(services, batch)
  return {
    package: packageId === undefined ? undefined : { id: packageId, name: names.get(packageId) },
    count: counts.pending,
    people,
    note: orderedUnderSuccessor.length === 0 ? undefined : orderedUnderSuccessorText(orderedUnderSuccessor),
    noteRows: orderedUnderSuccessor.map(({ row }) => row),
  }
}

/**
 * Finds the duplicates of batches that can be ordered, because the order that they match was cancelled, by batch; not in
 * batches that a process runs.
 */
export function findFreedDuplicates(
  heldRows: Pick<Services['heldRows'], 'findFreed'>,
  batches: readonly Batch[],
): Promise<ReadonlyMap<string, number[]>> {
  const candidates = batches.filter(({ counts, holder }) => counts.duplicate > 0 && holder === undefined)
  return heldRows.findFreed(candidates.map(({ id }) => id))
}

/** Lists the batches of the store, newest first, each with the number of its people who are ordered, also by other batches. */
export async function listBatches(services: BatchServices): Promise<CountedBatch[]> {
  const { batches, heldRows, ledger, clock } = services
  await ledger.recover(clock.now())
  const finished = await batches.countFinishedRequests()
  const listed: CountedBatch[] = []
  const allBatches = await batches.list()
  const freed = await findFreedDuplicates(heldRows, allBatches)
  for (const batch of allBatches) {
    const { accepted, pending, total } = batch.counts
    const conflicts = accepted + pending === total ? noConflicts() : await heldRows.countConflicts(batch.id)
    const ordersOfWaiting = [...(await readOrdersOfWaiting(services, batch)).values()]
    const finishedCount = finished.get(batch.id) ?? 0
    listed.push(toCountedBatch(batch, conflicts, finishedCount, ordersOfWaiting, freed.has(batch.id)))
  }
  return listed
}

/** Reads the rows of a batch with their lines, in the order of the file. */
export async function readRows(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
  states: readonly SubmissionState[] | undefined,
): Promise<BatchRow[]> {
  const lines = await readLinesOfRows(files, batch)
  const rows: BatchRow[] = []
  for await (const row of batches.rows(batch.id, { states })) rows.push({ ...row, line: lines.get(row.row) })
  return rows
}

/** Reads the invalid rows of a batch with their lines, without those whose people are ordered otherwise. */
export async function readInvalidRows(
  services: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
): Promise<BatchRow[]> {
  if (batch.counts.invalid === 0) return []
  return (await readRows(services, batch, ['invalid'])).filter(
    ({ matches }) => matches?.laterBatch === undefined,
  )
}

/**
 * Returns the accepted orders that other rows or commands made for the people of held rows, and of pending rows of a
 * halted batch, since the batch was added, by the number of the row.
 */
export async function readOrdersOfWaiting(
  { batches, heldRows }: Pick<Services, 'batches' | 'heldRows'>,
  { id, counts, halt }: Batch,
): Promise<ReadonlyMap<number, LaterOrder>> {
  const orders = new Map<number, LaterOrder>()
  const ofHeld = counts.held === 0 ? undefined : await heldRows.findOrdersMadeLater(id, 'held')
  if (ofHeld !== undefined && ofHeld.size > 0) {
    for await (const row of batches.rows(id, { states: ['held'] })) {
      const order = ofHeld.get(row.row)
      if (order !== undefined && isOrderedMeanwhile(row, order.match)) orders.set(row.row, order)
    }
  }
  if (halt === undefined || counts.pending === 0) return orders
  for (const [row, order] of await heldRows.findOrdersMadeLater(id, 'pending'))
    if (order.match.state === 'accepted') orders.set(row, order)
  return orders
}

/**
 * Returns the order that a held row conflicts with; undefined if this store does not have it. `lines`: the
 * line of each row of the held row's batch.
 */
export async function findConflictingRow(
  batches: Pick<Batches, 'rows'>,
  { matches, batchId }: BatchRow,
  lines: ReadonlyMap<number, number>,
): Promise<BatchRow | undefined> {
  const isStored = matches !== undefined && matches.externalResult === undefined && !isUnmatched(matches)
  const other = isStored ? await findRow(batches, matches.batchId, matches.row) : undefined
  return other?.batchId === batchId ? { ...other, line: lines.get(other.row) } : other
}

/** Lists the held rows of a batch, each with the order that it conflicts with. */
export async function listHeld(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
): Promise<HeldRow[]> {
  const lines = await readLinesOfRows(files, batch)
  const rows: HeldRow[] = []
  for await (const row of batches.rows(batch.id, { states: ['held'] })) {
    const held = { ...row, line: lines.get(row.row) }
    rows.push({ held, other: await findConflictingRow(batches, held, lines) })
  }
  return rows
}

/** Lists the rows that were not sent because of a conflict, in the order of the file. `previewed`: those of a dry run. */
export async function listStoppedRows(
  { batches, files }: Pick<Services, 'batches' | 'files'>,
  batch: Batch,
  previewed?: readonly BatchRow[],
): Promise<StoppedRow[]> {
  if (batch.counts.duplicate + batch.counts.held === 0) return []
  const lines = await readLinesOfRows(files, batch)
  const stopped: StoppedRow[] = []
  for await (const row of previewed ?? batches.rows(batch.id, { states: ['duplicate', 'held'] }))
    stopped.push(toStoppedRow(toListedRow(row, lines.get(row.row))))
  return stopped
}

const pollIntervalMs = 500
/** Statuses are read again after this interval, because processes other than the runner write them too. */
const rereadIntervalMs = 5000

interface WatchOptions {
  signal: AbortSignal
  read: (batch: Batch) => Promise<BatchOverview>
  /** Called at each poll, even if nothing has changed. */
  onPoll: (batch: Batch, overview: BatchOverview) => void | Promise<void>
}

/** Polls a batch until no process runs it. Throws InterruptedError on Ctrl-C. */
export async function watchBatch(
  { batches, clock }: BatchServices,
  batchId: string,
  { signal, read, onPoll }: WatchOptions,
): Promise<void> {
  let lastRead: { changedAt: number; readAt: number; overview: BatchOverview } | undefined
  for (;;) {
    const batch = await batches.find(batchId)
    if (batch === undefined) throw new InternalError(`batch ${batchId} is gone from the store`)
    if (batch.holder === undefined) return
    const readAt = clock.monotonic()
    if (lastRead?.changedAt !== batch.changedAt || readAt - lastRead.readAt >= rereadIntervalMs)
      lastRead = { changedAt: batch.changedAt, readAt, overview: await read(batch) }
    await onPoll(batch, lastRead.overview)
    try {
      await clock.sleep(pollIntervalMs, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      throw new InterruptedError('stopped watching; the batch continues')
    }
  }
}
