import type { Recipient } from '../../contract/request-body.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Submission } from '../../domain/submission/submission.ts'

/** A row of `submissions`, joined with its batch and its attempts by `selectSubmissions`. */
export interface SubmissionRow {
  batch_id: string
  row_number: number
  state: SubmissionState
  attempt_id: string | null
  changed_at: number
  package_id: number
  first_name: string | null
  last_name: string | null
  email: string | null
  phone: string | null
  request_id: string | null
  request_status: string | null
  request_status_at: number | null
  checks: string | null
  offered_id: string | null
  reason: string | null
  field: string | null
  base_url: string
  user_email: string
  added_at: number
  attempts: number
  attempted_at: number | null
}

export const selectSubmissions = `
SELECT s.*, b.base_url, b.added_at, coalesce(a.user_email, b.user_email) AS user_email,
  a.began_at AS attempted_at,
  (SELECT count(*) FROM attempts t WHERE t.batch_id = s.batch_id AND t.row_number = s.row_number) AS attempts
FROM submissions s
JOIN batches b ON b.id = s.batch_id
LEFT JOIN attempts a ON a.id = s.attempt_id`

/**
 * Pending rows that have an attempt whose outcome never became known, once for each such attempt and with its time and user:
 * a person put them back, and they were not sent since.
 */
export const selectPutBack = `
SELECT s.*, b.base_url, b.added_at, a.user_email, a.began_at AS attempted_at, a.ended_at,
  (SELECT count(*) FROM attempts t WHERE t.batch_id = s.batch_id AND t.row_number = s.row_number) AS attempts
FROM attempts a
CROSS JOIN submissions s
CROSS JOIN batches b
WHERE coalesce(a.became, 'unknown') = 'unknown' AND s.batch_id = a.batch_id AND s.row_number = a.row_number
  AND s.state = 'pending' AND b.id = s.batch_id`

/** STRICT tables hold the types that the columns promise. */
export function submissionOf(selected: unknown): Submission {
  const row = selected as SubmissionRow
  return {
    batchId: row.batch_id,
    row: row.row_number,
    state: row.state,
    attemptId: row.attempt_id ?? undefined,
    baseUrl: row.base_url,
    userEmail: row.user_email,
    packageId: row.package_id,
    recipient: recipientOf(row),
    attempts: row.attempts,
    addedAt: row.added_at,
    attemptedAt: row.attempted_at ?? undefined,
    changedAt: row.changed_at,
    requestId: row.request_id ?? undefined,
    requestStatus: row.request_status ?? undefined,
    requestStatusAt: row.request_status_at ?? undefined,
    checks: row.checks ?? undefined,
    offeredId: row.offered_id ?? undefined,
    reason: row.reason ?? undefined,
    field: row.field ?? undefined,
  }
}

export function recipientOf(row: SubmissionRow): Recipient | undefined {
  const { first_name, last_name, email, phone } = row
  if (first_name === null || last_name === null || email === null || phone === null) return undefined
  return { first_name, last_name, email, phone }
}
