const firstBackoffMs = 500
const longestBackoffMs = 30_000

/**
 * Milliseconds before an order that never left goes again. `attempt` counts from 1, `fraction` is in [0, 1):
 * half fixed, half random, so that several processes do not come back together.
 */
export function backoffMs(attempt: number, fraction: number): number {
  const ceiling = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1))
  return Math.round(ceiling / 2 + (ceiling / 2) * fraction)
}
