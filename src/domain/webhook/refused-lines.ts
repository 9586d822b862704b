/** So many refused deliveries have a line each. */
const singleLines = 10
const pauseMs = 60_000

/**
 * What a receiver says of deliveries that it refused: of the first ones each, then once a minute how many there were. Who has no
 * secret could else fill the disk of its log.
 */
export class RefusedLines {
  readonly #print: (line: string) => void
  #lines = 0
  #lastAt = 0
  #waiting = 0
  #lastReason = ''

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  /** `now`: of a clock that never goes back. */
  add(reason: string, now: number): void {
    this.#waiting += 1
    this.#lastReason = reason
    if (this.#lines >= singleLines && now - this.#lastAt < pauseMs) return
    this.#lines += 1
    this.#lastAt = now
    this.end()
  }

  /** Prints the line about those that none was printed of. */
  end(): void {
    const count = this.#waiting
    this.#waiting = 0
    if (count === 1) this.#print(`Refused a delivery: ${this.#lastReason}.`)
    if (count > 1) this.#print(`Refused ${count} deliveries more, the last one: ${this.#lastReason}.`)
  }
}
