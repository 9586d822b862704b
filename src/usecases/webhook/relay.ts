import type { Clock } from '../../host/clock.ts'
import type { InboxEvent } from '../../domain/webhook/inbox-event.ts'
import { type Delivered, type NextTry, retryAfter } from '../../domain/webhook/retry.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import type { Hold } from '../../store/ledger/holds.ts'
import { News } from './news.ts'

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
  readonly #news: News

  constructor(options: RelayOptions) {
    this.#options = options
    this.#news = new News(options.clock)
  }

  /** Something new is there. */
  nudge(): void {
    this.#news.hear()
  }

  /**
   * Until the signal is aborted, or with `untilEmpty` until nothing waits any more; `lost`: until another may have the
   * hold. Throws what the store throws, once nothing is in flight; it may be run again after that.
   */
  async run(untilEmpty: () => boolean, hold?: Pick<Hold, 'isLost'>): Promise<'done' | 'lost'> {
    const { inbox, clock, signal } = this.#options
    while (!signal.aborted) {
      const due = await inbox.due(clock.now(), sideBySide)
      // After that question it is known: the connection may be another one since.
      if (hold?.isLost?.() === true) return 'lost'
      const ends = await Promise.allSettled(due.map((event) => this.#handOn(event)))
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      if (due.length > 0) continue
      const next = await inbox.nextDue()
      if (next === undefined && untilEmpty()) return 'done'
      const pauseMs = next === undefined ? lookEveryMs : Math.max(1, next - clock.now())
      // At the end of it there is nothing to tell: the loop ends.
      await this.#news.sleep(Math.min(lookEveryMs, pauseMs), signal).catch(() => undefined)
    }
    return 'done'
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
}
