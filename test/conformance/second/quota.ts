import type { Asked, Knobs } from './knobs.ts'

export interface Window {
  calls: number
  ms: number
}

/** Counts calls in windows; all of one scope share them. */
export class Quota {
  readonly #knobs: Knobs
  readonly #windows: readonly Window[]
  readonly #calls = new Map<string, { startedAt: number; made: number[] }>()

  constructor(knobs: Knobs, windows: readonly Window[]) {
    this.#knobs = knobs
    this.#windows = windows
  }

  /** Milliseconds until the breached window is over; undefined where the call may pass. */
  count(asked: Asked, now: number): number | undefined {
    if (!this.#knobs.counts(asked)) return undefined
    const states = this.#windows.map((window) => ({ window, state: this.#state(asked, window, now) }))
    for (const { window, state } of states) {
      if (state.made.length < window.calls + this.#knobs.slack) continue
      const from = this.#knobs.window === 'sliding' ? (state.made[0] ?? now) : state.startedAt
      return from + window.ms - now
    }
    for (const { state } of states) state.made.push(now)
    return undefined
  }

  #state(asked: Asked, { ms }: Window, now: number) {
    const name = `${ms} ${this.#knobs.scope(asked)}`
    const known = this.#calls.get(name)
    if (this.#knobs.window === 'sliding') {
      const state = { startedAt: now, made: (known?.made ?? []).filter((at) => now - at < ms) }
      this.#calls.set(name, state)
      return state
    }
    if (known !== undefined && now < known.startedAt + ms) return known
    const startedAt = this.#knobs.window === 'clock' ? now - (now % ms) : now
    const fresh = { startedAt, made: [] }
    this.#calls.set(name, fresh)
    return fresh
  }
}
