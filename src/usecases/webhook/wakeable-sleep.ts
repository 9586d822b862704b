import type { Clock } from '../../host/clock.ts'
import type { Arrival, Inbox } from '../../store/ledger/inbox.ts'

/**
 * Sleep that ends when other processes have added something to the store, where the store announces it: in addition to polling,
 * so that no sleep is longer than without it.
 */
export class WakeableSleep {
  readonly #clock: Pick<Clock, 'sleep'>
  #wake: AbortController | undefined
  #isWoken = false

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock
  }

  /** Throws where the store cannot be listened to now. */
  async listen(inbox: Pick<Inbox, 'onArrival'> | undefined, to: Exclude<Arrival, ''>): Promise<void> {
    await inbox?.onArrival?.((what) => {
      if (what === '' || what === to) this.wake()
    })
  }

  /** Something new is there. */
  wake(): void {
    this.#isWoken = true
    this.#wake?.abort()
  }

  /** Whether there was news, now or since the sleep before. Rejects with the signal's reason. */
  async sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
    this.#wake = new AbortController()
    const signals = signal === undefined ? [this.#wake.signal] : [signal, this.#wake.signal]
    if (!this.#isWoken) {
      await this.#clock.sleep(ms, AbortSignal.any(signals)).catch((error: unknown) => {
        if (signal?.aborted === true || this.#wake?.signal.aborted !== true) throw error
      })
    }
    this.#wake = undefined
    const isWoken = this.#isWoken
    this.#isWoken = false
    return isWoken
  }
}
