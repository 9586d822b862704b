import type { Clock } from '../host/clock.ts'
import type { Control } from './target.ts'

/** How the suite lets time pass on the deployment: by advancing its clock, or by waiting. */
export interface Pace {
  /** Whether time stands still but for `pause`. */
  readonly exact: boolean
  /** Milliseconds since some moment. */
  now(): number
  pause(ms: number): Promise<void>
}

export function paceOf(control: Control, clock: Clock, signal: AbortSignal | undefined): Pace {
  const { advance } = control
  if (advance === undefined) {
    return { exact: false, now: () => clock.monotonic(), pause: (ms) => clock.sleep(ms, signal) }
  }
  let passed = 0
  return {
    exact: true,
    now: () => passed,
    async pause(ms) {
      signal?.throwIfAborted()
      const whole = Math.round(ms)
      passed += whole
      await advance(whole)
    },
  }
}
