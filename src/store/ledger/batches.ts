import { terminalStatuses } from '../../contract/statuses.ts'
import {
  type Batch,
  type BatchCounts,
  type BatchPreview,
  type BatchRow,
  type Halt,
  type Match,
  type NewFileBatch,
  type RowFilter,
  type RowList,
  noCounts,
} from '../../domain/batch/batch.ts'
import { type ComparedRow, FileComparer, addToPreview, emptyPreview } from '../../domain/batch/compare.ts'
import { pagesOf } from '../../domain/batch/new-row.ts'
import { refuseMemoryStore } from '../../domain/store/address.ts'
import { type KnownRelations, type ConflictReason, relationsOf } from '../../domain/submission/conflicts.ts'
import { orderOfResult, resultsBatch } from '../../domain/submission/external-results.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import type { Shared } from '../../domain/submission/similarity.ts'
import type { Submission } from '../../domain/submission/submission.ts'
import { type SubmissionState, submissionStates, waitingStates } from '../../domain/submission/states.ts'
import { unmatchedRow } from '../../domain/submission/unmatched.ts'
import { requireAccount } from './accounts.ts'
import { type Work, all, get, insertRows, maxRows, readPages, run, runShared, updateRows } from './engine.ts'
import { newsChannel } from './inbox.ts'
import { Matching, StoredCandidates, allowedBy, findNamesakes } from './matching.ts'
import { type Lease, type LeaseUse, StorePart, shortWait } from './store-part.ts'
import {
  allOrders,
  batchFields,
  submissionFields,
  parseExternalResults,
  selectOrdersWith,
  sqlList,
} from './submission-rows.ts'

const ofState = (state: SubmissionState): string =>
  `FROM submissions WHERE batch_id = b.id AND state = '${state}'`

/** A batch with the counts of its rows, in the order of the states. One of a single order has the package of its row. */
const selectBatches = `
SELECT b.id, b.kind, b.base_url, b.user_email, b.added_at, b.path, b.results_file, b.account, b.queued_at,
  coalesce(b.name, CASE b.kind WHEN 'file' THEN 'a file' ELSE 'request create' END) AS name,
  coalesce(b.sha256, '') AS sha256, coalesce(b.reading, '{}') AS reading,
  b.allow_duplicate, b.allow_similar, b.shared, b.halted_at, b.halt_code, b.halt_message, b.halt_hint,
  CASE b.kind WHEN 'file' THEN b.package_id ELSE
    (SELECT package_id FROM submissions WHERE batch_id = b.id AND row_number = 1) END AS package_id,
  ${submissionStates.map((state) => `(SELECT count(*) ${ofState(state)})`).join(` || ' ' || `)} AS counts,
  (SELECT max(changed_at) FROM (
    ${submissionStates.map((state) => `SELECT max(changed_at) AS changed_at ${ofState(state)}`).join(' UNION ALL ')}
  ) AS changes) AS changed_at
FROM batches b`

const selectByIdentity = `${selectBatches} WHERE b.identity = :identity`

const selectByStart = `${selectBatches}
WHERE b.id >= CAST(:start AS text) AND b.id < CAST(:beyond AS text) LIMIT 2`

const selectQueued = `${selectBatches}
WHERE b.queued_at IS NOT NULL ORDER BY b.queued_at, b.{added}`

/** Newest first. */
const selectNewest = (where = ''): string => `${selectBatches}
${where} ORDER BY b.added_at DESC, b.{added} DESC`

export const selectCounts = `
SELECT state, count(*) AS count FROM submissions WHERE batch_id = :batchId GROUP BY state`

const ofUnmatched = (column: string): string => `CASE WHEN r.matches_row = ${unmatchedRow} THEN (
    SELECT u.${column} FROM unmatched_requests u WHERE u.request_id = r.matches_batch AND u.reader = '' LIMIT 1) END`

/** Rows with what they match. */
export const selectRows = `
SELECT r.*, coalesce(m.state, CASE WHEN r.matches_row = ${unmatchedRow} THEN 'accepted' END) AS matches_state,
  coalesce(m.request_id, ${ofUnmatched('request_id')}) AS matches_request,
  coalesce(m.package_id, ${ofUnmatched('package_id')}) AS matches_package,
  coalesce((SELECT began_at FROM attempts a WHERE a.id = m.attempt_id), m.changed_at, ${ofUnmatched('created_at')}) AS matches_at
FROM (${selectOrdersWith(['s.email AS row_email', 's.matches_batch', 's.matches_row', 's.held_for', 's.shares', 's.external_results'])}) r
LEFT JOIN submissions m ON m.batch_id = r.matches_batch AND m.row_number = r.matches_row`

/** Something that a new row may be in conflict with. */
const selectAnyOrder = `
SELECT 1 FROM (SELECT 1 FROM submissions LIMIT 1) s UNION ALL SELECT 1 FROM (SELECT 1 FROM unmatched_requests LIMIT 1) u`

const selectBodies = `
SELECT row_number, package_id, body FROM submissions r`

/** After a row, in the order of the file; `some`: of the states in `states`. */
export const pageOf = (select: string, some: boolean): string => `${select}
WHERE r.batch_id = :batchId AND r.row_number > :after ${some ? 'AND {isIn r.state, states}' : ''}
ORDER BY r.row_number LIMIT :limit`

export const selectNextPending = `${selectRows}
WHERE r.batch_id = :batchId AND r.state = 'pending' AND r.row_number > :after
ORDER BY {pendingOrder r.row_number} LIMIT 1`

/** The number of finished requests of each batch that has some. */
const countFinished = `
SELECT batch_id, count(*) AS count FROM submissions
WHERE state = 'accepted' AND request_status IN ${sqlList(terminalStatuses)} GROUP BY batch_id`

const selectRejected = `
SELECT row_number FROM submissions
WHERE batch_id = :batchId AND state = 'rejected' AND body IS NOT NULL ORDER BY row_number`

/** Frees the identity of a finished batch for another one of the same file. */
const freeIdentity = `
UPDATE batches SET identity = identity || ' ' || id WHERE id = :id AND identity NOT LIKE '%' || id`

/** What was not sent never is: all rows of a batch, or the one in `row`. */
const cancelWaitingRows = `
UPDATE submissions SET state = 'cancelled', changed_at = :at, reason = :reason
WHERE batch_id = :batchId AND row_number = coalesce(CAST(:row AS bigint), row_number)
  AND state IN ${sqlList(waitingStates)}`

/** What was or will be sent for a row, to the byte. */
interface RowBody {
  row: number
  packageId: number
  body: Uint8Array
}

/** A row of `selectBatches`. */
type SelectedBatch = Omit<
  Batch,
  'allowDuplicate' | 'allowSimilar' | 'shared' | 'counts' | 'halt' | 'changedAt' | 'holder'
> &
  Record<'allowDuplicate' | 'allowSimilar', number> &
  Record<'shared' | 'counts', string> &
  Record<'haltedAt' | 'changedAt', number | undefined> &
  Record<'haltCode' | 'haltMessage' | 'haltHint', string | undefined>

export function batchOf(selected: SelectedBatch, holder: Batch['holder']): Batch {
  const { haltedAt: at, haltCode: code = '', haltMessage: message = '', haltHint: hint, ...batch } = selected
  const counts = selected.counts.split(' ').map(Number)
  return {
    ...batch,
    allowDuplicate: batch.allowDuplicate === 1,
    allowSimilar: batch.allowSimilar === 1,
    shared: JSON.parse(batch.shared) as string[],
    counts: countsOf(submissionStates.map((state, index) => ({ state, count: counts[index] ?? 0 }))),
    halt: at === undefined ? undefined : { at, code, message, hint },
    changedAt: Math.max(batch.addedAt, batch.changedAt ?? 0),
    holder,
  }
}

/** A row of `selectRows`. */
export interface SelectedRow
  extends
    Submission,
    Record<'rowEmail' | 'shares' | 'externalResults' | 'matchesBatch' | 'matchesRequest', string | undefined>,
    Record<'matchesRow' | 'matchesPackage' | 'matchesAt', number | undefined> {
  heldFor: ConflictReason | undefined
  matchesState: SubmissionState | undefined
}

export function batchRowOf(selected: SelectedRow): BatchRow {
  const { rowEmail, shares, externalResults, matchesBatch, matchesRow, ...others } = selected
  const {
    matchesRequest: requestId,
    matchesState: state,
    matchesPackage: packageId,
    matchesAt: orderedAt,
    ...row
  } = others
  return {
    ...row,
    email: rowEmail,
    matches:
      matchesBatch === undefined || matchesRow === undefined
        ? undefined
        : matchesBatch === resultsBatch
          ? matchInResults(externalResults, matchesRow, row)
          : { batchId: matchesBatch, row: matchesRow, requestId, state, packageId, orderedAt },
    shares: (shares?.split(' ') ?? []) as Shared[],
  }
}

/** An order that a results file alone tells of. */
function matchInResults(
  externalResults: string | undefined,
  number: number,
  row: Parameters<typeof orderOfResult>[2],
): Match | undefined {
  const externalResult = parseExternalResults(externalResults)?.[number - 1]
  if (externalResult === undefined) return undefined
  const { requestId, state, packageId, attemptedAt: orderedAt } = orderOfResult(externalResult, number, row)
  const { file, line } = externalResult
  const order = { batchId: resultsBatch, row: number, requestId, state, packageId, orderedAt }
  return { ...order, externalResult: { file, line } }
}

function countsOf(found: readonly { state: SubmissionState; count: number }[]): BatchCounts {
  const counts = noCounts()
  for (const { state, count } of found) {
    counts[state] = count
    counts.total += count
  }
  return counts
}

/** Batches of files: many orders under one name. The orders themselves move in the ledger. */
export class Batches extends StorePart {
  get isShared(): boolean {
    return this.engine.isShared
  }

  /**
   * Takes a file in: all rows or none, in one step for all processes. The batch is held by its caller.
   * A row becomes `duplicate` or `held` where it conflicts with an order of the store or an earlier row (domain/submission/conflicts).
   * A file that another process took in meanwhile is added no second time: its batch is returned.
   */
  async add(batch: NewFileBatch, rows: RowList): Promise<Batch | undefined> {
    refuseMemoryStore(this.engine.location, batch.baseUrl)
    await this.rollbacks.begin()
    return this.#batch(await this.addOnce(batch, () => this.#add(batch, rows)))
  }

  *#add(batch: NewFileBatch, rows: RowList): Work<SelectedBatch | undefined> {
    if (batch.replaces !== undefined) yield* run(freeIdentity, { id: batch.replaces })
    const same = yield* get<SelectedBatch>(selectByIdentity, { identity: batch.identity })
    if (same !== undefined) return same
    yield* requireAccount(batch.account ?? '', batch.addedAt)
    const { replaces: _, ...fields } = batch
    yield* insertRows('batches', [batchFields({ ...fields, kind: 'file' })])
    const { fingerprint } = this.key
    yield* this.#compare(batch, rows, (page) =>
      insertRows(
        'submissions',
        page.map((each) => submissionFields(batch, each, fingerprint)),
      ),
    )
    return undefined
  }

  /** What `add` would make of the rows, with nothing added: for a plan to be looked at. */
  preview(batch: NewFileBatch, rows: RowList): Promise<BatchPreview> {
    return this.engine.snapshot(() => this.#preview(batch, rows))
  }

  *#preview(batch: NewFileBatch, rows: RowList): Work<BatchPreview> {
    const preview = emptyPreview()
    const { key } = this
    const { baseUrl } = batch
    yield* this.#compare(batch, rows, function* (page) {
      const orders = page.flatMap(({ row, stop }) =>
        row.state === 'pending' && stop === undefined ? [{ ...row, baseUrl }] : [],
      )
      const namesakeOf = yield* findNamesakes(key, batch, orders)
      const byRow = new Map(orders.map((order) => [order.row, namesakeOf(order)]))
      for (const each of page) addToPreview(preview, each, byRow.get(each.row.row))
    })
    return preview
  }

  /** As Ledger.hold, for a batch of a file: undefined where another process has it (see Batch.holder). */
  acquire(batchId: string, what?: LeaseUse): Promise<Lease | undefined> {
    const how = what === undefined ? shortWait : { ...shortWait, for: what }
    return this.leaseForOrdering({ id: batchId, kind: 'file' }, how)
  }

  /** By its file: see NewFileBatch.identity. */
  async findByIdentity(identity: string): Promise<Batch | undefined> {
    return this.#batch(await this.engine.run(get<SelectedBatch>(selectByIdentity, { identity })))
  }

  /** By the id or the beginning of one (at least 4 characters) that only one batch has. */
  async find(id: string): Promise<Batch | undefined> {
    await this.rollbacks.noteHeads()
    const found = await this.engine.run(all<SelectedBatch>(selectByStart, { start: id, beyond: `${id}g` }))
    return found.length === 1 ? this.#batch(found[0]) : undefined
  }

  /** Newest first; without the singles unless asked for. */
  async list({ singles = false }: { singles?: boolean } = {}): Promise<Batch[]> {
    await this.rollbacks.noteHeads()
    return this.#all(selectNewest(singles ? '' : `WHERE b.kind = 'file'`))
  }

  /** The number of finished requests, as they were last read, by batch. */
  async finished(): Promise<ReadonlyMap<string, number>> {
    const found = await this.engine.run(all<{ batchId: string; count: number }>(countFinished))
    return new Map(found.map(({ batchId, count }) => [batchId, count]))
  }

  async counts(batchId: string): Promise<BatchCounts> {
    return countsOf(await this.engine.run(all(selectCounts, { batchId })))
  }

  /** In the order of the file. */
  async *rows(batchId: string, filter: RowFilter = {}): AsyncGenerator<BatchRow> {
    for await (const row of this.#pages<SelectedRow>(selectRows, batchId, filter)) yield batchRowOf(row)
  }

  /** What was or will be sent for the rows that have it, in the order of the file. */
  async *bodies(batchId: string, filter: RowFilter = {}): AsyncIterable<RowBody> {
    for await (const each of this.#pages<Partial<RowBody> & { row: number }>(selectBodies, batchId, filter)) {
      const { row, packageId, body } = each
      if (body !== undefined && packageId !== undefined) yield { row, packageId, body }
    }
  }

  /** The first pending row, or the first after a row. */
  async nextPending(batchId: string, after = 0): Promise<BatchRow | undefined> {
    const [found] = await this.engine.run(allOrders<SelectedRow>(selectNextPending, { batchId, after }))
    return found && batchRowOf(found)
  }

  /** Says why the batch stands still, or with undefined that it goes on. */
  async recordHalt(batchId: string, halt: Halt | undefined): Promise<void> {
    const { at: haltedAt, code: haltCode, message: haltMessage, hint: haltHint } = halt ?? {}
    await this.engine.run(
      updateRows('batches', { haltedAt, haltCode, haltMessage, haltHint }, { id: batchId }),
    )
  }

  async recordResultsFile(batchId: string, path: string): Promise<void> {
    await this.engine.run(updateRows('batches', { resultsFile: path }, { id: batchId }))
  }

  /** Leaves it for a worker from then on, or with undefined no longer. */
  async recordQueued(batchId: string, at: number | undefined): Promise<void> {
    await this.engine.transaction(function* () {
      yield* updateRows('batches', { queuedAt: at }, { id: batchId })
      yield* runShared(`NOTIFY ${newsChannel}, 'batch'`)
    })
  }

  /** Those that are left for a worker, the oldest first. */
  queued(): Promise<Batch[]> {
    return this.#all(selectQueued)
  }

  /** Every row that was not sent, held ones and duplicates too, is `cancelled`, or only one `row`; how many. */
  cancelWaiting(batchId: string, at: number, reason: string, row?: number): Promise<number> {
    return this.engine.run(run(cancelWaitingRows, { batchId, at, reason, row }))
  }

  /**
   * `rejected → pending`: rejected rows, or some, are queued again. A row is compared first and
   * may become `duplicate` or `held`; one whose person was erased stays. How many are queued.
   */
  requeue(batchId: string, at: number, rows?: readonly number[]): Promise<number> {
    const { engine, key } = this
    const requeueRows = function* (): Work<number> {
      const rejected = yield* all<{ row: number }>(selectRejected, { batchId })
      const matching = new Matching(key)
      let queued = 0
      for (const { row } of rejected) {
        if (rows !== undefined && !rows.includes(row)) continue
        if ((yield* matching.compareAgain({ batchId, row }, 'rejected', at)) === 'pending') queued += 1
      }
      return queued
    }
    return engine.transaction(requeueRows, { accountOf: batchId })
  }

  /** Finds the conflict of each row: with an order of the store, or with an earlier one of these rows. A page at a time. */
  *#compare(batch: NewFileBatch, rows: RowList, onPage: OnPage): Work<void> {
    const { baseUrl } = batch
    const matching = new Matching(this.key)
    const isEmpty = (yield* get(selectAnyOrder)) === undefined
    const stored = isEmpty ? undefined : new StoredCandidates(this.key, batch)
    const { services, packages } = yield* matching.readRelations()
    const service = serviceOf(baseUrl)
    const relations = new Map<number, KnownRelations>()
    const allowed = { ...allowedBy(batch), shared: batch.shared ?? [] }
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

  #pages<Row extends { row: number }>(
    select: string,
    batchId: string,
    { states, ...range }: RowFilter,
  ): AsyncGenerator<Row> {
    const text = pageOf(select, states !== undefined)
    return readPages(
      range,
      (after, limit) => this.engine.run(allOrders<Row>(text, { batchId, after, limit, states })),
      ({ row }) => row,
    )
  }

  async #all(select: string): Promise<Batch[]> {
    const batches: Batch[] = []
    for (const row of await this.engine.run(all<SelectedBatch>(select)))
      batches.push((await this.#batch(row)) as Batch)
    return batches
  }

  async #batch(row: SelectedBatch | undefined): Promise<Batch | undefined> {
    return row && batchOf(row, row.kind === 'file' ? await this.holds.holder(row.id) : undefined)
  }
}

type OnPage = (page: ComparedRow[]) => Work<unknown> | undefined
