import { claim, type QuotaBook } from './book.ts'

/** How much longer than a window its calls are held against it: a hundredth by which they are counted, and the way. */
const heldMs = (seconds: number): number => seconds * 1010 + Math.min((seconds * 1000) / 60, 10_000)

/**
 * Seconds until the last of so many creates has its place, by the same book that gives the places. `callMs`: what
 * one of them takes besides.
 */
export function secondsForCreates(kept: QuotaBook, creates: number, now: number, callMs = 0): number {
  if (creates <= 0) return 0
  const longest = kept.windows.reduce((one, other) => (other.seconds > one.seconds ? other : one))
  // As many as the longest window holds again come one such window later.
  const rounds = Math.floor((creates - 1) / longest.calls)
  let book = kept
  let at = now
  for (let left = creates - rounds * longest.calls; left > 0;) {
    const { state, waitMs } = claim(book, 'create', at)
    book = state
    if (waitMs === 0) left -= 1
    at += waitMs === 0 ? callMs : waitMs
  }
  const ofRounds = Math.max(rounds * heldMs(longest.seconds), rounds * longest.calls * callMs)
  return (at - now + ofRounds) / 1000
}
