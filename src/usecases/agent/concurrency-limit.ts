import { UsageError } from '../../errors/kinds.ts'

/** So many calls side by side keep the machine usable, and more than wait here are a program gone wild. */
const atOnce = 4
const maxWaiting = 100

/** Lets a few jobs run at a time, in the order they came. */
export class ConcurrencyLimit {
  readonly #waiting: (() => void)[] = []
  #running = 0

  async through<T>(signal: AbortSignal, job: () => Promise<T>): Promise<T> {
    if (this.#running >= atOnce) await this.#turn(signal)
    signal.throwIfAborted()
    this.#running += 1
    try {
      return await job()
    } finally {
      this.#running -= 1
      this.#waiting.shift()?.()
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= maxWaiting) {
      throw new UsageError('too many calls at once', { hint: 'Wait for the answers of some of them.' })
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      signal.addEventListener('abort', () => {
        const at = this.#waiting.indexOf(resolve)
        if (at !== -1) this.#waiting.splice(at, 1)
        resolve()
      })
    })
  }
}
