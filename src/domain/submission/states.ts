import { InternalError } from '../../errors/kinds.ts'

/** The states of a submission (src/docs/ordering.md, section 1). */
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

/** Where a submission may go from each state. A store holds any other change impossible. */
export const transitions: Readonly<Record<SubmissionState, readonly SubmissionState[]>> = {
  pending: ['sending', 'duplicate', 'held', 'cancelled', 'accepted'],
  sending: ['pending', 'accepted', 'rejected', 'unknown'],
  unknown: ['accepted', 'pending', 'dropped', 'cancelled'],
  dropped: ['accepted', 'pending', 'cancelled'],
  rejected: ['pending', 'duplicate', 'held'],
  held: ['pending', 'duplicate', 'cancelled'],
  duplicate: ['pending', 'held', 'cancelled'],
  // Its request turned out to be another row's.
  accepted: ['unknown'],
  invalid: [],
  cancelled: [],
}

/** Every way out of these is a person's `batch retry`, and a change says so. */
export const leftByRetry: readonly SubmissionState[] = ['rejected']

/** A row leaves these by a decision alone: by evidence, or by a person. */
export const leftByDecision: readonly SubmissionState[] = ['unknown', 'dropped']

/** States in which an order may still be sent, or reconciled. */
export const unsettledStates: readonly SubmissionState[] = [
  'pending',
  'sending',
  'unknown',
  'dropped',
  'held',
]

/** Not sent, and may still be: compared again at each run, and taken along by a move. */
export const waitingStates: readonly SubmissionState[] = ['pending', 'held', 'duplicate']

/** Who took a submission out of `unknown`, `dropped` or `accepted`, and why. */
interface Decision {
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

/**
 * What becomes of a row whose runner is gone (src/docs/ordering.md, section 1: "found in `sending` at start-up, its lease gone: `unknown`,
 * never `pending`"). A `single` that is still `pending` is `cancelled`: nothing of it left, and no process will continue
 * it. Undefined for a row that stays as it is.
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
