import { fileIdentity } from '../../domain/batch/new-row.ts'
import { type ConflictCounts, type ConflictGroup, countConflictGroups } from '../../domain/batch/verdict.ts'
import { type Release, type ConflictReason, releasedConflicts } from '../../domain/submission/conflicts.ts'
import { type ExternalResult, mergeExternalResults } from '../../domain/submission/external-results.ts'
import { orderIdentity, serviceOf } from '../../domain/submission/identity.ts'
import { waitingStates } from '../../domain/submission/states.ts'
import type { RowId, Submission } from '../../domain/submission/submission.ts'
import type { SelectedRow } from './batches.ts'
import { type Work, all, get, run, updateRows, insertRows } from './engine.ts'
import { sha256 } from './fingerprints.ts'
import { recordPackageRelation, Matching, selectConflicts } from './matching.ts'
import { StorePart } from './store-part.ts'
import { allOrders, parseExternalResults, sqlList } from './submission-rows.ts'

/** A row that waits, as `selectHeldRows` gives it. */
type WaitingRow = Pick<SelectedRow, 'row' | 'heldFor' | 'matchesBatch' | 'matchesRow'> & {
  state: 'held' | 'duplicate'
}

type WithResults = Pick<SelectedRow, 'row' | 'state' | 'externalResults'>

/** A row that a move may take along. */
export type Movable = Pick<Submission, 'row' | 'state' | 'packageId' | 'recipient'> & { body: Uint8Array }

/** In place of what results files say of a row, once a person said that they are to be ignored. */
const ignoredResults = '[]'

const ignoreResults = `
UPDATE submissions SET external_results = '${ignoredResults}'
WHERE batch_id = :batchId AND external_results IS DISTINCT FROM '${ignoredResults}' AND state IN ${sqlList(waitingStates)}`

const selectResults = `
SELECT row_number, state, external_results FROM submissions
WHERE batch_id = :batchId AND state IN ${sqlList(waitingStates)} AND body IS NOT NULL ORDER BY row_number`

const selectHeldRows = `
SELECT row_number, state, held_for, matches_batch, matches_row FROM submissions
WHERE batch_id = :batchId AND state IN ('held', 'duplicate') AND body IS NOT NULL ORDER BY row_number`

const selectAllowed = 'SELECT allow_similar, shared FROM batches WHERE id = :id'

/** What is left of a batch when its package is replaced. */
const selectMovable = `
SELECT row_number, state, package_id, first_name, last_name, email, phone, body FROM submissions
WHERE batch_id = :batchId AND state IN ('pending', 'held', 'duplicate', 'rejected') AND body IS NOT NULL
ORDER BY row_number`

const selectMoved = 'SELECT base_url, account, sha256, package_id FROM batches WHERE id = :batchId'

const moveRow = `
UPDATE submissions SET package_id = :packageId, body = :body, body_sha256 = :bodySha256, fingerprint = :fingerprint
WHERE batch_id = :batchId AND row_number = :row AND state = :state AND body IS NOT NULL`

const moveBatch = `
UPDATE batches SET package_id = :packageId, identity = CASE
  WHEN EXISTS (SELECT 1 FROM batches o WHERE o.identity = CAST(:identity AS text) AND o.id <> :id) THEN identity
  ELSE CAST(:identity AS text) END
WHERE id = :id`

/** What a release came to. */
export interface Released {
  /** Pending from now on. */
  rows: number[]
  /** Rows that it names and that wait on, with why. */
  left: { row: number; reason: ConflictReason }[]
}

/** Rows that wait until something is reconciled or decided, and known relations of packages and services. */
export class HeldRows extends StorePart {
  /** Compares the held rows and the duplicates of a batch again: their conflicts may exist no more. How many changed. */
  async recheck(batchId: string, at: number): Promise<number> {
    const found = await this.engine.run(all<WaitingRow>(selectHeldRows, { batchId }))
    const waiting = found.filter(({ heldFor }) => heldFor !== 'store_forgot')
    if (waiting.length === 0) return 0
    return this.#comparing(batchId, function* (matching) {
      let changed = 0
      for (const { row, state } of waiting) {
        if ((yield* matching.compareAgain({ batchId, row }, state, at)) !== state) changed += 1
      }
      return changed
    })
  }

  /** What results files say of its rows that wait counts no more; `recheck` comes after. */
  async ignoreResults(batchId: string): Promise<void> {
    await this.engine.run(run(ignoreResults, { batchId }))
  }

  /**
   * What results files say now of its rows that wait, by row; `files`: those that were read, by name. A row whose results a
   * person said to ignore is left alone. Pending rows are compared at once, the others by `recheck`.
   */
  async updateExternalResults(
    batchId: string,
    rows: ReadonlyMap<number, readonly ExternalResult[]>,
    files: ReadonlySet<string>,
    at: number,
  ): Promise<void> {
    await this.#comparing(batchId, function* (matching) {
      const waiting = yield* all<WithResults>(selectResults, { batchId })
      for (const { row, state, externalResults } of waiting) {
        if (externalResults === ignoredResults) continue
        const before = parseExternalResults(externalResults) ?? []
        const merged = mergeExternalResults(before, files, rows.get(row) ?? [])
        if (merged === undefined) continue
        yield* updateRows('submissions', { externalResults: JSON.stringify(merged) }, { batchId, row })
        if (state === 'pending') yield* comparePending(matching, { batchId, row }, at)
      }
    })
  }

  /** The conflicts of a batch's rows now. */
  async countConflicts(batchId: string): Promise<ConflictCounts> {
    const groups = await this.engine.run(all<ConflictGroup>(selectConflicts, { batchId }))
    return countConflictGroups(groups, batchId)
  }

  /** Held rows may be sent after all. It covers what they match now; who said so and when is stored. */
  async release(batchId: string, release: Release, by: { at: number; by: string }): Promise<Released> {
    return this.#comparing(batchId, function* (matching) {
      if (release.kind !== 'rows') yield* allowOwn(batchId, release)
      const released: Released = { rows: [], left: [] }
      for (const waiting of yield* all<WaitingRow>(selectHeldRows, { batchId })) {
        const { row, state, heldFor, matchesBatch, matchesRow } = waiting
        if (state !== 'held') continue
        const compared = yield* matching.lockRow({ batchId, row })
        if (compared === undefined) continue
        const covered = releasedConflicts(release, compared, yield* matching.findConflicts(compared), {
          heldFor,
          batchId: matchesBatch,
          row: matchesRow,
        })
        if (covered === undefined) continue
        const others = covered.map(({ order }) => order)
        yield* matching.recordReleases({ batchId, row }, others, by)
        const became = yield* matching.compareAgain({ batchId, row }, 'held', by.at)
        if (became === 'pending') released.rows.push(row)
        else {
          const conflict = yield* matching.findConflict(compared)
          released.left.push({ row, reason: conflict?.reason ?? 'same' })
        }
      }
      return released
    })
  }

  /** What is left of a batch: pending, held, duplicate and rejected rows. */
  async movable(batchId: string): Promise<Movable[]> {
    return this.engine.run(allOrders<Movable>(selectMovable, { batchId }))
  }

  /**
   * What is left goes on under another package, which is one with the old from then on. Rows that changed meanwhile are
   * left alone. All in one step; how many moved: none where the batch is gone.
   */
  async move(batchId: string, packageId: number, rows: readonly Movable[], at: number): Promise<number> {
    const { fingerprint } = this.key
    return this.#comparing(batchId, function* (matching) {
      const batch = yield* get<MovedBatch>(selectMoved, { batchId })
      // The store may have been restored to a state without the batch since the rows were read.
      if (batch === undefined) return 0
      const { baseUrl, account, sha256: content = '' } = batch
      let moved = 0
      for (const { row, state, recipient, body } of rows) {
        if (recipient === undefined) continue
        moved += yield* run(moveRow, {
          batchId,
          row,
          state,
          packageId,
          body,
          bodySha256: sha256(body),
          fingerprint: fingerprint(orderIdentity({ account, baseUrl, packageId, recipient })),
        })
      }
      for (const old of new Set([...rows.map((row) => row.packageId), batch.packageId ?? packageId])) {
        if (old !== packageId) yield* recordPackageRelation(baseUrl, [old, packageId], 'moved', at)
      }
      yield* run(moveBatch, {
        id: batchId,
        packageId,
        identity: fileIdentity({ account, baseUrl }, content, packageId),
      })
      for (const { row, state } of rows) {
        if (state === 'pending') yield* comparePending(matching, { batchId, row }, at)
        if (state === 'held' || state === 'duplicate') {
          yield* matching.compareAgain({ batchId, row }, state, at)
        }
      }
      return moved
    })
  }

  /** Packages that are gone, each with its likely successor. */
  async linkPackages(
    baseUrl: string,
    pairs: readonly (readonly [gone: number, successor: number])[],
    at: number,
  ): Promise<void> {
    if (pairs.length === 0) return
    await this.engine.transaction(function* () {
      for (const pair of pairs) yield* recordPackageRelation(baseUrl, pair, 'likely', at)
    })
  }

  /** Whether two base URLs are one service; a person's decision, which replaces an earlier one. */
  async sayService(
    [one, other]: readonly [string, string],
    same: boolean,
    by: { at: number; by: string },
  ): Promise<void> {
    const [first = '', second = ''] = [serviceOf(one), serviceOf(other)].sort()
    const row = { one: first, other: second, same, saidAt: by.at, saidBy: by.by }
    const ending =
      'ON CONFLICT (one, other) DO UPDATE SET same = excluded.same, said_at = excluded.said_at, said_by = excluded.said_by'
    await this.engine.run(insertRows('joined_services', [row], ending))
  }

  /** No other process compares people of the batch's account meanwhile. */
  #comparing<T>(batchId: string, work: (matching: Matching) => Work<T>): Promise<T> {
    return this.engine.transaction(() => work(new Matching(this.key)), { accountOf: batchId })
  }
}

type MovedBatch = Record<'baseUrl' | 'account', string> & { sha256?: string; packageId?: number }

/** What a file's own rows share is allowed for the file as a whole, as a flag does: there may be thousands of them. */
function* allowOwn(batchId: string, release: Exclude<Release, { kind: 'rows' }>): Work<void> {
  const batch = yield* get<{ allowSimilar: number; shared: string }>(selectAllowed, { id: batchId })
  if (batch === undefined) return
  const shared = JSON.parse(batch.shared) as string[]
  const allowed = {
    allowSimilar: release.kind === 'all' ? 1 : batch.allowSimilar,
    shared: release.kind === 'shared' ? JSON.stringify([...shared, release.value]) : batch.shared,
  }
  yield* updateRows('batches', allowed, { id: batchId })
}

/** Compares a row that is to be sent, to print the result; the binding comparison is made when it is sent. */
function* comparePending(matching: Matching, key: RowId, at: number): Work<void> {
  const compared = yield* matching.lockRow(key)
  const conflict = compared && (yield* matching.findConflict(compared))
  if (conflict !== undefined) yield* matching.recordConflict(key, 'pending', conflict, at)
}
