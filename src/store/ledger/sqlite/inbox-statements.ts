import { longestWait } from '../../../domain/webhook/retry.ts'
import { sqlStatusRank } from '../sql.ts'

export const insert = `
INSERT INTO events (identity, received_at, body, signature, request_id, status, event, oddity, forward)
VALUES (:identity, :received_at, :body, :signature, :request_id, :status, :event, :oddity, :forward)
ON CONFLICT (identity) DO NOTHING
RETURNING id`

export const repeat = 'UPDATE events SET repeats = repeats + 1 WHERE identity = :identity RETURNING id'

/** A request of somebody who was removed. */
export const selectForgotten = `
SELECT 1 FROM submissions WHERE request_id = :request_id AND email IS NULL AND body IS NULL`

export const selectUnclaimed = `
SELECT request_id, max(id) AS last FROM events e
WHERE request_id IS NOT NULL AND oddity IS NULL
  AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.request_id = e.request_id)
GROUP BY request_id ORDER BY last DESC`

/** Events may come out of order, but "terminal statuses never transition further". */
export const selectLatest = `
SELECT status, received_at FROM events
WHERE request_id = :request_id AND status IS NOT NULL AND oddity IS NULL
ORDER BY ${sqlStatusRank('status')} DESC, id DESC
LIMIT 1`

/** Whether no earlier event of its request waits. */
const isFirst = `NOT EXISTS (
    SELECT 1 FROM events p
    WHERE p.forward = 'waiting' AND p.request_id = e.request_id AND p.id < e.id
  )`

export const selectDue = `
SELECT * FROM events e
WHERE forward = 'waiting' AND due_at NOT BETWEEN :now + 1 AND :now + ${longestWait} AND ${isFirst}
ORDER BY id LIMIT :limit`

/** One behind another is not due before that one, whatever its own time says. */
export const selectNextDue = `
SELECT min(due_at) AS due FROM events e WHERE forward = 'waiting' AND ${isFirst}`

/** Events come out of order: a status is only ever followed by one that is further on. They say nothing of its checks. */
export const updateLatestStatus = `
UPDATE submissions SET request_status = :status, request_status_at = :at, checks = NULL
WHERE request_id = :request_id AND ${sqlStatusRank(':status')} > ${sqlStatusRank('request_status')}`

export const updateForwarded = `
UPDATE events SET forward = 'done', forwarded_at = :at, attempts = attempts + 1, last_answer = :answer
WHERE id = :id RETURNING *`

/** Without a time of forwarding: it was never taken. */
export const updateDropped = `
UPDATE events SET forward = 'done', forwarded_at = NULL,
  attempts = attempts + CASE WHEN :answer IS NULL THEN 0 ELSE 1 END, last_answer = coalesce(:answer, last_answer)
WHERE id = :id AND forward = 'waiting' RETURNING *`

export const updateBody = 'UPDATE events SET body = :body, signature = :signature WHERE id = :id'
