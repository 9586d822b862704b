import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { QuotaWindow } from '../../../src/sandbox/service/state.ts'

/** The calls that the sandbox received. */
export interface Calls {
  /** Times of accepted orders in ms, ascending. */
  createTimes: readonly number[]
  /** Times of all calls that count against the quota. */
  allTimes: readonly number[]
  /** Number of answers with status 429. */
  throttled: number
}

/** Records every call to the sandbox from now on. The result is updated with each call. */
export function recordCalls(sandbox: Sandbox): Calls {
  const calls = { createTimes: [] as number[], allTimes: [] as number[], throttled: 0 }
  sandbox.log.subscribe((entry) => {
    if (entry.kind !== 'call' || entry.path.startsWith('/v1/reports/')) return
    if (entry.status === 429) calls.throttled += 1
    else calls.allTimes.push(entry.at)
    if (entry.status === 201 && entry.path === '/v1/requests') calls.createTimes.push(entry.at)
  })
  return calls
}

/** Returns the highest number of `times` in any interval of the window's length. */
export function maxInWindow(times: readonly number[], { seconds }: QuotaWindow): number {
  let max = 0
  let first = 0
  for (const [index, time] of times.entries()) {
    while ((times[first] ?? time) <= time - seconds * 1000) first += 1
    max = Math.max(max, index - first + 1)
  }
  return max
}
