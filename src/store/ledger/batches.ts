import { type SubmissionState, submissionStates, waitingStates } from '../../domain/submission/states.ts'
import {
  all,
  type Dialect,
  type Engine,
  get,
  insertRows,
  maxRows,
  resolveAmbiguousCommit,
  run,
  type Work,
} from './engine.ts'
import { selectSubmissions, sqlList, submissionOf } from './submission-rows.ts'
import {
  type Batch,
  type BatchCounts,
  type BatchPreview,
  type BatchRow,
  type Halt,
  type Match,
  type NewFileBatch,
  noCounts,
  type RowFilter,
  type RowList,
} from '../../domain/batch/batch.ts'
import type { BatchKind } from '../../domain/submission/submission.ts'
import type { KnownRelations, StopReason } from '../../domain/submission/match.ts'
import { resultsBatch, witnessedOrder } from '../../domain/submission/witness.ts'
import { Matching, sharesOf, witnessesOf } from './matching.ts'
import { addToPreview, type ComparedRow, emptyPreview, FileComparer } from '../../domain/batch/compare.ts'
import { isUnmatched, unmatchedRow } from '../../domain/submission/unmatched.ts'
import { pagesOf } from '../../domain/batch/new-row.ts'
import { refuseForgetting } from '../../domain/store/kept-in-memory.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { relationsOf } from '../../domain/submission/joined-packages.ts'
import type { StoreKey } from './fingerprints.ts'
import { type HeldFor, type Hold, holdForOrdering, type Holds, shortWait } from './holds.ts'
import { newsChannel } from './inbox.ts'
import { StoredCandidates } from './stored-candidates.ts'
import { fileColumns, fileRowColumns } from './new-rows.ts'
import type { Rollbacks } from './claim.ts'
import { requireAccount } from './accounts.ts'

const counted = submissionStates
  .map((state) => {
    const rows = `FROM submissions WHERE batch_id = b.id AND state = '${state}'`
    return `(SELECT count(*) ${rows}) AS n_${state}, (SELECT max(changed_at) ${rows}) AS changed_${state}`
  })
  .join(', ')

/** A batch with its counts, and when a row came into each state last. One of a single order has the package of its row. */
const selectBatches = `
SELECT b.*, ${counted},
  (SELECT package_id FROM submissions WHERE batch_id = b.id AND row_number = 1) AS first_package
FROM batches b`

const selectByIdentity = `${selectBatches} WHERE b.identity = :identity`

const selectByStart = `${selectBatches}
WHERE b.id >= CAST(:start AS text) AND b.id < CAST(:beyond AS text) LIMIT 2`

const selectQueued = ({ serial }: Dialect): string => `${selectBatches}
WHERE b.queued_at IS NOT NULL ORDER BY b.queued_at, b.${serial}`

/** Newest first. */
const selectNewest = ({ serial }: Dialect, where = ''): string => `${selectBatches}
${where} ORDER BY b.added_at DESC, b.${serial} DESC`

export const selectCounts = `
SELECT state, count(*) AS count FROM submissions WHERE batch_id = :batch_id GROUP BY state`

const ofUnmatched = (column: string): string => `CASE WHEN r.matches_row = ${unmatchedRow} THEN (
    SELECT u.${column} FROM unmatched_requests u WHERE u.request_id = r.matches_batch AND u.reader = '' LIMIT 1) END`

/** Rows with what they match. */
export const selectRows = `
SELECT r.*, m.state AS matches_state, coalesce(m.request_id, ${ofUnmatched('request_id')}) AS matches_request,
  coalesce(m.package_id, ${ofUnmatched('package_id')}) AS matches_package,
  coalesce((SELECT began_at FROM attempts a WHERE a.id = m.attempt_id), m.changed_at, ${ofUnmatched('created_at')}) AS matches_at
FROM (${selectSubmissions}) r
LEFT JOIN submissions m ON m.batch_id = r.matches_batch AND m.row_number = r.matches_row`

/** Something that a new row may be in conflict with. */
const selectAnyOrder = `
SELECT 1 FROM (SELECT 1 FROM submissions LIMIT 1) s UNION ALL SELECT 1 FROM (SELECT 1 FROM unmatched_requests LIMIT 1) u`

const selectBodies = `
SELECT row_number, package_id, body FROM submissions r`

/** After a row, in the order of the file; `some`: of the states in `states`. */
export const pageOf = ({ isIn }: Dialect, select: string, some: boolean): string => `${select}
WHERE r.batch_id = :batch_id AND r.row_number > :after ${some ? `AND ${isIn('r.state', 'states')}` : ''}
ORDER BY r.row_number LIMIT :limit`

export const selectNextPending = ({ pendingOrder }: Dialect): string => `${selectRows}
WHERE r.batch_id = :batch_id AND r.state = 'pending' AND r.row_number > :after
ORDER BY ${pendingOrder('r')} LIMIT 1`

const selectRejected = `
SELECT row_number FROM submissions
WHERE batch_id = :batch_id AND state = 'rejected' AND body IS NOT NULL ORDER BY row_number`

const updateHalt = `
UPDATE batches SET halted_at = :at, halt_code = :code, halt_message = :message, halt_hint = :hint WHERE id = :id`

const updateQueued = 'UPDATE batches SET queued_at = CAST(:at AS bigint) WHERE id = :id'

const updateResultsFile = 'UPDATE batches SET results_file = :path WHERE id = :id'

/** What was not sent never is. */
const cancelWaitingRows = `
UPDATE submissions SET state = 'cancelled', changed_at = :at, reason = :reason
WHERE batch_id = :batch_id AND state IN ${sqlList(waitingStates)}`

/** What was or will be sent for a row, to the byte. */
interface RowBody {
  row: number
  packageId: number
  body: Uint8Array
}

/** A row of `batches`, with its counts, as `selectBatches` gives it. */
type SelectedBatch = {
  id: string
  kind: BatchKind
  base_url: string
  user_email: string
  added_at: number
  name: string | null
  sha256: string | null
  package_id: number | null
  first_package: number | null
  path: string | null
  results_file: string | null
  reading: string | null
  allow_duplicate: number
  account: string
  allow_similar: number
  shared: string
  halted_at: number | null
  halt_code: string | null
  halt_message: string | null
  halt_hint: string | null
  queued_at: number | null
} & Record<`n_${SubmissionState}`, number> &
  Record<`changed_${SubmissionState}`, number | null>

/** STRICT tables hold the types that the columns promise. */
export function batchOf(row: SelectedBatch, holder: Batch['holder']): Batch {
  const counts = noCounts()
  for (const state of submissionStates) {
    counts[state] = row[`n_${state}`]
    counts.total += counts[state]
  }
  const isFile = row.kind === 'file'
  return {
    id: row.id,
    kind: row.kind,
    addedAt: row.added_at,
    baseUrl: row.base_url,
    userEmail: row.user_email,
    name: row.name ?? (isFile ? 'a file' : 'request create'),
    sha256: row.sha256 ?? '',
    packageId: (isFile ? row.package_id : row.first_package) ?? undefined,
    path: row.path ?? undefined,
    resultsFile: row.results_file ?? undefined,
    reading: row.reading ?? '{}',
    account: row.account,
    allowDuplicate: row.allow_duplicate === 1,
    allowSimilar: row.allow_similar === 1,
    shared: JSON.parse(row.shared) as string[],
    counts,
    halt:
      row.halted_at === null
        ? undefined
        : {
            at: row.halted_at,
            code: row.halt_code ?? '',
            message: row.halt_message ?? '',
            hint: row.halt_hint ?? undefined,
          },
    queuedAt: row.queued_at ?? undefined,
    changedAt: Math.max(row.added_at, ...submissionStates.map((state) => row[`changed_${state}`] ?? 0)),
    holder,
  }
}

/** A row as `selectRows` gives it. */
export function batchRowOf(selected: unknown): BatchRow {
  const row = selected as {
    package_id: number | null
    email: string | null
    matches_batch: string | null
    matches_row: number | null
    matches_request: string | null
    matches_state: SubmissionState | null
    matches_package: number | null
    matches_at: number | null
    held_for: StopReason | null
    shares: string | null
    witnesses: string | null
  }
  const { matches_batch, matches_row, matches_request } = row
  const submission = submissionOf(selected)
  return {
    ...submission,
    packageId: row.package_id ?? undefined,
    email: row.email ?? undefined,
    matches:
      matches_batch === null || matches_row === null
        ? undefined
        : matches_batch === resultsBatch
          ? toldMatch(row.witnesses, matches_row, submission)
          : {
              batchId: matches_batch,
              row: matches_row,
              requestId: matches_request ?? undefined,
              state: row.matches_state ?? (isUnmatched({ row: matches_row }) ? 'accepted' : undefined),
              packageId: row.matches_package ?? undefined,
              orderedAt: row.matches_at ?? undefined,
            },
    heldFor: row.held_for ?? undefined,
    shares: sharesOf(row.shares),
  }
}

/** An order that a results file alone tells of. */
function toldMatch(
  witnesses: string | null,
  number: number,
  row: Pick<BatchRow, 'baseUrl' | 'addedAt'> & { packageId: number },
): Match | undefined {
  const witness = witnessesOf(witnesses)?.[number - 1]
  if (witness === undefined) return undefined
  const { requestId, state, packageId, attemptedAt } = witnessedOrder(witness, number, row)
  const { file, line } = witness
  return {
    batchId: resultsBatch,
    row: number,
    requestId,
    state,
    packageId,
    orderedAt: attemptedAt,
    told: { file, line },
  }
}

/** What was or will be sent for a row, as `selectBodies` gives it; undefined where nothing is. */
function bodyOf(selected: unknown): RowBody | undefined {
  const { row_number, package_id, body } = selected as {
    row_number: number
    package_id: number | null
    body: Uint8Array | null
  }
  return body === null || package_id === null ? undefined : { row: row_number, packageId: package_id, body }
}

/** Rows by state, as `selectCounts` gives them. */
function countsOf(selected: readonly unknown[]): BatchCounts {
  const counts = noCounts()
  for (const each of selected) {
    const { state, count } = each as { state: SubmissionState; count: number }
    counts[state] = count
    counts.total += count
  }
  return counts
}

/** Why a batch stands still, as its columns have it. */
function haltColumns(halt: Halt | undefined) {
  return {
    at: halt?.at ?? null,
    code: halt?.code ?? null,
    message: halt?.message ?? null,
    hint: halt?.hint ?? null,
  }
}

/** What batches are kept with. */
interface BatchParts {
  key: StoreKey
  holds: Holds
  /** Refuses a store that takes no orders. */
  rollbacks: Pick<Rollbacks, 'begin' | 'noteHeads'>
}

/** Batches of files: many orders under one name. The orders themselves move in the ledger. */
export class Batches {
  readonly isShared: boolean
  readonly #engine: Engine
  readonly #parts: BatchParts

  constructor(engine: Engine, parts: BatchParts) {
    this.isShared = engine.dialect.isShared
    this.#engine = engine
    this.#parts = parts
  }

  /**
   * Takes a file in: all rows or none, in one step for all processes. The batch is held by its caller.
   * A row becomes `duplicate` or `held` where it conflicts with an order of the store or an earlier row (domain/submission/match).
   * A file that another process took in meanwhile is added no second time: its batch is returned.
   */
  async add(batch: NewFileBatch, rows: RowList): Promise<Batch | undefined> {
    refuseForgetting(this.#engine.location, batch.baseUrl)
    await this.#parts.rollbacks.begin()
    const lock = { account: batch.account ?? '' }
    const { there } = await resolveAmbiguousCommit(
      () => this.#engine.transaction(() => this.#add(batch, rows), lock),
      () => this.#engine.transaction(() => this.#whetherAdded(batch.id), lock),
    )
    return this.#batch(there)
  }

  *#add(batch: NewFileBatch, rows: RowList): Work<{ there: unknown }> {
    const { dialect } = this.#engine
    const same = yield* get(selectByIdentity, { identity: batch.identity })
    if (same !== undefined) return { there: same }
    yield* requireAccount(batch.account ?? '', batch.addedAt)
    yield* insertRows(dialect, 'batches', [fileColumns(batch)])
    const { fingerprint } = this.#parts.key
    yield* this.#compare(batch, rows, (page) =>
      insertRows(
        dialect,
        'submissions',
        page.map((each) => fileRowColumns(batch, each, fingerprint)),
      ),
    )
    return { there: undefined }
  }

  /** Undefined where a commit without an answer was none. */
  *#whetherAdded(id: string): Work<{ there: undefined } | undefined> {
    const { dialect } = this.#engine
    const added = yield* get(`SELECT 1 FROM batches WHERE id = :id ${dialect.lockRows('batches')}`, { id })
    return added === undefined ? undefined : { there: undefined }
  }

  /** What `add` would make of the rows, with nothing added: for a plan to be looked at. */
  preview(batch: NewFileBatch, rows: RowList): Promise<BatchPreview> {
    const compare: Compare = (onPage) => this.#compare(batch, rows, onPage)
    return this.#engine.snapshot(function* () {
      const preview = emptyPreview()
      yield* compare((page) => {
        for (const each of page) addToPreview(preview, each)
        return undefined
      })
      return preview
    })
  }

  /** As Ledger.hold, for a batch of a file: undefined where another process has it (see Batch.holder). */
  hold(batchId: string, what?: HeldFor): Promise<Hold | undefined> {
    const how = what === undefined ? shortWait : { ...shortWait, for: what }
    const { holds, rollbacks } = this.#parts
    return holdForOrdering(() => holds.take({ id: batchId, kind: 'file' }, how), rollbacks)
  }

  /** By its file: see NewFileBatch.identity. */
  async findByIdentity(identity: string): Promise<Batch | undefined> {
    return this.#batch(await this.#engine.run(get(selectByIdentity, { identity })))
  }

  /** By the id or the beginning of one (at least 4 characters) that only one batch has. */
  async find(id: string): Promise<Batch | undefined> {
    await this.#parts.rollbacks.noteHeads()
    const found = await this.#engine.run(all(selectByStart, { start: id, beyond: `${id}g` }))
    return found.length === 1 ? this.#batch(found[0]) : undefined
  }

  /** Newest first; without the singles unless asked for. */
  async list({ singles = false }: { singles?: boolean } = {}): Promise<Batch[]> {
    await this.#parts.rollbacks.noteHeads()
    return this.#all(selectNewest(this.#engine.dialect, singles ? '' : `WHERE b.kind = 'file'`))
  }

  async counts(batchId: string): Promise<BatchCounts> {
    return countsOf(await this.#engine.run(all(selectCounts, { batch_id: batchId })))
  }

  /** In the order of the file. */
  async *rows(batchId: string, filter: RowFilter = {}): AsyncGenerator<BatchRow> {
    for await (const row of this.#pages(selectRows, batchId, filter)) yield batchRowOf(row)
  }

  /** What was or will be sent for the rows that have it, in the order of the file. */
  async *bodies(batchId: string, filter: RowFilter = {}): AsyncIterable<RowBody> {
    for await (const each of this.#pages(selectBodies, batchId, filter)) {
      const found = bodyOf(each)
      if (found !== undefined) yield found
    }
  }

  /** The first pending row, or the first after a row. */
  async nextPending(batchId: string, after = 0): Promise<BatchRow | undefined> {
    const select = selectNextPending(this.#engine.dialect)
    const found = await this.#engine.run(get(select, { batch_id: batchId, after }))
    return found === undefined ? undefined : batchRowOf(found)
  }

  /** Says why the batch stands still, or with undefined that it goes on. */
  async recordHalt(batchId: string, halt: Halt | undefined): Promise<void> {
    await this.#engine.run(run(updateHalt, { id: batchId, ...haltColumns(halt) }))
  }

  async recordResultsFile(batchId: string, path: string): Promise<void> {
    await this.#engine.run(run(updateResultsFile, { id: batchId, path }))
  }

  /** Leaves it for a worker from then on, or with undefined no longer. */
  async recordQueued(batchId: string, at: number | undefined): Promise<void> {
    const { notify } = this.#engine.dialect
    await this.#engine.transaction(function* () {
      yield* run(updateQueued, { id: batchId, at: at ?? null })
      if (notify !== undefined) yield* run(notify(newsChannel, 'batch'))
    })
  }

  /** Those that are left for a worker, the oldest first. */
  queued(): Promise<Batch[]> {
    return this.#all(selectQueued(this.#engine.dialect))
  }

  /** Every row that was not sent, held ones and duplicates too, is `cancelled`; how many. */
  cancelWaiting(batchId: string, at: number, reason: string): Promise<number> {
    return this.#engine.run(run(cancelWaitingRows, { batch_id: batchId, at, reason }))
  }

  /**
   * `rejected → pending`: rejected rows, or some, are queued again. A row is compared first and
   * may become `duplicate` or `held`; one whose person was erased stays. How many are queued.
   */
  requeue(batchId: string, at: number, rows?: readonly number[]): Promise<number> {
    return this.#engine.transaction(() => this.#requeue(batchId, at, rows), { accountOf: batchId })
  }

  *#requeue(batchId: string, at: number, rows: readonly number[] | undefined): Work<number> {
    const rejected = yield* all<{ row_number: number }>(selectRejected, { batch_id: batchId })
    const matching = new Matching(this.#parts.key, this.#engine.dialect)
    let queued = 0
    for (const { row_number: row } of rejected) {
      if (rows !== undefined && !rows.includes(row)) continue
      if ((yield* matching.compareAgain({ batchId, row }, 'rejected', at)) === 'pending') queued += 1
    }
    return queued
  }

  /** Finds the conflict of each row: with an order of the store, or with an earlier one of these rows. A page at a time. */
  *#compare(batch: NewFileBatch, rows: RowList, onPage: OnPage): Work<void> {
    const { baseUrl } = batch
    const matching = new Matching(this.#parts.key, this.#engine.dialect)
    const isEmpty = (yield* get(selectAnyOrder)) === undefined
    const stored = isEmpty ? undefined : new StoredCandidates(this.#parts.key, this.#engine.dialect, batch)
    const { services, packages } = yield* matching.readRelations()
    const service = serviceOf(baseUrl)
    const relations = new Map<number, KnownRelations>()
    const allowed = {
      duplicate: batch.allowDuplicate,
      similar: batch.allowSimilar === true,
      shared: batch.shared ?? [],
    }
    const comparer = new FileComparer(batch, rows, allowed, (packageId) => {
      // A new row was released for nothing yet, so all rows of a package have the same.
      const found = relations.get(packageId) ?? {
        ...relationsOf({ service, packageId }, services, packages),
        released: () => false,
      }
      relations.set(packageId, found)
      return found
    })
    for (const page of pagesOf(rows, maxRows)) {
      const candidatesOf = stored && (yield* stored.ofPage(page))
      const work = onPage(page.map((row) => comparer.compare(row, candidatesOf?.(row) ?? [])))
      if (work !== undefined) yield* work
    }
  }

  /** A page at a time and by key, so that the rows may change and nothing is held open meanwhile. */
  async *#pages(select: string, batchId: string, { states, limit, after = 0 }: RowFilter): AsyncGenerator {
    const { dialect } = this.#engine
    const text = pageOf(dialect, select, states !== undefined)
    const listed = states === undefined ? {} : { states: dialect.list(states) }
    let left = limit ?? Number.POSITIVE_INFINITY
    for (let last = after; left > 0;) {
      const values = { batch_id: batchId, after: last, limit: Math.min(maxRows, left), ...listed }
      const page = await this.#engine.run(all<{ row_number: number }>(text, values))
      yield* page
      const end = page.at(-1)
      if (end === undefined || page.length < values.limit) return
      last = end.row_number
      left -= page.length
    }
  }

  async #all(select: string): Promise<Batch[]> {
    const batches: Batch[] = []
    for (const row of await this.#engine.run(all(select))) batches.push((await this.#batch(row)) as Batch)
    return batches
  }

  async #batch(selected: unknown): Promise<Batch | undefined> {
    if (selected === undefined) return undefined
    const row = selected as SelectedBatch
    return batchOf(row, row.kind === 'file' ? await this.#parts.holds.holder(row.id) : undefined)
  }
}

type OnPage = (page: ComparedRow[]) => Work<unknown> | undefined
type Compare = (onPage: OnPage) => Work<void>
