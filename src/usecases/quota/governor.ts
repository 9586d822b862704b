import {
  bookOf,
  type CallKind,
  claim,
  emptyBook,
  type QuotaBook,
  record,
  secondsForCreates,
  quotaStatus,
  type WindowStatus,
  withThrottle,
} from '../../domain/quota/book.ts'
import { type QuotaPriority, quotaUsedUp, type QuotaWindow } from '../../domain/quota/windows.ts'
import type { Clock } from '../../host/clock.ts'
import type { Quota } from '../../store/ledger/quota.ts'

export interface GovernorOptions {
  quota: Quota
  /** See Quota.account. */
  account: string
  windows: readonly QuotaWindow[]
  clock: Clock
}

/** Who may call next, among all processes on one store with one key. */
export interface Governor {
  /** Waits for a place and takes it. Throws ThrottledError where that takes longer than `budgetMs`. */
  claim(kind: CallKind, options?: ReserveOptions): Promise<void>
  /** A create's place, to be taken in one step with what is journaled. */
  place(): QuotaPriority
  /** Calls that were made without asking. */
  count(calls: number): Promise<void>
  /** A 429 said so; `understood` is false where the wait was assumed. */
  throttled(seconds: number, understood?: boolean): Promise<void>
  status(): Promise<{ windows: WindowStatus[]; notBefore: number }>
  /**
   * Seconds until the last of so many creates has its place, as far as this process has seen the book; `callMs`: what
   * one of them takes besides.
   */
  secondsFor(creates: number, callMs?: number): number
}

export interface ReserveOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds; default Infinity. */
  budgetMs?: number | undefined
  /** Before each wait, in ms. */
  onWait?: ((waitMs: number) => void) | undefined
}

/**
 * The book in the store is judged by the wall clock that all processes share (a database's own), and which may jump. What
 * this process did and received is stored a second time, by its monotonic clock; a call needs room in
 * both. So a clock set forward never sends this process early, and one set back delays it no longer
 * than a window (see the book).
 */
export function governor({ quota, account, windows, clock }: GovernorOptions): Governor {
  const startedAt = clock.now() - clock.monotonic()
  const steady = (): number => startedAt + clock.monotonic()
  let own = emptyBook(windows)
  // As it was last seen, and how far its clock was from this one.
  let seen: { book: QuotaBook; ahead: number } | undefined
  const see = (book: QuotaBook, now: number): void => {
    seen = { book, ahead: now - clock.now() }
  }
  const priorityOf = (kind: CallKind): QuotaPriority => ({
    account,
    decide: (state, now = clock.now()) => {
      const mine = claim(own, kind, steady())
      const ours = claim(bookOf(state, windows), kind, now)
      if (mine.waitMs > 0) {
        own = mine.state
        // A wait in the shared book too, so that polls of others yield; no place is taken there.
        const book = ours.waitMs > 0 ? ours.state : bookOf(state, windows)
        return { state: book, waitMs: Math.max(mine.waitMs, ours.waitMs) }
      }
      if (ours.waitMs === 0) own = mine.state
      see(ours.state, now)
      return ours
    },
  })
  const write = async (change: (book: QuotaBook, now: number) => QuotaBook): Promise<void> => {
    own = change(own, steady())
    await quota.update({
      account,
      decide: (state, now = clock.now()) => ({ state: change(bookOf(state, windows), now), waitMs: 0 }),
    })
  }
  return {
    async claim(kind, { signal, budgetMs = Number.POSITIVE_INFINITY, onWait } = {}) {
      const deadline = clock.monotonic() + budgetMs
      for (;;) {
        signal?.throwIfAborted()
        const { waitMs } = await quota.update(priorityOf(kind))
        if (waitMs === 0) return
        if (clock.monotonic() + waitMs > deadline) throw quotaUsedUp(waitMs)
        onWait?.(waitMs)
        await clock.sleep(waitMs, signal)
      }
    },
    place: () => priorityOf('create'),
    count: (calls) => write((book, now) => record(book, calls, now)),
    throttled: (seconds, understood = true) =>
      write((book, now) => withThrottle(book, seconds, now, understood)),
    async status() {
      const { state, now = clock.now() } = await quota.read(account)
      const book = bookOf(state, windows)
      see(book, now)
      return quotaStatus(book, now)
    },
    secondsFor(creates, callMs) {
      const mine = secondsForCreates(own, creates, steady(), callMs)
      if (seen === undefined) return mine
      return Math.max(mine, secondsForCreates(seen.book, creates, clock.now() + seen.ahead, callMs))
    },
  }
}
