import type { Clock } from '../../../src/host/clock.ts'

export interface VirtualClock extends Clock {
  /** Every wait asked for, in milliseconds. */
  readonly waits: number[]
  /** Lets time go by on one or both clocks. */
  pass(ms: number, which?: 'both' | 'wall' | 'monotonic'): void
}

/** Time that goes by only when somebody sleeps, or a test says so. */
export function virtualClock(start = Date.UTC(2026, 10, 21, 9, 30)): VirtualClock {
  let wall = start
  let monotonic = 1_000
  const waits: number[] = []
  return {
    waits,
    now: () => wall,
    monotonic: () => monotonic,
    sleep(ms, signal) {
      waits.push(ms)
      if (signal?.aborted) return Promise.reject(new Error('aborted'))
      wall += ms
      monotonic += ms
      return Promise.resolve()
    },
    pass(ms, which = 'both') {
      if (which !== 'monotonic') wall += ms
      if (which !== 'wall') monotonic += ms
    },
  }
}
