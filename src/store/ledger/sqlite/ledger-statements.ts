import { terminalStatuses } from '../../../contract/statuses.ts'
import { sqlList } from '../sql.ts'
import { selectSubmissions } from '../submission-rows.ts'

export const insertBatch = `
INSERT INTO batches (id, kind, base_url, user_email, added_at, account, allow_duplicate, allow_similar)
VALUES (:id, :kind, :base_url, :user_email, :added_at, :account, :allow_duplicate, :allow_similar)`

export const insertSubmission = `
INSERT INTO submissions (
  batch_id, row_number, state, changed_at, package_id, first_name, last_name, email, phone,
  body, body_sha256, fingerprint, person_print, email_print, phone_print
) VALUES (
  :batch_id, :row_number, 'pending', :changed_at, :package_id, :first_name, :last_name, :email, :phone,
  :body, :body_sha256, :fingerprint, :person_print, :email_print, :phone_print
)`

/**
 * From the submissions to their batches (CROSS JOIN keeps that order): few are unfinished, batches are many. What is
 * pending is gone through from batch to batch, since a file may have very many rows that wait.
 */
export const selectUnfinishedBatches = `
WITH RECURSIVE waiting (id) AS (
  SELECT min(batch_id) FROM submissions WHERE state = 'pending'
  UNION ALL
  SELECT (SELECT min(batch_id) FROM submissions WHERE state = 'pending' AND batch_id > waiting.id)
  FROM waiting WHERE waiting.id IS NOT NULL
)
SELECT b.id, b.kind FROM submissions s CROSS JOIN batches b ON b.id = s.batch_id
WHERE s.state = 'sending'
UNION
SELECT b.id, b.kind FROM waiting CROSS JOIN batches b ON b.id = waiting.id
WHERE b.kind = 'single'`

export const selectUnfinishedRows = `${selectSubmissions}
WHERE s.batch_id = :id AND (s.state = 'sending' OR (s.state = 'pending' AND b.kind = 'single'))`

export const claimRow = `
UPDATE submissions
SET state = 'sending', attempt_id = :attempt_id, changed_at = :at, reason = NULL, field = NULL
WHERE batch_id = :batch_id AND row_number = :row_number AND state = 'pending' AND attempt_id IS :expected`

export const insertAttempt = `
INSERT INTO attempts (id, batch_id, row_number, user_email, body_sha256, began_at, began_monotonic)
VALUES (:id, :batch_id, :row_number, :user_email, :body_sha256, :began_at, :began_monotonic)`

export const changeState = `
UPDATE submissions
SET state = :state, changed_at = :at, reason = :reason, field = :field,
  request_id = :request_id, request_status = :request_status, request_status_at = :request_status_at, checks = NULL,
  offered_id = coalesce(:offered_id, offered_id)
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from AND attempt_id IS :attempt_id`

/** Of the same service. */
export const selectOtherHolder = `
SELECT 1 FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.request_id = :request_id
  AND NOT (s.batch_id = :batch_id AND s.row_number = :row_number)
  AND b.base_url = (SELECT base_url FROM batches WHERE id = :batch_id)
LIMIT 1`

export const endAttempt = `
UPDATE attempts SET ended_at = :at, became = :became, answer_status = :answer_status, reason = :reason
WHERE id = :id`

export const insertDecision = `
INSERT INTO decisions (batch_id, row_number, attempt_id, became, made_at, made_by, why)
VALUES (:batch_id, :row_number, :attempt_id, :became, :made_at, :made_by, :why)`

/** "Terminal statuses (COMPLETED, ERROR, CANCELLED) never transition further". */
const isOver = `request_status IN ${sqlList(terminalStatuses)}`

export const updateStatus = `
UPDATE submissions
SET request_status_at = CASE WHEN ${isOver} THEN request_status_at ELSE :at END, request_status = :status, checks = :checks
WHERE request_id = :request_id AND (
  NOT ${isOver} OR (request_status = :status AND :checks IS NOT NULL AND checks IS NOT :checks)
)`
