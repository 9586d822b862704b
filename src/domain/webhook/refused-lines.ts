/** So many refused deliveries have a line each. */
const singleLines = 10
const pauseMs = 60_000

/**
 * What a receiver says of deliveries that it refused: of the first ones each, then once a minute how many there were. Who has no
 * secret could else fill the disk of its log.
 */
export class RefusedLines {
  #lines = 0
  #lastAt = 0
  #waiting = 0
  #lastReason = ''

  /** The line to print now; undefined where it waits. `now`: of a clock that never goes back. */
  refused(reason: string, now: number): string | undefined {
    this.#waiting += 1
    this.#lastReason = reason
    if (this.#lines >= singleLines && now - this.#lastAt < pauseMs) return undefined
    this.#lines += 1
    this.#lastAt = now
    return this.rest()
  }

  /** The line about those that none was printed of; undefined where there are none. */
  rest(): string | undefined {
    const count = this.#waiting
    this.#waiting = 0
    if (count === 0) return undefined
    if (count === 1) return `Refused a delivery: ${this.#lastReason}.`
    return `Refused ${count} deliveries more, the last one: ${this.#lastReason}.`
  }
}
