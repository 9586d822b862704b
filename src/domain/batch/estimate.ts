import type { QuotaWindow } from '../quota/windows.ts'

/**
 * Seconds that so many creates take by quota alone: the rate of the longest window that they do not fit
 * into, since each shorter one fills it sooner. 0 where they fit into every window: 5,000 take five hours.
 */
export function quotaSeconds(orders: number, windows: readonly QuotaWindow[]): number {
  const tight = windows.filter(({ calls }) => orders > calls)
  return Math.max(0, ...tight.map(({ calls, seconds }) => (orders * seconds) / calls))
}
