import { longestWait } from '../../domain/webhook/retry.ts'
import type { Dialect } from './engine.ts'
import { sqlIsOfService, sqlStatusRank } from './sql.ts'

/** Wakes processes that wait for events or queued batches. */
export const newsChannel = 'refcheck_news'

/** Of `rows`: those that are stored already, and requests of people who were erased, at whatever service. */
export const selectKnown = ({ isIn }: Dialect): string => `
SELECT 'stored' AS kind, identity AS name, id FROM events WHERE ${isIn('identity', 'identities')}
UNION ALL
SELECT 'erased', request_id, 0 FROM submissions
WHERE ${isIn('request_id', 'requests')} AND email IS NULL AND body IS NULL`

export const eventColumns = {
  identity: 'text',
  received_at: 'number',
  body: 'bytes',
  signature: 'text',
  request_id: 'text',
  status: 'text',
  event: 'text',
  oddity: 'text',
  base_url: 'text',
  forward: 'text',
} as const

export const countRepeats = ({ rows }: Dialect) => {
  const { from, values } = rows({ identity: 'text', times: 'number' })
  return {
    sql: `UPDATE events AS e SET repeats = e.repeats + came.times FROM ${from} WHERE e.identity = came.identity`,
    values,
  }
}

/**
 * Events may come out of order, but "terminal statuses never transition further": a status is only ever followed by one of a
 * higher rank. Events do not name the request's checks.
 */
export const updateStatuses = ({ rows }: Dialect) => {
  const { from, values } = rows({ request_id: 'text', base_url: 'text', status: 'text', at: 'number' })
  return {
    sql: `UPDATE submissions AS s SET request_status = came.status, request_status_at = came.at, checks = NULL
FROM ${from}
WHERE s.request_id = came.request_id AND ${sqlIsOfService('s', 'came.base_url')}
  AND ${sqlStatusRank('came.status')} > ${sqlStatusRank('s.request_status')}`,
    values,
  }
}

export const selectPage = `
SELECT * FROM events
WHERE id > :after
  AND (CAST(:base_url AS text) IS NULL OR base_url IS NULL OR base_url = :base_url)
  AND (CAST(:request_id AS text) IS NULL OR request_id = :request_id)
  AND (CAST(:status AS text) IS NULL OR status = :status)
  AND (CAST(:since AS bigint) IS NULL OR received_at >= :since)
  AND (CAST(:until AS bigint) IS NULL OR received_at < :until)
ORDER BY id LIMIT CAST(:limit AS bigint)`

export const selectUnmatched = `
SELECT request_id, max(id) AS last FROM events e
WHERE request_id IS NOT NULL AND oddity IS NULL
  AND (CAST(:base_url AS text) IS NULL OR base_url IS NULL OR base_url = :base_url)
  AND NOT EXISTS (
    SELECT 1 FROM submissions s WHERE s.request_id = e.request_id AND ${sqlIsOfService('s', 'e.base_url')}
  )
GROUP BY request_id ORDER BY last DESC`

export const selectLatest = `
SELECT status, received_at FROM events
WHERE request_id = :request_id AND (base_url IS NULL OR base_url = :base_url)
  AND status IS NOT NULL AND oddity IS NULL
ORDER BY ${sqlStatusRank('status')} DESC, id DESC
LIMIT 1`

/** Whether no earlier event of its request waits. */
const isFirst = `NOT EXISTS (
    SELECT 1 FROM events p
    WHERE p.forward = 'waiting' AND p.request_id = e.request_id AND p.base_url IS NOT DISTINCT FROM e.base_url
      AND p.id < e.id
  )`

export const selectDue = `
SELECT * FROM events e
WHERE forward = 'waiting'
  AND due_at NOT BETWEEN CAST(:now AS bigint) + 1 AND CAST(:now AS bigint) + ${longestWait} AND ${isFirst}
ORDER BY id LIMIT CAST(:limit AS bigint)`

/** An event behind another is not due before that one, whatever its own time says. */
export const selectNextDue = `
SELECT min(due_at) AS due FROM events e WHERE forward = 'waiting' AND ${isFirst}`

export const updateForwarded = `
UPDATE events SET forward = 'done', forwarded_at = :at, attempts = attempts + 1, last_answer = :answer
WHERE id = :id RETURNING *`

/** Without a time of forwarding: it was never taken. */
export const updateDropped = `
UPDATE events SET forward = 'done', forwarded_at = NULL,
  attempts = attempts + CASE WHEN CAST(:answer AS text) IS NULL THEN 0 ELSE 1 END,
  last_answer = coalesce(CAST(:answer AS text), last_answer)
WHERE id = :id AND forward = 'waiting' RETURNING *`

export const updateRefused = `
UPDATE events SET due_at = :due_at, attempts = attempts + 1, last_answer = :answer WHERE id = :id`

export const updateQueued = `UPDATE events SET forward = 'waiting', due_at = 0 WHERE id = :id`

export const updateBody = 'UPDATE events SET body = :body, signature = :signature WHERE id = :id'
