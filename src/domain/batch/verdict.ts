import type { BatchCounts } from './batch.ts'
import {
  type OrderInError,
  type RefcheckError,
  DuplicateError,
  IncompleteError,
  InterruptedError,
  InvalidInputError,
  OutcomeUnknownError,
  StoreClosedError,
} from '../../errors/kinds.ts'
import { type NamedHeldRow, hintsAboutHeldRow } from '../submission/duplicate.ts'
import { type ConflictCounts, noConflicts, withoutOrdered } from './conflict-counts.ts'
import type { RunEnd } from './run-policy.ts'
import { formatCount } from '../wording/text.ts'
import { localTime } from '../wording/time.ts'
import type { Recipient } from '../../contract/request.ts'

/** Codes of failures that halt a batch and determine its exit code (src/docs/cli.md, "Exit codes": 3 to 7). */
const haltingCodes = new Set(['unauthenticated', 'forbidden', 'not_found', 'throttled', 'unavailable'])

/**
 * The rows that the message and the hint of an error name: the first row in a state, the order that the first duplicate
 * matches, and the rows that the user left out.
 */
export interface NamedRows {
  held?: NamedHeldRow | undefined
  /** The number of the first row with an unknown outcome. */
  unknown?: number | undefined
  /** The order that the first duplicate matches. */
  duplicate?: OrderInError | undefined
  /** The names and lines of the rows that the user left out and whose people are not ordered, as text. */
  leftOut?: string | undefined
  /**
   * The names and lines of the rows whose people may have been ordered, as text: dropped and cancelled rows, and
   * duplicates of unknown and dropped orders of other batches.
   */
  perhapsOrdered?: string | undefined
  /** The number of these duplicates. */
  openElsewhereCount?: number | undefined
  /** The number of duplicates whose people wait in another batch. */
  waitingCount?: number | undefined
  /** The first dropped row. */
  dropped?: Pick<NamedHeldRow, 'row' | 'rowText'> | undefined
  /** The names and lines of the rows that the user left out as the same person as another order, as text. */
  samePerson?: string | undefined
  /** The people who wait in the batch in which duplicates wait, and who are not in the file: their names and rows. */
  waitingOthers?: { names: string; rows: readonly number[] } | undefined
}

/**
 * Returns the error of a run (src/docs/cli.md, "Exit codes"); undefined if all rows are ordered. The first that
 * applies: the run was interrupted; a row is unknown or is the same as an unknown one; the run was halted; nothing was
 * sent and no row waits; some rows wait or were not accepted. All rows of the batch count, not only those of this run.
 */
export function runError(
  batchId: string,
  counts: BatchCounts,
  end: RunEnd,
  conflicts: ConflictCounts = noConflicts(),
  namedRows: NamedRows = {},
): RefcheckError | undefined {
  const resumeCommand = `refcheck batch resume ${batchId}`
  if (end.kind === 'interrupted') {
    return new InterruptedError(`interrupted; ${progressText(counts)}`, {
      hint: counts.pending > 0 ? `Resume with: ${resumeCommand}` : undefined,
    })
  }
  const halted = end.kind === 'halted' ? end.error : undefined
  if (counts.unknown > 0) return unknownRowsError(batchId, counts, halted, namedRows.unknown)
  if (conflicts.unknown.count > 0) {
    const waitingCount = counts.pending + counts.held + counts.rejected + conflicts.waiting.count
    return sameAsUnknownError(conflicts.unknown, waitingCount === 0)
  }
  if (halted !== undefined) return haltedError(halted, resumeCommand, counts)
  if (areAllOrdered(counts, conflicts)) return undefined
  // A dropped row was sent once (SubmissionState).
  const sent = counts.accepted + counts.rejected + counts.dropped
  const hasWaiting = counts.pending + counts.held + conflicts.waiting.count > 0
  // If the others were ordered before, rows that the user left out are no error, although nothing was sent.
  if (sent === 0 && !hasWaiting && !isRestLeftOutByUser(counts, conflicts))
    return nothingSentError(batchId, counts, conflicts, namedRows)
  return incompleteError(batchId, counts, conflicts, namedRows, end.kind === 'limited')
}

/** Whether every row was accepted or is a duplicate of an accepted order. */
export const areAllOrdered = ({ total, accepted }: BatchCounts, { orderedBefore }: ConflictCounts): boolean =>
  total > 0 && accepted + orderedBefore.count === total

/**
 * Whether the user left out every row that was not ordered: invalid rows (--on-invalid skip), cancelled and dropped
 * rows, and the `postponed` ones of a run with --max. For such a batch only the hint of the error is printed, without
 * the line that starts with "Error:".
 */
function isRestLeftOutByUser(
  counts: BatchCounts,
  { orderedBefore, unknown, waiting }: ConflictCounts,
  postponed = 0,
): boolean {
  // The person of a cancelled row may have been ordered by another row.
  if (unknown.count + waiting.count > 0) return false
  const orderedCount = counts.accepted + orderedBefore.count
  const { invalid, cancelled, dropped } = withoutOrdered(counts, orderedBefore)
  return (
    orderedCount + dropped > 0 && orderedCount + invalid + cancelled + dropped + postponed === counts.total
  )
}

/** The result of a batch, for the first line of the output. */
export interface BatchResult {
  counts: BatchCounts
  /**
   * Counts of the duplicate rows whose order was accepted already. `failedByStatus` also counts the requests that this
   * batch itself ordered. If the batch was finished before this run, the times also cover its own orders.
   */
  earlierOrders: ConflictCounts['orderedBefore']
  /** The number of rows that this run ordered. */
  orderedInThisRun: number
  /** The people of these rows if they are at most `maxNamed`; otherwise empty. */
  people: readonly Pick<Recipient, 'first_name' | 'last_name'>[]
  namedRows?: NamedRows | undefined
  /** The number of requests that events name and that were not read before the first row was sent. */
  unreadCount?: number
}

/** `isRestOrdered`: whether no other row of the batch waits for a run or a decision. */
export function sameAsUnknownError(
  { count, batchId, droppedRow, droppedCount }: ConflictCounts['unknown'],
  isRestOrdered = false,
): OutcomeUnknownError {
  const rows = count === 1 ? '1 row is the same as an order' : `${count} rows are the same as orders`
  const words = ['refcheck batch reconcile', ...(batchId === undefined ? [] : [batchId])]
  // Without its number, reconcile asks about unknown rows only.
  if (droppedRow !== undefined) words.push('--row', String(droppedRow))
  // A user has decided that a dropped order is not sent again.
  const [reason, step] =
    droppedCount === count
      ? [
          'that a user dropped and that may have been accepted',
          `To decide again about ${count === 1 ? 'that order' : 'one of these orders'}`,
        ]
      : ['whose outcome is unknown', 'Settle that first']
  return new OutcomeUnknownError(`${rows} ${reason}`, {
    hint: `${step}: ${words.join(' ')}`,
    order: { batchId },
    isUserChoice: isRestOrdered && droppedCount === count,
  })
}

/** The next step for the people of rejected rows. */
export const orderRejectedHint = (batchId: string): string =>
  `To order rejected rows, correct them in the file and run it again, or if the cause is gone, make them pending with: refcheck batch retry ${batchId}`

/** The next step for the people of invalid rows. */
export const orderInvalidHint = 'To order invalid rows, correct them in the file and run it again.'

/** Returns the next command for rows that may or may not have been ordered. */
export const hintToReconcile = (batchId: string, rows: number): string =>
  `Settle ${rows === 1 ? 'it' : 'them'} with: refcheck batch reconcile ${batchId}`

function unknownRowsError(
  batchId: string,
  { unknown, pending, held }: BatchCounts,
  halted: RefcheckError | undefined,
  row: number | undefined,
): OutcomeUnknownError {
  const rows = formatCount(unknown, 'row')
  const haltText = halted === undefined ? '' : `; halted: ${halted.message}`
  const pendingText = pending > 0 ? `, ${pending} not sent yet` : ''
  // The hint of a package that can no longer be ordered has the steps for the rows that were not sent.
  const nextHint =
    halted?.code === 'not_found' && halted.hint !== undefined
      ? `\n${hintWithinBatch(halted.hint)}`
      : pending > 0
        ? `\nThen continue with: refcheck batch resume ${batchId}`
        : ''
  const heldHint = held > 0 ? `\nDecide about the held rows: refcheck batch release ${batchId}` : ''
  const reconcileHint = `${hintToReconcile(batchId, unknown)}${nextHint}${heldHint}`
  return new OutcomeUnknownError(`${rows} may or may not have been ordered${pendingText}${haltText}`, {
    hint: halted instanceof StoreClosedError ? `${halted.hint}\n${reconcileHint}` : reconcileHint,
    status: halted?.status,
    order: { batchId, row },
  })
}

/** Returns the hint of an error without the words that nothing was ordered: earlier rows may have been ordered. */
export const hintWithinBatch = (hint: string | undefined): string | undefined =>
  hint?.replace(/^Nothing was (?:ordered|sent|done)\. /, '')

function haltedError(error: RefcheckError, resumeCommand: string, counts: BatchCounts): RefcheckError {
  const ErrorClass = haltingCodes.has(error.code)
    ? (error.constructor as typeof IncompleteError)
    : IncompleteError
  const fixHint = hintWithinBatch(error.hint)
  // The steps for rows that cannot be moved to the successor end with their cancellation.
  const endsBatch = fixHint?.includes('refcheck batch cancel') === true
  const resumeHint = counts.pending > 0 && !endsBatch ? `Then resume with: ${resumeCommand}` : undefined
  return new ErrorClass(`halted: ${error.message}; ${progressText(counts)}`, {
    hint: [fixHint, resumeHint].filter((line) => line !== undefined).join('\n'),
    status: error.status,
    field: error.field,
    retryAfter: error.retryAfter,
    cause: error,
  })
}

/** Returns the error of a batch that sent nothing. `batchId` is undefined if the file was not added as a batch. */
export function nothingSentError(
  batchId: string | undefined,
  counts: BatchCounts,
  conflicts: ConflictCounts = noConflicts(),
  namedRows: Pick<NamedRows, 'duplicate' | 'leftOut' | 'perhapsOrdered'> = {},
): RefcheckError {
  const { invalid, duplicate, cancelled, total } = counts
  const { orderedBefore } = conflicts
  const isUserChoice = isRestLeftOutByUser(counts, conflicts)
  if (batchId !== undefined && cancelled > 0) {
    const { leftOut, perhapsOrdered } = namedRows
    const hint =
      leftOut === undefined && perhapsOrdered !== undefined
        ? `See the orders that may exist: refcheck batch rows ${batchId} --state cancelled`
        : hintToOrderCancelled(batchId, leftOut)
    const cancelledWithoutOrder = cancelled - orderedBefore.cancelledCount
    const rows = `${cancelledWithoutOrder} of ${formatCount(total, 'row')} ${cancelledWithoutOrder === 1 || total === 1 ? 'was' : 'were'} cancelled`
    return new InvalidInputError(`nothing was sent: ${rows}`, { hint, isUserChoice })
  }
  const hint =
    batchId === undefined ? undefined : `See the reason for each row with: refcheck batch rows ${batchId}`
  if (duplicate > 0 && duplicate + invalid === total) {
    const beforeText =
      orderedBefore.count === 0 ? 'the same as another' : `ordered before${orderedTimesText(orderedBefore)}`
    const reasonText =
      invalid === 0 && (orderedBefore.count === duplicate || orderedBefore.count === 0)
        ? `${total === 1 ? 'the row' : 'every row'} was ${beforeText}`
        : `${formatCount(duplicate, 'row')} ${duplicate === 1 ? 'was' : 'were'} ${beforeText}` +
          (invalid === 0 ? '' : ` and ${invalid} ${invalid === 1 ? 'is' : 'are'} invalid`)
    return new DuplicateError(`nothing was sent: ${reasonText}`, {
      hint,
      order: namedRows.duplicate,
      isUserChoice,
    })
  }
  return new InvalidInputError(`nothing was sent: ${total === 1 ? 'the row' : 'every row'} is invalid`, {
    hint,
  })
}

/** Describes when the people were ordered, for a run that sends nothing. */
function orderedTimesText({ firstSentAt, lastSentAt }: ConflictCounts['orderedBefore']): string {
  if (firstSentAt === undefined || lastSentAt === undefined) return ''
  const [from, to] = [localTime(firstSentAt), localTime(lastSentAt)]
  return from === to ? ` (${from})` : ` (${from} to ${to})`
}

/**
 * Returns the error of a file that is not started, by the same rules as `runError`; undefined if there is something to
 * send, or if all rows were ordered before. `isDryRun`: the user has chosen that nothing is sent.
 */
export function notStartedError(
  counts: BatchCounts,
  conflicts: ConflictCounts,
  firstDuplicate: OrderInError | undefined,
  isDryRun = false,
): RefcheckError | undefined {
  if (counts.pending + counts.held > 0) return undefined
  if (conflicts.unknown.count > 0) return sameAsUnknownError(conflicts.unknown)
  if (conflicts.waiting.count > 0) return waitsInOtherBatchError(conflicts, isDryRun)
  if (areAllOrderedBefore(counts, conflicts)) return undefined
  return nothingSentError(undefined, counts, conflicts, { duplicate: firstDuplicate })
}

/** Whether every row of a planned file is a duplicate of an accepted order, or repeats such a row. */
export function areAllOrderedBefore(
  { total, duplicate }: BatchCounts,
  { orderedBefore, unknown, waiting }: ConflictCounts,
): boolean {
  return orderedBefore.count > 0 && duplicate === total && unknown.count + waiting.count === 0
}

function waitsInOtherBatchError(
  { waiting: { count, batchId, isHeld = false } }: ConflictCounts,
  isDryRun: boolean,
): IncompleteError {
  const [one, several] = isHeld ? ['row is held', 'rows are held'] : ['row waits', 'rows wait']
  return new IncompleteError(`nothing was sent: ${formatCount(count, one, several)} in batch ${batchId}`, {
    hint: isHeld ? decideAboutHeldHint(batchId) : `Resume that batch with: refcheck batch resume ${batchId}`,
    isUserChoice: isDryRun,
  })
}

/** Returns how many rows repeat a row that waits in another batch; '' for none. */
export const waitingText = (count: number): string => (count === 0 ? '' : `${count} waiting in another batch`)

/** Returns the next command for rows whose people wait in another batch, or are held there. */
function hintAboutWaiting(
  { count, batchId, isHeld }: ConflictCounts['waiting'],
  others: NamedRows['waitingOthers'],
): string {
  if (isHeld === true) return decideAboutHeldHint(batchId)
  const resumeHint = `Resume the batch in which ${formatCount(count, 'duplicate waits', 'duplicates wait')}: refcheck batch resume ${batchId}`
  if (others === undefined) return resumeHint
  const [row, ...otherRows] = others.rows
  const command =
    otherRows.length === 0
      ? `To leave this person out: refcheck batch cancel ${batchId} --row ${row}`
      : `See these people: refcheck batch rows ${batchId} --state pending`
  return `${resumeHint}\nThat batch also orders ${others.names}, not in this file. ${command}`
}

/** Returns the step before an order of people who may have been ordered by held rows of another batch. */
const decideAboutHeldHint = (batchId: string | undefined): string =>
  `Decide about the held rows of the other batch first: refcheck batch release ${batchId}`

/**
 * Returns the next command for the people of cancelled rows. A cancelled row stays cancelled, but its data can be
 * exported and ordered. `leftOut` is the text of `NamedRows`.
 */
export function hintToOrderCancelled(batchId: string, leftOut: string | undefined): string {
  const [subject, reference] =
    leftOut === undefined ? ['cancelled rows', 'them'] : [leftOut, 'the cancelled rows']
  return `To order ${subject} after all, write ${reference} to a file and run that: refcheck batch export ${batchId} --state cancelled --output again.csv`
}

function incompleteError(
  batchId: string,
  counts: BatchCounts,
  conflicts: ConflictCounts,
  namedRows: NamedRows,
  isLimited: boolean,
): IncompleteError {
  const { accepted, total } = counts
  const ordered = accepted + conflicts.orderedBefore.count
  const isSingular = ordered === 1 || total === 1
  const predicate =
    ordered === accepted ? `${isSingular ? 'was' : 'were'} accepted` : `${isSingular ? 'is' : 'are'} ordered`
  const notOrderedCounts = withoutOrdered(counts, conflicts.orderedBefore)
  // A cancelled or rejected row whose person waits in another batch is counted by its own state.
  const waitingCount = Math.min(conflicts.waiting.count, notOrderedCounts.duplicate)
  const others = formatCounts({
    ...notOrderedCounts,
    duplicate: notOrderedCounts.duplicate - waitingCount,
  })
  const notOrdered = [others, waitingText(waitingCount)].filter((each) => each !== '').join(', ')
  return new IncompleteError(`${ordered} of ${formatCount(total, 'row')} ${predicate} (${notOrdered})`, {
    hint: nextStepHint(batchId, counts, conflicts, namedRows),
    isUserChoice: isRestLeftOutByUser(counts, conflicts, isLimited ? counts.pending : 0),
  })
}

function nextStepHint(
  batchId: string,
  counts: BatchCounts,
  conflicts: ConflictCounts,
  namedRows: NamedRows,
): string {
  const hint = hintAboutUnsentRows(batchId, counts, conflicts, namedRows)
  const needsNoRetry =
    counts.pending + counts.sending > 0 || counts.rejected === conflicts.orderedBefore.rejectedCount
  if (needsNoRetry) return hint
  return `${hint}\n${orderRejectedHint(batchId)}`
}

function hintAboutUnsentRows(
  batchId: string,
  { pending, sending, held }: BatchCounts,
  { waiting }: ConflictCounts,
  { held: firstHeld, leftOut, dropped, waitingOthers }: NamedRows,
): string {
  if (pending > 0) return `Resume with: refcheck batch resume ${batchId}`
  if (sending > 0) {
    return `Another runner has the rest. Watch it with: refcheck batch status ${batchId} --watch`
  }
  if (held > 0) {
    const reasonsHint = `See why ${held === 1 ? 'it is' : 'rows are'} held: refcheck batch rows ${batchId} --state held`
    const heldHints = firstHeld === undefined ? [] : hintsAboutHeldRow(batchId, firstHeld)
    const waitingHints = waiting.count === 0 ? [] : [hintAboutWaiting(waiting, waitingOthers)]
    return [reasonsHint, ...heldHints, ...waitingHints].join('\n')
  }
  if (waiting.count > 0) return hintAboutWaiting(waiting, waitingOthers)
  const hints: string[] = []
  if (leftOut !== undefined) hints.push(hintToOrderCancelled(batchId, leftOut))
  if (dropped !== undefined)
    hints.push(
      `To decide again about ${dropped.rowText}: refcheck batch reconcile ${batchId} --row ${dropped.row}`,
    )
  if (hints.length > 0) return hints.join('\n')
  return `See the reason for each row with: refcheck batch rows ${batchId}`
}

/**
 * Returns the failure of a run. It is not shown as an error if only held rows are left that the user decided to
 * postpone.
 */
export function markPostponedAsUserChoice(
  failure: RefcheckError | undefined,
  counts: BatchCounts,
  orderedBefore: ConflictCounts['orderedBefore'],
): RefcheckError | undefined {
  const { total, accepted } = counts
  const { invalid, cancelled, dropped, held } = withoutOrdered(counts, orderedBefore)
  const areOnlyHeldLeft = accepted + orderedBefore.count + invalid + cancelled + dropped + held === total
  return failure?.code === 'incomplete' && areOnlyHeldLeft
    ? new IncompleteError(failure.message, { isUserChoice: true })
    : failure
}

function progressText(counts: BatchCounts): string {
  const { pending, accepted } = counts
  const others = formatCounts({ ...counts, pending: 0 })
  return `${accepted} accepted so far, ${others === '' ? '' : `${others}, `}${pending} not sent yet`
}

/** Describes counts: "3 rejected, 1 duplicate". */
function formatCounts(counts: BatchCounts): string {
  return (
    [
      'pending',
      'sending',
      'unknown',
      'held',
      'rejected',
      'dropped',
      'duplicate',
      'invalid',
      'cancelled',
    ] as const
  )
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(', ')
}
