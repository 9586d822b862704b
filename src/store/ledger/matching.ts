import type { NewFileBatch, NewRow } from '../../domain/batch/batch.ts'
import {
  type Allowed,
  type Candidate,
  type ComparableRow,
  type Conflict,
  type KnownRelations,
  addStoredResults,
  findConflicts,
  highestPrecedence,
  relationsOf,
  releasableReasons,
} from '../../domain/submission/conflicts.ts'
import { samePersonReason } from '../../domain/submission/duplicate.ts'
import { resultsBatch } from '../../domain/submission/external-results.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { type ComparingBudget, PhoneSharers, maxComparingCost } from '../../domain/submission/similarity.ts'
import { type SubmissionState, refuseImpossible } from '../../domain/submission/states.ts'
import type { NewBatch, RowId, RowVersion, Submission } from '../../domain/submission/submission.ts'
import { type Values, type Work, all, get, insertRows, run } from './engine.ts'
import {
  type PersonFingerprints,
  type StoreKey,
  type StoredFingerprints,
  areFingerprintsOf,
  fingerprintLists,
  fingerprintPerson,
  completeFingerprints,
  sha256,
} from './fingerprints.ts'
import { fieldOf } from './schema.ts'
import {
  type StoredRecipient,
  type StoredRelations,
  allOrders,
  canConflictSql,
  damagedStore,
  conflictColumns,
  parseExternalResults,
  readStoredRelations,
  recipientOf,
  selectOrdersWith,
  sqlIsCandidate,
  sqlMayBeSent,
} from './submission-rows.ts'
import { type StoredOrder, candidateOf, findUnmatched, unmatchedCondition } from './unmatched-requests.ts'

/** The conflicts of a new order that the user has allowed. */
export interface AddGuard {
  allowDuplicate: boolean
  allowSimilar?: boolean | undefined
  /** Conflicting orders that the user has seen and released; they are stored as releases. */
  released?: readonly RowVersion[] | undefined
}

/**
 * Finds the first new order with a conflict that the user has not released, and returns the unreleased conflict of that
 * order that has the highest precedence.
 */
export function* findConflictOfNew(
  matching: Matching,
  { id: batchId, account = '', ...batch }: NewBatch,
  guard: AddGuard,
): Work<Conflict | undefined> {
  const common = { ...batch, batchId, account, allowed: allowedBy(guard), fingerprints: undefined }
  for (const [index, order] of batch.submissions.entries()) {
    const row = { ...common, ...order, row: index + 1 }
    const conflicts = yield* matching.findConflicts(row)
    // Stored with the order, because releases name their positions.
    order.externalResults = row.externalResults
    const conflict = highestUnreleasedConflict(conflicts, guard)
    if (conflict !== undefined) return conflict
  }
  return undefined
}

function highestUnreleasedConflict(
  conflicts: readonly Conflict[],
  { released = [] }: AddGuard,
): Conflict | undefined {
  const wasReleased = (order: RowVersion): boolean =>
    released.some((each) => each.batchId === order.batchId && each.row === order.row)
  return highestPrecedence(
    conflicts.filter(({ order, reason }) => !wasReleased(order) || !releasableReasons.includes(reason)),
  )
}

export const allowedBy = ({ allowDuplicate, allowSimilar }: AddGuard): Allowed => ({
  duplicate: allowDuplicate,
  similar: allowSimilar === true,
  shared: [],
})

/**
 * A row with the data that conflict detection needs. The fields of SharingFlags are set only if the query for the row
 * selected them too.
 */
interface RowToCompare extends ComparableRow, Partial<SharingFlags> {
  account: string
  fingerprints: PersonFingerprints | undefined
  allowed: Allowed
}

/** A row of the store, with the data that an attempt is made from. */
export interface StoredRow extends RowToCompare, RowVersion {
  /** The bytes of the request; undefined if they are damaged or were erased. */
  body: Uint8Array | undefined
  bodySha256: string
  /** The physical address of the row (ctid or rowid); valid until the end of the transaction that locked the row. */
  rowAddress: unknown
}

/** A row of `selectRowToCompare`. */
interface SelectedRowToCompare
  extends
    Omit<StoredRow, 'recipient' | 'fingerprints' | 'allowed' | 'externalResults'>,
    StoredRecipient,
    StoredFingerprints,
    Record<'allowDuplicate' | 'allowSimilar', number> {
  /** The e-mails and phones that the user named with --shared, as JSON. */
  shared: string
  externalResults: string | undefined
}

/**
 * Returns a selected row as a StoredRow; undefined if no row was selected, or if it has no package and so cannot be
 * sent.
 */
export function storedRowOf(selected: unknown): StoredRow | undefined {
  const row = selected as SelectedRowToCompare | undefined
  if (row === undefined || (row.packageId as number | undefined) === undefined) return undefined
  const { body, bodySha256 } = row
  return {
    ...row,
    body: body !== undefined && sha256(body) === bodySha256 ? body : undefined,
    recipient: recipientOf(row),
    externalResults: parseExternalResults(row.externalResults),
    fingerprints: completeFingerprints(row),
    allowed: {
      duplicate: row.allowDuplicate === 1,
      similar: row.allowSimilar === 1,
      shared: JSON.parse(row.shared) as string[],
    },
  }
}

const fingerprintColumns = ['person_print', 'email_print', 'phone_print']

/**
 * Columns that tell whether a row shares a fingerprint with another row. Finding these rows costs more, and most rows
 * share none. `damaged`: number and batch of a row with the same e-mail but a different e-mail fingerprint, which
 * means that the store is damaged. `expressionOf` returns the expression for a column of the row.
 */
function sharingColumns(expressionOf: (column: string) => string): string {
  const existsOther = (column: string): string => `EXISTS (
  SELECT 1 FROM submissions o
  WHERE o.${column} = ${expressionOf(column)} AND NOT (o.batch_id = ${expressionOf('batch_id')} AND o.row_number = ${expressionOf('row_number')}))`
  return `
CAST((${fingerprintColumns.map(existsOther).join(' OR ')}) AS integer) AS is_shared,
CAST((${unmatchedCondition(expressionOf)}) AS integer) AS unmatched,
(SELECT o.row_number || ' ' || o.batch_id FROM submissions o
  WHERE {sameEmail o.email, ${expressionOf('email')}} AND o.fingerprint IS NOT NULL
    AND o.email_print IS DISTINCT FROM ${expressionOf('email_print')} LIMIT 1) AS damaged`
}

/**
 * Selects a row to compare, with its address and the columns that an attempt is made from, because a claim compares
 * the row and makes its attempt in one transaction. If added_at is in the future (added by a machine whose clock is
 * ahead), the current time is used.
 */
export const selectRowToCompare = `
SELECT {addressOf s} AS row_address, s.batch_id, s.row_number, s.state, s.attempt_id, s.package_id,
  s.first_name, s.last_name, s.email, s.phone, s.body, s.body_sha256,
  s.person_print, s.email_print, s.phone_print, s.external_results,
  b.base_url, CASE WHEN {clock} < b.added_at THEN {clock} ELSE b.added_at END AS added_at, b.kind, b.account, b.allow_duplicate, b.allow_similar, b.shared,
  ${sharingColumns((column) => `s.${column}`)}
FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE s.batch_id = :batchId`

/** Of several conflicts with the same precedence, the one with the earliest order is shown. */
const orderByAdded = 'ORDER BY b.{added}, s.row_number'

/** `can_conflict` is 0 for a row whose external results alone may conflict. */
const candidateColumns = [
  ...fingerprintColumns.map((column) => `s.${column}`),
  's.external_results',
  `CAST((${canConflictSql}) AS integer) AS can_conflict`,
]
const isCandidate = sqlIsCandidate('s', canConflictSql)

/**
 * Orders and external results that share a fingerprint with a row. `:skipsOthersOfBatch`: rows of the same batch are
 * left out, unless they have the same person, an unknown outcome, or may have been sent before the store lost attempts.
 */
export const selectCandidates = `${selectOrdersWith(candidateColumns)}
WHERE (s.person_print = :personPrint OR s.email_print = :emailPrint OR s.phone_print = :phonePrint) AND ${isCandidate}
  AND NOT (s.batch_id = :batchId AND (s.row_number = :row
    OR (:skipsOthersOfBatch = 1 AND s.person_print <> :personPrint AND s.state <> 'unknown'
      AND NOT ${sqlMayBeSent('s')})))
${orderByAdded}`

/**
 * Orders that share a fingerprint with one of many rows that are not in the store yet. Each kind of fingerprint has
 * its own SELECT: PostgreSQL has no statistics of a table that was filled in this transaction, and would otherwise
 * scan all rows of each batch.
 */
export const selectCandidatesOfMany = `
WITH shared AS MATERIALIZED (
  SELECT * FROM submissions WHERE {isIn person_print, persons}
  UNION SELECT * FROM submissions WHERE {isIn email_print, emails}
  UNION SELECT * FROM submissions WHERE {isIn phone_print, phones}
)
${selectOrdersWith(candidateColumns, '(SELECT * FROM shared)')} WHERE ${isCandidate} AND s.batch_id <> :batchId ${orderByAdded}`

const matchesExternalResult = `s.matches_batch = '${resultsBatch}'`

/** Whether a row was left out whose person is ordered by the order `m` that the row matches. */
export const isLeftOutButOrdered = `(
  s.state = 'cancelled' AND m.state = 'accepted' AND s.reason = '${samePersonReason}'
  OR s.state = 'cancelled' AND (m.state = 'accepted' OR ${matchesExternalResult})
    AND coalesce(s.held_for, 'recent') = 'recent')`

/** The time when the order that a row conflicts with was sent, also for an order that only a results file names. */
const sentAt = `coalesce(a.began_at, m.changed_at, CASE WHEN ${matchesExternalResult} THEN
  CAST({json s.external_results} -> CAST(s.matches_row - 1 AS integer) ->> 'at' AS bigint) END)`

/** Selects a row, which no other transaction can change until the end of this one. */
export const lockRow = `${selectRowToCompare} AND s.row_number = :row {lockRows s}`

/** Selects the first pending row that no other transaction has locked, and locks it. */
export const lockNext = `${selectRowToCompare} AND s.state = 'pending'
ORDER BY {pendingOrder s.row_number} LIMIT 1 {lockRows s, SKIP LOCKED}`

export const selectSharingFlags = `SELECT ${sharingColumns((column) => `:${fieldOf(column)}`)}`

/**
 * The orders that duplicate and held rows of a batch conflict with, with their current state; also those that cancelled
 * rows conflict with, if the people are ordered by another row or request. `count`: the number of rows; `repeats`: the
 * number of them that conflict with an order of this batch, or with the same order as another row; `first` and `last`:
 * when the first and the last of the orders were sent.
 */
export const selectConflicts = `
SELECT CASE WHEN s.state = 'held' THEN s.held_for END AS held_for,
  CASE WHEN ${matchesExternalResult} THEN 'accepted' ELSE m.state END AS state,
  m.request_status, m.batch_id, min(s.matches_row) AS row_number, count(*) AS count,
  sum(CASE WHEN s.state = 'cancelled' THEN 1 ELSE 0 END) AS cancelled_count,
  count(*) - CASE WHEN m.batch_id = :batchId THEN 0 WHEN m.batch_id IS NULL THEN count(*)
    ELSE count(DISTINCT s.matches_row) END AS repeats, min(${sentAt}) AS first, max(${sentAt}) AS last
FROM submissions s
LEFT JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
LEFT JOIN attempts a ON a.id = m.attempt_id
WHERE s.batch_id = :batchId AND (s.state = 'duplicate' OR s.held_for IS NOT NULL AND s.state = 'held'
  OR ${isLeftOutButOrdered})
GROUP BY 1, 2, 3, 4`

/** A release applies in both directions, because the user has confirmed that the rows are two different people. */
const selectReleases = `
SELECT other_batch AS batch_id, other_row AS row_number FROM releases WHERE batch_id = :batchId AND row_number = :row
UNION
SELECT batch_id, row_number FROM releases WHERE other_batch = :batchId AND other_row = :row`

const updateConflict = `
UPDATE submissions SET state = :state, changed_at = :at, reason = NULL, field = NULL,
  matches_batch = :matchesBatch, matches_row = :matchesRow, held_for = :heldFor, shares = :shares,
  external_results = coalesce(CAST(:externalResults AS text), external_results)
WHERE batch_id = :batchId AND row_number = :row AND state = :from
  AND (state, matches_batch, matches_row, held_for, shares)
    IS DISTINCT FROM (CAST(:state AS text), CAST(:matchesBatch AS text), CAST(:matchesRow AS bigint),
      CAST(:heldFor AS text), CAST(:shares AS text))`

/**
 * Records that a package was replaced by another: `moved` if a user decided it, so that both count as one package, or
 * `likely`.
 */
export function* recordPackageRelation(
  baseUrl: string,
  [packageId, successorId]: readonly [number, number],
  how: 'moved' | 'likely',
  since: number,
): Work<void> {
  const row = { service: serviceOf(baseUrl), packageId, successorId, how, since }
  yield* insertRows('joined_packages', [row], 'ON CONFLICT DO NOTHING')
}

/** States from which a row is compared again. */
type RecomparedState = 'held' | 'duplicate' | 'rejected'

/** The columns of `sharingColumns`. */
interface SharingFlags {
  /** 1 if another row of the store has the same person, e-mail or phone, else 0. */
  isShared: 0 | 1
  /** 1 if the row shares a fingerprint with a request that no row ordered, else 0. */
  unmatched: 0 | 1
  /** The number and the batch id of a damaged row, separated by a space. */
  damaged: string | undefined
}

/**
 * Conflict detection within one transaction. Its results are binding only in a transaction that has locked the
 * account (src/docs/ordering.md, section 4).
 */
export class Matching {
  readonly #key: StoreKey
  #relations: StoredRelations | undefined

  constructor(key: StoreKey) {
    this.#key = key
  }

  /**
   * Reads a row and locks it until the transaction ends. Returns undefined if there is no such row, or if it has no
   * package and so cannot be sent.
   */
  *lockRow({ batchId, row }: RowId): Work<StoredRow | undefined> {
    return storedRowOf(yield* get(lockRow, { batchId, row }))
  }

  /** Reads the first pending row of a batch that no other transaction has locked, and locks it. */
  *lockNextRow(batchId: string): Work<StoredRow | undefined> {
    return storedRowOf(yield* get(lockNext, { batchId }))
  }

  *findConflict(row: RowToCompare): Work<Conflict | undefined> {
    return highestPrecedence(yield* this.findConflicts(row))
  }

  /** Returns all conflicts of a row, in no particular order. Throws IoError if a row is damaged. */
  *findConflicts(row: RowToCompare): Work<Conflict[]> {
    const { damaged, conflicts } = yield* this.findConflictsOrDamage(row)
    if (damaged !== undefined) throw damagedStore(this.#key.location, damaged)
    return conflicts
  }

  /**
   * Returns all conflicts of a row, or a damaged row: this one, or another with the same e-mail, whose fingerprints
   * do not belong to its person. Without this check the person would count as new. Adds to the row the external
   * results that other rows have of its person.
   */
  *findConflictsOrDamage(row: RowToCompare): Work<{ damaged?: RowId | undefined; conflicts: Conflict[] }> {
    const { damaged, candidates } = yield* this.#findCandidates(row)
    if (damaged !== undefined) return { damaged, conflicts: [] }
    row.externalResults = addStoredResults(row, candidates)
    if (candidates.length === 0 && (row.externalResults ?? []).length === 0) return { conflicts: [] }
    return { conflicts: findConflicts(row, candidates, row.allowed, yield* this.#readRelationsOfRow(row)) }
  }

  *#readRelationsOfRow({ baseUrl, packageId, batchId, row }: RowToCompare): Work<KnownRelations> {
    const { services, packages } = yield* this.readRelations()
    const releases = yield* all<RowId>(selectReleases, { batchId, row })
    const released = new Set(releases.map((each) => `${each.batchId} ${each.row}`))
    return {
      ...relationsOf({ service: serviceOf(baseUrl), packageId }, services, packages),
      isReleased: (order) => released.has(`${order.batchId} ${order.row}`),
    }
  }

  /** Reads the known relations of services and packages once per transaction. */
  *readRelations(): Work<StoredRelations> {
    this.#relations ??= yield* readStoredRelations()
    return this.#relations
  }

  /**
   * Compares a row again and records the result. Returns the row's state afterwards; a row that is no longer in the
   * state `from` is not changed. `at` is the time of the change in milliseconds.
   */
  *compareAgain(key: RowId, from: RecomparedState, at: number): Work<SubmissionState> {
    const lockedRow = yield* this.lockRow(key)
    const conflict = lockedRow && (yield* this.findConflict(lockedRow))
    if (conflict !== undefined) {
      return (yield* this.recordConflict(key, from, conflict, at)) ? conflict.becomes : from
    }
    return (yield* this.setPending(key, from, at)) ? 'pending' : from
  }

  /** Sets a row to pending without a comparison. Returns whether the row was in the state `from`. */
  *setPending({ batchId, row }: RowId, from: RecomparedState, at: number): Work<boolean> {
    refuseImpossible(from, 'pending', from === 'rejected' ? 'retry' : 'comparing')
    return (yield* run(updateConflict, { batchId, row, from, state: 'pending', at })) === 1
  }

  /** Records a row's conflict. Returns whether the row changed. */
  *recordConflict(
    key: RowId,
    from: RecomparedState | 'pending',
    conflict: Conflict,
    at: number,
  ): Work<boolean> {
    if (from !== conflict.becomes) {
      refuseImpossible(from, conflict.becomes, from === 'rejected' ? 'retry' : 'comparing')
    }
    const values = { ...key, from, state: conflict.becomes, at, ...conflictColumns(conflict) }
    return (yield* run(updateConflict, values)) === 1
  }

  /** Records a user's decision that the person of a row and the person of each other row are two people. */
  *recordReleases(key: RowId, otherRows: readonly RowId[], decision: { at: number; by: string }): Work<void> {
    const release = { batchId: key.batchId, row: key.row, madeAt: decision.at, madeBy: decision.by }
    const rows = otherRows.map(({ batchId, row }) => ({ ...release, otherBatch: batchId, otherRow: row }))
    yield* insertRows('releases', rows, 'ON CONFLICT DO NOTHING')
  }

  /** Finds every order with the same person, e-mail or phone, under any package and at any service. */
  *#findCandidates(row: RowToCompare): Work<{ damaged?: RowId | undefined; candidates: Candidate[] }> {
    const { recipient, kind, allowed } = row
    const ownFingerprints = recipient && fingerprintPerson(this.#key.fingerprint, recipient)
    if (ownFingerprints !== undefined && !areFingerprintsOf(row.fingerprints, ownFingerprints))
      return { damaged: row, candidates: [] }
    const fingerprints = row.fingerprints ?? ownFingerprints
    if (fingerprints === undefined) return { candidates: [] }
    const { batchId, account } = row
    const values = { ...fingerprints, batchId, row: row.row, account, email: recipient?.email }
    const hasFlags = row.fingerprints !== undefined && row.isShared !== undefined
    const flags = hasFlags ? row : yield* get<SharingFlags>(selectSharingFlags, values)
    if (flags?.damaged !== undefined) {
      const [number, damagedBatch = ''] = flags.damaged.split(' ')
      return { damaged: { batchId: damagedBatch, row: Number(number) }, candidates: [] }
    }
    const unmatchedOrders = flags?.unmatched === 0 ? [] : yield* findUnmatched([fingerprints])
    // `--allow-similar` allows what rows of one file share, and there may be thousands of such rows. Those with an
    // unknown outcome are compared all the same.
    const skipsOthersOfBatch = kind === 'file' && allowed.similar
    const storedOrders =
      flags?.isShared === 0
        ? []
        : yield* selectStoredOrders(selectCandidates, { ...values, skipsOthersOfBatch })
    return {
      candidates: [...storedOrders, ...unmatchedOrders].map((each) => candidateOf(each, fingerprints)),
    }
  }
}

type SelectedCandidate = Submission &
  StoredFingerprints & { externalResults: string | undefined; canConflict: 0 | 1 }

/** Returns the orders that a statement selects together with their fingerprints. */
function* selectStoredOrders(sql: string, values: Values): Work<StoredOrder[]> {
  const selected = yield* allOrders<SelectedCandidate>(sql, values)
  return selected.map(({ personPrint, emailPrint, phonePrint, externalResults, canConflict, ...order }) => ({
    order,
    fingerprints: { personPrint, emailPrint, phonePrint },
    storedResults: parseExternalResults(externalResults),
    hasResultsOnly: canConflict === 0,
  }))
}

/**
 * If at least this number of orders have the same phone, they are selected once for the whole file, and the candidates
 * of a row are found among them by the person's name.
 */
const minPhoneGroupSize = 50

/** Orders with one phone. */
interface PhoneGroup {
  orders: StoredOrder[]
  /** Finds positions in `orders` by the person's name. */
  sharers: PhoneSharers
}

/** Orders of the store with the same person, e-mail or phone as rows of a file that is not in the store yet. */
export class StoredCandidates {
  readonly #key: StoreKey
  readonly #batch: Pick<NewFileBatch, 'id' | 'account'>
  readonly #phoneGroups = new Map<string, PhoneGroup>()
  readonly #budget: ComparingBudget = { remainingCost: maxComparingCost }

  constructor(key: StoreKey, batch: Pick<NewFileBatch, 'id' | 'account'>) {
    this.#key = key
    this.#batch = batch
  }

  /** Finds the candidates of a page of rows. Returns a function that returns the candidates of one row. */
  *findForPage(rows: readonly NewRow[]): Work<(row: NewRow) => Candidate[]> {
    const fingerprintsOfRows = new Map<NewRow, PersonFingerprints>()
    for (const row of rows) {
      if (row.state === 'pending')
        fingerprintsOfRows.set(row, fingerprintPerson(this.#key.fingerprint, row.recipient))
    }
    const storedOrders = yield* this.#selectOrders([...fingerprintsOfRows.values()])
    const ordersByFingerprint = groupByFingerprint(storedOrders)
    for (const { phonePrint: phone } of fingerprintsOfRows.values()) {
      const sharingOrders = ordersByFingerprint.get(phone) ?? []
      if (sharingOrders.length < minPhoneGroupSize || this.#phoneGroups.has(phone)) continue
      const orders = sharingOrders.map(({ stored }) => stored)
      this.#phoneGroups.set(phone, { orders, sharers: this.#sharersOf(orders) })
    }
    return (row) => {
      const ownFingerprints = fingerprintsOfRows.get(row)
      if (ownFingerprints === undefined || row.state !== 'pending') return []
      const { personPrint, emailPrint, phonePrint } = ownFingerprints
      const phoneGroup = this.#phoneGroups.get(phonePrint)
      const sharers = phoneGroup?.sharers.find(row.recipient)
      const sharingOrders = [personPrint, emailPrint, ...(phoneGroup === undefined ? [phonePrint] : [])]
        .flatMap((fingerprint) => ordersByFingerprint.get(fingerprint) ?? [])
        .sort((one, other) => one.position - other.position)
      const orderInGroup = (position: number): StoredOrder => phoneGroup?.orders[position] as StoredOrder
      const orders = [
        ...sharingOrders.map(({ stored }) => stored),
        ...(sharers?.positions ?? []).map(orderInGroup),
      ]
      const distinctOrders = new Map(orders.map((each) => [`${each.order.batchId} ${each.order.row}`, each]))
      return [
        ...[...distinctOrders.values()].map((each) => candidateOf(each, ownFingerprints)),
        ...(sharers?.uncompared ?? []).map((position) =>
          candidateOf(orderInGroup(position), ownFingerprints, true),
        ),
      ]
    }
  }

  #sharersOf(orders: readonly StoredOrder[]): PhoneSharers {
    const sharers = new PhoneSharers(this.#budget)
    for (const [position, { order }] of orders.entries())
      sharers.add(position, order.recipient, `${String(order.packageId)} ${order.baseUrl}`)
    return sharers
  }

  *#selectOrders(fingerprints: readonly PersonFingerprints[]): Work<StoredOrder[]> {
    const ungroupedPhones = fingerprints
      .map(({ phonePrint }) => phonePrint)
      .filter((phone) => !this.#phoneGroups.has(phone))
    const phones = [...new Set(ungroupedPhones)]
    const { id: batchId, account = '' } = this.#batch
    const values = { ...fingerprintLists(fingerprints), phones, account, batchId }
    return [
      ...(yield* selectStoredOrders(selectCandidatesOfMany, values)),
      ...(yield* findUnmatched(fingerprints)),
    ]
  }
}

function groupByFingerprint(orders: readonly StoredOrder[]) {
  const pairs = orders.flatMap((stored, position) => {
    const { personPrint, emailPrint, phonePrint } = stored.fingerprints
    return [personPrint, emailPrint, phonePrint].map((fingerprint) => ({ fingerprint, position, stored }))
  })
  return Map.groupBy(pairs, ({ fingerprint }) => fingerprint)
}
