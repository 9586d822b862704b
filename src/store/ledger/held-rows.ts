import type { BatchCounts, BatchRow, OtherPackageCount, LaterOrder } from '../../domain/batch/batch.ts'
import { fileIdentity } from '../../domain/batch/new-row.ts'
import {
  type ConflictCounts,
  type ConflictGroup,
  countConflictGroups,
  groupLaterOrders,
} from '../../domain/batch/conflict-counts.ts'
import {
  type Release,
  type ConflictReason,
  type KnownRelations,
  relationsOf,
  releasedConflicts,
} from '../../domain/submission/conflicts.ts'
import { type ExternalResult, mergeExternalResults } from '../../domain/submission/external-results.ts'
import { InternalError } from '../../errors/kinds.ts'
import { samePersonReason } from '../../domain/submission/duplicate.ts'
import { orderIdentity, serviceOf } from '../../domain/submission/identity.ts'
import { changedElsewhereError, waitingStates } from '../../domain/submission/states.ts'
import type { NewAttempt, RowId, Submission } from '../../domain/submission/submission.ts'
import { countsOf, findLaterOrders, selectCounts, selectPageOf, selectRows } from './batches.ts'
import { type Work, all, get, run, updateRows, insertRows } from './engine.ts'
import { sha256 } from './fingerprints.ts'
import { type ClaimRequest, type ClaimResult, Claims, recordedAttempt } from './claim.ts'
import { changeRow, maxFailures } from './ledger.ts'
import { relatedPackageIds, type SelectedFence, selectFence } from './store-state.ts'
import {
  isLeftOutButOrdered,
  recordPackageRelation,
  Matching,
  selectConflicts,
  selectRowToCompare,
  storedRowOf,
} from './matching.ts'
import { StorePart } from './store-part.ts'
import {
  type SelectedRow,
  allOrders,
  batchRowOf,
  parseExternalResults,
  sqlConflicts,
  sqlIsCandidate,
  sqlList,
} from './submission-rows.ts'
import { unmatchedCondition } from './unmatched-requests.ts'

/** A row of `selectConflictingRows`. */
type ConflictingRow = Pick<SelectedRow, 'row' | 'heldFor' | 'matchesBatch' | 'matchesRow'> & {
  state: 'held' | 'duplicate'
}

type RowWithResults = Pick<SelectedRow, 'row' | 'state' | 'externalResults'>

type PackageRelations = Pick<KnownRelations, 'relatedIds' | 'predecessors'>

/** A row that a change of the batch's package can move. */
export type MovableRow = Pick<Submission, 'row' | 'state' | 'packageId' | 'recipient'> & { body: Uint8Array }

const selectResults = `
SELECT row_number, state, external_results FROM submissions
WHERE batch_id = :batchId AND state IN ${sqlList(waitingStates)} AND body IS NOT NULL ORDER BY row_number`

const selectConflictingRows = `
SELECT row_number, state, held_for, matches_batch, matches_row FROM submissions
WHERE batch_id = :batchId AND state IN ('held', 'duplicate') AND body IS NOT NULL ORDER BY row_number`

const hasRelease = `EXISTS (SELECT 1 FROM releases r WHERE r.batch_id = s.batch_id AND r.row_number = s.row_number
  OR r.other_batch = s.batch_id AND r.other_row = s.row_number)`

/**
 * Whether the person has an order of the same package and service with which the row `s` of the batch `b` conflicts in any
 * case; an order that was accepted does not if a user released the row, or allowed duplicates. The states are compared as
 * expressions, because PostgreSQL without statistics would otherwise read the states of all orders for each row.
 */
const isOrderedForCertain = `EXISTS (
  SELECT 1 FROM submissions o WHERE o.person_print = s.person_print AND o.package_id = s.package_id
    AND ((o.state || '') IN ('pending', 'sending', 'unknown', 'dropped')
      OR (o.state || '') = 'accepted' AND b.allow_duplicate = 0 AND NOT ${hasRelease})
    AND (SELECT ob.base_url = b.base_url AND (b.account = '' OR ob.account IN ('', b.account))
      FROM batches ob WHERE ob.id = o.batch_id))`

/** Whether a row has anything in common with an order or an external result, so that the two have to be compared. */
const mayConflict = [
  's.external_results IS NOT NULL',
  unmatchedCondition((column) => `s.${column}`),
  ...['person_print', 'email_print', 'phone_print'].map(
    (column) => `s.${column} IS NULL OR EXISTS (SELECT 1 FROM submissions o
    WHERE o.${column} = s.${column} AND ${sqlIsCandidate('o', sqlConflicts('o', "(o.state || '')"))})`,
  ),
].join(' OR ')

/**
 * Rows of the batches in `:states` that were not sent because of an order that is cancelled now. `:cancelledBatch`: the batch
 * of that order, or NULL for any. The conditions are subqueries, because PostgreSQL joins tables without statistics slowly.
 */
export const selectMatchesOfCancelled = `
SELECT s.batch_id, s.row_number,
  CASE WHEN ${isOrderedForCertain} THEN 'ordered' WHEN ${mayConflict} THEN 'unclear' ELSE 'free' END AS found
FROM submissions s JOIN batches b ON b.id = s.batch_id
WHERE {isIn s.batch_id, batchIds} AND {isIn s.state, states} AND s.body IS NOT NULL AND s.package_id IS NOT NULL
  AND coalesce(s.held_for, '') <> 'store_forgot'
  AND s.matches_batch = coalesce(CAST(:cancelledBatch AS text), s.matches_batch) AND (
    SELECT m.state FROM submissions m WHERE m.batch_id = s.matches_batch AND m.row_number = s.matches_row) = 'cancelled'
ORDER BY s.batch_id, s.row_number`

const selectUnlocked = `${selectRowToCompare} AND s.row_number = :row`

const selectAllowances = `
SELECT allow_similar, shared, CAST(EXISTS (
  SELECT 1 FROM submissions WHERE batch_id = b.id AND state IN ('sending', 'unknown', 'dropped')
) AS integer) AS has_unsettled
FROM batches b WHERE id = :id`

/** The orders by which the people of duplicates and of rows that were left out are ordered. */
const selectMatchedOrders = `
SELECT DISTINCT s.matches_batch AS batch_id, s.matches_row AS row_number FROM submissions s
LEFT JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
WHERE s.batch_id = :batchId AND s.matches_batch IS NOT NULL
  AND (s.state = 'duplicate' OR s.state = 'held' AND s.held_for = 'recent' OR ${isLeftOutButOrdered})`

/** The rows of a batch that can still be moved when its package is replaced. */
const selectMovable = `
SELECT row_number, state, package_id, first_name, last_name, email, phone, body FROM submissions
WHERE batch_id = :batchId AND state IN ('pending', 'held', 'duplicate', 'rejected') AND body IS NOT NULL
ORDER BY row_number`

const selectBatchToMove = 'SELECT base_url, account, sha256, package_id FROM batches WHERE id = :batchId'

const moveRow = `
UPDATE submissions SET package_id = :packageId, body = :body, body_sha256 = :bodySha256, fingerprint = :fingerprint
WHERE batch_id = :batchId AND row_number = :row AND state = :state AND body IS NOT NULL`

const moveBatch = `
UPDATE batches SET package_id = :packageId, identity = CASE
  WHEN EXISTS (SELECT 1 FROM batches o WHERE o.identity = CAST(:identity AS text) AND o.id <> :id) THEN identity
  ELSE CAST(:identity AS text) END
WHERE id = :id`

/** Selects a row if it is held because it is similar to the row `:otherRow` of `:otherBatch`. */
const selectHeldBySimilar = `
SELECT row_number FROM submissions
WHERE batch_id = :batchId AND row_number = :row AND state = 'held' AND held_for = 'similar'
  AND matches_batch = :otherBatch AND matches_row = :otherRow`

/** Cancels a row that waits, because the row `:newRow` of `:newBatch` is the same person and is sent instead. */
const replaceWaiting = `
UPDATE submissions SET state = 'cancelled', changed_at = :at, reason = '${samePersonReason}', field = NULL,
  matches_batch = :newBatch, matches_row = :newRow, held_for = 'similar', shares = :shares
WHERE batch_id = :batchId AND row_number = :row AND state = 'pending'`

/**
 * The result of `sendInstead`. `sent`: the row is to be sent instead of the other row; `other-gone`: the other row does not
 * wait any more; `not-held`: the row is not held any more because of the other row.
 */
type SentInstead = 'sent' | 'other-gone' | 'not-held'

/** A request that the provider has for a held row, as a read returned it. */
export interface FoundRequest {
  requestId: string
  requestStatus: string
  packageId: number
  /** Wall time in ms. */
  createdAt: number
  /** The reason of the user who named it. */
  why: string
}

/** New external results of a batch, as the parameters of `updateExternalResults`. */
export interface NewExternalResults {
  rows: ReadonlyMap<number, readonly ExternalResult[]>
  files: ReadonlySet<string>
}

/** The result of a release. */
export interface ReleaseResult {
  /** Rows that are pending now. */
  rows: number[]
  /** Rows that the release names and that are still held, each with the reason. */
  left: { row: number; reason: ConflictReason }[]
}

/** Counts the accepted rows of a batch by package, except those of its present package. */
const countUnderOtherPackages = `
SELECT package_id, count(*) AS count FROM submissions
WHERE batch_id = :batchId AND state = 'accepted' AND package_id <> :packageId
GROUP BY package_id ORDER BY package_id`

/** Held rows, duplicates, and known relations of packages and services. */
export class HeldRows extends StorePart {
  /**
   * Compares the held rows and the duplicates of a batch again, since their conflicts may no longer exist, and the
   * pending rows whose people were ordered meanwhile. Returns the number of rows that changed.
   */
  async recheck(batchId: string, at: number): Promise<number> {
    const comparableRows = await this.engine.run(selectComparableRows(batchId))
    const orderedMeanwhile = await this.findOrdersMadeLater(batchId, 'pending')
    if (comparableRows.length + orderedMeanwhile.size === 0) return 0
    return this.#compareInTransaction(batchId, (matching) => recheckRows(matching, batchId, at))
  }

  /**
   * Returns the counts and the rows that are not sent which a batch would have after `updateExternalResults`, if there are
   * results, `ignoreResults`, if they are ignored, and `recheck`. Nothing is changed.
   */
  previewRecheck(
    batchId: string,
    results: NewExternalResults | undefined,
    { at, isIgnored }: { at: number; isIgnored: boolean },
  ): Promise<{ counts: BatchCounts; notSent: BatchRow[] }> {
    return this.#compareInTransaction(batchId, function* (matching) {
      yield* run('SAVEPOINT before_preview')
      if (results !== undefined) yield* replaceResults(matching, batchId, results, at)
      if (isIgnored) yield* ignoreStoredResults(batchId)
      yield* recheckRows(matching, batchId, at)
      const counts = countsOf(yield* all(selectCounts, { batchId }))
      const page = { batchId, after: 0, limit: counts.total, states: ['duplicate', 'held'] }
      const rows = yield* all<SelectedRow>(selectPageOf(selectRows, true), page)
      yield* run('ROLLBACK TO SAVEPOINT before_preview')
      return { counts, notSent: rows.map(batchRowOf) }
    })
  }

  /**
   * Finds the orders that were or may have been made otherwise for the people of the batch's rows in a state, also those of
   * packages that replaced the packages of the rows.
   */
  findOrdersMadeLater(batchId: string, state: 'pending' | 'held'): Promise<ReadonlyMap<number, LaterOrder>> {
    return this.engine.run(findLaterOrders(new Matching(this.key), batchId, [state]))
  }

  /**
   * Finds the duplicates of batches whose order was cancelled, and which conflict with no other one: the next run orders
   * them. `of`: only those of an order of this batch, and held rows too. Returns their numbers, by batch.
   */
  findFreed(batchIds: readonly string[], of?: string): Promise<ReadonlyMap<string, number[]>> {
    const freed = new Map<string, number[]>()
    if (batchIds.length === 0) return Promise.resolve(freed)
    const states = of === undefined ? ['duplicate'] : ['duplicate', 'held']
    const { engine, key } = this
    return engine.snapshot(function* () {
      const matching = new Matching(key)
      const values = { batchIds, states, cancelledBatch: of }
      for (const { batchId, row, found } of yield* all<MatchOfCancelled>(selectMatchesOfCancelled, values)) {
        const isFound = found === 'unclear' ? yield* isFree(matching, { batchId, row }) : found === 'free'
        if (!isFound) continue
        const numbers = freed.get(batchId) ?? []
        numbers.push(row)
        freed.set(batchId, numbers)
      }
      return freed
    })
  }

  /**
   * Makes the external results that the batch's waiting rows have now ignored, and none that are found later. `recheck`
   * has to be called afterwards.
   */
  async ignoreResults(batchId: string): Promise<void> {
    await this.#compareInTransaction(batchId, () => ignoreStoredResults(batchId))
  }

  /**
   * Replaces the external results of the batch's waiting rows. `rows`: the new results by row; `files`: the names of
   * the files that were read. Pending rows are compared at once, the others by `recheck`.
   */
  async updateExternalResults(
    batchId: string,
    rows: NewExternalResults['rows'],
    files: NewExternalResults['files'],
    at: number,
  ): Promise<void> {
    const results = { rows, files }
    await this.#compareInTransaction(batchId, (matching) => replaceResults(matching, batchId, results, at))
  }

  /**
   * Counts the current conflicts of a batch's rows, and the rejected and cancelled rows whose people were or may have been
   * ordered otherwise.
   */
  async countConflicts(batchId: string): Promise<ConflictCounts> {
    const { key, engine } = this
    return engine.run(
      (function* (): Work<ConflictCounts> {
        const groups = yield* all<ConflictGroup>(selectConflicts, { batchId })
        const laterOrders = yield* findLaterOrders(new Matching(key), batchId)
        if (laterOrders.size === 0) return countConflictGroups(groups, batchId)
        const matchedOrders = yield* all<RowId>(selectMatchedOrders, { batchId })
        const laterGroups = groupLaterOrders(laterOrders.values(), batchId, matchedOrders)
        return countConflictGroups([...groups, ...laterGroups], batchId)
      })(),
    )
  }

  /**
   * Releases held rows, so that they may be sent. A release covers the conflicts that exist now; its user and time
   * are stored.
   */
  release(batchId: string, release: Release, decision: { at: number; by: string }): Promise<ReleaseResult> {
    return this.#compareInTransaction(batchId, function* (matching) {
      if (release.kind !== 'rows') yield* allowSharedInFile(batchId, release)
      const result: ReleaseResult = { rows: [], left: [] }
      for (const conflictingRow of yield* all<ConflictingRow>(selectConflictingRows, { batchId })) {
        const { row, state, heldFor, matchesBatch, matchesRow } = conflictingRow
        if (state !== 'held') continue
        const lockedRow = yield* matching.lockRow({ batchId, row })
        if (lockedRow === undefined) continue
        const conflicts = releasedConflicts(release, lockedRow, yield* matching.findConflicts(lockedRow), {
          heldFor,
          batchId: matchesBatch,
          row: matchesRow,
        })
        if (conflicts === undefined) continue
        const releasedOrders = conflicts.map(({ order }) => order)
        const externalResults = conflicts.find((each) => each.externalResults)?.externalResults
        // A release names the position of a result.
        if (externalResults !== undefined)
          yield* updateRows(
            'submissions',
            { externalResults: JSON.stringify(externalResults) },
            { batchId, row },
          )
        yield* matching.recordReleases({ batchId, row }, releasedOrders, decision)
        const newState = yield* matching.compareAgain({ batchId, row }, 'held', decision.at)
        if (newState === 'pending') result.rows.push(row)
        else {
          const conflict = yield* matching.findConflict(lockedRow)
          result.left.push({ row, reason: conflict?.reason ?? 'same' })
        }
      }
      return result
    })
  }

  /**
   * Cancels the row of another batch that a held row is similar to, because both are one person, and compares the held row
   * again. If the other row does not wait any more, only the comparison is made. Both are one commit, and nothing changes
   * if the row is not held any more because of the row that waits.
   */
  sendInstead(
    { batchId, row, shares }: RowId & { shares: readonly string[] },
    waiting: RowId,
    at: number,
  ): Promise<SentInstead> {
    return this.#compareInTransaction(batchId, function* (matching) {
      yield* matching.lockRow({ batchId, row })
      if (
        (yield* get(selectHeldBySimilar, {
          batchId,
          row,
          otherBatch: waiting.batchId,
          otherRow: waiting.row,
        })) === undefined
      )
        return 'not-held'
      const cancelled = { newBatch: batchId, newRow: row, shares: shares.join(' '), at }
      const isCancelled = (yield* run(replaceWaiting, { ...waiting, ...cancelled })) === 1
      yield* matching.compareAgain({ batchId, row }, 'held', at)
      return isCancelled ? 'sent' : 'other-gone'
    })
  }

  /**
   * Records the request that the provider has for a held row. Throws, and changes nothing, if the row was changed
   * meanwhile, if another row has the request, or if the store is closed.
   */
  async accept(
    row: RowId & Pick<Submission, 'recipient'>,
    attempt: NewAttempt,
    request: FoundRequest,
  ): Promise<void> {
    await this.rollbacks.ensureCompared()
    for (let failures = 0; failures <= maxFailures; failures += 1) {
      const required = this.rollbacks.readRequirement()
      const { failure, recorded } = await this.#compareInTransaction(row.batchId, (matching) =>
        this.#acceptInTransaction(matching, row, { attempt, required }, request),
      )
      if (failure !== undefined) await this.rollbacks.handleFailedClaim(failure)
      if (recorded === undefined) continue
      await this.rollbacks.record(recorded)
      const { requestId } = request
      return this.rollbacks.recordOutcome({ attemptId: attempt.attemptId, state: 'accepted', requestId })
    }
    throw new InternalError('the store is compared in vain')
  }

  /**
   * Releases a row, begins an attempt with the time of the request and ends it as `accepted`. No process can send the row
   * in between, because all is one commit. Like an attempt that was sent, it is for the attempt log, so that the order is
   * recovered if the store is restored to an earlier state. The row gets the package of the request, with which later
   * orders are compared.
   */
  *#acceptInTransaction(
    matching: Matching,
    { batchId, row, recipient }: RowId & Pick<Submission, 'recipient'>,
    { attempt, required }: Pick<ClaimRequest, 'attempt' | 'required'>,
    { packageId, createdAt, requestId, requestStatus, why }: FoundRequest,
  ): Work<Pick<ClaimResult, 'failure' | 'recorded'>> {
    const { engine, key, leases, rollbacks } = this
    const claims = new Claims({ engine, key, leases, rollbacks })
    const { attemptId, at, userEmail } = attempt
    const rowKey = { batchId, row }
    const fence = yield* get<SelectedFence>(selectFence, { heads: required.heads, batchId })
    const failure = claims.findFailure(fence, required)
    if (failure !== undefined) return { failure }
    const isReleased = yield* matching.setPending(rowKey, 'held', at)
    const batch = yield* get<BatchToMove>(selectBatchToMove, { batchId })
    const order = batch && recipient && orderIdentity({ ...batch, packageId, recipient })
    const newFields = { packageId, ...(order && { fingerprint: key.fingerprint(order) }) }
    yield* updateRows('submissions', newFields, rowKey)
    const stored = yield* matching.lockRow(rowKey)
    const inserted = stored && (yield* claims.insertAttempt(stored, { attempt, required }))
    const change = { to: 'accepted', at, requestId, requestStatus } as const
    if (!isReleased || stored === undefined || inserted === undefined) throw changedElsewhereError()
    const isAccepted = yield* changeRow({ ...rowKey, state: 'sending', attemptId }, change)
    if (!isAccepted) throw changedElsewhereError()
    yield* updateRows('attempts', { beganAt: createdAt }, { id: attemptId })
    const decision = { ...rowKey, attemptId, became: 'accepted', madeAt: at, madeBy: userEmail, why }
    yield* insertRows('decisions', [decision])
    const relatedIds = relatedPackageIds(fence?.moved, stored)
    const numbered = { number: inserted.number, generation: required.generation, at: createdAt }
    return { recorded: recordedAttempt({ ...stored, relatedIds }, attempt, numbered) }
  }

  /** Reads the packages that count as one with a package of a service, and those that it probably replaced. */
  async readPackageRelations(baseUrl: string, packageId: number): Promise<PackageRelations> {
    const matching = new Matching(this.key)
    const { services, packages } = await this.engine.run(matching.readRelations())
    return relationsOf({ service: serviceOf(baseUrl), packageId }, services, packages)
  }

  /** Reads the rows that can be moved to another package: pending, held, duplicate and rejected rows. */
  async readMovable(batchId: string): Promise<MovableRow[]> {
    return this.engine.run(allOrders<MovableRow>(selectMovable, { batchId }))
  }

  /** Counts the rows of a batch that were accepted under another package than the given one, by package. */
  countUnderOtherPackages(batchId: string, packageId: number): Promise<OtherPackageCount[]> {
    return this.engine.run(all<OtherPackageCount>(countUnderOtherPackages, { batchId, packageId }))
  }

  /**
   * Moves rows to another package, which counts as the same package as the old one from then on. Rows that changed
   * meanwhile are not moved. All rows are moved in one transaction. Returns their number; 0 if the store no longer
   * has the batch.
   */
  moveRows(batchId: string, packageId: number, rows: readonly MovableRow[], at: number): Promise<number> {
    const { fingerprint } = this.key
    return this.#compareInTransaction(batchId, function* (matching) {
      const batch = yield* get<BatchToMove>(selectBatchToMove, { batchId })
      // The store may have been restored to a state without the batch since the rows were read.
      if (batch === undefined) return 0
      const { baseUrl, account, sha256: fileHash = '' } = batch
      let movedCount = 0
      for (const { row, state, recipient, body } of rows) {
        if (recipient === undefined) continue
        movedCount += yield* run(moveRow, {
          batchId,
          row,
          state,
          packageId,
          body,
          bodySha256: sha256(body),
          fingerprint: fingerprint(orderIdentity({ account, baseUrl, packageId, recipient })),
        })
      }
      for (const oldId of new Set([...rows.map((row) => row.packageId), batch.packageId ?? packageId])) {
        if (oldId !== packageId) yield* recordPackageRelation(baseUrl, [oldId, packageId], 'moved', at)
      }
      yield* run(moveBatch, {
        id: batchId,
        packageId,
        identity: fileIdentity({ account, baseUrl }, fileHash, packageId),
      })
      for (const { row, state } of rows)
        if (state === 'pending') yield* comparePending(matching, { batchId, row }, at)
      for (const { row, state, heldFor } of yield* all<ConflictingRow>(selectConflictingRows, { batchId }))
        if (heldFor !== 'store_forgot') yield* matching.compareAgain({ batchId, row }, state, at)
      return movedCount
    })
  }

  /** Records packages that the service no longer has, each with its likely successor. */
  async recordLikelySuccessors(
    baseUrl: string,
    pairs: readonly (readonly [unavailable: number, successor: number])[],
    at: number,
  ): Promise<void> {
    if (pairs.length === 0) return
    await this.engine.transaction(function* () {
      for (const pair of pairs) yield* recordPackageRelation(baseUrl, pair, 'likely', at)
    })
  }

  /** Records a user's decision whether two base URLs are one service; it replaces an earlier one. */
  async recordSameService(
    [one, other]: readonly [string, string],
    same: boolean,
    decision: { at: number; by: string },
  ): Promise<void> {
    const [first = '', second = ''] = [serviceOf(one), serviceOf(other)].sort()
    const row = { one: first, other: second, same, saidAt: decision.at, saidBy: decision.by }
    const onConflict =
      'ON CONFLICT (one, other) DO UPDATE SET same = excluded.same, said_at = excluded.said_at, said_by = excluded.said_by'
    await this.engine.run(insertRows('joined_services', [row], onConflict))
  }

  /** Runs `work` in a transaction during which no other process compares people of the batch's account. */
  #compareInTransaction<T>(batchId: string, work: (matching: Matching) => Work<T>): Promise<T> {
    return this.engine.transaction(() => work(new Matching(this.key)), { accountOf: batchId })
  }
}

/** A row of `selectMatchesOfCancelled`. */
type MatchOfCancelled = RowId & { found: 'ordered' | 'unclear' | 'free' }

/** Whether a row conflicts with no order, and its person is not damaged. */
function* isFree(matching: Matching, key: RowId): Work<boolean> {
  const stored = storedRowOf(yield* get(selectUnlocked, key))
  if (stored === undefined) return false
  const { damaged, conflicts } = yield* matching.findConflictsOrDamage(stored)
  return damaged === undefined && conflicts.length === 0
}

type Allowances = Record<'allowSimilar' | 'hasUnsettled', number> & { shared: string }

type BatchToMove = Record<'baseUrl' | 'account', string> & { sha256?: string; packageId?: number }

/**
 * Allows for the whole file the values that its rows share, as --allow-similar and --shared do, because there
 * may be thousands of such rows.
 */
function* allowSharedInFile(batchId: string, release: Exclude<Release, { kind: 'rows' }>): Work<void> {
  const batch = yield* get<Allowances>(selectAllowances, { id: batchId })
  if (batch === undefined) return
  const shared = JSON.parse(batch.shared) as string[]
  const allowed = {
    // Rows that are similar to a row of the file with an unknown outcome stay held, also after that row is dropped.
    allowSimilar: release.kind === 'all' && batch.hasUnsettled === 0 ? 1 : batch.allowSimilar,
    shared: release.kind === 'shared' ? JSON.stringify([...shared, release.value]) : batch.shared,
  }
  yield* updateRows('batches', allowed, { id: batchId })
}

/** Selects the held rows and the duplicates whose conflicts may no longer exist. */
function* selectComparableRows(batchId: string): Work<ConflictingRow[]> {
  const rows = yield* all<ConflictingRow>(selectConflictingRows, { batchId })
  return rows.filter(({ heldFor }) => heldFor !== 'store_forgot')
}

/** Compares rows as `HeldRows.recheck` does. Returns the number of rows that changed. */
function* recheckRows(matching: Matching, batchId: string, at: number): Work<number> {
  let changedCount = 0
  for (const row of (yield* findLaterOrders(matching, batchId, ['pending'])).keys()) {
    if (yield* comparePending(matching, { batchId, row }, at)) changedCount += 1
  }
  for (const { row, state } of yield* selectComparableRows(batchId)) {
    if ((yield* matching.compareAgain({ batchId, row }, state, at)) !== state) changedCount += 1
  }
  return changedCount
}

/** Makes external results ignored as `HeldRows.ignoreResults` does. */
function* ignoreStoredResults(batchId: string): Work<void> {
  for (const { row, externalResults } of yield* all<RowWithResults>(selectResults, { batchId })) {
    const results = parseExternalResults(externalResults)
    if (results === undefined) continue
    for (const each of results) each.isIgnored = true
    yield* updateRows('submissions', { externalResults: JSON.stringify(results) }, { batchId, row })
  }
}

/** Replaces external results as `HeldRows.updateExternalResults` does. */
function* replaceResults(
  matching: Matching,
  batchId: string,
  { rows, files }: NewExternalResults,
  at: number,
): Work<void> {
  for (const { row, state, externalResults } of yield* all<RowWithResults>(selectResults, { batchId })) {
    const oldResults = parseExternalResults(externalResults) ?? []
    const merged = mergeExternalResults(oldResults, files, rows.get(row) ?? [])
    if (merged === undefined) continue
    yield* updateRows('submissions', { externalResults: JSON.stringify(merged) }, { batchId, row })
    if (state === 'pending') yield* comparePending(matching, { batchId, row }, at)
  }
}

/**
 * Compares a pending row, so that its conflict can be printed; the binding comparison is made when the row is sent.
 * Returns whether the row changed.
 */
function* comparePending(matching: Matching, key: RowId, at: number): Work<boolean> {
  const lockedRow = yield* matching.lockRow(key)
  const conflict = lockedRow && (yield* matching.findConflict(lockedRow))
  return conflict !== undefined && (yield* matching.recordConflict(key, 'pending', conflict, at))
}
