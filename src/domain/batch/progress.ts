import type { BatchCounts } from './batch.ts'
import { quotaSeconds } from './estimate.ts'
import type { QuotaWindow } from '../quota/windows.ts'

/** How far a batch has come. */
export interface BatchProgress {
  counts: BatchCounts
  /** Of the rows that were to be sent at all. */
  settled: number
  toSend: number
  /** Until the last row has been sent, as things go now. */
  secondsLeft: number
}

/**
 * Counts as the person sees them move. `perSecond`: what this run has come to so far; the quota sets the
 * pace where that is slower.
 */
export function progressOf(
  counts: BatchCounts,
  windows: readonly QuotaWindow[],
  perSecond: number | undefined,
): BatchProgress {
  const toSend = counts.total - counts.invalid - counts.duplicate - counts.cancelled
  const byPace = perSecond === undefined || perSecond === 0 ? 0 : counts.pending / perSecond
  return {
    counts,
    settled: toSend - counts.pending - counts.sending,
    toSend,
    secondsLeft: Math.max(quotaSeconds(counts.pending, windows), byPace),
  }
}
