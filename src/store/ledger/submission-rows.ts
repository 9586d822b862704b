import type { Recipient } from '../../contract/request.ts'
import { statusRank, terminalStatuses } from '../../contract/statuses.ts'
import type { BatchRow, Match, NewFileBatch } from '../../domain/batch/batch.ts'
import type { ComparedRow } from '../../domain/batch/compare.ts'
import {
  type Conflict,
  type ConflictReason,
  type PackageRelation,
  type ServiceRelation,
  conflictingStates,
} from '../../domain/submission/conflicts.ts'
import { type ExternalResult, resultsBatch } from '../../domain/submission/external-results.ts'
import { orderIdentity, serviceOf } from '../../domain/submission/identity.ts'
import {
  type NewBatch,
  type Submission,
  type SubmissionFilter,
  orderOfResult,
} from '../../domain/submission/submission.ts'
import type { SharedDetail } from '../../domain/submission/similarity.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import { InternalError, IoError } from '../../errors/kinds.ts'
import { type Values, type Work, all } from './engine.ts'
import {
  type Fingerprint,
  type PersonFingerprints,
  type StoreKey,
  type StoredFingerprints,
  areFingerprintsOf,
  fingerprintName,
  fingerprintPerson,
  sha256,
} from './fingerprints.ts'

/**
 * SQL condition: the order has a request that is in progress. A recovered order has no status until its request is
 * read.
 */
const isUnfinished = `s.request_id IS NOT NULL AND coalesce(s.request_status, '') NOT IN ${sqlList(terminalStatuses)}`

/** Returns a filter as a WHERE clause on `selectSubmissions`, with its parameters. */
export function filterClause(filter: SubmissionFilter): { where: string; values: Values } {
  // Invalid rows have no fingerprint in this column, and are no submissions.
  const clauses: string[] = ['s.fingerprint IS NOT NULL']
  const values: Record<string, unknown> = {}
  const addClause = (clause: string, name: string, value: unknown): void => {
    if (value === undefined) return
    clauses.push(clause)
    values[name] = value
  }
  addClause('s.batch_id = :batchId', 'batchId', filter.batchId)
  addClause('s.request_id = :requestId', 'requestId', filter.requestId?.toLowerCase())
  const requestStart = filter.requestStart?.toLowerCase()
  addClause('s.request_id >= CAST(:start AS text)', 'start', requestStart)
  addClause('s.request_id < CAST(:beyond AS text)', 'beyond', requestStart && `${requestStart}g`)
  addClause('{sameEmail s.email, :email}', 'email', filter.email)
  addClause('b.account = :account', 'account', filter.account)
  addClause('coalesce(a.began_at, b.added_at) >= :since', 'since', filter.since)
  addClause('{isIn s.state, states}', 'states', filter.states)
  if (filter.unfinished === true) clauses.push(isUnfinished)
  return { where: `WHERE ${clauses.join(' AND ')}`, values }
}

/**
 * Returns constants as a list in SQL, such as `('pending', 'sending')`. They are not escaped, so they must not come
 * from outside the program.
 */
export function sqlList(words: readonly string[]): string {
  return `(${words.map((word) => `'${word}'`).join(', ')})`
}

/**
 * Returns the rank of the status in an SQL expression; a status that the contract does not define has the highest
 * rank.
 */
export function sqlStatusRank(expression: string): string {
  const cases = Object.entries(statusRank).map(([status, rank]) => `WHEN '${status}' THEN ${rank}`)
  return `CASE ${expression} ${cases.join(' ')} ELSE ${Math.max(...Object.values(statusRank))} END`
}

/**
 * Returns an SQL condition: the row of submissions belongs to the service with this base URL, or to one that a user
 * has declared to be the same. NULL as the base URL means any service.
 */
export function sqlIsOfService(row: string, baseUrl: string): string {
  return `(${baseUrl} IS NULL OR EXISTS (
    SELECT 1 FROM batches WHERE batches.id = ${row}.batch_id AND (batches.base_url = ${baseUrl} OR EXISTS (
      SELECT 1 FROM joined_services joined WHERE joined.same = 1 AND (
        (joined.one = batches.base_url AND joined.other = ${baseUrl}) OR
        (joined.other = batches.base_url AND joined.one = ${baseUrl}))))))`
}

/** Returns an SQL condition: the row is held because the store had lost attempts, so that it may have been sent. */
export const sqlMayBeSent = (row: string): string =>
  `(${row}.state = 'held' AND coalesce(${row}.held_for, '') = 'store_forgot')`

/**
 * Returns an SQL condition: the order can conflict with others. A row that is held because the store had lost attempts
 * conflicts too, because it may have been ordered. `state`: the expression of its state.
 */
export const sqlConflicts = (row: string, state: string): string =>
  `(${state} IN ${sqlList(conflictingStates)} OR ${sqlMayBeSent(row)})`

/**
 * SQL condition: the order can conflict with an order of `:account`. An order of an account is compared with
 * orders of the same account and with orders without an account; an order without an account is compared with
 * all.
 */
export const canConflictSql = `${sqlConflicts('s', 's.state')}
  AND (CAST(:account AS text) = '' OR b.account IN ('', :account))`

/** Returns an SQL condition: the order can conflict with others, or has external results that can. */
export const sqlIsCandidate = (row: string, canConflict: string): string =>
  `(${canConflict} OR ${row}.external_results IS NOT NULL)`

/**
 * People with one of these names for whom an order was or may have been made, each with the time of the last attempt.
 */
const selectNamesakes = `
SELECT s.name_print, s.email_print, s.phone_print, s.package_id, b.base_url, max(a.began_at) AS ordered_at
FROM submissions s JOIN batches b ON b.id = s.batch_id JOIN attempts a ON a.id = s.attempt_id
WHERE {isIn s.name_print, names} AND ${canConflictSql} AND s.state <> 'pending' AND s.batch_id <> :batchId
GROUP BY s.name_print, s.email_print, s.phone_print, s.package_id, b.base_url ORDER BY ordered_at DESC LIMIT 1000`

/** The columns of a recipient. */
export type StoredRecipient = { [name in 'firstName' | 'lastName' | 'email' | 'phone']: string | undefined }

const orderColumns = `s.batch_id, s.row_number, s.state, s.attempt_id, s.changed_at, s.package_id, s.first_name, s.last_name,
  s.email, s.phone, s.request_id, s.request_status, s.request_status_at, s.checks, s.acknowledged_at, s.offered_id, s.reason, s.field,
  b.base_url, b.added_at, a.began_at AS attempted_at,
  (SELECT count(*) FROM attempts t WHERE t.batch_id = s.batch_id AND t.row_number = s.row_number) AS attempts`

/**
 * `moreColumns`: further columns of the row `s` or of its batch `b`. `from`: a table or subquery with rows of
 * submissions.
 */
export const selectOrdersWith = (moreColumns: readonly string[] = [], from = 'submissions'): string => `
SELECT ${[orderColumns, ...moreColumns].join(', ')}, coalesce(a.user_email, b.user_email) AS user_email
FROM ${from} s
JOIN batches b ON b.id = s.batch_id
LEFT JOIN attempts a ON a.id = s.attempt_id`

export const selectSubmissions = selectOrdersWith()

/**
 * Pending rows with attempts whose outcome never became known: a user set the rows to pending, and they have not been
 * sent since. A row is returned once for each such attempt, with its time and user.
 */
export const selectRequeuedUnknown = `
SELECT ${orderColumns}, a.user_email, a.ended_at
FROM attempts a
CROSS JOIN submissions s
CROSS JOIN batches b
WHERE coalesce(a.became, 'unknown') = 'unknown' AND s.batch_id = a.batch_id AND s.row_number = a.row_number
  AND s.state = 'pending' AND b.id = s.batch_id`

/**
 * Returns the rows of a statement that selects the columns of a recipient; each row has them as one field
 * `recipient`.
 */
export function* allOrders<Row = Submission>(sql: string, values?: Values): Work<Row[]> {
  const selected = yield* all<StoredRecipient>(sql, values)
  return selected.map(({ firstName, lastName, email, phone, ...row }) =>
    Object.assign(row, { recipient: recipientOf({ firstName, lastName, email, phone }) }),
  ) as Row[]
}

export function recipientOf({ firstName, lastName, email, phone }: StoredRecipient): Recipient | undefined {
  if (firstName === undefined || lastName === undefined || email === undefined || phone === undefined)
    return undefined
  return { first_name: firstName, last_name: lastName, email, phone }
}

/** A row of a batch with the order that it conflicts with. */
export interface SelectedRow
  extends
    Omit<Submission, 'recipient'>,
    StoredRecipient,
    Record<'shares' | 'externalResults' | 'matchesBatch' | 'matchesRequest', string | undefined>,
    Record<
      'matchesStatus' | 'matchesFirstName' | 'matchesLastName' | 'matchesEmail' | 'matchesPhone',
      string | undefined
    >,
    Record<'matchesRow' | 'matchesPackage' | 'matchesAt', number | undefined> {
  heldFor: ConflictReason | undefined
  matchesState: SubmissionState | undefined
}

export function batchRowOf(selected: SelectedRow): BatchRow {
  const { shares, externalResults, matchesBatch, matchesRow, ...others } = selected
  const {
    matchesRequest: requestId,
    matchesState: state,
    matchesPackage: packageId,
    matchesAt: orderedAt,
    matchesStatus: requestStatus,
    matchesFirstName: otherFirst,
    matchesLastName: otherLast,
    matchesEmail: otherEmail,
    matchesPhone: otherPhone,
    firstName,
    lastName,
    email,
    phone,
    ...row
  } = others
  const other = { firstName: otherFirst, lastName: otherLast, email: otherEmail, phone: otherPhone }
  const order = { requestId, state, packageId, orderedAt, requestStatus, recipient: recipientOf(other) }
  return {
    ...row,
    recipient: recipientOf({ firstName, lastName, email, phone }),
    person: { first_name: firstName, last_name: lastName, email, phone },
    matches:
      matchesBatch === undefined || matchesRow === undefined
        ? undefined
        : matchesBatch === resultsBatch
          ? matchInResults(externalResults, matchesRow, row)
          : { batchId: matchesBatch, row: matchesRow, ...order },
    shares: (shares?.split(' ') ?? []) as SharedDetail[],
  }
}

/**
 * Returns the conflicting order if it is known only from an external result. `number` is its position among the row's
 * external results, counted from 1.
 */
function matchInResults(
  externalResults: string | undefined,
  number: number,
  row: Parameters<typeof orderOfResult>[2],
): Match | undefined {
  const externalResult = parseExternalResults(externalResults)?.[number - 1]
  if (externalResult === undefined) return undefined
  const { requestId, state, packageId, attemptedAt: orderedAt } = orderOfResult(externalResult, number, row)
  const { file, line } = externalResult
  // The status in the file is left out, because this store does not read the request again.
  const match = { batchId: resultsBatch, row: number, requestId, state, packageId, orderedAt }
  return { ...match, externalResult: { file, line } }
}

/** Returns the error for a row that was changed outside the program. Such a row is never sent. */
export function damagedStore(location: string, { batchId, row }: { batchId: string; row: number }): IoError {
  return new IoError(`the store "${location}" is damaged: row ${row} of batch ${batchId}`, {
    hint: 'Nothing was sent. Restore a backup of the store, or choose another one with REFCHECK_STORE. See what is damaged with: refcheck store check',
  })
}

/** A row as it is stored, with its batch's service and account. */
export interface StoredOrderRow
  extends Pick<Submission, 'batchId' | 'row' | 'baseUrl' | 'packageId' | 'recipient'>, PersonFingerprints {
  body: Uint8Array | undefined
  bodySha256: string
  fingerprint: string | undefined
  account: string
}

/** Returns one sentence for each part of a row that differs from what was recorded. */
export function listDamage(row: StoredOrderRow, fingerprint: Fingerprint): string[] {
  const name = `row ${row.row} of batch ${row.batchId}`
  const damages: string[] = []
  if (row.body !== undefined && sha256(row.body) !== row.bodySha256)
    damages.push(`${name}: its body differs from the one recorded`)
  if (!hasOwnFingerprints(row, fingerprint))
    damages.push(`${name}: its fingerprint is not that of its person, who could be ordered twice`)
  return damages
}

/**
 * Returns whether the fingerprints are those of the row's person. With other fingerprints the person would count as
 * new, and the same order would be no duplicate.
 */
function hasOwnFingerprints(row: StoredOrderRow, fingerprint: Fingerprint): boolean {
  const { recipient } = row
  if (recipient === undefined || row.fingerprint === undefined) return true
  return (
    row.fingerprint === fingerprint(orderIdentity({ ...row, recipient })) &&
    areFingerprintsOf(row, fingerprintPerson(fingerprint, recipient))
  )
}

/** Returns a batch as a row of its table. */
export function batchFields<Batch extends Partial<NewFileBatch>>({
  account = '',
  allowDuplicate = false,
  allowSimilar = false,
  shared = [],
  ...fields
}: Batch) {
  return { ...fields, account, allowDuplicate, allowSimilar, shared: JSON.stringify(shared) }
}

/**
 * Returns the rows of a batch that does not come from a file. Throws InternalError if two of them order the same
 * package for one person.
 */
export function singleOrderRows(batch: NewBatch, fingerprint: Fingerprint) {
  const rows = batch.submissions.map((order, index) => {
    const row = { ...order, row: index + 1, state: 'pending' as const }
    return submissionFields(batch, { row }, fingerprint)
  })
  if (new Set(rows.map((row) => row.fingerprint)).size < rows.length)
    throw new InternalError('a batch was about to order one person twice')
  return rows
}

/**
 * Returns a row of `submissions`, with the order that it conflicts with. All rows have the same fields, as
 * `insertRows` requires.
 */
export function submissionFields(
  { id, addedAt, baseUrl, account = '' }: NewFileBatch | NewBatch,
  { row, identities, conflict }: Partial<ComparedRow> & Pick<ComparedRow, 'row'>,
  fingerprint: Fingerprint,
) {
  const order = row.state === 'pending' ? row : undefined
  const unsendable = row.state === 'pending' ? undefined : row
  const matchColumns = conflict && conflictColumns(conflict)
  // An invalid row conflicts with no order. It has the fingerprints by which a later order of its person is found: of the
  // name, and of the details that are valid.
  const known = order?.recipient ?? (row.state === 'invalid' ? row.person : undefined)
  const fingerprints = known && fingerprintPerson(fingerprint, known, order && identities)
  const invalidDetails = (row.state === 'invalid' && row.invalidDetails) || []
  const { externalResults } = row
  const resultsMatch = unsendable?.externalResults && { batch: resultsBatch, row: 1 }
  const rowMatch =
    unsendable?.matchesRow === undefined ? resultsMatch : { batch: id, row: unsendable.matchesRow }
  return {
    batchId: id,
    row: row.row,
    state: conflict?.becomes ?? row.state,
    changedAt: addedAt,
    packageId: row.packageId,
    firstName: order?.recipient.first_name ?? (unsendable?.person.first_name || undefined),
    lastName: order?.recipient.last_name ?? (unsendable?.person.last_name || undefined),
    email: order?.recipient.email ?? (unsendable?.person.email || undefined),
    phone: order?.recipient.phone ?? (unsendable?.person.phone || undefined),
    body: order?.body,
    bodySha256: order && sha256(order.body),
    fingerprint: order && fingerprint(orderIdentity({ account, baseUrl, ...order })),
    personPrint: order && fingerprints?.personPrint,
    emailPrint: invalidDetails.includes('email') ? undefined : fingerprints?.emailPrint,
    phonePrint: invalidDetails.includes('phone') ? undefined : fingerprints?.phonePrint,
    namePrint: known && fingerprintName(fingerprint, known),
    reason: unsendable?.reason,
    field: unsendable?.field,
    matchesBatch: rowMatch?.batch ?? matchColumns?.matchesBatch,
    matchesRow: rowMatch?.row ?? matchColumns?.matchesRow,
    heldFor: matchColumns?.heldFor,
    shares: matchColumns?.shares,
    externalResults: externalResults && JSON.stringify(externalResults),
  }
}

/** Returns a row's conflict as columns. */
export function conflictColumns({ order, becomes, reason, shares, externalResults }: Conflict) {
  return {
    matchesBatch: order.batchId,
    matchesRow: order.row,
    heldFor: becomes === 'held' ? reason : undefined,
    shares: shares.length === 0 ? undefined : shares.join(' '),
    externalResults: externalResults && JSON.stringify(externalResults),
  }
}

/** Parses the column `external_results`; undefined if it is NULL. */
export function parseExternalResults(text: string | undefined): ExternalResult[] | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as ExternalResult[])
}

const selectPackageRelations = 'SELECT service, package_id, successor_id, how, since FROM joined_packages'

/** `same` is 1 if a user confirmed that the two URLs are one service, and 0 if they are two. */
const selectServiceRelations = 'SELECT one, other, same FROM joined_services'

export interface StoredRelations {
  services: ServiceRelation[]
  packages: PackageRelation[]
}

/** Reads the known relations of services and packages. */
export function* readStoredRelations(): Work<StoredRelations> {
  const services = yield* all<{ one: string; other: string; same: number }>(selectServiceRelations)
  return {
    services: services.map(({ one, other, same }) => ({
      service: one,
      otherService: other,
      isSame: same === 1,
    })),
    packages: yield* all<PackageRelation>(selectPackageRelations),
  }
}

/** The data of an order that is compared by the name alone. */
export type NamedOrder = Pick<NewBatch, 'baseUrl'> & { packageId: number; recipient: Recipient }

/**
 * Finds, for each order, the last order of a person with the same full name but another e-mail and phone, under the
 * same package and service. Such an order is no conflict and is only mentioned to the user. Returns a function that
 * returns the time of that order in milliseconds.
 */
export function* findNamesakes(
  { fingerprint }: StoreKey,
  { id: batchId, account = '' }: Pick<NewBatch, 'id' | 'account'>,
  orders: readonly NamedOrder[],
): Work<(order: NamedOrder) => number | undefined> {
  const names = orders.flatMap(({ recipient }) => fingerprintName(fingerprint, recipient) ?? [])
  const values = { names: [...new Set(names)], account, batchId }
  const namesakes = names.length === 0 ? [] : yield* all<Namesake>(selectNamesakes, values)
  return ({ baseUrl, packageId, recipient }) => {
    if (namesakes.length === 0) return undefined
    const ownFingerprints = {
      ...fingerprintPerson(fingerprint, recipient),
      namePrint: fingerprintName(fingerprint, recipient),
    }
    return namesakes.find(
      (each) =>
        each.namePrint === ownFingerprints.namePrint &&
        each.emailPrint !== ownFingerprints.emailPrint &&
        each.phonePrint !== ownFingerprints.phonePrint &&
        each.packageId === packageId &&
        serviceOf(each.baseUrl) === serviceOf(baseUrl),
    )?.orderedAt
  }
}

type Namesake = Record<'namePrint' | 'baseUrl', string> &
  Record<'packageId' | 'orderedAt', number> &
  Pick<StoredFingerprints, 'emailPrint' | 'phonePrint'>
