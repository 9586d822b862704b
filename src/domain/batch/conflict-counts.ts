import { isUnfinished } from '../../contract/statuses.ts'
import type { Recipient } from '../../contract/request.ts'
import type { Conflict, ConflictReason } from '../submission/conflicts.ts'
import type { SubmissionState } from '../submission/states.ts'
import type { BatchCounts, LaterOrder } from './batch.ts'

/** The orders that the duplicates and held rows of a batch conflict with at present. */
export interface ConflictCounts {
  /** Duplicates of orders with an unknown outcome, and the batch of one of these. `droppedCount`: those of dropped orders. */
  unknown: {
    count: number
    batchId: string | undefined
    droppedRow?: number | undefined
    droppedCount?: number | undefined
  }
  /**
   * Duplicates of rows that are pending, in flight or held in another batch. `isHeld`: whether the batch that is named has
   * such a held row, which may have been ordered.
   */
  waiting: { count: number; batchId: string | undefined; isHeld?: boolean | undefined }
  /** Rows whose order was accepted before, and when the first and the last of these orders were sent. */
  orderedBefore: {
    count: number
    /** The number of these rows that are `cancelled`: the user left out a second order, and the first one remains. */
    cancelledCount: number
    /** The number of these rows that are `rejected`, and whose people were ordered later. */
    rejectedCount: number
    /** The number of these rows that are `invalid`, and whose people were ordered later. */
    invalidCount: number
    /** The number of held rows that would repeat an order of the last 7 days. They are not part of `count`. */
    orderedAgain: number
    /**
     * The number of rows whose order another row of the batch has or repeats. It is subtracted where people are
     * counted. `all` counts all such rows, and `ordered` only those that are in `count`.
     */
    repeatCounts: { ordered: number; all: number }
    /** The number of people, also of those in `orderedAgain`, whose request is finished, as it was last read. */
    finishedCount: number
    /** The number of these requests that ended without a result, by status. */
    failedByStatus: Partial<Record<FailedStatus, number>>
    firstSentAt: number | undefined
    lastSentAt: number | undefined
  }
  /** The number of held rows by the reason of the hold. */
  held: Partial<Record<ConflictReason, number>>
}

/** Final statuses of a request without a result. */
export type FailedStatus = 'CANCELLED' | 'ERROR'

/** A person of a batch whose request ended without a result. */
export interface FailedPerson {
  status: FailedStatus
  requestId: string
  /** The name and the line in the file of the batch. */
  rowText: string
  packageId: number | undefined
  recipient: Recipient | undefined
  /** Whether the person has another order of the package, which has a result or is in progress. */
  isOrderedAgain: boolean
}

/** Returns the counts of the rows whose people are not ordered: those that were accepted, or ordered before, are subtracted. */
export function withoutOrdered(
  counts: BatchCounts,
  { count, cancelledCount, rejectedCount, invalidCount }: ConflictCounts['orderedBefore'],
): BatchCounts {
  return {
    ...counts,
    accepted: 0,
    duplicate: counts.duplicate - (count - cancelledCount - rejectedCount - invalidCount),
    rejected: counts.rejected - rejectedCount,
    invalid: counts.invalid - invalidCount,
    cancelled: counts.cancelled - cancelledCount,
  }
}

/** Adds `count` to the requests with this status, if it is a final status without a result. */
export function countFailed(
  failedByStatus: ConflictCounts['orderedBefore']['failedByStatus'],
  status: string | undefined,
  count = 1,
): void {
  if (count > 0 && (status === 'CANCELLED' || status === 'ERROR'))
    failedByStatus[status] = (failedByStatus[status] ?? 0) + count
}

export function noConflicts(): ConflictCounts {
  return {
    unknown: { count: 0, batchId: undefined },
    waiting: { count: 0, batchId: undefined },
    orderedBefore: {
      count: 0,
      cancelledCount: 0,
      rejectedCount: 0,
      invalidCount: 0,
      orderedAgain: 0,
      repeatCounts: { ordered: 0, all: 0 },
      finishedCount: 0,
      failedByStatus: {},
      firstSentAt: undefined,
      lastSentAt: undefined,
    },
    held: {},
  }
}

/** Rows that conflict with orders in the same state, for the same reason. */
export interface ConflictGroup {
  heldFor?: ConflictReason | undefined
  /** The number of these rows that were cancelled and would have repeated the order. */
  cancelledCount?: number | undefined
  /** The number of these rows that were rejected, before the order was made. */
  rejectedCount?: number | undefined
  /** The number of these rows that are invalid, and whose people were ordered later with a corrected detail. */
  invalidCount?: number | undefined
  /** The state of the conflicting order; undefined if the order is not in this store. */
  state: SubmissionState | undefined
  /** The status of the conflicting order's request, as last read. */
  requestStatus?: string | undefined
  batchId: string | undefined
  /** The number of the conflicting order's row in its batch; of several, the first. */
  row?: number | undefined
  count: number
  /** The number of these rows whose order another row of the batch has or repeats. */
  repeats?: number | undefined
  /** When the first and the last of these orders were sent; undefined if it is not known. */
  first: number | undefined
  last: number | undefined
}

/**
 * Counts the conflicts of the rows of a batch. A duplicate of a pending row of the same batch is not counted as
 * waiting.
 */
export function countConflictGroups(groups: Iterable<ConflictGroup>, ownBatchId?: string): ConflictCounts {
  const conflicts = noConflicts()
  for (const group of groups) {
    const {
      heldFor,
      cancelledCount = 0,
      rejectedCount = 0,
      invalidCount = 0,
      state,
      requestStatus,
      batchId,
    } = group
    const { count, repeats = 0, first, last } = group
    if (heldFor === undefined) conflicts.orderedBefore.repeatCounts.all += repeats
    if (heldFor !== undefined) {
      conflicts.held[heldFor] = (conflicts.held[heldFor] ?? 0) + count
      if (heldFor === 'recent') {
        conflicts.orderedBefore.orderedAgain += count
        conflicts.orderedBefore.finishedCount += isUnfinished(requestStatus) ? 0 : count
      }
    } else if (state === 'unknown' || state === 'dropped') {
      const droppedRow = state === 'dropped' ? group.row : undefined
      const { count: earlierCount, droppedCount: earlierDroppedCount = 0 } = conflicts.unknown
      const droppedCount = earlierDroppedCount + (state === 'dropped' ? count : 0) || undefined
      conflicts.unknown = { count: earlierCount + count, batchId, droppedRow, droppedCount }
    } else if (state === 'accepted') {
      const { orderedBefore } = conflicts
      orderedBefore.count += count
      orderedBefore.cancelledCount += cancelledCount
      orderedBefore.rejectedCount += rejectedCount
      orderedBefore.invalidCount += invalidCount
      orderedBefore.repeatCounts.ordered += repeats
      orderedBefore.finishedCount += isUnfinished(requestStatus) ? 0 : count - repeats
      countFailed(orderedBefore.failedByStatus, requestStatus, count - repeats)
      // The order of the same batch is not an earlier one.
      if (batchId === ownBatchId) continue
      if (first !== undefined) orderedBefore.firstSentAt = Math.min(orderedBefore.firstSentAt ?? first, first)
      if (last !== undefined) orderedBefore.lastSentAt = Math.max(orderedBefore.lastSentAt ?? last, last)
    } else if (batchId !== ownBatchId && (state === 'pending' || state === 'sending' || state === 'held')) {
      const isHeld = state === 'held' ? true : undefined
      conflicts.waiting = { count: conflicts.waiting.count + count, batchId, isHeld }
    }
  }
  return conflicts
}

/**
 * Returns the later orders of people whose rows were rejected, cancelled or invalid as groups, one of each row. Left out are
 * cancelled rows whose people have a dropped order: a user decided about both. `matchedOrders`: the orders that other rows
 * of the batch match.
 */
export function* groupLaterOrders(
  orders: Iterable<LaterOrder>,
  ownBatchId: string,
  matchedOrders: readonly Pick<LaterOrder['match'], 'batchId' | 'row'>[] = [],
): Generator<ConflictGroup> {
  const countedOrders = new Set(matchedOrders.map(({ batchId, row }) => `${batchId} ${row}`))
  for (const { state, match } of orders) {
    const { batchId, row, requestStatus, orderedAt } = match
    if (state === 'cancelled' && match.state === 'dropped') continue
    const key = `${batchId} ${row}`
    const isRepeat = batchId === ownBatchId || countedOrders.has(key)
    countedOrders.add(key)
    yield {
      cancelledCount: state === 'cancelled' ? 1 : 0,
      rejectedCount: state === 'rejected' ? 1 : 0,
      invalidCount: state === 'invalid' ? 1 : 0,
      state: match.state,
      requestStatus,
      batchId,
      row,
      count: 1,
      repeats: isRepeat ? 1 : 0,
      first: orderedAt,
      last: orderedAt,
    }
  }
}

/** Counts the conflicts of the duplicates of a planned file. */
export function countConflicts(duplicates: readonly Conflict[]): ConflictCounts {
  const countedOrders = new Set<string>()
  return countConflictGroups(
    duplicates.map(({ order, externalResult }) => {
      const { state, requestStatus, batchId, attemptedAt, changedAt } = order
      const sentAt = attemptedAt ?? changedAt
      const key = `${batchId} ${order.row}`
      const repeats = externalResult === undefined && countedOrders.has(key) ? 1 : 0
      countedOrders.add(key)
      return {
        state,
        requestStatus,
        batchId,
        row: order.row,
        count: 1,
        repeats,
        first: sentAt,
        last: sentAt,
      }
    }),
  )
}
