import { DatabaseSync } from 'node:sqlite'

/** Leaves a batch as a run would have left it whose first `count` rows were ordered, in a moment. */
export function orderedByItself(location: string, batchId: string, count: number): void {
  const database = new DatabaseSync(location)
  database.exec('BEGIN IMMEDIATE')
  const uuid = (start: string): string => `${start} || lower(hex(randomblob(14)))`
  database
    .prepare(
      `UPDATE submissions SET state = 'accepted', attempt_id = ${uuid("'a'")}, request_id = ${uuid("'b'")},
        request_status = 'COMPLETED', request_status_at = changed_at + row_number, changed_at = changed_at + row_number
      WHERE batch_id = ? AND row_number <= ? AND state = 'pending'`,
    )
    .run(batchId, count)
  database
    .prepare(
      `INSERT INTO attempts (id, batch_id, row_number, user_email, body_sha256, began_at, began_monotonic, ended_at,
        became, answer_status, account, number)
      SELECT attempt_id, batch_id, row_number, 'owner@example.com', body_sha256, changed_at, 1, changed_at, state, 201, '',
        (SELECT coalesce(max(number), 0) FROM attempts) + row_number
      FROM submissions WHERE batch_id = ? AND state = 'accepted' AND attempt_id LIKE 'a%' AND attempt_id NOT IN (SELECT id FROM attempts)`,
    )
    .run(batchId)
  database.exec('COMMIT')
  database.close()
}
