import type { Sql } from './connection.ts'
import type { ListedAttempt } from '../../../domain/store/attempt-list.ts'
import { putBackColumns, putBackInWords as inWords } from '../put-back.ts'

const selectRow = `
SELECT state FROM submissions WHERE batch_id = :batch_id AND row_number = :row_number FOR UPDATE`

const insertBatch = `
INSERT INTO batches (id, kind, base_url, user_email, added_at)
VALUES (:id, 'file', :base_url, :user_email, :added_at) ON CONFLICT DO NOTHING`

const insertRow = `
INSERT INTO submissions (
  batch_id, row_number, state, attempt_id, changed_at, package_id, body_sha256, fingerprint, reason,
  person_print, email_print, phone_print
) VALUES (
  :batch_id, :row_number, 'unknown', :attempt_id, :changed_at, :package_id, '', :fingerprint, :reason,
  :person_print, :email_print, :phone_print
)`

const makeUnknown = `
UPDATE submissions
SET state = 'unknown', attempt_id = :attempt_id, changed_at = :changed_at, reason = :reason, field = NULL,
  matches_batch = NULL, matches_row = NULL, package_id = coalesce(package_id, :package_id),
  body_sha256 = coalesce(body_sha256, ''), fingerprint = coalesce(fingerprint, :fingerprint), held_for = NULL,
  shares = NULL, person_print = coalesce(person_print, :person_print),
  email_print = coalesce(email_print, :email_print), phone_print = coalesce(phone_print, :phone_print), runner = NULL
WHERE batch_id = :batch_id AND row_number = :row_number AND state <> 'accepted'`

const insertAttempt = `
INSERT INTO attempts (id, batch_id, row_number, user_email, body_sha256, began_at, began_monotonic)
SELECT CAST(:attempt_id AS text), batch_id, row_number, CAST(:user_email AS text), body_sha256, CAST(:began_at AS bigint), 0
FROM submissions WHERE batch_id = :batch_id AND row_number = :row_number
ON CONFLICT DO NOTHING`

/**
 * Makes an attempt that the store lacks known to it: its row is unknown from now on, and is made, with a batch of
 * its own, where the store lacks that too. Within its caller's transaction.
 */
export async function putBack(sql: Sql, attempt: ListedAttempt, at: number): Promise<void> {
  const { key, batch, row, attempt: made } = putBackColumns(attempt, at)
  if ((await sql.get(selectRow, key)) === undefined) {
    await sql.run(insertBatch, batch)
    await sql.run(insertRow, row)
  } else {
    await sql.run(makeUnknown, row)
  }
  await sql.run(insertAttempt, made)
}

/** Attempts that were put back, in words: who it is where the store still knows that. */
export async function putBackInWords(sql: Sql, attemptIds: readonly string[]): Promise<string[]> {
  const found = await sql.all(
    `SELECT a.began_at, s.batch_id, s.row_number, s.package_id, s.first_name, s.last_name, s.email, s.state
      FROM attempts a
      JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
      WHERE a.id = ANY(CAST(:ids AS text[]))
      ORDER BY a.began_at, s.batch_id, s.row_number`,
    { ids: attemptIds },
  )
  return found.map(inWords)
}
