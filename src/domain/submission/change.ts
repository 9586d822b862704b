import { InternalError } from '../../errors/kinds.ts'
import { leftByDecision, leftByRetry, type SubmissionState, transitions } from './states.ts'

/** Who took a submission out of `unknown`, `dropped` or `accepted`, and why. */
export interface Decision {
  by: string
  why: string
}

interface Changed {
  /** Wall time. */
  at: number
  /** The HTTP status of the answer that led to it. */
  answerStatus?: number | undefined
  /**
   * Needed for every way out of `unknown`, `dropped` and `accepted`, and where proof of an earlier attempt makes a pending row
   * accepted.
   */
  decision?: Decision | undefined
}

/** What a submission becomes. `sending` is reached by `begin` alone, `held` and `duplicate` by comparing. */
export type Change =
  | (Changed & { to: 'pending' | 'cancelled' | 'dropped'; reason: string })
  | (Changed & { to: 'accepted'; requestId: string; requestStatus: string })
  | (Changed & { to: 'rejected'; reason: string; field?: string | undefined })
  | (Changed & { to: 'unknown'; reason: string; offeredId?: string | undefined })

/** Throws an InternalError for a change that the table of states does not know. `by`: what makes it. */
export function refuseImpossible(
  from: SubmissionState,
  to: SubmissionState,
  by: 'call' | 'decision' | 'comparing' | 'retry',
): void {
  if (!transitions[from].includes(to) || leftByRetry.includes(from) !== (by === 'retry')) {
    throw new InternalError(`a submission cannot go from "${from}" to "${to}"`)
  }
  const isDecided =
    leftByDecision.includes(from) || from === 'accepted' || (from === 'pending' && to === 'accepted')
  if (isDecided !== (by === 'decision')) {
    throw new InternalError(
      'a submission leaves "unknown", "dropped" and "accepted" by a decision, and no other state by one',
    )
  }
}
