import { longestWait } from '../../../domain/webhook/retry.ts'
import type { Arrival } from '../inbox.ts'
import { sqlStatusRank } from '../sql.ts'

/** What new events and queued batches wake: whoever waits for them. */
export const newsChannel = 'refcheck_news'
export const notify = (what: Arrival): string => `NOTIFY ${newsChannel}, '${what}'`

/**
 * Adds take turns, so that ids are visible in their order: a reader who has seen one has seen all before it. The number
 * is any that nothing else locks.
 */
export const takeTurn = 'SELECT pg_advisory_xact_lock(5246434, 1)'

/** Those that are not there yet, in the order they came. */
export const insert = `
INSERT INTO events (identity, received_at, body, signature, request_id, status, event, oddity, forward)
SELECT identity, received_at, body, signature, request_id, status, event, oddity, CAST(:forward AS text)
FROM unnest(CAST(:identities AS text[]), CAST(:received AS bigint[]), CAST(:bodies AS bytea[]),
    CAST(:signatures AS text[]), CAST(:requests AS text[]), CAST(:statuses AS text[]), CAST(:events AS text[]),
    CAST(:oddities AS text[])) WITH ORDINALITY
  AS came (identity, received_at, body, signature, request_id, status, event, oddity, place)
WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.identity = came.identity)
ORDER BY place
RETURNING id, identity`

export const repeat = `
UPDATE events e SET repeats = e.repeats + came.times
FROM unnest(CAST(:identities AS text[]), CAST(:times AS int[])) AS came (identity, times)
WHERE e.identity = came.identity
RETURNING e.id, e.identity`

/** Those of requests of people who were removed. */
export const selectForgotten = `
SELECT request_id FROM submissions
WHERE request_id = ANY(CAST(:requests AS text[])) AND email IS NULL AND body IS NULL`

export const selectPage = `
SELECT * FROM events
WHERE id > :after
  AND (CAST(:request_id AS text) IS NULL OR request_id = :request_id)
  AND (CAST(:status AS text) IS NULL OR status = :status)
  AND (CAST(:since AS bigint) IS NULL OR received_at >= :since)
  AND (CAST(:until AS bigint) IS NULL OR received_at < :until)
ORDER BY id LIMIT CAST(:limit AS bigint)`

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
WHERE forward = 'waiting'
  AND due_at NOT BETWEEN CAST(:now AS bigint) + 1 AND CAST(:now AS bigint) + ${longestWait} AND ${isFirst}
ORDER BY id LIMIT CAST(:limit AS bigint)`

/** One behind another is not due before that one, whatever its own time says. */
export const selectNextDue = `
SELECT min(due_at) AS due FROM events e WHERE forward = 'waiting' AND ${isFirst}`

/** Events come out of order: a status is only ever followed by one that is further on. They say nothing of its checks. */
export const updateLatestStatus = `
UPDATE submissions s SET request_status = told.status, request_status_at = told.at, checks = NULL
FROM (
  SELECT DISTINCT ON (request_id) request_id, status, at
  FROM unnest(CAST(:requests AS text[]), CAST(:statuses AS text[]), CAST(:times AS bigint[])) WITH ORDINALITY
    AS came (request_id, status, at, place)
  ORDER BY request_id, ${sqlStatusRank('status')} DESC, place
) AS told
WHERE s.request_id = told.request_id
  AND ${sqlStatusRank('told.status')} > ${sqlStatusRank('s.request_status')}`

export const updateForwarded = `
UPDATE events SET forward = 'done', forwarded_at = :at, attempts = attempts + 1, last_answer = :answer
WHERE id = :id RETURNING *`

/** Without a time of forwarding: it was never taken. */
export const updateDropped = `
UPDATE events SET forward = 'done', forwarded_at = NULL,
  attempts = attempts + CASE WHEN CAST(:answer AS text) IS NULL THEN 0 ELSE 1 END, last_answer = coalesce(CAST(:answer AS text), last_answer)
WHERE id = :id AND forward = 'waiting' RETURNING *`

export const updateBody = 'UPDATE events SET body = :body, signature = :signature WHERE id = :id'
