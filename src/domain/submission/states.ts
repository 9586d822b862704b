import { InternalError } from '../../errors/kinds.ts'

/**
 * The states of a submission (src/docs/ordering.md, section 1). `dropped`: it was sent, its outcome stayed unknown, and
 * a user decided that it is not sent again.
 */
export const submissionStates = [
  'pending',
  'sending',
  'accepted',
  'rejected',
  'unknown',
  'dropped',
  'held',
  'invalid',
  'duplicate',
  'cancelled',
] as const

export type SubmissionState = (typeof submissionStates)[number]

/** The states to which a submission may change from each state. The store refuses all other changes. */
export const transitions: Readonly<Record<SubmissionState, readonly SubmissionState[]>> = {
  pending: ['sending', 'duplicate', 'held', 'cancelled', 'accepted'],
  sending: ['pending', 'accepted', 'rejected', 'unknown'],
  unknown: ['accepted', 'pending', 'dropped', 'cancelled'],
  dropped: ['accepted', 'pending', 'cancelled'],
  rejected: ['pending', 'duplicate', 'held'],
  held: ['pending', 'duplicate', 'cancelled'],
  duplicate: ['pending', 'held', 'cancelled'],
  // A read showed that the request belongs to another row.
  accepted: ['unknown'],
  invalid: [],
  cancelled: [],
}

/** States that a row leaves only by a user's `batch retry`. */
export const statesNeedingRetry: readonly SubmissionState[] = ['rejected']

/** States that a row leaves only by a decision: by evidence, or by a user. */
export const statesNeedingDecision: readonly SubmissionState[] = ['unknown', 'dropped']

/** States in which an order may still be sent, or reconciled. */
export const openStates: readonly SubmissionState[] = ['pending', 'sending', 'unknown', 'dropped', 'held']

/**
 * States of rows that were not sent and may still be. They are compared again at each run, and `batch move` moves
 * them.
 */
export const waitingStates: readonly SubmissionState[] = ['pending', 'held', 'duplicate']

/** The user who changed a submission from `unknown`, `dropped` or `accepted`, and the reason. */
interface Decision {
  by: string
  why: string
}

interface ChangeBase {
  /** Wall time in ms. */
  at: number
  /** The HTTP status of the answer that caused the change. */
  answerStatus?: number | undefined
  /**
   * Required for every change from `unknown`, `dropped` and `accepted`, and for a pending row that becomes accepted
   * because evidence showed that an earlier attempt was accepted.
   */
  decision?: Decision | undefined
}

/**
 * A change of a submission. A claim alone changes the state to `sending`, and conflict detection alone to `held` and
 * `duplicate`.
 */
export type Change =
  | (ChangeBase & { to: 'pending' | 'cancelled' | 'dropped'; reason: string })
  | (ChangeBase & { to: 'accepted'; requestId: string; requestStatus: string })
  | (ChangeBase & { to: 'rejected'; reason: string; field?: string | undefined })
  /** `offeredId`: the request id that an answer named although the order failed. */
  | (ChangeBase & { to: 'unknown'; reason: string; offeredId?: string | undefined })

/** Throws an InternalError for a change that `transitions` does not allow. `by`: the cause of the change. */
export function refuseImpossible(
  from: SubmissionState,
  to: SubmissionState,
  by: 'call' | 'decision' | 'comparing' | 'retry',
): void {
  if (!transitions[from].includes(to) || statesNeedingRetry.includes(from) !== (by === 'retry')) {
    throw new InternalError(`a submission cannot go from "${from}" to "${to}"`)
  }
  const requiresDecision =
    statesNeedingDecision.includes(from) || from === 'accepted' || (from === 'pending' && to === 'accepted')
  if (requiresDecision !== (by === 'decision')) {
    throw new InternalError(
      'a submission leaves "unknown", "dropped" and "accepted" by a decision, and no other state by one',
    )
  }
}

/**
 * Returns the change of a row whose runner ended (src/docs/ordering.md, section 1: "found in `sending` at start-up,
 * its lease gone: `unknown`, never `pending`"). A `single` that is still `pending` is `cancelled`, because no process
 * will send it. Undefined for a row that does not change.
 */
export function changeAfterCrash(
  { state, kind }: { state: SubmissionState; kind: 'single' | 'file' },
  at: number,
): Change | undefined {
  if (state === 'sending') {
    return { to: 'unknown', at, reason: 'the program was stopped while the order was in flight' }
  }
  if (state === 'pending' && kind === 'single') {
    return { to: 'cancelled', at, reason: 'the program was stopped before the order was sent' }
  }
  return undefined
}

export function changedElsewhereError(): InternalError {
  return new InternalError('another process changed this order', {
    hint: 'Send nothing again before you have looked at: refcheck request list',
  })
}
