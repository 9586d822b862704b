import type { Database } from './connection.ts'
import { type Change, refuseImpossible } from '../../../domain/submission/change.ts'
import type { RowVersion } from '../../../domain/submission/submission.ts'
import { changeState, endAttempt, insertDecision, selectOtherHolder } from './ledger-statements.ts'

/**
 * Makes a change if the row still stands as `from` says, and no other order has the request that it is to have; whether
 * it did. Within its caller's transaction.
 */
export function changeRow(database: Database, from: RowVersion, change: Change): boolean {
  refuseImpossible(from.state, change.to, change.decision === undefined ? 'call' : 'decision')
  const place = { batch_id: from.batchId, row_number: from.row }
  const key = { ...place, attempt_id: from.attemptId ?? null }
  const accepted = change.to === 'accepted' ? change : undefined
  const reason = change.to === 'accepted' ? null : change.reason
  if (
    accepted !== undefined &&
    database.get(selectOtherHolder, { ...place, request_id: accepted.requestId.toLowerCase() })
  ) {
    return false
  }
  const changed = database.run(changeState, {
    ...key,
    from: from.state,
    state: change.to,
    at: change.at,
    reason,
    field: change.to === 'rejected' ? (change.field ?? null) : null,
    // UUIDs are the same in any case.
    request_id: accepted?.requestId.toLowerCase() ?? null,
    request_status: accepted?.requestStatus ?? null,
    request_status_at: accepted?.at ?? null,
    offered_id: change.to === 'unknown' ? (change.offeredId?.toLowerCase() ?? null) : null,
  })
  if (changed === 0) return false
  if (from.state === 'sending') {
    database.run(endAttempt, {
      id: key.attempt_id,
      at: change.at,
      became: change.to,
      answer_status: change.answerStatus ?? null,
      reason,
    })
  }
  if (change.decision !== undefined) {
    database.run(insertDecision, {
      ...key,
      became: change.to,
      made_at: change.at,
      made_by: change.decision.by,
      why: change.decision.why,
    })
  }
  return true
}
