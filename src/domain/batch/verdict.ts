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
import type { RunEnd } from './run-policy.ts'
import { formatCount } from '../wording/text.ts'
import { localTime } from '../wording/time.ts'
import type { Conflict, ConflictReason } from '../submission/conflicts.ts'
import type { SubmissionState } from '../submission/states.ts'
import type { Recipient } from '../../contract/request.ts'

/** Codes of failures that halt a batch and are its exit too (src/docs/cli.md, "Exit codes": 3 to 7). */
const haltingCodes = new Set(['unauthenticated', 'forbidden', 'not_found', 'throttled', 'unavailable'])

/** The first rows of a batch in these states, for errors and commands that name one. */
export interface FirstRows {
  held?: FirstHeld | undefined
  unknown?: number | undefined
  /** What the first duplicate matches. */
  duplicate?: OrderInError | undefined
}

/** `who`: by name and line, as a person finds the row. */
interface FirstHeld {
  row: number
  who: string
  heldFor: ConflictReason | undefined
}

/**
 * The error of a run, by the first that applies (src/docs/cli.md, "Exit codes"): interrupted; a row unknown, or
 * the same as one that is; what halted it; rows that wait or were not accepted, where something was sent or waits;
 * nothing sent; undefined where all is well. Of all rows, not of this run alone.
 */
export function verdict(
  batchId: string,
  counts: BatchCounts,
  end: RunEnd,
  conflicts: ConflictCounts = noConflicts(),
  first: FirstRows = {},
): RefcheckError | undefined {
  const goOn = `refcheck batch resume ${batchId}`
  if (end.kind === 'interrupted') {
    return new InterruptedError(`interrupted; ${left(counts)}`, {
      hint: counts.pending > 0 ? `Resume with: ${goOn}` : undefined,
    })
  }
  const halted = end.kind === 'halted' ? end.error : undefined
  if (counts.unknown > 0) return unknownRows(batchId, counts, halted, first.unknown)
  if (conflicts.unknown.count > 0) return sameAsUnknown(conflicts.unknown)
  if (halted !== undefined) return haltedBy(halted, goOn, counts)
  if (areAllOrdered(counts, conflicts)) return undefined
  const sent = counts.accepted + counts.rejected + counts.dropped
  const waits = counts.pending + counts.held + conflicts.waiting.count > 0
  if (sent === 0 && !waits) return nothingSentError(batchId, counts, conflicts, first.duplicate)
  return notAll(batchId, counts, conflicts, first.held)
}

/** Whether every row was accepted, or is a duplicate of an order that was. */
export function areAllOrdered({ total, accepted }: BatchCounts, { ordered }: ConflictCounts): boolean {
  return total > 0 && accepted + ordered.count === total
}

/** Whether every row that was not ordered was left out by a person: invalid (--on-invalid skip), cancelled or dropped. */
function isRestChosen(
  { total, accepted, invalid, cancelled, dropped }: BatchCounts,
  { ordered }: ConflictCounts,
): boolean {
  const done = accepted + ordered.count
  return done > 0 && done + invalid + cancelled - ordered.leftOut + dropped === total
}

/** What became of the people of a batch, for the first line of an answer. */
export interface BatchResult {
  counts: BatchCounts
  /** Duplicates of orders that were accepted. The times are those of all people where the run ordered none. */
  ordered: ConflictCounts['ordered']
  /** Rows that the run itself ordered, and their people where they are few. */
  now: number
  people: readonly Pick<Recipient, 'first_name' | 'last_name'>[]
}

function sameAsUnknown({ count, batchId }: ConflictCounts['unknown']): OutcomeUnknownError {
  const rows = count === 1 ? '1 row is the same as an order' : `${count} rows are the same as orders`
  return new OutcomeUnknownError(`${rows} whose outcome is unknown`, {
    hint: `Settle that first: refcheck batch reconcile${batchId === undefined ? '' : ` ${batchId}`}`,
    order: { batchId },
  })
}

function unknownRows(
  batchId: string,
  { unknown, pending }: BatchCounts,
  halted: RefcheckError | undefined,
  row: number | undefined,
): OutcomeUnknownError {
  const rows = formatCount(unknown, 'row')
  const why = halted === undefined ? '' : `; halted: ${halted.message}`
  const rest = pending > 0 ? `, ${pending} not sent yet` : ''
  const reconcile = `Settle ${unknown === 1 ? 'it' : 'them'} with: refcheck batch reconcile ${batchId}`
  return new OutcomeUnknownError(`${rows} may or may not have been ordered${rest}${why}`, {
    hint: halted instanceof StoreClosedError ? `${halted.hint}\n${reconcile}` : reconcile,
    status: halted?.status,
    order: { batchId, row },
  })
}

function haltedBy(error: RefcheckError, goOn: string, counts: BatchCounts): RefcheckError {
  const Halted = haltingCodes.has(error.code)
    ? (error.constructor as typeof IncompleteError)
    : IncompleteError
  // Rows before this one may have been ordered.
  const fix = error.hint?.replace(/^Nothing was (?:ordered|sent|done)\. /, '')
  const resume = counts.pending > 0 ? `Then resume with: ${goOn}` : undefined
  return new Halted(`halted: ${error.message}; ${left(counts)}`, {
    hint: [fix, resume].filter((line) => line !== undefined).join('\n'),
    status: error.status,
    field: error.field,
    retryAfter: error.retryAfter,
    cause: error,
  })
}

/** `batchId`: undefined where the file was not even taken in. */
export function nothingSentError(
  batchId: string | undefined,
  counts: BatchCounts,
  conflicts: ConflictCounts = noConflicts(),
  first?: OrderInError,
): RefcheckError {
  const { invalid, duplicate, cancelled, total } = counts
  const { ordered } = conflicts
  const isChosen = isRestChosen(counts, conflicts)
  if (batchId !== undefined && cancelled > 0) {
    const hint = orderDropped(batchId)
    const lost = cancelled - ordered.leftOut
    const rows = `${lost} of ${formatCount(total, 'row')} ${lost === 1 || total === 1 ? 'was' : 'were'} cancelled`
    return new InvalidInputError(`nothing was sent: ${rows}`, { hint, isChosen })
  }
  const hint =
    batchId === undefined ? undefined : `See the reason for each row with: refcheck batch rows ${batchId}`
  if (duplicate > 0 && duplicate + invalid === total) {
    const before = ordered.count === 0 ? 'the same as another' : `ordered before${whenOrdered(ordered)}`
    const what =
      invalid === 0 && (ordered.count === duplicate || ordered.count === 0)
        ? `${total === 1 ? 'the row' : 'every row'} was ${before}`
        : `${formatCount(duplicate, 'row')} ${duplicate === 1 ? 'was' : 'were'} ${before}` +
          (invalid === 0 ? '' : ` and ${invalid} ${invalid === 1 ? 'is' : 'are'} invalid`)
    return new DuplicateError(`nothing was sent: ${what}`, { hint, order: first, isChosen })
  }
  return new InvalidInputError(`nothing was sent: ${total === 1 ? 'the row' : 'every row'} is invalid`, {
    hint,
  })
}

/** "A run that sends nothing says when those people were ordered." */
function whenOrdered({ first, last }: ConflictCounts['ordered']): string {
  if (first === undefined || last === undefined) return ''
  const [from, to] = [localTime(first), localTime(last)]
  return from === to ? ` (${from})` : ` (${from} to ${to})`
}

/** What a file that is not begun fails with, by the same rule; undefined where there is something to send or to say. */
export function notStartedError(
  counts: BatchCounts,
  conflicts: ConflictCounts,
  first: OrderInError | undefined,
): RefcheckError | undefined {
  if (counts.pending + counts.held > 0) return undefined
  if (conflicts.unknown.count > 0) return sameAsUnknown(conflicts.unknown)
  if (conflicts.waiting.count > 0) return waitElsewhere('nothing was sent', conflicts)
  if (areAllOrderedBefore(counts, conflicts)) return undefined
  return nothingSentError(undefined, counts, conflicts, first)
}

/** Whether every row of a file that is only planned is a duplicate of an accepted order, or of such a row of the file. */
export function areAllOrderedBefore(
  { total, duplicate }: BatchCounts,
  { ordered, unknown, waiting }: ConflictCounts,
): boolean {
  return ordered.count > 0 && duplicate === total && unknown.count + waiting.count === 0
}

function waitElsewhere(what: string, { waiting: { count, batchId } }: ConflictCounts): IncompleteError {
  return new IncompleteError(
    `${what}: ${formatCount(count, 'row')} ${count === 1 ? 'waits' : 'wait'} in batch ${batchId}`,
    { hint: `Resume that batch with: refcheck batch resume ${batchId}` },
  )
}

/** "cancelled" is for good; what the rows say is not lost. */
function orderDropped(batchId: string): string {
  return `To order cancelled rows after all, write them to a file and run that: refcheck batch export ${batchId} --state cancelled --output again.csv`
}

function notAll(
  batchId: string,
  counts: BatchCounts,
  conflicts: ConflictCounts,
  firstHeld: FirstHeld | undefined,
): IncompleteError {
  const { accepted, total } = counts
  return new IncompleteError(
    `${accepted} of ${formatCount(total, 'row')} ${accepted === 1 || total === 1 ? 'was' : 'were'} accepted (${formatCounts(counts)})`,
    {
      hint: wayOn(batchId, counts, conflicts, firstHeld),
      isChosen: isRestChosen(counts, conflicts),
    },
  )
}

function wayOn(
  batchId: string,
  { pending, sending, held, cancelled, rejected }: BatchCounts,
  { waiting }: ConflictCounts,
  firstHeld: FirstHeld | undefined,
): string {
  if (pending > 0) return `Resume with: refcheck batch resume ${batchId}`
  if (sending > 0) {
    return `Another runner has the rest. Watch it with: refcheck batch status ${batchId} --watch`
  }
  if (held > 0) {
    const see = `See why ${held === 1 ? 'it is' : 'rows are'} held: refcheck batch rows ${batchId} --state held`
    if (firstHeld === undefined) return see
    const [yes, no] = answersFor(firstHeld)
    const { row } = firstHeld
    return [
      see,
      `${yes}: refcheck batch release ${batchId} --row ${row}`,
      `${no}: refcheck batch cancel ${batchId} --row ${row}`,
    ].join('\n')
  }
  if (waiting.count > 0) return `Resume the batch that they wait in: refcheck batch resume ${waiting.batchId}`
  if (cancelled > 0) return orderDropped(batchId)
  const see = `See the reason for each row with: refcheck batch rows ${batchId}`
  return rejected === 0
    ? see
    : `${see}\nIf the cause is gone, queue rejected rows again with: refcheck batch retry ${batchId}`
}

/** What a person may say of a held row, by what it is held for. */
function answersFor({ who, heldFor }: FirstHeld): [order: string, leaveOut: string] {
  if (heldFor === 'similar') return [`${who} is another person`, `${who} is the same person`]
  if (heldFor === 'recent' || heldFor === 'ended_in_error') return [`Order ${who} again`, `Leave ${who} out`]
  if (heldFor === 'unmatched_request') return [`Order ${who} as well`, `That request is the order of ${who}`]
  return [`Order ${who}`, `Leave ${who} out`]
}

/** The failure of a run, which is no error to show where nothing is left but held rows that a person has put off. */
export function decidedLater(
  failure: RefcheckError | undefined,
  { total, accepted, invalid, cancelled, dropped, held }: BatchCounts,
  { count, leftOut }: ConflictCounts['ordered'],
): RefcheckError | undefined {
  const isRest = accepted + count + invalid + cancelled - leftOut + dropped + held === total
  return failure?.code === 'incomplete' && isRest
    ? new IncompleteError(failure.message, { isChosen: true })
    : failure
}

function left({ pending, accepted }: BatchCounts): string {
  return `${accepted} accepted so far, ${pending} not sent yet`
}

/** "3 rejected, 1 duplicate". */
function formatCounts(counts: BatchCounts): string {
  return (['pending', 'sending', 'held', 'rejected', 'dropped', 'duplicate', 'invalid', 'cancelled'] as const)
    .filter((state) => counts[state] > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(', ')
}

/** What a batch's duplicates and held rows conflict with at present. */
export interface ConflictCounts {
  /** Duplicates of what may or may not have been ordered, and a batch of those. */
  unknown: { count: number; batchId: string | undefined }
  /** Duplicates of rows that are pending or in flight elsewhere. */
  waiting: ConflictCounts['unknown']
  /** Rows whose order was accepted before, and when the first and the last of those orders were sent. */
  ordered: {
    count: number
    /** How many of them are `cancelled`: what was left out is not the order, but ordering it again. */
    leftOut: number
    /** Held rows besides, which would order again what was ordered less than 7 days ago. */
    again: number
    /** How many of their requests came to nothing since, by status. */
    failed: Partial<Record<FailedStatus, number>>
    first: number | undefined
    last: number | undefined
  }
  /** Held rows by what they are held for. */
  held: Partial<Record<ConflictReason, number>>
}

/** Statuses of a request that came to nothing, although it was ordered. */
type FailedStatus = 'CANCELLED' | 'ERROR'

export function countFailed(
  failed: ConflictCounts['ordered']['failed'],
  status: string | undefined,
  count = 1,
): void {
  if (status === 'CANCELLED' || status === 'ERROR') failed[status] = (failed[status] ?? 0) + count
}

export function noConflicts(): ConflictCounts {
  return {
    unknown: { count: 0, batchId: undefined },
    waiting: { count: 0, batchId: undefined },
    ordered: { count: 0, leftOut: 0, again: 0, failed: {}, first: undefined, last: undefined },
    held: {},
  }
}

/** Duplicates of orders in one state, and of a held row what it is held for. */
export interface ConflictGroup {
  heldFor?: ConflictReason | undefined
  /** 1: the rows were cancelled, which would have ordered the same once more. */
  isLeftOut?: number | undefined
  /** Of the order in the way; undefined where no store has it. */
  state: SubmissionState | undefined
  /** Of its request, as last read. */
  requestStatus?: string | undefined
  batchId: string | undefined
  count: number
  /** When the first and the last of those orders were sent; undefined where that is not known. */
  first: number | undefined
  last: number | undefined
}

/** Counts the conflicts of a batch's rows; a duplicate of a pending row of its own counts for no other batch. */
export function countConflictGroups(groups: Iterable<ConflictGroup>, ownBatchId?: string): ConflictCounts {
  const conflicts = noConflicts()
  for (const { heldFor, isLeftOut = 0, state, requestStatus, batchId, count, first, last } of groups) {
    if (isLeftOut === 1 && state !== 'accepted') continue
    if (heldFor !== undefined) {
      conflicts.held[heldFor] = (conflicts.held[heldFor] ?? 0) + count
      if (heldFor === 'recent') conflicts.ordered.again += count
    } else if (state === 'unknown' || state === 'dropped') {
      conflicts.unknown = { count: conflicts.unknown.count + count, batchId }
    } else if (state === 'accepted') {
      const { ordered } = conflicts
      ordered.count += count
      ordered.leftOut += isLeftOut * count
      countFailed(ordered.failed, requestStatus, count)
      if (first !== undefined) ordered.first = Math.min(ordered.first ?? first, first)
      if (last !== undefined) ordered.last = Math.max(ordered.last ?? last, last)
    } else if (batchId !== ownBatchId && (state === 'pending' || state === 'sending')) {
      conflicts.waiting = { count: conflicts.waiting.count + count, batchId }
    }
  }
  return conflicts
}

/** The conflicts of the duplicates of a file that is only planned. */
export function countConflicts(duplicates: readonly Conflict[]): ConflictCounts {
  return countConflictGroups(
    duplicates.map(({ order: { state, requestStatus, batchId, attemptedAt, changedAt } }) => {
      const at = attemptedAt ?? changedAt
      return { state, requestStatus, batchId, count: 1, first: at, last: at }
    }),
  )
}
