import { statusRank, terminalStatuses } from '../../contract/statuses.ts'
import type { Recipient } from '../../contract/request-body.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import type { Submission, SubmissionFilter } from '../../domain/submission/submission.ts'
import { orderIdentity } from '../../domain/submission/identity.ts'
import { IoError } from '../../errors/kinds.ts'
import { areOwnPrints, type Fingerprint, type PersonPrints, personPrints, sha256 } from './fingerprints.ts'
import type { Dialect, Values } from './engine.ts'

const unfinished = `s.request_id IS NOT NULL AND s.request_status NOT IN ${sqlList(terminalStatuses)}`

/** A filter as a WHERE clause on `selectSubmissions`. */
export function conditions(dialect: Dialect, filter: SubmissionFilter): { where: string; values: Values } {
  // Rows that never were a whole order are no submissions.
  const clauses: string[] = ['s.fingerprint IS NOT NULL']
  const values: Record<string, unknown> = {}
  const must = (clause: string, name: string, value: unknown): void => {
    if (value === undefined) return
    clauses.push(clause)
    values[name] = value
  }
  must('s.batch_id = :batch_id', 'batch_id', filter.batchId)
  must('s.request_id = :request_id', 'request_id', filter.requestId?.toLowerCase())
  const start = filter.requestStart?.toLowerCase()
  must('s.request_id >= CAST(:start AS text)', 'start', start)
  must('s.request_id < CAST(:beyond AS text)', 'beyond', start && `${start}g`)
  must(dialect.sameEmail('s.email', ':email'), 'email', filter.email)
  must('coalesce(a.began_at, b.added_at) >= :since', 'since', filter.since)
  must(dialect.isIn('s.state', 'states'), 'states', filter.states && dialect.list(filter.states))
  if (filter.unfinished === true) clauses.push(unfinished)
  return { where: `WHERE ${clauses.join(' AND ')}`, values }
}

/** `('pending', 'sending')`: words of our own as a list of SQL. */
export function sqlList(words: readonly string[]): string {
  return `(${words.map((word) => `'${word}'`).join(', ')})`
}

/** How far on the status in an expression is; one that the contract does not know counts as the furthest. */
export function sqlStatusRank(expression: string): string {
  const known = Object.entries(statusRank).map(([status, rank]) => `WHEN '${status}' THEN ${rank}`)
  return `CASE ${expression} ${known.join(' ')} ELSE ${Math.max(...Object.values(statusRank))} END`
}

/**
 * Whether a row of submissions is of the service in an expression, or of one that a person has said to be the same; NULL
 * there stands for any.
 */
export function sqlIsOfService(row: string, baseUrl: string): string {
  return `(${baseUrl} IS NULL OR EXISTS (
    SELECT 1 FROM batches WHERE batches.id = ${row}.batch_id AND (batches.base_url = ${baseUrl} OR EXISTS (
      SELECT 1 FROM joined_services joined WHERE joined.same = 1 AND (
        (joined.one = batches.base_url AND joined.other = ${baseUrl}) OR
        (joined.other = batches.base_url AND joined.one = ${baseUrl}))))))`
}

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

/** A row that is not what was written: nothing is ordered with it. */
export function damagedStore(location: string, { batchId, row }: { batchId: string; row: number }): IoError {
  return new IoError(`the store "${location}" is damaged: row ${row} of batch ${batchId}`, {
    hint: 'Nothing was sent. Restore a backup of the store, or choose another one with REFCHECK_STORE. See what is damaged with: refcheck store check',
  })
}

/** A row as it is kept, with its batch's service and account: what of it is not as it was written, in sentences. */
export function damageOf(selected: unknown, fingerprint: Fingerprint): string[] {
  const { batch_id, row_number, body, body_sha256 } = selected as SubmissionRow & {
    body: Uint8Array | null
    body_sha256: string | null
  }
  const isSameBody = body === null || sha256(body) === body_sha256
  return [
    ...(isSameBody ? [] : [`row ${row_number} of batch ${batch_id}: its body differs from the one recorded`]),
    ...(hasOwnPrints(selected, fingerprint)
      ? []
      : [
          `row ${row_number} of batch ${batch_id}: its fingerprint is not that of its person, who could be ordered twice`,
        ]),
  ]
}

/** Others would make the person new: the same order again would be no duplicate. */
function hasOwnPrints(selected: unknown, fingerprint: Fingerprint): boolean {
  const row = selected as SubmissionRow & PersonPrints & { fingerprint: string | null; account: string }
  const recipient = recipientOf(row)
  if (recipient === undefined || row.fingerprint === null) return true
  const { account, base_url: baseUrl, package_id: packageId } = row
  return (
    row.fingerprint === fingerprint(orderIdentity({ account, baseUrl, packageId, recipient })) &&
    areOwnPrints(row, personPrints(fingerprint, recipient))
  )
}
