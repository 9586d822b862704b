import type { Recipient } from '../../contract/request.ts'
import type { NewFileBatch, NewRow } from '../../domain/batch/batch.ts'
import {
  type Allowed,
  type Candidate,
  type Compared,
  type Conflict,
  type JoinedPackage,
  type JoinedServices,
  type KnownRelations,
  findConflicts,
  highestPrecedence,
  relationsOf,
  releasableReasons,
  conflictingStates,
} from '../../domain/submission/conflicts.ts'
import { resultsBatch } from '../../domain/submission/external-results.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { type ComparingBudget, PhoneSharers, maxComparing } from '../../domain/submission/similarity.ts'
import { type SubmissionState, refuseImpossible } from '../../domain/submission/states.ts'
import type { NewBatch, RowId, RowVersion, Submission } from '../../domain/submission/submission.ts'
import { type Values, type Work, all, get, insertRows, run } from './engine.ts'
import {
  type PersonPrints,
  type StoreKey,
  type StoredPrints,
  areOwnPrints,
  namePrint,
  personPrints,
  printsOf,
  sha256,
} from './fingerprints.ts'
import { fieldOf } from './schema.ts'
import {
  type StoredRecipient,
  allOrders,
  damagedStore,
  matchFields,
  parseExternalResults,
  recipientOf,
  selectWith,
  sqlList,
} from './submission-rows.ts'
import {
  type StoredOrder,
  candidateOf,
  findUnmatched,
  sharesUnmatched,
  printLists,
} from './unmatched-requests.ts'

/** What a person allowed along with a new order. */
export interface AddGuard {
  allowDuplicate: boolean
  allowSimilar?: boolean | undefined
  /** Orders that the person was shown, and said of each that it is no reason to stop; kept as releases. */
  shown?: readonly RowVersion[] | undefined
}

/**
 * Finds the conflict with the highest precedence in the first new order that has one which the user has not released.
 */
export function* findConflictOfNew(
  matching: Matching,
  { id: batchId, account = '', ...batch }: NewBatch,
  guard: AddGuard,
): Work<Conflict | undefined> {
  const common = { ...batch, batchId, account, allowed: allowedBy(guard), prints: undefined }
  for (const [index, order] of batch.submissions.entries()) {
    const conflicts = yield* matching.findConflicts({ ...common, ...order, row: index + 1 })
    const stop = firstUnshown(conflicts, guard)
    if (stop !== undefined) return stop
  }
  return undefined
}

function firstUnshown(conflicts: readonly Conflict[], { shown = [] }: AddGuard): Conflict | undefined {
  const wasShown = (order: RowVersion): boolean =>
    shown.some((each) => each.batchId === order.batchId && each.row === order.row)
  return highestPrecedence(
    conflicts.filter(({ order, reason }) => !wasShown(order) || !releasableReasons.includes(reason)),
  )
}

export const allowedBy = ({ allowDuplicate, allowSimilar }: AddGuard): Allowed => ({
  duplicate: allowDuplicate,
  similar: allowSimilar === true,
  shared: [],
})

/**
 * A row with the data that conflict detection needs. The columns of WhetherShared are there only if the query for the
 * row selected them too.
 */
interface ToCompare extends Compared, Partial<WhetherShared> {
  account: string
  prints: PersonPrints | undefined
  allowed: Allowed
}

/** A row of the store, with what an attempt takes from it. */
export interface StoredRow extends ToCompare, RowVersion {
  /** Undefined where it is damaged, or erased. */
  body: Uint8Array | undefined
  bodySha256: string
  /** Where the database has it, for as long as the transaction that locked it lasts. */
  place: unknown
}

/** As `selectToCompare` gives it. */
interface SelectedToCompare
  extends
    Omit<StoredRow, 'recipient' | 'prints' | 'allowed' | 'externalResults'>,
    StoredRecipient,
    StoredPrints,
    Record<'allowDuplicate' | 'allowSimilar', number> {
  shared: string
  externalResults: string | undefined
}

/** Returns undefined if no row was selected, or if it has no package and so cannot be sent. */
export function storedRowOf(selected: unknown): StoredRow | undefined {
  const found = selected as SelectedToCompare | undefined
  if (found === undefined || (found.packageId as number | undefined) === undefined) return undefined
  const { body, bodySha256 } = found
  return {
    ...found,
    body: body !== undefined && sha256(body) === bodySha256 ? body : undefined,
    recipient: recipientOf(found),
    externalResults: parseExternalResults(found.externalResults),
    prints: printsOf(found),
    allowed: {
      duplicate: found.allowDuplicate === 1,
      similar: found.allowSimilar === 1,
      shared: JSON.parse(found.shared) as string[],
    },
  }
}

const printColumns = ['person_print', 'email_print', 'phone_print']

/**
 * Columns that tell whether a row shares a fingerprint with another row. Finding which rows these are costs more, and
 * most rows share none. `damaged`: number and batch of a row with the same e-mail but a different e-mail fingerprint,
 * which means that the store is damaged. `of`: a column of the row.
 */
function sharedColumns(of: (column: string) => string): string {
  const another = (print: string): string => `EXISTS (
  SELECT 1 FROM submissions o
  WHERE o.${print} = ${of(print)} AND NOT (o.batch_id = ${of('batch_id')} AND o.row_number = ${of('row_number')}))`
  return `
CAST((${printColumns.map(another).join(' OR ')}) AS integer) AS is_shared,
CAST((${sharesUnmatched(of)}) AS integer) AS unmatched,
(SELECT o.row_number || ' ' || o.batch_id FROM submissions o
  WHERE {sameEmail o.email, ${of('email')}} AND o.fingerprint IS NOT NULL
    AND o.email_print IS DISTINCT FROM ${of('email_print')} LIMIT 1) AS damaged`
}

/**
 * Also selects the columns that an attempt is made from, because a claim compares the row and makes its attempt in
 * one transaction, and the row's physical address. If added_at is in the future (added by a machine whose clock is
 * ahead), the current time is used.
 */
const selectToCompare = `
SELECT {addressOf s} AS place, s.batch_id, s.row_number, s.state, s.attempt_id, s.package_id,
  s.first_name, s.last_name, s.email, s.phone, s.body, s.body_sha256,
  s.person_print, s.email_print, s.phone_print, s.external_results,
  b.base_url, CASE WHEN {clock} < b.added_at THEN {clock} ELSE b.added_at END AS added_at, b.kind, b.account, b.allow_duplicate, b.allow_similar, b.shared,
  ${sharedColumns((column) => `s.${column}`)}
FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.batch_id = :batchId`

/** Each account sees its own people and those of no account; without an account everybody is seen. */
const isSeen = `s.state IN ${sqlList(conflictingStates)} AND (CAST(:account AS text) = '' OR b.account IN ('', :account))`

/** Of conflicts with the same precedence, that with the earliest order is shown. */
const inOrder = 'ORDER BY b.{added}, s.row_number'

const ofOrder = printColumns.map((print) => `s.${print}`)

/** Orders that share a fingerprint with a row. */
export const selectCandidates = `${selectWith(ofOrder)}
WHERE (s.person_print = :personPrint OR s.email_print = :emailPrint OR s.phone_print = :phonePrint) AND ${isSeen}
  AND NOT (s.batch_id = :batchId AND (s.row_number = :row
    OR (:skipsOwn = 1 AND s.person_print <> :personPrint AND s.state <> 'unknown')))
${inOrder}`

/**
 * The same for many rows that are not in the store yet. Each kind of fingerprint has its own SELECT: PostgreSQL has
 * no statistics of a table that was filled in this transaction, and would otherwise scan all rows of each batch.
 */
export const selectCandidatesOfMany = `
WITH shared AS MATERIALIZED (
  SELECT * FROM submissions WHERE {isIn person_print, persons}
  UNION SELECT * FROM submissions WHERE {isIn email_print, emails}
  UNION SELECT * FROM submissions WHERE {isIn phone_print, phones}
)
${selectWith(ofOrder, '(SELECT * FROM shared)')} WHERE ${isSeen} AND s.batch_id <> :batchId ${inOrder}`

const isResult = `s.matches_batch = '${resultsBatch}'`

/** When the order that a row is in conflict with was sent, also where a results file alone tells of it. */
const sentAt = `coalesce(a.began_at, m.changed_at, CASE WHEN ${isResult} THEN
  CAST({json s.external_results} -> CAST(s.matches_row - 1 AS integer) ->> 'at' AS bigint) END)`

/** People of these names who were ordered, or may have been, each with the time of the last order. */
const selectNamesakes = `
SELECT s.name_print, s.email_print, s.phone_print, s.package_id, b.base_url, max(a.began_at) AS ordered_at
FROM submissions s JOIN batches b ON b.id = s.batch_id JOIN attempts a ON a.id = s.attempt_id
WHERE {isIn s.name_print, names} AND ${isSeen} AND s.state <> 'pending' AND s.batch_id <> :batchId
GROUP BY s.name_print, s.email_print, s.phone_print, s.package_id, b.base_url ORDER BY ordered_at DESC LIMIT 1000`

/** No other transaction changes it until the end of this one. */
export const lockRow = `${selectToCompare} AND s.row_number = :row {lockRows s}`

/** The first pending row that no other runner is about to send. */
export const lockNext = `${selectToCompare} AND s.state = 'pending'
ORDER BY {pendingOrder s.row_number} LIMIT 1 {lockRows s, SKIP LOCKED}`

export const selectWhetherShared = `SELECT ${sharedColumns((column) => `:${fieldOf(column)}`)}`

/**
 * The orders that duplicate and held rows of a batch conflict with, with their current state; also for rows that were
 * cancelled because they repeat another order.
 */
export const selectConflicts = `
SELECT CASE WHEN s.state = 'held' THEN s.held_for END AS held_for, CAST((s.state = 'cancelled') AS integer) AS is_left_out,
  CASE WHEN ${isResult} THEN 'accepted' ELSE m.state END AS state, m.request_status, m.batch_id,
  count(*) AS count, min(${sentAt}) AS first, max(${sentAt}) AS last
FROM submissions s
LEFT JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
LEFT JOIN attempts a ON a.id = m.attempt_id
WHERE s.batch_id = :batchId AND (s.state = 'duplicate' OR s.held_for IS NOT NULL AND s.state = 'held'
  OR s.state = 'cancelled' AND s.matches_batch IS NOT NULL AND coalesce(s.held_for, 'recent') = 'recent')
GROUP BY s.state, s.held_for, ${isResult}, m.state, m.request_status, m.batch_id`

export const selectJoinedPackages = 'SELECT service, package_id, successor_id, how FROM joined_packages'

const selectJoinedServices = 'SELECT one, other, same FROM joined_services'

/** A release applies in both directions, because the user has confirmed that the rows are two different people. */
const selectReleases = `
SELECT other_batch AS batch_id, other_row AS row_number FROM releases WHERE batch_id = :batchId AND row_number = :row
UNION
SELECT batch_id, row_number FROM releases WHERE other_batch = :batchId AND other_row = :row`

const updateConflict = `
UPDATE submissions SET state = :state, changed_at = :at, reason = NULL, field = NULL,
  matches_batch = :matchesBatch, matches_row = :matchesRow, held_for = :heldFor, shares = :shares
WHERE batch_id = :batchId AND row_number = :row AND state = :from
  AND (state, matches_batch, matches_row, held_for, shares)
    IS DISTINCT FROM (CAST(:state AS text), CAST(:matchesBatch AS text), CAST(:matchesRow AS bigint),
      CAST(:heldFor AS text), CAST(:shares AS text))`

const clearConflict = `
UPDATE submissions SET state = 'pending', changed_at = :at, reason = NULL, field = NULL,
  matches_batch = NULL, matches_row = NULL, held_for = NULL, shares = NULL
WHERE batch_id = :batchId AND row_number = :row AND state = :from`

/** Packages that count as one, or as the likely successor of another, from then on. */
export function* joinPackages(
  baseUrl: string,
  [packageId, successorId]: readonly [number, number],
  how: 'moved' | 'likely',
  since: number,
): Work<void> {
  const row = { service: serviceOf(baseUrl), packageId, successorId, how, since }
  yield* insertRows('joined_packages', [row], 'ON CONFLICT DO NOTHING')
}

/** States of a row that is compared again. */
type ComparedAgain = 'held' | 'duplicate' | 'rejected'

interface WhetherShared {
  isShared: 0 | 1
  /** With a request that no row ordered. */
  unmatched: 0 | 1
  damaged: string | undefined
}

interface Relations {
  services: JoinedServices[]
  packages: JoinedPackage[]
}

/**
 * Conflict detection of one transaction. What it finds binds only in a transaction that locked the account
 * (src/docs/ordering.md, section 4).
 */
export class Matching {
  readonly #key: StoreKey
  #relations: Relations | undefined

  constructor(key: StoreKey) {
    this.#key = key
  }

  /** A row of the store, which no other transaction changes meanwhile; undefined where it is none that can be sent. */
  *lockRow({ batchId, row }: RowId): Work<StoredRow | undefined> {
    return storedRowOf(yield* get(lockRow, { batchId, row }))
  }

  /** The first pending row of a batch that no other runner is about to send. */
  *lockNextRow(batchId: string): Work<StoredRow | undefined> {
    return storedRowOf(yield* get(lockNext, { batchId }))
  }

  *findConflict(row: ToCompare): Work<Conflict | undefined> {
    return highestPrecedence(yield* this.findConflicts(row))
  }

  /** All of its conflicts, in no order. Throws where a row is damaged. */
  *findConflicts(row: ToCompare): Work<Conflict[]> {
    const { damaged, conflicts } = yield* this.findConflictsOrDamage(row)
    if (damaged !== undefined) throw damagedStore(this.#key.location, damaged)
    return conflicts
  }

  /** The same, or a row (this one, or one of the same e-mail) whose fingerprints are not its person's, who would be new. */
  *findConflictsOrDamage(row: ToCompare): Work<{ damaged?: RowId | undefined; conflicts: Conflict[] }> {
    const { damaged, candidates } = yield* this.#findCandidates(row)
    if (damaged !== undefined) return { damaged, conflicts: [] }
    if (candidates.length === 0 && (row.externalResults ?? []).length === 0) return { conflicts: [] }
    return { conflicts: findConflicts(row, candidates, row.allowed, yield* this.#readRelationsOfRow(row)) }
  }

  *#readRelationsOfRow({ baseUrl, packageId, batchId, row }: ToCompare): Work<KnownRelations> {
    const { services, packages } = yield* this.readRelations()
    const releases = yield* all<RowId>(selectReleases, { batchId, row })
    const released = new Set(releases.map((each) => `${each.batchId} ${each.row}`))
    return {
      ...relationsOf({ service: serviceOf(baseUrl), packageId }, services, packages),
      released: (order) => released.has(`${order.batchId} ${order.row}`),
    }
  }

  /** Known relations of services and packages. */
  *readRelations(): Work<Relations> {
    this.#relations ??= {
      services: (yield* all<{ one: string; other: string; same: number }>(selectJoinedServices)).map(
        ({ one, other, same }) => ({ one, other, same: same === 1 }),
      ),
      packages: yield* all<JoinedPackage>(selectJoinedPackages),
    }
    return this.#relations
  }

  /** Compares a row that waits; answers its state from then on. A row that is not as `from` says is left alone. */
  *compareAgain(key: RowId, from: ComparedAgain, at: number): Work<SubmissionState> {
    const compared = yield* this.lockRow(key)
    const stop = compared && (yield* this.findConflict(compared))
    if (stop !== undefined) {
      return (yield* this.recordConflict(key, from, stop, at)) ? stop.becomes : from
    }
    refuseImpossible(from, 'pending', from === 'rejected' ? 'retry' : 'comparing')
    return (yield* run(clearConflict, { ...key, from, at })) === 1 ? 'pending' : from
  }

  /** Records a row's conflict; whether the row changed. */
  *recordConflict(key: RowId, from: ComparedAgain | 'pending', stop: Conflict, at: number): Work<boolean> {
    if (from !== stop.becomes) {
      refuseImpossible(from, stop.becomes, from === 'rejected' ? 'retry' : 'comparing')
    }
    const values = { ...key, from, state: stop.becomes, at, ...matchFields(stop) }
    return (yield* run(updateConflict, values)) === 1
  }

  /** A person said of a row and of each of these that they are two people. */
  *recordReleases(key: RowId, others: readonly RowId[], by: { at: number; by: string }): Work<void> {
    const release = { batchId: key.batchId, row: key.row, madeAt: by.at, madeBy: by.by }
    const rows = others.map(({ batchId, row }) => ({ ...release, otherBatch: batchId, otherRow: row }))
    yield* insertRows('releases', rows, 'ON CONFLICT DO NOTHING')
  }

  /** Every order that shares the person, the e-mail or the phone, in any package and at any service. */
  *#findCandidates(row: ToCompare): Work<{ damaged?: RowId | undefined; candidates: Candidate[] }> {
    const { recipient, kind, allowed } = row
    const own = recipient && personPrints(this.#key.fingerprint, recipient)
    if (own !== undefined && !areOwnPrints(row.prints, own)) return { damaged: row, candidates: [] }
    const prints = row.prints ?? own
    if (prints === undefined) return { candidates: [] }
    const { batchId, account } = row
    const values = { ...prints, batchId, row: row.row, account, email: recipient?.email }
    const isLooked = row.prints !== undefined && row.isShared !== undefined
    const looked = isLooked ? row : yield* get<WhetherShared>(selectWhetherShared, values)
    if (looked?.damaged !== undefined) {
      const [number, damagedBatch = ''] = looked.damaged.split(' ')
      return { damaged: { batchId: damagedBatch, row: Number(number) }, candidates: [] }
    }
    const orders = looked?.unmatched === 0 ? [] : yield* findUnmatched([prints])
    // What a file's own rows share is allowed as a whole, but past no unknown one: there may be thousands of them.
    const skipsOwn = kind === 'file' && allowed.similar
    const found =
      looked?.isShared === 0 ? [] : yield* allStoredOrders(selectCandidates, { ...values, skipsOwn })
    return { candidates: [...found, ...orders].map((each) => candidateOf(each, prints)) }
  }
}

/** Orders that a statement selects along with their fingerprints. */
function* allStoredOrders(sql: string, values: Values): Work<StoredOrder[]> {
  const found = yield* allOrders<Submission & StoredPrints>(sql, values)
  return found.map(({ personPrint, emailPrint, phonePrint, ...order }) => ({
    order,
    prints: { personPrint, emailPrint, phonePrint },
  }))
}

/** What a person is compared by where the name alone counts. */
export type NamedOrder = Pick<NewBatch, 'baseUrl'> & { packageId: number; recipient: Recipient }

/**
 * When a person of the same full name and another e-mail and phone was ordered last, under the same package and service:
 * mentioned, and nothing more.
 */
export function* findNamesakes(
  { fingerprint }: StoreKey,
  { id: batchId, account = '' }: Pick<NewBatch, 'id' | 'account'>,
  orders: readonly NamedOrder[],
): Work<(order: NamedOrder) => number | undefined> {
  const names = orders.flatMap(({ recipient }) => namePrint(fingerprint, recipient) ?? [])
  const values = { names: [...new Set(names)], account, batchId }
  const found = names.length === 0 ? [] : yield* all<Namesake>(selectNamesakes, values)
  return ({ baseUrl, packageId, recipient }) => {
    if (found.length === 0) return undefined
    const own = { ...personPrints(fingerprint, recipient), namePrint: namePrint(fingerprint, recipient) }
    return found.find(
      (each) =>
        each.namePrint === own.namePrint &&
        each.emailPrint !== own.emailPrint &&
        each.phonePrint !== own.phonePrint &&
        each.packageId === packageId &&
        serviceOf(each.baseUrl) === serviceOf(baseUrl),
    )?.orderedAt
  }
}

type Namesake = Record<'namePrint' | 'baseUrl', string> &
  Record<'packageId' | 'orderedAt', number> &
  Pick<StoredPrints, 'emailPrint' | 'phonePrint'>

/** From so many orders of one phone on, they are selected once for the file, and found by their names. */
const minCrowd = 50

/** Orders of one phone. */
interface Crowd {
  orders: StoredOrder[]
  sharers: PhoneSharers
}

/** Orders of the store that share the person, the e-mail or the phone with rows of a file that is not in it yet. */
export class StoredCandidates {
  readonly #key: StoreKey
  readonly #batch: Pick<NewFileBatch, 'id' | 'account'>
  readonly #crowds = new Map<string, Crowd>()
  readonly #budget: ComparingBudget = { left: maxComparing }

  constructor(key: StoreKey, batch: Pick<NewFileBatch, 'id' | 'account'>) {
    this.#key = key
    this.#batch = batch
  }

  /** Those of some rows, by their own fingerprints. */
  *ofPage(rows: readonly NewRow[]): Work<(row: NewRow) => Candidate[]> {
    const prints = new Map<NewRow, PersonPrints>()
    for (const row of rows) {
      if (row.state === 'pending') prints.set(row, personPrints(this.#key.fingerprint, row.recipient))
    }
    const found = yield* this.#select([...prints.values()])
    const byPrint = positionsByPrint(found)
    for (const { phonePrint: phone } of prints.values()) {
      const positions = byPrint.get(phone)
      if (positions === undefined || positions.length < minCrowd || this.#crowds.has(phone)) continue
      const orders = positions.map((position) => found[position] as StoredOrder)
      this.#crowds.set(phone, { orders, sharers: this.#sharersOf(orders) })
    }
    return (row) => {
      const own = prints.get(row)
      if (own === undefined || row.state !== 'pending') return []
      const crowd = this.#crowds.get(own.phonePrint)
      const names = crowd?.sharers.find(row.recipient)
      const positions = [own.personPrint, own.emailPrint, ...(crowd === undefined ? [own.phonePrint] : [])]
        .flatMap((print) => byPrint.get(print) ?? [])
        .sort((a, b) => a - b)
      const inCrowd = (position: number): StoredOrder => crowd?.orders[position] as StoredOrder
      const orders = [
        ...positions.map((position) => found[position] as StoredOrder),
        ...(names?.positions ?? []).map(inCrowd),
      ]
      const distinct = new Map(orders.map((each) => [`${each.order.batchId} ${each.order.row}`, each]))
      return [
        ...[...distinct.values()].map((each) => candidateOf(each, own)),
        ...(names?.uncompared ?? []).map((position) => candidateOf(inCrowd(position), own, true)),
      ]
    }
  }

  #sharersOf(orders: readonly StoredOrder[]): PhoneSharers {
    const sharers = new PhoneSharers(this.#budget)
    for (const [position, { order }] of orders.entries())
      sharers.add(position, order.recipient, `${String(order.packageId)} ${order.baseUrl}`)
    return sharers
  }

  *#select(prints: readonly PersonPrints[]): Work<StoredOrder[]> {
    const uncrowded = prints.map(({ phonePrint }) => phonePrint).filter((phone) => !this.#crowds.has(phone))
    const phones = [...new Set(uncrowded)]
    const { id: batchId, account = '' } = this.#batch
    const values = { ...printLists(prints), phones, account, batchId }
    return [...(yield* allStoredOrders(selectCandidatesOfMany, values)), ...(yield* findUnmatched(prints))]
  }
}

function positionsByPrint(orders: readonly StoredOrder[]): ReadonlyMap<string, number[]> {
  const positions = new Map<string, number[]>()
  for (const [position, { prints }] of orders.entries()) {
    for (const print of [prints.personPrint, prints.emailPrint, prints.phonePrint]) {
      if (print === undefined) continue
      const others = positions.get(print)
      if (others === undefined) positions.set(print, [position])
      else others.push(position)
    }
  }
  return positions
}
