import type { Database } from './connection.ts'
import type { ListedAttempt } from '../../../domain/store/attempt-list.ts'
import { localTime } from '../../../domain/wording/local-time.ts'

/** Why a row that was put back is unknown; `store check` finds them by it. */
const reason = 'the store did not know of this attempt; it may have been accepted'

const selectRow = `
SELECT state FROM submissions WHERE batch_id = :batch_id AND row_number = :row_number`

const insertBatch = `
INSERT OR IGNORE INTO batches (id, kind, base_url, user_email, added_at)
VALUES (:id, 'file', :base_url, :user_email, :added_at)`

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
  email_print = coalesce(email_print, :email_print), phone_print = coalesce(phone_print, :phone_print)
WHERE batch_id = :batch_id AND row_number = :row_number AND state <> 'accepted'`

const insertAttempt = `
INSERT OR IGNORE INTO attempts (id, batch_id, row_number, user_email, body_sha256, began_at, began_monotonic)
SELECT :attempt_id, batch_id, row_number, :user_email, body_sha256, :began_at, 0
FROM submissions WHERE batch_id = :batch_id AND row_number = :row_number`

/**
 * Makes an attempt that the store lacks known to it: its row is unknown from now on, and is made, with a batch of
 * its own, where the store lacks that too. Within its caller's transaction.
 */
export function putBack(database: Database, attempt: ListedAttempt, at: number): void {
  const { attemptId, batchId, row, packageId, person, email, phone, userEmail, baseUrl } = attempt
  const key = { batch_id: batchId, row_number: row }
  const made = {
    attempt_id: attemptId,
    changed_at: at,
    package_id: packageId,
    reason,
    // A row has one: the attempt's id stands in where the person was removed.
    fingerprint: person === '' ? attemptId : person,
    // Without an e-mail beside it the person is known by 0.1.0's form alone.
    person_print: email === '' ? null : person,
    email_print: email === '' ? null : email,
    phone_print: phone === '' ? null : phone,
  }
  if (database.get(selectRow, key) === undefined) {
    database.run(insertBatch, { id: batchId, base_url: baseUrl, user_email: userEmail, added_at: attempt.at })
    database.run(insertRow, { ...key, ...made })
  } else {
    database.run(makeUnknown, { ...key, ...made })
  }
  database.run(insertAttempt, {
    ...key,
    attempt_id: attemptId,
    user_email: userEmail,
    began_at: attempt.at,
  })
}

/** Attempts that were put back, in words: who it is where the store still knows that. */
export function putBackInWords(database: Database, attemptIds: readonly string[]): string[] {
  return database
    .all(
      `SELECT a.began_at, s.batch_id, s.row_number, s.package_id, s.first_name, s.last_name, s.email, s.state
        FROM json_each(:ids) ids JOIN attempts a ON a.id = ids.value
        JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
        ORDER BY a.began_at, s.batch_id, s.row_number`,
      { ids: JSON.stringify(attemptIds) },
    )
    .map((found) => {
      const row = found as {
        began_at: number
        batch_id: string
        row_number: number
        package_id: number
        first_name: string | null
        last_name: string | null
        email: string | null
        state: string
      }
      const name =
        row.email === null
          ? 'a person whose name is lost'
          : `${row.first_name} ${row.last_name} (${row.email})`
      const when = localTime(row.began_at)
      return `${name}: package ${row.package_id}, sent at ${when}, row ${row.row_number} of batch ${row.batch_id}, ${row.state}`
    })
}
