/** The states of a submission (ordering protocol, "States of a submission"). */
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

/** A row leaves these by a decision alone: proof, or a person's word. */
export const leftByDecision: readonly SubmissionState[] = ['unknown', 'dropped']

/** States in which an order may still be sent, or settled. */
export const unsettledStates: readonly SubmissionState[] = [
  'pending',
  'sending',
  'unknown',
  'dropped',
  'held',
]

/** Not sent, and may still be: compared again at each run, and taken along by a move. */
export const waitingStates: readonly SubmissionState[] = ['pending', 'held', 'duplicate']
