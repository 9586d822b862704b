import type { Values } from './connection.ts'
import { terminalStatuses } from '../../../contract/statuses.ts'
import type { Forgotten } from '../../../domain/store/told.ts'
import { sqlList } from '../sql.ts'

export const danglingAttempts = `
SELECT s.batch_id, s.row_number FROM submissions s
WHERE s.state = 'accepted' AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.id = s.attempt_id)`

export const selectPrints = `
SELECT s.*, b.base_url, b.account FROM submissions s JOIN batches b ON b.id = s.batch_id`

export function chosenRows(who: Forgotten): { where: string; values: Values } {
  if ('requestId' in who)
    return { where: 's.request_id = :request_id', values: { request_id: who.requestId.toLowerCase() } }
  if ('email' in who) return { where: 's.email = :email COLLATE NOCASE', values: { email: who.email } }
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
        SELECT request_id FROM submissions WHERE email = :email COLLATE NOCASE AND request_id IS NOT NULL)`,
      values: { email: who.email },
    }
  }
  return { where: `e.received_at < :before AND e.forward <> 'waiting'`, values: { before: who.endedBefore } }
}
