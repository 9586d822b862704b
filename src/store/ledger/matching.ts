import {
  areOwnPrints,
  type PersonPrints,
  personPrints,
  sha256,
  storedPrints,
  type StoreKey,
} from './fingerprints.ts'
import type { Shared } from '../../domain/submission/likeness.ts'
import {
  type Allowed,
  type Candidate,
  type Compared,
  firstToTell,
  type KnownRelations,
  releasable,
  statesThatMatch,
  type Stop,
  stopsOf,
} from '../../domain/submission/match.ts'
import {
  type JoinedPackage,
  type JoinedServices,
  relationsOf,
} from '../../domain/submission/joined-packages.ts'
import type { SubmissionState } from '../../domain/submission/states.ts'
import { resultsBatch, type Witness } from '../../domain/submission/witness.ts'
import {
  damagedStore,
  recipientOf,
  selectSubmissions,
  sqlList,
  submissionOf,
  type SubmissionRow,
} from './submission-rows.ts'
import { all, type Dialect, get, perDialect, run, type Work } from './engine.ts'
import {
  type SelectedUnmatched,
  sharesUnmatched,
  unmatchedOrders,
  unmatchedStatements,
} from './unmatched-requests.ts'
import { refuseImpossible } from '../../domain/submission/change.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import type { NewBatch, RowVersion } from '../../domain/submission/submission.ts'

/** What a person allowed along with a new order. */
export interface AddGuard {
  allowDuplicate: boolean
  allowSimilar?: boolean | undefined
  /** Orders that the person was shown, and said of each that it is no reason to stop; kept as releases. */
  shown?: readonly RowVersion[] | undefined
}

/** Orders that are not added yet, as they are compared. */
function newToCompare(batch: NewBatch, guard: AddGuard): ToCompare[] {
  const { id: batchId, account = '', baseUrl, addedAt, kind, submissions } = batch
  const allowed = allowedBy(guard)
  return submissions.map(({ packageId, recipient }, index) => ({
    batchId,
    row: index + 1,
    baseUrl,
    account,
    addedAt,
    kind,
    packageId,
    recipient,
    allowed,
    prints: undefined,
  }))
}

/** The conflict of orders that are not added yet, past what the person was shown. */
export function* findConflictOfNew(
  matching: Matching,
  batch: NewBatch,
  guard: AddGuard,
): Work<Stop | undefined> {
  for (const row of newToCompare(batch, guard)) {
    const stop = notShown(yield* matching.findConflicts(row), guard)
    if (stop !== undefined) return stop
  }
  return undefined
}

function notShown(stops: readonly Stop[], { shown = [] }: AddGuard): Stop | undefined {
  const wasShown = (order: RowVersion): boolean =>
    shown.some((each) => each.batchId === order.batchId && each.row === order.row)
  return firstToTell(stops.filter(({ order, reason }) => !wasShown(order) || !releasable.includes(reason)))
}

export const allowedBy = ({ allowDuplicate, allowSimilar }: AddGuard): Allowed => ({
  duplicate: allowDuplicate,
  similar: allowSimilar === true,
  shared: [],
})

/** A row with all that comparing it needs. */
interface ToCompare extends Compared {
  account: string
  prints: PersonPrints | undefined
  allowed: Allowed
  /** Found along with the row, for its own fingerprints. */
  looked?: WhetherShared
}

/** A row of the store, with what an attempt takes from it. */
export interface StoredRow extends ToCompare {
  state: SubmissionState
  attemptId: string | undefined
  /** Undefined where it is damaged, or forgotten. */
  body: Uint8Array | undefined
  bodySha256: string | null
}

/** As `selectToCompare` gives it. */
interface SelectedToCompare extends SubmissionRow {
  body: Uint8Array | null
  body_sha256: string | null
  kind: 'single' | 'file'
  account: string
  allow_duplicate: number
  allow_similar: number
  shared: string
  witnesses: string | null
  person_print: string | null
  email_print: string | null
  phone_print: string | null
}

/** Undefined where it is none that can be sent. */
export function storedRowOf(selected: unknown): StoredRow | undefined {
  const found = selected as SelectedToCompare | undefined
  if (found === undefined || (found.package_id as number | null) === null) return undefined
  const { body, body_sha256 } = found
  return {
    batchId: found.batch_id,
    row: found.row_number,
    state: found.state,
    attemptId: found.attempt_id ?? undefined,
    body: body !== null && sha256(body) === body_sha256 ? body : undefined,
    bodySha256: body_sha256,
    baseUrl: found.base_url,
    account: found.account,
    packageId: found.package_id,
    recipient: recipientOf(found),
    addedAt: found.added_at,
    kind: found.kind,
    witnesses: witnessesOf(found.witnesses),
    prints: storedPrints(found),
    allowed: {
      duplicate: found.allow_duplicate === 1,
      similar: found.allow_similar === 1,
      shared: JSON.parse(found.shared) as string[],
    },
  }
}

/** A row of the store that shares a fingerprint with another. */
function candidateOf(selected: unknown, prints: PersonPrints): Candidate {
  const found = selected as SubmissionRow & { [name in keyof PersonPrints]: string | null }
  return {
    order: submissionOf(found),
    samePerson: found.person_print === prints.person_print,
    sameEmail: found.email_print === prints.email_print,
  }
}

export function joinedPackageOf(selected: unknown): JoinedPackage {
  const { service, package_id, successor_id, how } = selected as {
    service: string
    package_id: number
    successor_id: number
    how: JoinedPackage['how']
  }
  return { service, packageId: package_id, successorId: successor_id, how }
}

function joinedServicesOf(selected: unknown): JoinedServices {
  const { one, other, same } = selected as { one: string; other: string; same: number }
  return { one, other, same: same === 1 }
}

interface MatchColumns {
  matches_batch: string | null
  matches_row: number | null
  held_for: string | null
  shares: string | null
}

/** What stands in a row's way, as its columns have it. */
export function matchColumns({ order, becomes, reason, shares }: Stop): MatchColumns {
  return {
    matches_batch: order.batchId,
    matches_row: order.row,
    held_for: becomes === 'held' ? reason : null,
    shares: shares.length === 0 ? null : shares.join(' '),
  }
}

/** As the column has them; undefined where there are none. */
export function witnessesOf(text: string | null): Witness[] | undefined {
  return text === null ? undefined : (JSON.parse(text) as Witness[])
}

export function sharesOf(text: string | null): Shared[] {
  return text === null ? [] : (text.split(' ') as Shared[])
}

const printColumns = ['person_print', 'email_print', 'phone_print']

/**
 * Whether a row shares anything with another at all: what that is costs more, and for most rows there is nothing. Damaged is
 * a row whose e-mail is the same by its text and another by its fingerprint: its number and its batch. `of`: a column of the row.
 */
function sharedColumns({ sameEmail }: Dialect, of: (column: string) => string): string {
  const another = (print: string): string => `EXISTS (
  SELECT 1 FROM submissions o
  WHERE o.${print} = ${of(print)} AND NOT (o.batch_id = ${of('batch_id')} AND o.row_number = ${of('row_number')}))`
  return `
CAST((${printColumns.map(another).join(' OR ')}) AS integer) AS is_shared,
CAST((${sharesUnmatched(of)}) AS integer) AS unmatched,
(SELECT o.row_number || ' ' || o.batch_id FROM submissions o
  WHERE ${sameEmail('o.email', of('email'))} AND o.fingerprint IS NOT NULL
    AND o.email_print IS DISTINCT FROM ${of('email_print')} LIMIT 1) AS damaged`
}

/**
 * With what an attempt is made of, since both are done at once, and with where the database has the row. A batch that a machine
 * whose clock is ahead has added came in now.
 */
const selectToCompare = (dialect: Dialect): string => `
SELECT ${dialect.rowPlace.of('s')} AS place, s.batch_id, s.row_number, s.state, s.attempt_id, s.package_id,
  s.first_name, s.last_name, s.email, s.phone, s.body, s.body_sha256,
  s.person_print, s.email_print, s.phone_print, s.witnesses,
  b.base_url, CASE WHEN ${dialect.clock} < b.added_at THEN ${dialect.clock} ELSE b.added_at END AS added_at, b.kind, b.account, b.allow_duplicate, b.allow_similar, b.shared,
  ${sharedColumns(dialect, (column) => `s.${column}`)}
FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.batch_id = :batch_id`

/** Each account sees its own people and those of no account; without an account everybody is seen. */
const isSeen = `s.state IN ${sqlList(statesThatMatch)} AND (CAST(:account AS text) = '' OR b.account IN ('', :account))`

/** Of conflicts that are alike the earliest order is shown. */
const inOrder = ({ serial }: Dialect): string => `ORDER BY b.${serial}, s.row_number`

/** Orders that share a fingerprint with a row. */
const selectCandidates = (dialect: Dialect): string => `${selectSubmissions}
WHERE (s.person_print = :person_print OR s.email_print = :email_print OR s.phone_print = :phone_print) AND ${isSeen}
  AND NOT (s.batch_id = :batch_id AND (s.row_number = :row_number
    OR (:skip_own = 1 AND s.person_print <> :person_print AND s.state <> 'unknown')))
${inOrder(dialect)}`

/** The same for many rows that are not in the store yet. */
const selectCandidatesOfMany = (dialect: Dialect): string => `${selectSubmissions}
WHERE (${dialect.isIn('s.person_print', 'persons')} OR ${dialect.isIn('s.email_print', 'emails')}
    OR ${dialect.isIn('s.phone_print', 'phones')}) AND ${isSeen} AND s.batch_id <> :batch_id
${inOrder(dialect)}`

/** When the order that a row is in conflict with was sent, also where a results file alone tells of it. */
const sentAt = ({ json }: Dialect): string => `coalesce(a.began_at, m.changed_at, CASE WHEN ${isResult} THEN
  CAST(${json('s.witnesses')} -> CAST(s.matches_row - 1 AS integer) ->> 'at' AS bigint) END)`

const isResult = `s.matches_batch = '${resultsBatch}'`

export const matchingStatements = perDialect((dialect) => ({
  /** No other transaction changes it until the end of this one. */
  lockRow: `${selectToCompare(dialect)} AND s.row_number = :row_number ${dialect.lockRows('s')}`,

  /** The first pending row that no other runner is about to send. */
  lockNext: `${selectToCompare(dialect)} AND s.state = 'pending'
ORDER BY ${dialect.pendingOrder('s')} LIMIT 1 ${dialect.lockRows('s', 'skip locked')}`,

  selectWhetherShared: `SELECT ${sharedColumns(dialect, (column) => `:${column}`)}`,
  selectCandidates: selectCandidates(dialect),
  selectUnmatched: unmatchedStatements(dialect).selectUnmatched,
  selectCandidatesOfMany: selectCandidatesOfMany(dialect),

  /** What the duplicates and held rows of a batch match, as that stands now. */
  selectConflicts: `
SELECT s.state, s.held_for, CASE WHEN ${isResult} THEN 'accepted' ELSE m.state END AS other_state,
  m.batch_id AS other_batch, count(*) AS count, min(${sentAt(dialect)}) AS first_at, max(${sentAt(dialect)}) AS last_at
FROM submissions s
LEFT JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
LEFT JOIN attempts a ON a.id = m.attempt_id
WHERE s.batch_id = :batch_id AND s.state IN ('duplicate', 'held')
GROUP BY s.state, s.held_for, ${isResult}, m.state, m.batch_id`,
}))

export const selectJoinedPackages = 'SELECT service, package_id, successor_id, how FROM joined_packages'

const selectJoinedServices = 'SELECT one, other, same FROM joined_services'

/** A release of one row for another is one of the other for it: a person said that they are two people. */
const selectReleases = `
SELECT other_batch AS batch, other_row AS number FROM releases WHERE batch_id = :batch_id AND row_number = :row_number
UNION
SELECT batch_id, row_number FROM releases WHERE other_batch = :batch_id AND other_row = :row_number`

const updateConflict = `
UPDATE submissions SET state = :state, changed_at = :at, reason = NULL, field = NULL,
  matches_batch = :matches_batch, matches_row = :matches_row, held_for = :held_for, shares = :shares
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from
  AND (state, matches_batch, matches_row, held_for, shares)
    IS DISTINCT FROM (CAST(:state AS text), CAST(:matches_batch AS text), CAST(:matches_row AS bigint),
      CAST(:held_for AS text), CAST(:shares AS text))`

const clearConflict = `
UPDATE submissions SET state = 'pending', changed_at = :at, reason = NULL, field = NULL,
  matches_batch = NULL, matches_row = NULL, held_for = NULL, shares = NULL
WHERE batch_id = :batch_id AND row_number = :row_number AND state = :from`

const insertRelease = `
INSERT INTO releases (batch_id, row_number, other_batch, other_row, made_at, made_by)
VALUES (:batch_id, :row_number, :other_batch, :other_row, :at, :by) ON CONFLICT DO NOTHING`

/** States of a row that is compared again. */
type ComparedAgain = 'held' | 'duplicate' | 'rejected'

type Key = Pick<RowVersion, 'batchId' | 'row'>

export interface LockedRow extends StoredRow {
  /** Where the database has it, for as long as the transaction that locked it lasts. */
  place: unknown
}

interface WhetherShared {
  is_shared: 0 | 1
  /** With a request that no row ordered. */
  unmatched: 0 | 1
  damaged: string | null
}

interface Relations {
  services: JoinedServices[]
  packages: JoinedPackage[]
}

/**
 * Conflict detection of one transaction. What it finds binds only in a transaction that locked the account
 * (ordering protocol, "Conflict detection").
 */
export class Matching {
  readonly #key: StoreKey
  readonly #statements: ReturnType<typeof matchingStatements>
  #relations: Relations | undefined

  constructor(key: StoreKey, dialect: Dialect) {
    this.#key = key
    this.#statements = matchingStatements(dialect)
  }

  /** A row of the store, which no other transaction changes meanwhile; undefined where it is none that can be sent. */
  *lockRow({ batchId, row }: Key): Work<LockedRow | undefined> {
    return lockedRowOf(yield* get(this.#statements.lockRow, { batch_id: batchId, row_number: row }))
  }

  /** The first pending row of a batch that no other runner is about to send. */
  *lockNextRow(batchId: string): Work<LockedRow | undefined> {
    return lockedRowOf(yield* get(this.#statements.lockNext, { batch_id: batchId }))
  }

  *findConflict(row: ToCompare): Work<Stop | undefined> {
    return firstToTell(yield* this.findConflicts(row))
  }

  /** All of its conflicts, in no order. Throws where a row is damaged. */
  *findConflicts(row: ToCompare): Work<Stop[]> {
    const { damaged, stops } = yield* this.findConflictsOrDamage(row)
    if (damaged !== undefined) throw damagedStore(this.#key.location, damaged)
    return stops
  }

  /** The same, or a row (this one, or one of the same e-mail) whose fingerprints are not its person's, who would be new. */
  *findConflictsOrDamage(row: ToCompare): Work<{ damaged?: Key | undefined; stops: Stop[] }> {
    const { damaged, candidates } = yield* this.#findCandidates(row)
    if (damaged !== undefined) return { damaged, stops: [] }
    if (candidates.length === 0 && (row.witnesses ?? []).length === 0) return { stops: [] }
    return { stops: stopsOf(row, candidates, row.allowed, yield* this.readRelationsOfRow(row)) }
  }

  *readRelationsOfRow({
    baseUrl,
    packageId,
    batchId,
    row,
  }: Pick<Compared, 'baseUrl' | 'packageId' | 'batchId' | 'row'>): Work<KnownRelations> {
    const { services, packages } = yield* this.readRelations()
    const key = { batch_id: batchId, row_number: row }
    const releases = yield* all<{ batch: string; number: number }>(selectReleases, key)
    const released = new Set(releases.map((each) => `${each.batch} ${each.number}`))
    return {
      ...relationsOf({ service: serviceOf(baseUrl), packageId }, services, packages),
      released: (order) => released.has(`${order.batchId} ${order.row}`),
    }
  }

  /** Known relations of services and packages. */
  *readRelations(): Work<Relations> {
    this.#relations ??= {
      services: (yield* all(selectJoinedServices)).map(joinedServicesOf),
      packages: (yield* all(selectJoinedPackages)).map(joinedPackageOf),
    }
    return this.#relations
  }

  /** Compares a row that waits; answers its state from then on. A row that is not as `from` says is left alone. */
  *compareAgain(key: Key, from: ComparedAgain, at: number): Work<SubmissionState> {
    const compared = yield* this.lockRow(key)
    const stop = compared && (yield* this.findConflict(compared))
    if (stop !== undefined) {
      return (yield* this.recordConflict(key, from, stop, at)) ? stop.becomes : from
    }
    refuseImpossible(from, 'pending', from === 'rejected' ? 'retry' : 'comparing')
    const values = { batch_id: key.batchId, row_number: key.row, from, at }
    return (yield* run(clearConflict, values)) === 1 ? 'pending' : from
  }

  /** Records a row's conflict; whether the row changed. */
  *recordConflict(
    { batchId, row }: Key,
    from: ComparedAgain | 'pending',
    stop: Stop,
    at: number,
  ): Work<boolean> {
    if (from !== stop.becomes) {
      refuseImpossible(from, stop.becomes, from === 'rejected' ? 'retry' : 'comparing')
    }
    const key = { batch_id: batchId, row_number: row }
    const values = { ...key, from, state: stop.becomes, at, ...matchColumns(stop) }
    return (yield* run(updateConflict, values)) === 1
  }

  /** A person said of a row and of each of these that they are two people. */
  *recordReleases({ batchId, row }: Key, others: readonly Key[], by: { at: number; by: string }): Work<void> {
    for (const other of others) {
      const pair = { batch_id: batchId, row_number: row, other_batch: other.batchId, other_row: other.row }
      yield* run(insertRelease, { ...pair, ...by })
    }
  }

  /** Every order that shares the person, the e-mail or the phone, in any package and at any service. */
  *#findCandidates(row: ToCompare): Work<{ damaged?: Key | undefined; candidates: Candidate[] }> {
    const { recipient, batchId, kind, allowed, account } = row
    const own = recipient && personPrints(this.#key.fingerprint, recipient)
    if (own !== undefined && !areOwnPrints(row.prints, own)) return { damaged: row, candidates: [] }
    const prints = row.prints ?? own
    if (prints === undefined) return { candidates: [] }
    const key = { batch_id: batchId, row_number: row.row }
    const values = { ...prints, ...key, email: recipient?.email ?? null }
    let looked = row.prints && row.looked
    if (looked === undefined) {
      const found = (yield* get(this.#statements.selectWhetherShared, values)) as WhetherShared
      looked = found
    }
    const { is_shared, unmatched, damaged } = looked
    if (damaged !== null) {
      const [number, damagedBatch = ''] = damaged.split(' ')
      return { damaged: { batchId: damagedBatch, row: Number(number) }, candidates: [] }
    }
    const requests =
      unmatched === 0 ? [] : yield* all<SelectedUnmatched>(this.#statements.selectUnmatched, values)
    const ofRequests = unmatchedOrders(requests).map(({ order, prints: its }) => ({
      order,
      samePerson: its.person_print === prints.person_print,
      sameEmail: its.email_print === prints.email_print,
    }))
    if (is_shared === 0) return { candidates: ofRequests }
    const found = yield* all(this.#statements.selectCandidates, {
      ...prints,
      ...key,
      account,
      // What a file's own rows share is allowed as a whole, but past no unknown one: there may be thousands of them.
      skip_own: kind === 'file' && allowed.similar ? 1 : 0,
    })
    return { candidates: [...found.map((each) => candidateOf(each, prints)), ...ofRequests] }
  }
}

function lockedRowOf(found: unknown): LockedRow | undefined {
  const row = storedRowOf(found)
  if (row === undefined) return undefined
  const { place, is_shared, unmatched, damaged } = found as WhetherShared & Pick<LockedRow, 'place'>
  return { ...row, place, looked: { is_shared, unmatched, damaged } }
}
