import type { BatchCounts } from './batch.ts'

/** How far a batch has come. */
export interface BatchProgress {
  counts: BatchCounts
  /** Of the rows that were to be sent at all. */
  settled: number
  toSend: number
  /** Until the last row has been sent: see domain/quota/eta. */
  secondsLeft: number
}

/** Counts as the person sees them move. */
export function progressOf(counts: BatchCounts, secondsLeft: number): BatchProgress {
  const toSend = counts.total - counts.invalid - counts.duplicate - counts.cancelled
  return { counts, settled: toSend - counts.pending - counts.sending, toSend, secondsLeft }
}
