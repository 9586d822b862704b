import { type Change, refuseImpossible } from '../../domain/submission/change.ts'
import type { RowVersion } from '../../domain/submission/submission.ts'

/**
 * A change as columns have it: of the row, of the attempt that it ends and of the decision that made it, where it does.
 * Throws an InternalError for a change that cannot be.
 */
export function changeColumns(from: RowVersion, change: Change) {
  refuseImpossible(from.state, change.to, change.decision === undefined ? 'call' : 'decision')
  const place = { batch_id: from.batchId, row_number: from.row }
  const key = { ...place, attempt_id: from.attemptId ?? null }
  const accepted = change.to === 'accepted' ? change : undefined
  const reason = change.to === 'accepted' ? null : change.reason
  // UUIDs are the same in any case.
  const requestId = accepted?.requestId.toLowerCase() ?? null
  return {
    /** Of the request that no other order may have; undefined where it is not accepted. */
    holder: requestId === null ? undefined : { ...place, request_id: requestId },
    row: {
      ...key,
      from: from.state,
      state: change.to,
      at: change.at,
      reason,
      field: change.to === 'rejected' ? (change.field ?? null) : null,
      request_id: requestId,
      request_status: accepted?.requestStatus ?? null,
      request_status_at: accepted?.at ?? null,
      offered_id: change.to === 'unknown' ? (change.offeredId?.toLowerCase() ?? null) : null,
    },
    attempt:
      from.state === 'sending'
        ? {
            id: key.attempt_id,
            at: change.at,
            became: change.to,
            answer_status: change.answerStatus ?? null,
            reason,
          }
        : undefined,
    decision:
      change.decision === undefined
        ? undefined
        : {
            ...key,
            became: change.to,
            made_at: change.at,
            made_by: change.decision.by,
            why: change.decision.why,
          },
  }
}
