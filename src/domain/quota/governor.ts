import { ThrottledError } from '../../errors/throttled.ts'
import type { Clock } from '../../host/clock.ts'
import type { Quota, QuotaPlace } from '../../store/ledger/quota.ts'
import { bookOf, type CallKind, claim, learn, record, standing, type WindowStanding } from './book.ts'
import type { QuotaWindow } from './windows.ts'

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
  take(kind: CallKind, options?: TakeOptions): Promise<void>
  /** A create's place, to be taken in one step with what is journaled. */
  place(): QuotaPlace
  /** Calls that were made without asking. */
  count(calls: number): Promise<void>
  /** A 429 said so. */
  throttled(seconds: number): Promise<void>
  standing(): Promise<{ windows: WindowStanding[]; notBefore: number }>
}

export interface TakeOptions {
  signal?: AbortSignal | undefined
  /** Milliseconds; Infinity unless told. */
  budgetMs?: number | undefined
  /** Before each wait, in ms. */
  onWait?: ((waitMs: number) => void) | undefined
}

export function governor({ quota, account, windows, clock }: GovernorOptions): Governor {
  const placeFor = (kind: CallKind): QuotaPlace => ({
    account,
    decide: (state) => claim(bookOf(state, windows), kind, clock.now()),
  })
  return {
    async take(kind, { signal, budgetMs = Number.POSITIVE_INFINITY, onWait } = {}) {
      const deadline = clock.monotonic() + budgetMs
      for (;;) {
        signal?.throwIfAborted()
        const { waitMs } = await quota.update(placeFor(kind))
        if (waitMs === 0) return
        if (clock.monotonic() + waitMs > deadline) throw tooLong(waitMs)
        onWait?.(waitMs)
        await clock.sleep(waitMs, signal)
      }
    },
    place: () => placeFor('create'),
    async count(calls) {
      await quota.update({
        account,
        decide: (state) => ({ state: record(bookOf(state, windows), calls, clock.now()), waitMs: 0 }),
      })
    },
    async throttled(seconds) {
      await quota.update({
        account,
        decide: (state) => ({ state: learn(bookOf(state, windows), seconds, clock.now()), waitMs: 0 }),
      })
    },
    async standing() {
      return standing(bookOf(await quota.read(account), windows), clock.now())
    },
  }
}

function tooLong(waitMs: number): ThrottledError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ThrottledError(`the quota is used up for the next ${seconds} s`, {
    retryAfter: seconds,
    hint: `Nothing was sent. Run it again in ${seconds} s, or allow the wait with a longer --timeout.`,
  })
}
