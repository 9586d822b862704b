import { ThrottledError } from '../errors/kinds.ts'
import type { Clock } from '../host/clock.ts'
import type { Random } from '../host/random.ts'
import { TransportError } from './failure.ts'
import type { HttpResponse } from './types.ts'

/** A wait or a retry that the user should see while a call continues. */
export type RetryEvent =
  /** `isStated` is false if the 429 stated no readable wait, so that a wait was assumed. */
  | { kind: 'throttled'; seconds: number; isStated: boolean }
  | { kind: 'retry'; attempt: number; of: number; seconds: number; reason: string }

export interface RetryPolicy {
  clock: Clock
  random: Random
  /** Milliseconds that all waits of one call may take together; Infinity for no limit. */
  budgetMs: number
  /** Returns the wait that a 429 states, or an assumed one if it states none. */
  retryAfter(response: { headers: HttpResponse['headers'] }): { seconds: number; isStated: boolean }
  onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called for every 429, even if the call does not wait. */
  onThrottled?: ((seconds: number, isStated: boolean) => void) | undefined
  signal?: AbortSignal | undefined
}

/**
 * "A GET is sent at most 4 times" (src/docs/cli.md, "Flags of every command"). Calls that get a 429 do not count.
 */
const maxAttempts = 4
const firstBackoffMs = 500
const maxBackoffMs = 8_000

/**
 * Repeats a read after a connection error or a 5xx, with a limited and random backoff, and waits on a 429. The last
 * failed response is returned, or its error thrown. Throws ThrottledError if the budget does not allow the wait on a
 * 429. Permanent failures (a certificate, a response that is too large) are not repeated. Never used for a create.
 */
export async function withRetries<T extends { status: number; headers: HttpResponse['headers'] }>(
  attempt: () => Promise<T>,
  policy: RetryPolicy,
): Promise<T> {
  const deadline = policy.clock.monotonic() + policy.budgetMs
  const remainingMs = (): number => deadline - policy.clock.monotonic()
  for (let attemptCount = 1; ;) {
    const outcome = await attempt().catch((error: unknown) => {
      if (error instanceof TransportError) return error
      throw error
    })
    const isFailure = outcome instanceof TransportError
    if (!isFailure && outcome.status === 429) {
      await waitForQuota(outcome, policy, remainingMs())
      continue
    }
    const backoff = randomBackoffMs(attemptCount, policy.random)
    const isWorthRepeating = isFailure ? !outcome.permanent : outcome.status >= 500
    if (!isWorthRepeating || attemptCount >= maxAttempts || backoff > remainingMs()) {
      if (isFailure) throw outcome
      return outcome
    }
    attemptCount += 1
    policy.onRetry?.({
      kind: 'retry',
      attempt: attemptCount,
      of: maxAttempts,
      seconds: backoff / 1000,
      reason: isFailure ? outcome.message : `answer ${outcome.status}`,
    })
    await policy.clock.sleep(backoff, policy.signal)
  }
}

/** Waits for as long as a 429 states. Throws a ThrottledError if that is more than `remainingMs`. */
async function waitForQuota(
  answer: { headers: HttpResponse['headers'] },
  policy: RetryPolicy,
  remainingMs: number,
): Promise<void> {
  const { seconds, isStated } = policy.retryAfter(answer)
  policy.onThrottled?.(seconds, isStated)
  if (seconds * 1000 > remainingMs) {
    throw new ThrottledError(`the quota is used up for the next ${seconds} s`, {
      status: 429,
      retryAfter: seconds,
      hint: `Run it again in ${seconds} s, or wait automatically with a longer --timeout.`,
    })
  }
  policy.onRetry?.({ kind: 'throttled', seconds, isStated })
  await policy.clock.sleep(seconds * 1000, policy.signal)
}

/** Returns a wait of which half is random, so that several processes do not retry at the same time. */
function randomBackoffMs(attemptCount: number, random: Random): number {
  const maxWaitMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** (attemptCount - 1))
  return Math.round(maxWaitMs / 2 + (maxWaitMs / 2) * random.fraction())
}
