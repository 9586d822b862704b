import type { Clock } from '../host/clock.ts'
import type { Reporter } from './reporter.ts'

const usualEveryMs = 60_000

/** How far a long job has come: a line that changes in place on a terminal, elsewhere one every minute. */
export class Progress {
  readonly #reporter: Reporter
  readonly #clock: Clock
  readonly #everyMs: number
  #notedAt: number

  constructor(reporter: Reporter, clock: Clock, everyMs = usualEveryMs) {
    this.#reporter = reporter
    this.#clock = clock
    this.#everyMs = everyMs
    this.#notedAt = clock.monotonic()
  }

  show(text: string): void {
    this.#reporter.status(text)
    const now = this.#clock.monotonic()
    if (this.#reporter.isLive || now - this.#notedAt < this.#everyMs) return
    this.#notedAt = now
    this.#reporter.note(text)
  }
}
