import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { QuotaWindow } from '../../../src/sandbox/service/state.ts'

export interface Calls {
  /** Moments in ms, in order. */
  creates: readonly number[]
  /** All that the service counts. */
  all: readonly number[]
  /** Answers that report an exceeded quota. */
  throttled: number
}

/** What the service's log has of every call, from now on. */
export function watched(sandbox: Sandbox): Calls {
  const calls = { creates: [] as number[], all: [] as number[], throttled: 0 }
  sandbox.log.subscribe((entry) => {
    if (entry.kind !== 'call' || entry.path.startsWith('/v1/reports/')) return
    if (entry.status === 429) calls.throttled += 1
    else calls.all.push(entry.at)
    if (entry.status === 201 && entry.path === '/v1/requests') calls.creates.push(entry.at)
  })
  return calls
}

/** The most in any stretch of a window's length, wherever it begins. */
export function fullest(moments: readonly number[], { seconds }: QuotaWindow): number {
  let max = 0
  let first = 0
  for (const [at, moment] of moments.entries()) {
    while ((moments[first] ?? moment) <= moment - seconds * 1000) first += 1
    max = Math.max(max, at - first + 1)
  }
  return max
}
