import type { Recipient } from '../../contract/request.ts'
import { statusRank, terminalStatuses } from '../../contract/statuses.ts'
import type { NewFileBatch } from '../../domain/batch/batch.ts'
import type { ComparedRow } from '../../domain/batch/compare.ts'
import type { Conflict } from '../../domain/submission/conflicts.ts'
import type { ExternalResult } from '../../domain/submission/external-results.ts'
import { orderIdentity } from '../../domain/submission/identity.ts'
import type { NewBatch, Submission, SubmissionFilter } from '../../domain/submission/submission.ts'
import { InternalError, IoError } from '../../errors/kinds.ts'
import { type Values, type Work, all } from './engine.ts'
import {
  type Fingerprint,
  type PersonPrints,
  areOwnPrints,
  namePrint,
  personPrints,
  sha256,
} from './fingerprints.ts'

/** An order that was recovered has no status before it is read. */
const unfinished = `s.request_id IS NOT NULL AND coalesce(s.request_status, '') NOT IN ${sqlList(terminalStatuses)}`

/** A filter as a WHERE clause on `selectSubmissions`. */
export function conditions(filter: SubmissionFilter): { where: string; values: Values } {
  // Rows that never were a whole order are no submissions.
  const clauses: string[] = ['s.fingerprint IS NOT NULL']
  const values: Record<string, unknown> = {}
  const must = (clause: string, name: string, value: unknown): void => {
    if (value === undefined) return
    clauses.push(clause)
    values[name] = value
  }
  must('s.batch_id = :batchId', 'batchId', filter.batchId)
  must('s.request_id = :requestId', 'requestId', filter.requestId?.toLowerCase())
  const start = filter.requestStart?.toLowerCase()
  must('s.request_id >= CAST(:start AS text)', 'start', start)
  must('s.request_id < CAST(:beyond AS text)', 'beyond', start && `${start}g`)
  must('{sameEmail s.email, :email}', 'email', filter.email)
  must('b.account = :account', 'account', filter.account)
  must('coalesce(a.began_at, b.added_at) >= :since', 'since', filter.since)
  must('{isIn s.state, states}', 'states', filter.states)
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

/** The columns that a recipient is made of. */
export type StoredRecipient = { [name in 'firstName' | 'lastName' | 'email' | 'phone']: string | undefined }

const columns = `s.batch_id, s.row_number, s.state, s.attempt_id, s.changed_at, s.package_id, s.first_name, s.last_name,
  s.email, s.phone, s.request_id, s.request_status, s.request_status_at, s.checks, s.acknowledged_at, s.offered_id, s.reason, s.field,
  b.base_url, b.added_at, a.began_at AS attempted_at,
  (SELECT count(*) FROM attempts t WHERE t.batch_id = s.batch_id AND t.row_number = s.row_number) AS attempts`

/** `more`: columns of the row `s` or of its batch `b`. `from`: rows of submissions. */
export const selectWith = (more: readonly string[] = [], from = 'submissions'): string => `
SELECT ${[columns, ...more].join(', ')}, coalesce(a.user_email, b.user_email) AS user_email
FROM ${from} s
JOIN batches b ON b.id = s.batch_id
LEFT JOIN attempts a ON a.id = s.attempt_id`

export const selectSubmissions = selectWith()

/**
 * Pending rows that have an attempt whose outcome never became known, once for each such attempt and with its time and user:
 * a person put them back, and they were not sent since.
 */
export const selectPutBack = `
SELECT ${columns}, a.user_email, a.ended_at
FROM attempts a
CROSS JOIN submissions s
CROSS JOIN batches b
WHERE coalesce(a.became, 'unknown') = 'unknown' AND s.batch_id = a.batch_id AND s.row_number = a.row_number
  AND s.state = 'pending' AND b.id = s.batch_id`

/** Rows of a statement that selects the columns of a recipient, which is one field of each row. */
export function* allOrders<Row = Submission>(sql: string, values?: Values): Work<Row[]> {
  const found = yield* all<StoredRecipient>(sql, values)
  return found.map(({ firstName, lastName, email, phone, ...row }) =>
    Object.assign(row, { recipient: recipientOf({ firstName, lastName, email, phone }) }),
  ) as Row[]
}

export function recipientOf({ firstName, lastName, email, phone }: StoredRecipient): Recipient | undefined {
  if (firstName === undefined || lastName === undefined || email === undefined || phone === undefined)
    return undefined
  return { first_name: firstName, last_name: lastName, email, phone }
}

/** A row that is not what was written: nothing is ordered with it. */
export function damagedStore(location: string, { batchId, row }: { batchId: string; row: number }): IoError {
  return new IoError(`the store "${location}" is damaged: row ${row} of batch ${batchId}`, {
    hint: 'Nothing was sent. Restore a backup of the store, or choose another one with REFCHECK_STORE. See what is damaged with: refcheck store check',
  })
}

/** A row as it is kept, with its batch's service and account. */
export interface StoredOrderRow
  extends Pick<Submission, 'batchId' | 'row' | 'baseUrl' | 'packageId' | 'recipient'>, PersonPrints {
  body: Uint8Array | undefined
  bodySha256: string
  fingerprint: string | undefined
  account: string
}

/** What of a row is not as it was written, in sentences. */
export function damageOf(row: StoredOrderRow, fingerprint: Fingerprint): string[] {
  const name = `row ${row.row} of batch ${row.batchId}`
  const found: string[] = []
  if (row.body !== undefined && sha256(row.body) !== row.bodySha256)
    found.push(`${name}: its body differs from the one recorded`)
  if (!hasOwnPrints(row, fingerprint))
    found.push(`${name}: its fingerprint is not that of its person, who could be ordered twice`)
  return found
}

/** Others would make the person new: the same order again would be no duplicate. */
function hasOwnPrints(row: StoredOrderRow, fingerprint: Fingerprint): boolean {
  const { recipient } = row
  if (recipient === undefined || row.fingerprint === undefined) return true
  return (
    row.fingerprint === fingerprint(orderIdentity({ ...row, recipient })) &&
    areOwnPrints(row, personPrints(fingerprint, recipient))
  )
}

/** A batch as its table has it. */
export function batchFields<Batch extends Partial<NewFileBatch>>({
  account = '',
  allowDuplicate = false,
  allowSimilar = false,
  shared = [],
  ...fields
}: Batch) {
  return { ...fields, account, allowDuplicate, allowSimilar, shared: JSON.stringify(shared) }
}

/** Rows of a batch that is no file. Throws where it would order one person twice. */
export function orderFields(batch: NewBatch, fingerprint: Fingerprint) {
  const rows = batch.submissions.map((order, index) => {
    const row = { ...order, row: index + 1, state: 'pending' as const }
    return fileRowFields(batch, { row }, fingerprint)
  })
  if (new Set(rows.map((row) => row.fingerprint)).size < rows.length)
    throw new InternalError('a batch was about to order one person twice')
  return rows
}

const noPrints = { personPrint: undefined, emailPrint: undefined, phonePrint: undefined }

/** A row, with what it conflicts with; each has the same fields. */
export function fileRowFields(
  { id, addedAt, baseUrl, account = '' }: NewFileBatch | NewBatch,
  { row, identities, stop }: Partial<ComparedRow> & Pick<ComparedRow, 'row'>,
  fingerprint: Fingerprint,
) {
  const order = row.state === 'pending' ? row : undefined
  const other = row.state === 'pending' ? undefined : row
  const match = stop && matchFields(stop)
  const prints = order && personPrints(fingerprint, order.recipient, identities)
  return {
    batchId: id,
    row: row.row,
    state: stop?.becomes ?? row.state,
    changedAt: addedAt,
    packageId: row.packageId,
    firstName: order?.recipient.first_name,
    lastName: order?.recipient.last_name,
    email: order?.recipient.email ?? other?.email,
    phone: order?.recipient.phone,
    body: order?.body,
    bodySha256: order && sha256(order.body),
    fingerprint: order && fingerprint(orderIdentity({ account, baseUrl, ...order })),
    ...(prints ?? noPrints),
    namePrint: order && namePrint(fingerprint, order.recipient),
    reason: other?.reason,
    field: other?.field,
    matchesBatch: other?.matchesRow === undefined ? match?.matchesBatch : id,
    matchesRow: other?.matchesRow ?? match?.matchesRow,
    heldFor: match?.heldFor,
    shares: match?.shares,
    externalResults: order?.externalResults && JSON.stringify(order.externalResults),
  }
}

/** What a row conflicts with, as its columns have it. */
export function matchFields({ order, becomes, reason, shares }: Conflict) {
  return {
    matchesBatch: order.batchId,
    matchesRow: order.row,
    heldFor: becomes === 'held' ? reason : undefined,
    shares: shares.length === 0 ? undefined : shares.join(' '),
  }
}

/** As the column has them; undefined where there are none. */
export function parseExternalResults(text: string | undefined): ExternalResult[] | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as ExternalResult[])
}
