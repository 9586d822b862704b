import type { Clock } from '../../src/host/clock.ts'

interface Sleeper {
  dueMs: number
  wake(): void
}

/**
 * A clock that a test moves. A sleep ends when `advance` passes its end; with `auto` each sleep ends at once and
 * moves the clock by its duration. All times are in ms.
 */
export class ManualClock implements Clock {
  /** Durations of all calls of `sleep`, in sequence. */
  readonly sleeps: number[] = []
  readonly #auto: boolean
  readonly #sleepers = new Set<Sleeper>()
  #wall: number
  #elapsed = 0
  #onSleep: (() => void) | undefined

  constructor(options: { now?: number | undefined; auto?: boolean | undefined } = {}) {
    this.#wall = options.now ?? Date.UTC(2026, 10, 20, 12)
    this.#auto = options.auto ?? false
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#elapsed
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.sleeps.push(ms)
    if (this.#auto) {
      this.#move(ms)
      return
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason as Error)
      }
      const sleeper = {
        dueMs: this.#elapsed + ms,
        wake: (): void => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#onSleep?.()
    })
  }

  /** Number of sleeps that have not ended. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  /** Resolves once `count` sleeps are waiting at the same time. */
  async waitUntilSleeping(count = 1): Promise<void> {
    while (this.#sleepers.size < count) {
      await new Promise<void>((resolve) => {
        this.#onSleep = resolve
      })
    }
  }

  /** Moves both clocks forward, and ends the sleeps that are due, in the sequence of their times. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms
    for (;;) {
      const [next] = [...this.#sleepers].filter(({ dueMs }) => dueMs <= end).sort((a, b) => a.dueMs - b.dueMs)
      if (next === undefined) break
      this.#move(Math.max(0, next.dueMs - this.#elapsed))
      this.#sleepers.delete(next)
      next.wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#move(end - this.#elapsed)
  }

  /** Changes the wall clock only; the monotonic clock is unchanged. */
  jump(ms: number): void {
    this.#wall += ms
  }

  #move(ms: number): void {
    this.#wall += ms
    this.#elapsed += ms
  }
}
