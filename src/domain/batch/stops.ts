import type { Stop, StopReason } from '../submission/match.ts'

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

/** What stands in the way of the duplicates of a file that is only planned. */
export function stopsOf(duplicates: readonly Stop[]): Stops {
  const stops = noStops()
  for (const { order } of duplicates) {
    if (order.state === 'unknown' || order.state === 'dropped') {
      stops.unknown = { count: stops.unknown.count + 1, batchId: order.batchId }
    } else if (order.state === 'accepted') {
      const at = order.attemptedAt ?? order.changedAt
      stops.ordered = {
        count: stops.ordered.count + 1,
        first: Math.min(stops.ordered.first ?? at, at),
        last: Math.max(stops.ordered.last ?? at, at),
      }
    } else stops.waiting = { count: stops.waiting.count + 1, batchId: order.batchId }
  }
  return stops
}
