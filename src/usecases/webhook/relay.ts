import type { Clock } from '../../host/clock.ts'
import type { InboxEvent } from '../../domain/webhook/inbox-event.ts'
import { type Delivered, type NextTry, retryAfter } from '../../domain/webhook/retry.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'

export interface RelayOptions {
  inbox: Inbox
  clock: Clock
  deliver: (event: InboxEvent) => Promise<Delivered>
  /** Ends the relay after what is in flight. */
  signal: AbortSignal
  /** An event that was refused so often is dropped; undefined: it is tried until it is taken. */
  mostAttempts?: number | undefined
  onDelivered: (event: InboxEvent, delivered: Delivered, next: NextTry) => void
}

const sideBySide = 8

/** Other processes put events into the inbox as well. */
const lookEveryMs = 1_000

/** Hands events on until they are taken: in order within a request, requests side by side. */
export class Relay {
  readonly #options: RelayOptions
  /** What was taken although the store could not note it: forwarded once all the same, while this lives. */
  readonly #unnoted = new Map<number, Delivered>()
  #wake: (() => void) | undefined
  #nudged = false

  constructor(options: RelayOptions) {
    this.#options = options
  }

  /** Something new is there. */
  nudge(): void {
    this.#nudged = true
    this.#wake?.()
  }

  /**
   * Until the signal is aborted, or with `untilEmpty` until nothing waits any more. Throws what the store
   * throws, once nothing is in flight; it may be run again after that.
   */
  async run(untilEmpty: () => boolean): Promise<void> {
    const { inbox, clock, signal } = this.#options
    while (!signal.aborted) {
      this.#nudged = false
      const due = await inbox.due(clock.now(), sideBySide)
      const ends = await Promise.allSettled(due.map((event) => this.#handOn(event)))
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      if (due.length > 0) continue
      const next = await inbox.nextDue()
      if (next === undefined && untilEmpty()) return
      await this.#pause(
        Math.min(lookEveryMs, next === undefined ? lookEveryMs : Math.max(1, next - clock.now())),
      )
    }
  }

  async #handOn(event: InboxEvent): Promise<void> {
    const { inbox, clock, deliver, onDelivered } = this.#options
    const delivered = this.#unnoted.get(event.id) ?? (await deliver(event))
    const now = clock.now()
    if (delivered.taken) {
      this.#unnoted.set(event.id, delivered)
      await inbox.forwarded(event.id, now, delivered.answer)
      this.#unnoted.delete(event.id)
      return onDelivered(event, delivered, undefined)
    }
    const next = retryAfter(event.attempts + 1, this.#options.mostAttempts)
    if (next === 'dropped') await inbox.drop(event.id, delivered.answer)
    else await inbox.refused(event.id, now + next, delivered.answer)
    onDelivered(event, delivered, next)
  }

  async #pause(ms: number): Promise<void> {
    const { clock, signal } = this.#options
    if (this.#nudged) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    try {
      await clock.sleep(ms, AbortSignal.any([signal, woken.signal]))
    } catch {
      // Woken, or at the end: either way there is a look to be had.
    } finally {
      this.#wake = undefined
    }
  }
}
