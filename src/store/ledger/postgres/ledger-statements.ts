import { terminalStatuses } from '../../../contract/statuses.ts'
import { databaseNow, nobodyHas } from './locking.ts'
import { sqlList } from '../sql.ts'
import { selectSubmissions } from '../submission-rows.ts'

export const insertBatch = `
INSERT INTO batches (id, kind, base_url, user_email, added_at, account, allow_duplicate, allow_similar)
VALUES (:id, :kind, :base_url, :user_email, :added_at, :account, :allow_duplicate, :allow_similar)`

/** Of one order: it is its runner's from the start. */
export const insertSubmission = `
INSERT INTO submissions (
  batch_id, row_number, state, changed_at, package_id, first_name, last_name, email, phone,
  body, body_sha256, fingerprint, person_print, email_print, phone_print, runner
) VALUES (
  :batch_id, :row_number, 'pending', :changed_at, :package_id, :first_name, :last_name, :email, :phone,
  :body, :body_sha256, :fingerprint, :person_print, :email_print, :phone_print, :runner
)`

/** Rows whose runner is gone. What a file still has to send is nobody's own. */
export const selectOrphans = `
SELECT s.*, k.kind FROM (${selectSubmissions}) s JOIN batches k ON k.id = s.batch_id
WHERE ((s.state = 'sending') OR (s.state = 'pending' AND s.runner IS NOT NULL)) AND ${nobodyHas}`

/** Compared again once the row is locked: its runner may be there after all, or be done with it. */
export const lockOrphan = `
SELECT 1 FROM submissions s
WHERE s.batch_id = :batch_id AND s.row_number = :row_number AND s.state = :state
  AND s.attempt_id IS NOT DISTINCT FROM CAST(:attempt_id AS text) AND ${nobodyHas}
FOR UPDATE OF s`

/** What decides whether a row may go out, besides what it is compared with. */
export const selectFence = `
SELECT e.system = (SELECT system_identifier::text FROM pg_control_system())
    AND e.timeline = left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS is_same,
  pg_current_wal_flush_lsn()::text AS lsn,
  (SELECT value FROM meta WHERE name = 'closed') AS closed,
  p.attempt_id AS paused_by, p.at AS paused_at
FROM epoch e LEFT JOIN batches b ON b.id = :batch_id LEFT JOIN pauses p ON p.service = b.base_url`

/**
 * The row, its attempt and its runner's count and lease, all at once. By its place: by its key and state the server may go
 * through all rows of a file, as long as it has no figures of one that was just taken in.
 */
export const claimRow = `
WITH claimed AS (
  UPDATE submissions
  SET state = 'sending', attempt_id = :id, changed_at = :began_at, reason = NULL, field = NULL, runner = :runner
  WHERE ctid = CAST(:place AS tid) AND batch_id = :batch_id AND row_number = :row_number AND state = 'pending'
    AND attempt_id IS NOT DISTINCT FROM CAST(:expected AS text)
  RETURNING batch_id
), counted AS (
  UPDATE runners SET attempts = attempts + 1, seen_at = ${databaseNow}, leased_until = ${databaseNow} + :lease
  WHERE id = :runner AND EXISTS (SELECT 1 FROM claimed)
)
INSERT INTO attempts (id, batch_id, row_number, user_email, body_sha256, began_at, began_monotonic)
SELECT :id, :batch_id, :row_number, :user_email, :body_sha256, :began_at, CAST(:began_monotonic AS double precision) FROM claimed`

/** How a row stands; whoever is about to change it is waited for. */
export const selectStanding = `
SELECT state, attempt_id FROM submissions WHERE batch_id = :batch_id AND row_number = :row_number FOR SHARE`

export const changeState = `
UPDATE submissions
SET state = :state, changed_at = :at, reason = :reason, field = :field,
  request_id = :request_id, request_status = :request_status, request_status_at = :request_status_at, checks = NULL,
  offered_id = coalesce(:offered_id, offered_id),
  runner = CASE WHEN (SELECT kind FROM batches WHERE id = batch_id) = 'single' THEN runner END
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from
  AND attempt_id IS NOT DISTINCT FROM CAST(:attempt_id AS text)`

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

export const putPause = `
INSERT INTO pauses (service, attempt_id, at)
SELECT base_url, CAST(:attempt_id AS text), ${databaseNow} FROM batches WHERE id = :batch_id
ON CONFLICT (service) DO UPDATE SET attempt_id = excluded.attempt_id, at = excluded.at`

export const selectPrints = `
SELECT person_print, email_print, phone_print FROM submissions
WHERE batch_id = :batch_id AND row_number = :row_number`

/** "Terminal statuses (COMPLETED, ERROR, CANCELLED) never transition further". */
const isOver = `request_status IN ${sqlList(terminalStatuses)}`

export const updateStatus = `
UPDATE submissions
SET request_status_at = CASE WHEN ${isOver} THEN request_status_at ELSE :at END, request_status = :status, checks = CAST(:checks AS text)
WHERE request_id = :request_id AND (
  NOT ${isOver} OR (request_status = :status AND CAST(:checks AS text) IS NOT NULL AND checks IS DISTINCT FROM CAST(:checks AS text))
)`
