import type { Clock } from '../../host/clock.ts'
import type { ArrivalKind, Inbox } from '../../store/ledger/inbox.ts'

/**
 * A sleep that ends early when another process adds data to the store, if the store announces it. Callers poll as
 * well, so that a missing announcement only makes the sleep longer.
 */
export class WakeableSleep {
  readonly #clock: Pick<Clock, 'sleep'>
  #wakeController: AbortController | undefined
  #isWoken = false

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock
  }

  /** Subscribes to announcements of the store. Throws if the store cannot announce them now. */
  async listen(
    inbox: Pick<Inbox, 'onArrival'> | undefined,
    arrival: Exclude<ArrivalKind, ''>,
  ): Promise<void> {
    await inbox?.onArrival?.((announced) => {
      if (announced === '' || announced === arrival) this.wake()
    })
  }

  /** Ends the current sleep, or the next one at its start. */
  wake(): void {
    this.#isWoken = true
    this.#wakeController?.abort()
  }

  /**
   * Sleeps for at most `ms`. Returns true if it was woken during this sleep or since the last one. Rejects with the
   * signal's reason.
   */
  async sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
    this.#wakeController = new AbortController()
    const signals =
      signal === undefined ? [this.#wakeController.signal] : [signal, this.#wakeController.signal]
    if (!this.#isWoken) {
      await this.#clock.sleep(ms, AbortSignal.any(signals)).catch((error: unknown) => {
        if (signal?.aborted === true || this.#wakeController?.signal.aborted !== true) throw error
      })
    }
    this.#wakeController = undefined
    const isWoken = this.#isWoken
    this.#isWoken = false
    return isWoken
  }
}
