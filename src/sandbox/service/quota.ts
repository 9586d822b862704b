/** One of the limits on calls: a fixed window. */
export interface QuotaWindow {
  calls: number
  seconds: number
}

/** "60 requests per 60-second fixed window" and "1000 requests per 1-hour fixed window", per API key. */
export const documentedQuota: readonly QuotaWindow[] = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

/** How far one window of one key is filled. */
export interface WindowUse {
  started_at: number
  used: number
}

export interface QuotaChoices {
  /** Whether a window starts with the first call in it, or on the clock's own full minute and hour. */
  start: 'first-call' | 'clock'
  /** Whether a call that was refused with 429 uses up the quota further. */
  refusedCounts: boolean
}

/** The windows of one key at `now`: those that are over are empty again. */
export function currentUse(
  uses: readonly WindowUse[],
  windows: readonly QuotaWindow[],
  now: number,
  start: QuotaChoices['start'],
): WindowUse[] {
  return windows.map(({ seconds }, index) => {
    const length = seconds * 1000
    const use = uses[index]
    if (use !== undefined && now >= use.started_at && now < use.started_at + length) return use
    return { started_at: start === 'clock' ? Math.floor(now / length) * length : now, used: 0 }
  })
}

/**
 * Whole seconds left in the window that stands in the way; 0 when none does. Where several do, the
 * longest wait is told: after a shorter one the next call would be refused again.
 */
export function secondsToWait(
  uses: readonly WindowUse[],
  windows: readonly QuotaWindow[],
  now: number,
): number {
  let wait = 0
  for (const [index, { calls, seconds }] of windows.entries()) {
    const use = uses[index]
    if (use === undefined || use.used < calls) continue
    wait = Math.max(wait, Math.ceil((use.started_at + seconds * 1000 - now) / 1000))
  }
  return wait
}
