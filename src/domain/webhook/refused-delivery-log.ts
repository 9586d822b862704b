/** The number of refused deliveries that have one line each. */
const maxSingleLines = 10
const summaryIntervalMs = 60_000

/**
 * Prints a line about each of the first refused deliveries, and then one summary per minute. Otherwise a sender
 * without the secret could fill the disk with the log of the receiver.
 */
export class RefusedDeliveryLog {
  readonly #print: (line: string) => void
  #lineCount = 0
  #lastLineAt = 0
  #unreportedCount = 0
  #lastReason = ''

  constructor(print: (line: string) => void) {
    this.#print = print
  }

  /** `now`: milliseconds of a monotonic clock. */
  add(reason: string, now: number): void {
    this.#unreportedCount += 1
    this.#lastReason = reason
    if (this.#lineCount >= maxSingleLines && now - this.#lastLineAt < summaryIntervalMs) return
    this.#lineCount += 1
    this.#lastLineAt = now
    this.flush()
  }

  /** Prints a line about the deliveries that no line has reported yet. */
  flush(): void {
    const count = this.#unreportedCount
    this.#unreportedCount = 0
    if (count === 1) this.#print(`Refused a delivery: ${this.#lastReason}.`)
    if (count > 1) this.#print(`Refused ${count} deliveries more, the last one: ${this.#lastReason}.`)
  }
}
