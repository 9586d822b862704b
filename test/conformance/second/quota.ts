import type { Call, Behaviour } from './behaviour.ts'

export interface Window {
  calls: number
  ms: number
}

/** Counts the calls of each scope in windows. */
export class Quota {
  readonly #behaviour: Behaviour
  readonly #windows: readonly Window[]
  readonly #calls = new Map<string, { startedAt: number; callTimes: number[] }>()

  constructor(behaviour: Behaviour, windows: readonly Window[]) {
    this.#behaviour = behaviour
    this.#windows = windows
  }

  /** Counts a call. Returns the milliseconds until the end of a breached window, or undefined if the call is allowed. */
  count(call: Call, now: number): number | undefined {
    if (!this.#behaviour.isCounted(call)) return undefined
    const states = this.#windows.map((window) => ({
      window,
      state: this.#findOrStartWindow(call, window, now),
    }))
    for (const { window, state } of states) {
      if (state.callTimes.length < window.calls + this.#behaviour.extraCalls) continue
      const startedAt =
        this.#behaviour.windowKind === 'sliding' ? (state.callTimes[0] ?? now) : state.startedAt
      return startedAt + window.ms - now
    }
    for (const { state } of states) state.callTimes.push(now)
    return undefined
  }

  /** Returns the state of the window in which a call is counted. */
  #findOrStartWindow(call: Call, { ms }: Window, now: number) {
    const name = `${ms} ${this.#behaviour.scopeOf(call)}`
    const stored = this.#calls.get(name)
    if (this.#behaviour.windowKind === 'sliding') {
      const state = { startedAt: now, callTimes: (stored?.callTimes ?? []).filter((time) => now - time < ms) }
      this.#calls.set(name, state)
      return state
    }
    if (stored !== undefined && now < stored.startedAt + ms) return stored
    const startedAt = this.#behaviour.windowKind === 'clock' ? now - (now % ms) : now
    const created = { startedAt, callTimes: [] }
    this.#calls.set(name, created)
    return created
  }
}
