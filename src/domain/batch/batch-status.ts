import type { Recipient } from '../../contract/request.ts'
import { isUnfinished } from '../../contract/statuses.ts'
import {
  formatRow,
  type Batch,
  type BatchRow,
  type LaterOrder,
  type OtherPackageCount,
  type Match,
} from './batch.ts'
import {
  heldReasonText,
  samePersonReason,
  sharedText,
  storedCountsAsText,
  unmatchedText,
} from '../submission/duplicate.ts'
import type { ConflictCounts } from './conflict-counts.ts'
import { statesNeedingDecision } from '../submission/states.ts'
import { isUnmatched } from '../submission/submission.ts'
import { externalResultPosition } from '../submission/external-results.ts'
import { type OrderInError, IncompleteError, InterruptedError } from '../../errors/kinds.ts'
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

/**
 * Returns the error if the user leaves the questions about the rows of a batch. `decidedCount`: the number of rows that
 * were decided before.
 */
export function stoppedQuestionsError(decidedCount: number, nextCommand: string): InterruptedError {
  const message =
    decidedCount === 0 ? 'stopped; no row was decided' : 'stopped; the answers given before are recorded'
  return new InterruptedError(message, { hint: `Continue with: ${nextCommand}` })
}

/** The number of people whom the text names. */
const maxNamedOrdered = 3

/** Returns which people of pending rows were ordered under the package that probably replaced the rows' package. */
export function orderedUnderSuccessorText(rows: readonly BatchRow[]): string {
  const named = rows.slice(0, maxNamedOrdered).map((row) => {
    const order = row.matches === undefined ? '' : ` ${orderText(row, row.matches, 'was ordered')}`
    return `${formatRow(row)}${order}`
  })
  const more = rows.length > named.length ? `; and ${rows.length - named.length} more` : ''
  return `${named.join('; ')}${more}`
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
 * The words that begin the error of a row whose person may have been ordered, by this row or otherwise; after `held: ` if
 * the row is held. Other stores read them in results files.
 */
export const perhapsOrderedText = 'may have been ordered'

/** The numbers of rows that are not ordered and whose people are ordered by another row, file or command, by state. */
export type OrderedElsewhere = Partial<
  Record<'rejected' | 'cancelled' | 'held' | 'invalid' | 'pending', number>
>

/**
 * The summary of a batch with details for an operator. Times are ISO 8601. `packageName` is the name of its package, if
 * it is known.
 */
export function statusOf(
  batch: Batch,
  packageName?: string,
  orderedElsewhere: OrderedElsewhere = {},
  earlierPackages: readonly OtherPackageCount[] = [],
) {
  const { halt, holder } = batch
  return {
    summary: summaryOf(batch),
    name: batch.name,
    packageName,
    orderedElsewhere,
    earlierPackages,
    added_at: isoTime(batch.addedAt),
    changed_at: isoTime(batch.changedAt),
    base_url: batch.baseUrl,
    user_email: batch.userEmail,
    /** The time since which a worker may run the batch. */
    queued: batch.queuedAt === undefined || batch.counts.pending === 0 ? undefined : isoTime(batch.queuedAt),
    /** A batch without rows to send or to decide about is no longer halted. */
    halt: halt && hasOpenRows(batch.counts) ? { ...halt, at: isoTime(halt.at) } : undefined,
    holder: holder && { ...holder, since: isoTime(holder.since) },
  }
}

const hasOpenRows = ({ pending, sending, unknown, held }: Batch['counts']): boolean =>
  pending + sending + unknown + held > 0

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
 * One line of `batch list`. `conflicts`: counts of the people of the batch who were or may have been ordered by another
 * order; `finished`: the number of finished requests of the batch itself. `ordersOfWaiting`: the later orders of the
 * people of held and pending rows; `hasFreed`: whether duplicates of cancelled rows can be ordered.
 */
export function toCountedBatch(
  batch: Batch,
  { orderedBefore: earlier, unknown }: Pick<ConflictCounts, 'orderedBefore' | 'unknown'>,
  finished: number,
  ordersOfWaiting: readonly LaterOrder[] = [],
  hasFreed = false,
) {
  const held = batch.counts.held - ordersOfWaiting.filter(({ state }) => state === 'held').length
  const finishedOfWaiting = ordersOfWaiting.filter(({ match }) => !isUnfinished(match.requestStatus)).length
  const listed = toListedBatch({ ...batch, counts: { ...batch.counts, held } })
  return {
    ...listed,
    state:
      listed.state !== 'done'
        ? listed.state
        : unknown.count > (unknown.droppedCount ?? 0)
          ? 'unknown'
          : hasFreed
            ? 'stopped'
            : 'done',
    /** The number of held rows whose people are not ordered otherwise. */
    held,
    /** The number of rejected rows whose people are not ordered otherwise. */
    rejected: batch.counts.rejected - earlier.rejectedCount,
    /** The number of invalid rows whose people are not ordered otherwise. */
    invalid: batch.counts.invalid - earlier.invalidCount,
    /** The number of people who are ordered by this batch or by another one. */
    ordered:
      batch.counts.accepted +
      earlier.count -
      earlier.repeatCounts.ordered +
      earlier.orderedAgain +
      ordersOfWaiting.length,
    /** The number of people of the batch: rows that repeat another row are not counted. */
    people: batch.counts.total - earlier.repeatCounts.all,
    /** The number of these people whose request is finished, as it was last read. */
    finished: finished + earlier.finishedCount + finishedOfWaiting,
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
    email: row.person.email ?? null,
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
  matches,
}: Pick<BatchRow, 'state' | 'heldFor' | 'reason' | 'matches'>): boolean {
  if (matches?.laterBatch !== undefined) return false
  return state === 'cancelled' && heldFor !== undefined && heldFor !== 'recent' && reason !== samePersonReason
}

/** Whether the person of a row that the user left out is ordered: by the order that the row matches, or elsewhere. */
export function isOrderedOtherwise(row: Pick<BatchRow, 'state' | 'heldFor' | 'reason' | 'matches'>): boolean {
  return row.state === 'cancelled' && row.matches?.state === 'accepted' && !isLeftOutAsSimilar(row)
}

/** Whether the person of a rejected or cancelled row may have been ordered by another row, and it is not known. */
export function isPerhapsOrderedOtherwise({
  state,
  reason,
  matches,
}: Pick<BatchRow, 'state'> & { reason?: string | undefined; matches?: Partial<Match> | undefined }): boolean {
  if (matches?.state === undefined) return false
  if (matches.laterBatch !== undefined) return matches.state !== 'accepted'
  return state === 'cancelled' && reason === samePersonReason && statesNeedingDecision.includes(matches.state)
}

/** Whether a held row is found to be a duplicate by the next command about its batch. `order`: its person's later order. */
export const isOrderedMeanwhile = ({ heldFor, packageId }: BatchRow, order: Match | undefined): boolean =>
  order?.state === 'accepted' &&
  order.packageId === packageId &&
  // A row that would repeat a recent order on purpose stays held until a user decides.
  heldFor !== 'recent' &&
  heldFor !== 'store_forgot'

/**
 * Returns the key of the unknown or dropped order of another batch that a duplicate repeats: its person may have been
 * ordered. Undefined for all other rows.
 */
export function openOrderKey({
  state,
  batchId,
  matches,
}: Pick<BatchRow, 'state' | 'batchId'> & { matches?: Partial<Match> | undefined }): string | undefined {
  if (state !== 'duplicate' || matches?.state === undefined || matches.batchId === batchId) return undefined
  if (!statesNeedingDecision.includes(matches.state)) return undefined
  return `${matches.batchId} ${matches.row}`
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

/** Returns why a row is held or not accepted. `other` is the order that it conflicts with, if this store has it. */
export const heldText = (row: BatchRow, other: BatchRow | undefined): string => errorOf(row, other) ?? ''

/** Returns the reason why a row is not accepted, for a results file: a held row names the person that it is similar to. */
export const errorInResults = (row: BatchRow): string | null =>
  errorOf(row, isHeldAsSimilar(row) ? row.matches : undefined)

/** Returns the reason why a row is not accepted, as one sentence without advice. */
function errorOf(row: BatchRow, other?: Pick<BatchRow, 'line'> & Pick<Match, 'recipient'>): string | null {
  if (row.matches?.laterBatch !== undefined) return laterOrderText(row, row.matches)
  if (row.matches !== undefined && isPerhapsOrderedOtherwise(row))
    return `${perhapsOrderedText} by ${matchText(row.matches, row.batchId)}; left out as the same person`
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
  if (heldFor === 'store_forgot' && state === 'held' && reason !== undefined)
    return `held: ${perhapsOrderedText}, because ${reason}`
  if (heldFor === 'unmatched_request' && state === 'held')
    return `held: ${unmatchedText(matches?.requestId, shares)}`
  if (matches !== undefined && state !== 'cancelled' && state !== 'invalid') {
    const conflictText =
      heldFor === undefined
        ? 'is the same order as'
        : heldFor === 'similar' || heldFor === 'similar_unknown'
          ? `held: has the same ${sharedText(shares)} as`
          : `held: ${heldReasonText(heldFor, matches.state)}:`
    return `${conflictText} ${other?.recipient === undefined ? matchText(matches, batchId) : personText(matches, batchId, { ...other.recipient, line: other.line })}`
  }
  return reason === undefined ? null : reasonText(reason, field)
}

/**
 * Returns when and how the person of a row was or may have been ordered, and why the row itself was rejected or is
 * invalid.
 */
function laterOrderText(row: BatchRow, order: Match): string {
  const { state, reason, field } = row
  const rejectedText =
    (state === 'rejected' || state === 'invalid') && reason !== undefined
      ? ` (this row: ${reasonText(reason, field)})`
      : ''
  return `${orderText(row, order)}${rejectedText}`
}

/** Returns when and how the person of a row was ordered: `ordered on 2026-11-26 13:32 +00:00, by more.csv`. */
function orderText({ packageId, batchId }: BatchRow, order: Match, acceptedText = 'ordered'): string {
  const verb = order.state === 'accepted' ? acceptedText : perhapsOrderedText
  // For a row that is held because the store had lost attempts, it is not known when it was sent.
  const time =
    order.orderedAt === undefined || order.state === 'held' ? '' : ` on ${localTime(order.orderedAt)}`
  const packageText = order.packageId === packageId ? '' : ` under package ${order.packageId}`
  return `${verb}${time}${packageText}, by ${order.batchId === batchId ? 'another row of the file' : order.laterBatch}`
}

const reasonText = (reason: string, field: string | undefined): string =>
  field === undefined || reason.startsWith(field) ? reason : `${field}: ${reason}`

function matchText(
  { batchId, row, line, requestId, state, orderedAt, externalResult }: Match,
  ownBatchId: string,
): string {
  const otherText =
    externalResult === undefined ? `row ${row} of batch ${batchId}` : externalResultPosition(externalResult)
  if (isUnmatched({ row }))
    return `request ${batchId}${orderedAt === undefined ? '' : ` (created ${localTime(orderedAt)})`}`
  const ownText = line === undefined ? `row ${row}` : `line ${line}`
  const rowText = batchId === ownBatchId ? ownText : otherText
  if (requestId !== undefined) {
    return `request ${requestId} (${rowText}${orderedAt === undefined ? '' : `, ordered ${localTime(orderedAt)}`})`
  }
  return batchId === ownBatchId || state === undefined ? rowText : `${rowText} (${state})`
}

/** Returns the matching order for a terminal: the person instead of ids. */
function personText(
  { batchId, requestId, state, orderedAt }: Match,
  ownBatchId: string,
  { line, ...other }: Recipient & Pick<BatchRow, 'line'>,
): string {
  const isOrdered = requestId !== undefined && orderedAt !== undefined
  const rowText = batchId === ownBatchId ? [line === undefined ? 'in the same file' : `line ${line}`] : []
  const stateText = state === 'unknown' ? 'unknown outcome' : state
  const details = isOrdered ? [`ordered ${localTime(orderedAt)}`] : stateText === undefined ? [] : [stateText]
  return [personWithEmail(other), ...rowText, ...details].join(', ')
}
