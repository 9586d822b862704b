import { setImmediate, setTimeout } from 'node:timers/promises'

import type { Clock } from '../../host/clock.ts'

/** Milliseconds of real time that work such as a delivery gets before the clock advances further. */
const maxWorkMs = 250

interface Sleeper {
  wakeAt: number
  wake: () => void
}

/**
 * A clock that stands still until it is advanced. Timers that become due are then woken in order, each at its own
 * time.
 */
export class ManualClock implements Clock {
  #now: number
  #lastAdvance: Promise<void> = Promise.resolve()
  readonly #sleepers = new Set<Sleeper>()
  readonly #pendingWork = new Set<Promise<unknown>>()

  /** `start` is in milliseconds since the Unix epoch. */
  constructor(start: number) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  /** Sets the clock to the time of a stored state, without waking timers. */
  set(now: number): void {
    this.#now = now
  }

  monotonic(): number {
    return this.#now
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
      }
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const sleeper: Sleeper = { wakeAt: this.#now + Math.max(0, ms), wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Makes `advance` wait for this work, at most `maxWorkMs`, before the clock advances past it. */
  waitFor(work: Promise<unknown>): void {
    const finishedOrFailed = work.catch(() => {})
    this.#pendingWork.add(finishedOrFailed)
    void finishedOrFailed.then(() => this.#pendingWork.delete(finishedOrFailed))
  }

  /**
   * Advances by `ms`, rounded to whole milliseconds, because stored times have no fractions. Calls at the same time
   * run one after the other.
   */
  advance(ms: number): Promise<void> {
    this.#lastAdvance = this.#lastAdvance.then(() => this.#moveTo(this.#now + Math.max(0, Math.round(ms))))
    return this.#lastAdvance
  }

  async #moveTo(target: number): Promise<void> {
    for (;;) {
      await this.#awaitWork()
      const sleeper = this.#findEarliest()
      if (sleeper === undefined || sleeper.wakeAt > target) break
      this.#now = Math.max(this.#now, sleeper.wakeAt)
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
    this.#now = Math.max(this.#now, target)
  }

  /**
   * Waits until the woken timers have run and until the work that they began has ended or has taken too long.
   */
  async #awaitWork(): Promise<void> {
    await setImmediate()
    if (this.#pendingWork.size === 0) return
    const timeout = new AbortController()
    const timeoutReached = setTimeout(maxWorkMs, undefined, { signal: timeout.signal }).catch(() => {})
    await Promise.race([Promise.all(this.#pendingWork), timeoutReached])
    timeout.abort()
    this.#pendingWork.clear()
    await setImmediate()
  }

  /** Returns the sleeper that is due first; of those due at the same time the one that was added first. */
  #findEarliest(): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const sleeper of this.#sleepers)
      if (first === undefined || sleeper.wakeAt < first.wakeAt) first = sleeper
    return first
  }
}
