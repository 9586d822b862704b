/**
 * A request is read again after a tenth of the time that it has stood still, from a second to two minutes.
 * So a change is noticed within a tenth of the time it took, and reads grow with the logarithm of that time.
 */
const pause = { share: 0.1, leastMs: 1000, mostMs: 120_000 }

/** With a receiver that tells of changes, in case that it has stopped: half of what loops may read at most. */
export const safetyPause = { leastMs: 300_000, perRequestMs: 10_000 }

/** Events that came shortly before a wait began belong to it. */
export const earlierMs = 60_000

export function pauseAfter(stoodMs: number): number {
  return Math.min(pause.mostMs, Math.max(pause.leastMs, Math.ceil(stoodMs * pause.share)))
}
