import type { Stop, StopReason } from '../submission/match.ts'
import type { SubmissionState } from '../submission/states.ts'

/** What stands in the way of a batch's duplicates and held rows, as it stands now. */
export interface Stops {
  /** Duplicates of what may or may not have been ordered, and a batch of those. */
  unknown: OfBatch
  /** Duplicates of rows that are pending or in flight elsewhere. */
  waiting: OfBatch
  /** Duplicates of what was accepted, and when the first and the last of those were sent. */
  ordered: { count: number; first: number | undefined; last: number | undefined }
  /** Held rows by what they are held for. */
  held: Partial<Record<StopReason, number>>
}

export interface OfBatch {
  count: number
  batchId: string | undefined
}

export function noStops(): Stops {
  return {
    unknown: { count: 0, batchId: undefined },
    waiting: { count: 0, batchId: undefined },
    ordered: { count: 0, first: undefined, last: undefined },
    held: {},
  }
}

/** Duplicates of orders in one state, and of a held row what it is held for. */
export interface StopGroup {
  heldFor?: StopReason | undefined
  /** Of the order in the way; undefined where no store has it. */
  state: SubmissionState | undefined
  batchId: string | undefined
  count: number
  /** When the first and the last of those orders were sent; undefined where nobody said. */
  first: number | undefined
  last: number | undefined
}

/** Counts what stands in the way of a batch's rows; a duplicate of a row of its own that waits is no other batch's. */
export function stopsIn(groups: Iterable<StopGroup>, ownBatchId?: string): Stops {
  const stops = noStops()
  for (const { heldFor, state, batchId, count, first, last } of groups) {
    if (heldFor !== undefined) {
      stops.held[heldFor] = (stops.held[heldFor] ?? 0) + count
    } else if (state === 'unknown' || state === 'dropped') {
      stops.unknown = { count: stops.unknown.count + count, batchId }
    } else if (state === 'accepted') {
      const { ordered } = stops
      ordered.count += count
      if (first !== undefined) ordered.first = Math.min(ordered.first ?? first, first)
      if (last !== undefined) ordered.last = Math.max(ordered.last ?? last, last)
    } else if (batchId !== ownBatchId && (state === 'pending' || state === 'sending')) {
      stops.waiting = { count: stops.waiting.count + count, batchId }
    }
  }
  return stops
}

/** What stands in the way of the duplicates of a file that is only planned. */
export function stopsOf(duplicates: readonly Stop[]): Stops {
  return stopsIn(
    duplicates.map(({ order: { state, batchId, attemptedAt, changedAt } }) => {
      const at = attemptedAt ?? changedAt
      return { state, batchId, count: 1, first: at, last: at }
    }),
  )
}
