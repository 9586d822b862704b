import { DatabaseSync } from 'node:sqlite'

/** Marks the first `count` rows of a batch as ordered, with their attempts, as a run would; but much faster. */
export function markOrdered(location: string, batchId: string, count: number): void {
  const database = new DatabaseSync(location)
  database.exec('BEGIN IMMEDIATE')
  const createIdSql = (prefix: string): string => `${prefix} || lower(hex(randomblob(14)))`
  database
    .prepare(
      `UPDATE submissions SET state = 'accepted', attempt_id = ${createIdSql("'a'")}, request_id = ${createIdSql("'b'")},
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
