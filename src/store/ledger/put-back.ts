import type { ListedAttempt } from '../../domain/store/attempt-list.ts'
import { localTime } from '../../domain/wording/local-time.ts'

/** Why a row that was put back is unknown; `store check` finds them by it. */
const reason = 'the store did not know of this attempt; it may have been accepted'

/** An attempt that a store lacks, as the columns of its row, its attempt and, where they are gone too, its batch have it. */
export function putBackColumns(attempt: ListedAttempt, at: number) {
  const { attemptId, batchId, row, packageId, person, email, phone, userEmail, baseUrl } = attempt
  const key = { batch_id: batchId, row_number: row }
  return {
    key,
    batch: { id: batchId, base_url: baseUrl, user_email: userEmail, added_at: attempt.at },
    row: {
      ...key,
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
    },
    attempt: { ...key, attempt_id: attemptId, user_email: userEmail, began_at: attempt.at },
  }
}

/** An attempt that was put back, in words: who it is where the store still knows that. */
export function putBackInWords(found: unknown): string {
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
    row.email === null ? 'a person whose name is lost' : `${row.first_name} ${row.last_name} (${row.email})`
  const when = localTime(row.began_at)
  return `${name}: package ${row.package_id}, sent at ${when}, row ${row.row_number} of batch ${row.batch_id}, ${row.state}`
}
