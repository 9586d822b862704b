import { longestPauseMs } from '../../domain/submission/attempt.ts'
import type { CreateAnswer } from '../../domain/submission/create-answer.ts'
import { type Outcome, outcomeOf } from '../../domain/submission/outcome.ts'
import type { Attempt, NewAttempt } from '../../domain/submission/submission.ts'
import { RefcheckError } from '../../errors/base.ts'
import { UnavailableError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { OrderPorts } from './ports.ts'

/** What an attempt that is about to begin is journaled with. */
export function newAttempt({ api, clock, random }: OrderPorts): NewAttempt {
  return {
    attemptId: random.uuid(),
    at: clock.now(),
    monotonic: clock.monotonic(),
    userEmail: api.userEmail,
  }
}

/**
 * Makes an attempt that has just been journaled: the bytes sent are the journaled ones. For its caller to do
 * once, and to journal the outcome.
 */
export async function sendAttempt({ api, clock }: OrderPorts, attempt: Attempt): Promise<Outcome> {
  if (!isFresh(attempt, clock)) {
    const error = new UnavailableError('more than 5 s passed between recording the order and sending it', {
      hint: 'Nothing was ordered. Run it again.',
    })
    return { kind: 'unsent', error }
  }
  return outcomeOf(await post(api, attempt.body))
}

/** The wall clock counts the time a machine was suspended; the other one knows when the wall clock was set back. */
function isFresh(attempt: Attempt, clock: Clock): boolean {
  return Math.max(clock.now() - attempt.at, clock.monotonic() - attempt.monotonic) <= longestPauseMs
}

/** No signal goes along: an exchange that has begun is finished, within its limits. */
async function post(api: OrderPorts['api'], body: Uint8Array): Promise<CreateAnswer> {
  try {
    return await api.createRequest(body)
  } catch (error) {
    const known = error instanceof RefcheckError ? error : undefined
    return { kind: 'lost', error: known ?? new UnavailableError('the connection broke', { cause: error }) }
  }
}
