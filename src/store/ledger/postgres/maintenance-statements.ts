import { terminalStatuses } from '../../../contract/statuses.ts'
import type { Forgotten } from '../../../domain/store/told.ts'
import { sqlList } from '../sql.ts'
import type { Values } from './connection.ts'

export const danglingAttempts = `
SELECT s.batch_id, s.row_number FROM submissions s
WHERE s.state = 'accepted' AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.id = s.attempt_id)`

/** After a row: there may be very many. */
export const selectPrints = `
SELECT s.*, b.base_url, b.account FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE (s.batch_id, s.row_number) > (CAST(:batch_id AS text), CAST(:row_number AS bigint))
ORDER BY s.batch_id, s.row_number LIMIT :limit`

export const selectTotals = `
SELECT count(*) AS batches, min(added_at) AS oldest, max(added_at) AS newest,
  (SELECT count(*) FROM events) AS events,
  current_setting('server_version') AS version,
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace('refcheck')) AS bytes
FROM batches`

/** Its standbys are told to all; what each of them does is not. */
export const selectReplication = `
SELECT CASE
  WHEN current_setting('synchronous_standby_names') <> '' THEN 'synchronous'
  WHEN (SELECT count(*) FROM pg_stat_replication) > 0 THEN 'asynchronous'
  ELSE 'none' END AS replication`

export function chosenRows(who: Forgotten): { where: string; values: Values } {
  if ('requestId' in who)
    return { where: 's.request_id = :request_id', values: { request_id: who.requestId.toLowerCase() } }
  if ('email' in who) {
    return {
      where: 'lower(s.email COLLATE "C") = lower(CAST(:email AS text) COLLATE "C")',
      values: { email: who.email },
    }
  }
  return {
    where: `s.changed_at < :before
      AND (s.state <> 'accepted' OR s.request_status IN ${sqlList(terminalStatuses)})`,
    values: { before: who.endedBefore },
  }
}

/** Events of the requests of those rows, whatever they say; by age, those that were received before. */
export function chosenEvents(who: Forgotten): { where: string; values: Values } {
  if ('requestId' in who)
    return { where: 'e.request_id = :request_id', values: { request_id: who.requestId.toLowerCase() } }
  if ('email' in who) {
    return {
      where: `e.request_id IN (
        SELECT request_id FROM submissions
        WHERE lower(email COLLATE "C") = lower(CAST(:email AS text) COLLATE "C") AND request_id IS NOT NULL)`,
      values: { email: who.email },
    }
  }
  return { where: `e.received_at < :before AND e.forward <> 'waiting'`, values: { before: who.endedBefore } }
}
