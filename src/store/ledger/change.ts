import { type Change, refuseImpossible } from '../../domain/submission/change.ts'
import type { RowVersion } from '../../domain/submission/submission.ts'
import { type Dialect, perDialect, run, type Work } from './engine.ts'

const statements = perDialect(({ isShared, clock }) => ({
  // A single order stays its runner's; a row of a file is any runner's again.
  changeState: `
UPDATE submissions
SET state = :state, changed_at = :at, reason = :reason, field = :field,
  request_id = :request_id, request_status = :request_status, request_status_at = :request_status_at, checks = NULL,
  offered_id = coalesce(:offered_id, offered_id)
  ${isShared ? `, runner = CASE WHEN (SELECT kind FROM batches WHERE id = batch_id) = 'single' THEN runner END` : ''}
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from
  AND attempt_id IS NOT DISTINCT FROM CAST(:attempt_id AS text)`,

  upsertPause: isShared
    ? `
INSERT INTO pauses (service, attempt_id, at)
SELECT base_url, CAST(:attempt_id AS text), ${clock} FROM batches WHERE id = :batch_id
ON CONFLICT (service) DO UPDATE SET attempt_id = excluded.attempt_id, at = excluded.at`
    : undefined,
}))

/** Waits for a transaction that gives the same id to another row; no row is added where one has it. */
const insertRequest = `
INSERT INTO request_rows (service, request_id, batch_id, row_number)
SELECT b.base_url, :request_id, :batch_id, :row_number FROM batches b
WHERE b.id = :batch_id AND NOT EXISTS (
  SELECT 1 FROM submissions s JOIN batches o ON o.id = s.batch_id
  WHERE s.request_id = :request_id AND o.base_url = b.base_url
    AND NOT (s.batch_id = :batch_id AND s.row_number = :row_number))
ON CONFLICT (service, request_id) DO NOTHING`

const deleteRequest = `
DELETE FROM request_rows
WHERE service = (SELECT base_url FROM batches WHERE id = :batch_id) AND request_id = :request_id`

const endAttempt = `
UPDATE attempts SET ended_at = :at, became = :became, answer_status = :answer_status, reason = :reason
WHERE id = :id`

const insertDecision = `
INSERT INTO decisions (batch_id, row_number, attempt_id, became, made_at, made_by, why)
VALUES (:batch_id, :row_number, :attempt_id, :became, :made_at, :made_by, :why)`

/**
 * Makes a change if the row is still as `from` says, and no other order has the request that it is to have; whether it
 * did. Within its caller's transaction.
 */
export function* changeRow(dialect: Dialect, from: RowVersion, change: Change): Work<boolean> {
  const { changeState, upsertPause } = statements(dialect)
  const { holder, row, attempt, decision } = changeColumns(from, change)
  if (holder !== undefined && (yield* run(insertRequest, holder)) === 0) return false
  if ((yield* run(changeState, row)) === 0) {
    if (holder !== undefined) yield* run(deleteRequest, holder)
    return false
  }
  if (attempt !== undefined) yield* run(endAttempt, attempt)
  if (decision !== undefined) yield* run(insertDecision, decision)
  // Every runner that sends to that service waits until it is healthy before the next row goes out.
  if (upsertPause !== undefined && from.state === 'sending' && change.to === 'unknown') {
    yield* run(upsertPause, { batch_id: from.batchId, attempt_id: from.attemptId })
  }
  return true
}

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
