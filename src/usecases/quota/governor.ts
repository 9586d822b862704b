import {
  bookOf,
  type CallKind,
  claimCall,
  emptyBook,
  type QuotaBook,
  recordCalls,
  secondsForCreates,
  quotaStatus,
  type WindowStatus,
  withThrottle,
} from '../../domain/quota/book.ts'
import { type QuotaClaim, quotaExceededError, type QuotaWindow } from '../../domain/quota/windows.ts'
import type { Clock } from '../../host/clock.ts'
import type { Quota } from '../../store/ledger/quota.ts'

export interface GovernorOptions {
  quota: Quota
  /** The fingerprint of the service's origin and the API key, as in `Quota.account`. */
  account: string
  windows: readonly QuotaWindow[]
  clock: Clock
}

/** Distributes the quota among all processes on one store that use the same key. */
export interface Governor {
  readonly account: GovernorOptions['account']
  /**
   * Waits until the quota allows a call, and counts it. Throws ThrottledError if this takes longer than `budgetMs`.
   */
  claim(kind: CallKind, options?: ClaimOptions): Promise<void>
  /** Returns the claim of a create, which the store carries out in the transaction that journals the attempt. */
  claimForCreate(): QuotaClaim
  /** Counts calls that were made without a claim. */
  count(calls: number): Promise<void>
  /**
   * Records the wait of a 429. `isStated` is false if the 429 stated no readable wait, so that a wait was
   * assumed.
   */
  recordThrottle(seconds: number, isStated?: boolean): Promise<void>
  status(): Promise<{ windows: WindowStatus[]; notBefore: number }>
  /**
   * Returns the seconds until the last of this number of creates can be sent, according to the book as this process
   * has last read it. `callMs`: the duration of one call.
   */
  secondsFor(creates: number, callMs?: number): number
}

export interface ClaimOptions {
  signal?: AbortSignal | undefined
  /** Maximum wait in milliseconds; default Infinity. */
  budgetMs?: number | undefined
  /** Called before each wait, with its milliseconds. */
  onWait?: ((waitMs: number) => void) | undefined
}

/**
 * The shared book in the store uses the wall clock that all processes share (or the database's), which may jump. The
 * calls of this process are recorded a second time by its monotonic clock, and a call must be allowed by both books.
 * So a clock that is set forward never lets this process send early, and a clock that is set back delays it by at
 * most one window (see domain/quota/book.ts).
 */
export function createGovernor({ quota, account, windows, clock }: GovernorOptions): Governor {
  const startedAt = clock.now() - clock.monotonic()
  const monotonicNow = (): number => startedAt + clock.monotonic()
  let ownBook = emptyBook(windows)
  // The shared book as last read, and the difference of its clock from this machine's clock.
  let lastRead: { book: QuotaBook; aheadMs: number } | undefined
  const rememberBook = (book: QuotaBook, now: number): void => {
    lastRead = { book, aheadMs: now - clock.now() }
  }
  const claimOf = (kind: CallKind): QuotaClaim => ({
    account,
    decide: (state, now = clock.now()) => {
      const ownClaim = claimCall(ownBook, kind, monotonicNow())
      const sharedClaim = claimCall(bookOf(state, windows), kind, now)
      if (ownClaim.waitMs > 0) {
        ownBook = ownClaim.state
        // If the shared book requires a wait as well, the wait is recorded there, so that polls of other processes yield.
        // Otherwise the shared book stays as it is, because no call is made.
        const book = sharedClaim.waitMs > 0 ? sharedClaim.state : bookOf(state, windows)
        return { state: book, waitMs: Math.max(ownClaim.waitMs, sharedClaim.waitMs) }
      }
      if (sharedClaim.waitMs === 0) ownBook = ownClaim.state
      rememberBook(sharedClaim.state, now)
      return sharedClaim
    },
  })
  const updateBooks = async (change: (book: QuotaBook, now: number) => QuotaBook): Promise<void> => {
    ownBook = change(ownBook, monotonicNow())
    await quota.update({
      account,
      decide: (state, now = clock.now()) => ({ state: change(bookOf(state, windows), now), waitMs: 0 }),
    })
  }
  return {
    account,
    async claim(kind, { signal, budgetMs = Number.POSITIVE_INFINITY, onWait } = {}) {
      const deadline = clock.monotonic() + budgetMs
      for (;;) {
        signal?.throwIfAborted()
        const { waitMs } = await quota.update(claimOf(kind))
        if (waitMs === 0) return
        if (clock.monotonic() + waitMs > deadline) throw quotaExceededError(waitMs)
        onWait?.(waitMs)
        await clock.sleep(waitMs, signal)
      }
    },
    claimForCreate: () => claimOf('create'),
    count: (calls) => updateBooks((book, now) => recordCalls(book, calls, now)),
    recordThrottle: (seconds, isStated = true) =>
      updateBooks((book, now) => withThrottle(book, seconds, now, isStated)),
    async status() {
      const { state, now = clock.now() } = await quota.read(account)
      const book = bookOf(state, windows)
      rememberBook(book, now)
      return quotaStatus(book, now)
    },
    secondsFor(creates, callMs) {
      const ownSeconds = secondsForCreates(ownBook, creates, monotonicNow(), callMs)
      if (lastRead === undefined) return ownSeconds
      return Math.max(
        ownSeconds,
        secondsForCreates(lastRead.book, creates, clock.now() + lastRead.aheadMs, callMs),
      )
    },
  }
}
