import type { Recipient } from '../../contract/request.ts'
import type { Batch, BatchRow, Match } from './batch.ts'
import { heldReasonTexts, sharedText, unmatchedText } from '../submission/duplicate.ts'
import { isUnmatched } from '../submission/unmatched.ts'
import { externalResultPosition } from '../submission/external-results.ts'
import { type OrderInError, IncompleteError } from '../../errors/kinds.ts'
import { isoTime, localTime } from '../wording/time.ts'
import { personName, personWithEmail } from '../wording/text.ts'

/** The same as it is printed. */
export interface PrintedRow extends ListedRow {
  /** Why its request ended in ERROR, where an event gave the reason. */
  error_reason: string | null
}

/** Thrown where another process runs the batch. */
export function heldElsewhere(batch: Batch | undefined): IncompleteError {
  const holder = batch?.holder
  const who =
    holder === undefined
      ? 'another process'
      : `process ${holder.pid}${holder.machine === undefined ? '' : ` on ${holder.machine}`}, since ${localTime(holder.since)}`
  return new IncompleteError(`batch ${batch?.id ?? ''} is being run by ${who}`, {
    hint: `Watch it with: refcheck batch status ${batch?.id ?? ''} --watch`,
  })
}

/** What scripts read of a batch (src/docs/cli.md, "Streams"). */
export function summaryOf(batch: Batch) {
  return {
    batch_id: batch.id,
    /** Null where the rows name their packages. */
    package_id: batch.packageId ?? null,
    counts: batch.counts,
    results_file: batch.resultsFile ?? null,
  }
}

export type BatchStatus = ReturnType<typeof statusOf>

/** The same with what an operator needs besides. Times are ISO 8601. */
export function statusOf(batch: Batch) {
  const { halt, holder } = batch
  return {
    summary: summaryOf(batch),
    name: batch.name,
    added_at: isoTime(batch.addedAt),
    changed_at: isoTime(batch.changedAt),
    base_url: batch.baseUrl,
    user_email: batch.userEmail,
    /** Since when it is left to a worker. */
    queued: batch.queuedAt === undefined || batch.counts.pending === 0 ? undefined : isoTime(batch.queuedAt),
    halt: halt && { ...halt, at: isoTime(halt.at) },
    holder: holder && { ...holder, since: isoTime(holder.since) },
  }
}

export type ListedBatch = ReturnType<typeof toListedBatch>

/** One line of `batch list`. */
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
    /** `running`, `halted`, `queued`, `stopped`, `held`, `done`, or `unknown` where rows have to be reconciled. */
    state: stateOf(batch),
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
 * One row (src/docs/cli.md, "Streams"). `line`: where it is in the file as a spreadsheet program counts; null where that
 * file is not as it was.
 */
export function toListedRow(row: BatchRow, line: number | null = null) {
  return {
    row: row.row,
    line,
    state: row.state,
    // A duplicate's is that of the order it matches: a file that is run again keeps what was known of its rows.
    request_id: row.requestId ?? row.matches?.requestId ?? null,
    /** The request's, as last read or reported by an event; null where that is not known. */
    status: row.requestStatus ?? null,
    attempts: row.attempts,
    email: row.recipient?.email ?? row.email ?? null,
    /** Why it is not accepted. */
    error: errorOf(row),
    /** What a duplicate or held row matches, in its present state. */
    matches: row.matches === undefined ? null : listedMatch(row.matches),
  }
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

/** A row that an order made before, or an earlier row, keeps from being sent. */
export function toStoppedRow({ row, line, state, email, error, matches }: ListedRow) {
  const becomes = state === 'held' ? ('held' as const) : ('duplicate' as const)
  return { row, line, state: becomes, email, reason: error, matches }
}

/** `Ana Silva (line 3)`: a row as a person finds it; by its number where neither is known. */
export function formatRow(
  { row, recipient }: Pick<BatchRow, 'row'> & Partial<Pick<BatchRow, 'recipient'>>,
  line: number | undefined,
): string {
  const position = line === undefined ? undefined : `line ${line}`
  if (recipient === undefined) return position ?? `row ${row}`
  return position === undefined ? personName(recipient) : `${personName(recipient)} (${position})`
}

/** What a duplicate row matches, as an error names it. */
export function matchInError({ batchId, row, requestId, externalResult }: Match): OrderInError {
  return { requestId, ...(externalResult === undefined && { batchId, row }), match: 'exact' }
}

/** Why a held row is held. `other`: whom it may be, where this store has that person. */
export const heldText = (row: BatchRow, other: Recipient | undefined): string => errorOf(row, other) ?? ''

/** Why a row is not accepted, in one sentence: what is so, and no more. */
function errorOf(row: BatchRow, other?: Recipient): string | null {
  const { state, reason, field, matches, heldFor, shares, batchId } = row
  if (state === 'accepted') return null
  if (heldFor === 'unmatched_request' && state === 'held')
    return `held: ${unmatchedText(matches?.requestId, shares)}`
  if (matches !== undefined && state !== 'cancelled') {
    const what =
      heldFor === undefined
        ? 'is the same order as'
        : heldFor === 'similar' || heldFor === 'similar_unknown'
          ? `held: has the same ${sharedText(shares)} as`
          : `held: ${heldReasonTexts[heldFor]}:`
    return `${what} ${other === undefined ? matchText(matches, batchId) : personText(matches, batchId, other)}`
  }
  if (reason === undefined) return null
  return field === undefined || reason.startsWith(field) ? reason : `${field}: ${reason}`
}

function matchText(
  { batchId, row, requestId, state, orderedAt, externalResult }: Match,
  own: string,
): string {
  const other =
    externalResult === undefined ? `row ${row} of batch ${batchId}` : externalResultPosition(externalResult)
  if (isUnmatched({ row }))
    return `request ${batchId}${orderedAt === undefined ? '' : ` (created ${localTime(orderedAt)})`}`
  const where = batchId === own ? `row ${row}` : other
  if (requestId !== undefined) {
    return `request ${requestId} (${where}${orderedAt === undefined ? '' : `, ordered ${localTime(orderedAt)}`})`
  }
  return batchId === own || state === undefined ? where : `${where} (${state})`
}

/** The same for a terminal: the person instead of ids. */
function personText(
  { batchId, row, requestId, state, orderedAt }: Match,
  own: string,
  other: Recipient,
): string {
  const isOrdered = requestId !== undefined && orderedAt !== undefined
  const where = batchId === own ? [`row ${row}`] : []
  const word = state === 'unknown' ? 'unknown outcome' : state
  const rest = isOrdered ? [`ordered ${localTime(orderedAt)}`] : word === undefined ? [] : [word]
  return [personWithEmail(other), ...where, ...rest].join(', ')
}
