/** The states of a submission (ordering protocol, "States of a submission"). */
export const submissionStates = [
  'pending',
  'sending',
  'accepted',
  'rejected',
  'unknown',
  'invalid',
  'duplicate',
  'cancelled',
] as const

export type SubmissionState = (typeof submissionStates)[number]

/** Where a submission may go from each state. A ledger holds any other change impossible. */
export const transitions: Readonly<Record<SubmissionState, readonly SubmissionState[]>> = {
  pending: ['sending', 'cancelled'],
  sending: ['pending', 'accepted', 'rejected', 'unknown'],
  unknown: ['accepted', 'pending', 'cancelled'],
  accepted: [],
  rejected: [],
  invalid: [],
  duplicate: [],
  cancelled: [],
}

/** States in which an order may still be sent, or settled. */
export const unsettled = `('pending', 'sending', 'unknown')`
