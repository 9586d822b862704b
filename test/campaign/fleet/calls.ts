import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { QuotaWindow } from '../../../src/sandbox/service/state.ts'

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

/** The highest number of `moments` in any interval of the window's length. */
export function maxInWindow(moments: readonly number[], { seconds }: QuotaWindow): number {
  let max = 0
  let first = 0
  for (const [at, moment] of moments.entries()) {
    while ((moments[first] ?? moment) <= moment - seconds * 1000) first += 1
    max = Math.max(max, at - first + 1)
  }
  return max
}
