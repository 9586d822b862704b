import type { Recipient } from '../../contract/request.ts'
import type { Batch, BatchRow, Match } from './batch.ts'
import {
  foreignRequestReason,
  heldReasonTexts,
  samePersonReason,
  sharedText,
  storedCountsAsText,
  unmatchedText,
} from '../submission/duplicate.ts'
import type { ConflictCounts } from './verdict.ts'
import { isUnmatched } from '../submission/unmatched.ts'
import { externalResultPosition } from '../submission/external-results.ts'
import { type OrderInError, IncompleteError } from '../../errors/kinds.ts'
import { isoTime, localTime } from '../wording/time.ts'
import { personWithEmail } from '../wording/text.ts'

/** A row in the form in which it is printed. */
export interface PrintedRow extends ListedRow {
  /** The reason of an ERROR status, if an event contained one. */
  error_reason: string | null
}

/** Returns the error for a batch that another process runs. */
export function heldElsewhereError(batch: Batch | undefined): IncompleteError {
  const holder = batch?.holder
  const holderText =
    holder === undefined
      ? 'another process'
      : `process ${holder.pid}${holder.machine === undefined ? '' : ` on ${holder.machine}`}, since ${localTime(holder.since)}`
  return new IncompleteError(`batch ${batch?.id ?? ''} is being run by ${holderText}`, {
    hint: `Watch it with: refcheck batch status ${batch?.id ?? ''} --watch`,
  })
}

/** The summary of a batch for scripts (src/docs/cli.md, "Streams"). */
export function summaryOf(batch: Batch) {
  return {
    batch_id: batch.id,
    /** Null if the rows name their packages. */
    package_id: batch.packageId ?? null,
    counts: batch.counts,
    results_file: batch.resultsFile ?? null,
  }
}

export type BatchStatus = ReturnType<typeof statusOf>

/**
 * The summary of a batch with details for an operator. Times are ISO 8601. `packageName` is the name of its package, if
 * it is known.
 */
export function statusOf(batch: Batch, packageName?: string) {
  const { halt, holder } = batch
  return {
    summary: summaryOf(batch),
    name: batch.name,
    packageName,
    added_at: isoTime(batch.addedAt),
    changed_at: isoTime(batch.changedAt),
    base_url: batch.baseUrl,
    user_email: batch.userEmail,
    /** The time since which a worker may run the batch. */
    queued: batch.queuedAt === undefined || batch.counts.pending === 0 ? undefined : isoTime(batch.queuedAt),
    halt: halt && { ...halt, at: isoTime(halt.at) },
    holder: holder && { ...holder, since: isoTime(holder.since) },
  }
}

export type ListedBatch = ReturnType<typeof toListedBatch>

/** A batch in a list. */
export function toListedBatch(batch: Batch) {
  const { counts } = batch
  return {
    batch_id: batch.id,
    name: batch.name,
    package_id: batch.packageId ?? null,
    added_at: isoTime(batch.addedAt),
    total: counts.total,
    accepted: counts.accepted,
    pending: counts.pending,
    unknown: counts.unknown,
    /** `running`, `halted`, `queued`, `stopped`, `held`, `done`, or `unknown` if rows have to be reconciled. */
    state: stateOf(batch),
  }
}

export type CountedBatch = ReturnType<typeof toCountedBatch>

/**
 * One line of `batch list`. `earlier`: counts of the people of the batch who were ordered by another order;
 * `finished`: the number of finished requests of the batch itself.
 */
export function toCountedBatch(batch: Batch, earlier: ConflictCounts['orderedBefore'], finished: number) {
  return {
    ...toListedBatch(batch),
    held: batch.counts.held,
    /** The number of people who are ordered by this batch or by another one. */
    ordered: batch.counts.accepted + earlier.count - earlier.repeatCounts.ordered + earlier.orderedAgain,
    /** The number of people of the batch: rows that repeat another row are not counted. */
    people: batch.counts.total - earlier.repeatCounts.all,
    /** The number of these people whose request is finished, as it was last read. */
    finished: finished + earlier.finishedCount,
  }
}

function stateOf({ holder, halt, queuedAt, counts }: Batch): string {
  if (holder !== undefined) return 'running'
  if (counts.unknown > 0) return 'unknown'
  if (counts.pending === 0) return counts.held > 0 ? 'held' : 'done'
  if (halt !== undefined) return 'halted'
  return queuedAt === undefined ? 'stopped' : 'queued'
}

export type ListedRow = ReturnType<typeof toListedRow>

/**
 * Returns a row for scripts (src/docs/cli.md, "Streams"). `line` is its line in the file as a spreadsheet program
 * counts; null if the file has changed.
 */
export function toListedRow(row: BatchRow, line: number | null = null) {
  // A duplicate has the request of the order that it matches, so that a second run of a file shows the requests of its
  // rows.
  const request = row.requestId === undefined && !isOfOtherPerson(row) ? row.matches : row
  return {
    row: row.row,
    line,
    state: row.state,
    request_id: request?.requestId ?? null,
    /** The last status of this request that was read or reported by an event; null if it is not known. */
    status: request?.requestStatus ?? null,
    attempts: row.attempts,
    email: row.recipient?.email ?? row.email ?? null,
    /** Why the row is not accepted. */
    error: errorOf(row),
    /** The order that a duplicate or held row matches, in its present state. */
    matches: row.matches === undefined ? null : listedMatch(row.matches),
  }
}

/**
 * Whether the user left out the row because of a similar person. The order that it matches may be that of another
 * person, while a duplicate matches an order of the same person.
 */
export function isLeftOutAsSimilar({
  state,
  heldFor,
  reason,
}: Pick<BatchRow, 'state' | 'heldFor' | 'reason'>): boolean {
  return state === 'cancelled' && heldFor !== undefined && heldFor !== 'recent' && reason !== samePersonReason
}

/** Whether the person of a row that the user left out is ordered: by the order that the row matches, or elsewhere. */
export function isOrderedOtherwise(row: Pick<BatchRow, 'state' | 'heldFor' | 'reason' | 'matches'>): boolean {
  const { state, reason, matches } = row
  if (state !== 'cancelled') return false
  if (reason?.startsWith(foreignRequestReason) === true) return true
  return matches?.state === 'accepted' && !isLeftOutAsSimilar(row)
}

/** Whether the row is held because it shares an e-mail or a phone with a person who may be another one. */
const isHeldAsSimilar = ({ state, shares }: BatchRow): boolean => state === 'held' && shares.length > 0

/** Whether the order that the row matches is or may be that of another person. */
function isOfOtherPerson(row: BatchRow): boolean {
  return isLeftOutAsSimilar(row) || isHeldAsSimilar(row)
}

function listedMatch({ state, batchId, row, requestId, externalResult }: Match) {
  const isStored = externalResult === undefined && !isUnmatched({ row })
  return {
    state: state ?? null,
    batch_id: isStored ? batchId : null,
    row: isStored ? row : null,
    request_id: requestId ?? null,
    ...(externalResult && { results_file: externalResult.file, line: externalResult.line }),
  }
}

export type StoppedRow = ReturnType<typeof toStoppedRow>

/** Returns a row that is not sent because of an earlier order or an earlier row. */
export function toStoppedRow({ row, line, state, email, error, matches }: ListedRow) {
  const newState = state === 'held' ? ('held' as const) : ('duplicate' as const)
  return { row, line, state: newState, email, reason: error, matches }
}

/** Returns the order that a duplicate row matches, for an error. */
export function matchInError({ batchId, row, requestId, externalResult }: Match): OrderInError {
  return { requestId, ...(externalResult === undefined && { batchId, row }), match: 'exact' }
}

/** Returns why a held row is held. `other` is the order that it conflicts with, if this store has it. */
export const heldText = (row: BatchRow, other: BatchRow | undefined): string => errorOf(row, other) ?? ''

/** Returns the reason why a row is not accepted, for a results file: a held row names the person that it is similar to. */
export const errorInResults = (row: BatchRow): string | null =>
  errorOf(row, isHeldAsSimilar(row) ? row.matches : undefined)

/** Returns the reason why a row is not accepted, as one sentence without advice. */
function errorOf(row: BatchRow, other?: Pick<BatchRow, 'line'> & Pick<Match, 'recipient'>): string | null {
  const text = textOfReason(row, other)
  const packageText = storedCountsAsText(row)
  return text === null || packageText === undefined || row.state === 'cancelled'
    ? text
    : `${text}, ${packageText}`
}

function textOfReason(
  row: BatchRow,
  other?: Pick<BatchRow, 'line'> & Pick<Match, 'recipient'>,
): string | null {
  const { state, reason, field, matches, heldFor, shares, batchId } = row
  if (state === 'accepted') return null
  if (state === 'cancelled' && matches?.requestId !== undefined && !isLeftOutAsSimilar(row))
    return `not ordered again: is the same order as ${matchText(matches, batchId)}`
  if (heldFor === 'unmatched_request' && state === 'held')
    return `held: ${unmatchedText(matches?.requestId, shares)}`
  if (matches !== undefined && state !== 'cancelled') {
    const reasonText =
      heldFor === undefined
        ? 'is the same order as'
        : heldFor === 'similar' || heldFor === 'similar_unknown'
          ? `held: has the same ${sharedText(shares)} as`
          : `held: ${heldReasonTexts[heldFor]}:`
    return `${reasonText} ${other?.recipient === undefined ? matchText(matches, batchId) : personText(matches, batchId, { ...other.recipient, line: other.line })}`
  }
  if (reason === undefined) return null
  return field === undefined || reason.startsWith(field) ? reason : `${field}: ${reason}`
}

function matchText(
  { batchId, row, requestId, state, orderedAt, externalResult }: Match,
  ownBatchId: string,
): string {
  const otherText =
    externalResult === undefined ? `row ${row} of batch ${batchId}` : externalResultPosition(externalResult)
  if (isUnmatched({ row }))
    return `request ${batchId}${orderedAt === undefined ? '' : ` (created ${localTime(orderedAt)})`}`
  const rowText = batchId === ownBatchId ? `row ${row}` : otherText
  if (requestId !== undefined) {
    return `request ${requestId} (${rowText}${orderedAt === undefined ? '' : `, ordered ${localTime(orderedAt)}`})`
  }
  return batchId === ownBatchId || state === undefined ? rowText : `${rowText} (${state})`
}

/** Returns the matching order for a terminal: the person instead of ids. */
function personText(
  { batchId, row, requestId, state, orderedAt }: Match,
  ownBatchId: string,
  { line, ...other }: Recipient & Pick<BatchRow, 'line'>,
): string {
  const isOrdered = requestId !== undefined && orderedAt !== undefined
  const rowText = batchId === ownBatchId ? [line === undefined ? `row ${row}` : `line ${line}`] : []
  const stateText = state === 'unknown' ? 'unknown outcome' : state
  const details = isOrdered ? [`ordered ${localTime(orderedAt)}`] : stateText === undefined ? [] : [stateText]
  return [personWithEmail(other), ...rowText, ...details].join(', ')
}
