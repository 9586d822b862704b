import { terminalStatuses } from '../../contract/statuses.ts'
import {
  type Batch,
  type BatchCounts,
  type BatchPreview,
  type BatchRow,
  type Halt,
  type LaterOrder,
  type Match,
  type NewFileBatch,
  type RowFilter,
  type RowList,
  createEmptyCounts,
  unnamedFile,
} from '../../domain/batch/batch.ts'
import { type ComparedRow, FileComparer, addToPreview, emptyPreview } from '../../domain/batch/compare.ts'
import { pagesOf } from '../../domain/batch/new-row.ts'
import { refuseMemoryStore } from '../../domain/store/address.ts'
import { type KnownRelations, areForSameChecks, relationsOf } from '../../domain/submission/conflicts.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { unmatchedRow } from '../../domain/submission/submission.ts'
import { type SubmissionState, waitingStates } from '../../domain/submission/states.ts'
import { requireAccount } from './accounts.ts'
import { type Work, all, get, insertRows, maxRows, readPages, run, runShared, updateRows } from './engine.ts'
import { newsChannel } from './inbox.ts'
import { Matching, StoredCandidates, allowedBy, isLeftOutButOrdered } from './matching.ts'
import { type Lease, type LeaseUse, StorePart, shortWait } from './store-part.ts'
import {
  type StoredRecipient,
  allOrders,
  batchFields,
  submissionFields,
  type SelectedRow,
  batchRowOf,
  findNamesakes,
  recipientOf,
  selectOrdersWith,
  sqlList,
  sqlMayBeSent,
} from './submission-rows.ts'

// In the statements of this file, words in braces differ between SQLite and PostgreSQL: see `Dialect` in engine.ts.

/** Returns the name of a batch, as an expression. */
const nameOf = (
  batch: string,
): string => `coalesce(${batch}.name, CASE WHEN ${batch}.kind <> 'file' THEN 'request create'
    WHEN ${batch}.sha256 IS NULL THEN 'recovered orders' ELSE '${unnamedFile}' END)`

/**
 * A batch with `states`: each state of its rows, their number and the time of their last change. One subquery returns it
 * all, because PostgreSQL plans the statement in each session. A batch of a single order has the package of its row.
 * `shared` is a JSON list of the e-mails and phones that many rows of the batch may share.
 */
const selectBatches = `
SELECT b.id, b.kind, b.base_url, b.user_email, b.added_at, b.path, b.results_file, b.account, b.queued_at,
  ${nameOf('b')} AS name,
  coalesce(b.sha256, '') AS sha256, coalesce(b.reading, '{}') AS reading,
  b.allow_duplicate, b.allow_similar, b.shared, b.halted_at, b.halt_code, b.halt_message, b.halt_hint,
  CASE b.kind WHEN 'file' THEN b.package_id ELSE
    (SELECT package_id FROM submissions WHERE batch_id = b.id AND row_number = 1) END AS package_id,
  (SELECT string_agg(state || ' ' || row_count || ' ' || last_change, ' ') FROM (
    SELECT state, count(*) AS row_count, max(changed_at) AS last_change
    FROM submissions WHERE batch_id = b.id GROUP BY state) AS found) AS states
FROM batches b`

const selectByIdentity = `${selectBatches} WHERE b.identity = :identity`

const selectByIdStart = `${selectBatches}
WHERE b.id >= CAST(:start AS text) AND b.id < CAST(:beyond AS text) LIMIT 2`

const selectQueued = `${selectBatches}
WHERE b.queued_at IS NOT NULL ORDER BY b.queued_at, b.{added}`

/** Selects batches, the newest first. */
const selectNewest = (where = ''): string => `${selectBatches}
${where} ORDER BY b.added_at DESC, b.{added} DESC`

const selectLatestOfResults = `
SELECT id FROM batches WHERE kind = 'file' AND results_file = :path ORDER BY added_at DESC, {added} DESC LIMIT 1`

export const selectCounts = `
SELECT state, count(*) AS count FROM submissions WHERE batch_id = :batchId GROUP BY state`

/**
 * Returns SQL for a column of the unmatched request that a row conflicts with. `reader` is empty for a request that was
 * read; otherwise it is the user who could not read it.
 */
const unmatchedColumn = (column: string): string => `CASE WHEN r.matches_row = ${unmatchedRow} THEN (
    SELECT u.${column} FROM unmatched_requests u WHERE u.request_id = r.matches_batch AND u.reader = '' LIMIT 1) END`

/**
 * Rows, each with the order that it conflicts with. A row that conflicts with an unmatched request has `unmatchedRow` in
 * matches_row and the request id in matches_batch. `shares` names what the two have in common: e-mail, phone or name.
 */
export const selectRows = `
SELECT r.*, coalesce(m.state, CASE WHEN r.matches_row = ${unmatchedRow} THEN 'accepted' END) AS matches_state,
  coalesce(m.request_id, ${unmatchedColumn('request_id')}) AS matches_request,
  coalesce(m.package_id, ${unmatchedColumn('package_id')}) AS matches_package, m.request_status AS matches_status,
  m.first_name AS matches_first_name, m.last_name AS matches_last_name, m.email AS matches_email, m.phone AS matches_phone,
  coalesce((SELECT began_at FROM attempts a WHERE a.id = m.attempt_id), m.changed_at, ${unmatchedColumn('created_at')}) AS matches_at
FROM (${selectOrdersWith(['s.matches_batch', 's.matches_row', 's.held_for', 's.shares', 's.external_results'])}) r
LEFT JOIN submissions m ON m.batch_id = r.matches_batch AND m.row_number = r.matches_row`

/** The person of the row `s` and of the order `o` is the same, or may be the same: see `selectLaterOrders`. */
const laterOrderConditions = {
  exact: `o.person_print = s.person_print AND (o.state IN ('accepted', 'unknown', 'dropped') OR ${sqlMayBeSent('o')})`,
  corrected: `o.name_print = s.name_print AND CASE
      WHEN s.state = 'rejected' THEN o.email_print = s.email_print OR o.phone_print = s.phone_print
      ELSE coalesce(o.email_print = s.email_print, TRUE) AND coalesce(o.phone_print = s.phone_print, TRUE)
        AND coalesce(s.email_print, s.phone_print) IS NOT NULL END
    AND o.state = 'accepted' AND o.batch_id <> s.batch_id`,
} as const

/**
 * The accepted orders of the people of a batch's rows in `:states` that were made after the batch was added, the latest
 * last, and the orders that may have been accepted: of the same account, and of any package and service. `corrected`: the
 * accepted orders of other batches in which the e-mail or the phone of the person may be corrected; of an invalid row only
 * the detail that is invalid, and also orders that were made before, of which the corrected row would be a duplicate. A
 * family may share an e-mail, and two people a name, so that no order counts by one of these alone. Left out are
 * rows that are known as ordered by the order that they match, and orders against which a user released the row. The
 * LEFT JOIN of the orders' batches prevents PostgreSQL from finding the orders by their batches instead of by the person,
 * which it would do without statistics. `isPage`: only for the rows from `:after` to `:last`, which are found by their
 * numbers, because the index of states has the rows of all pages.
 */
export const selectLaterOrders = (
  isPage: boolean,
  kind: keyof typeof laterOrderConditions = 'exact',
): string => `
SELECT s.row_number AS own_row, s.state AS own_state, coalesce(s.package_id, b.package_id) AS own_package, b.base_url AS own_base_url, o.batch_id, o.row_number,
  o.state, o.package_id, o.request_id, o.request_status, o.first_name, o.last_name, o.email, o.phone, ob.base_url,
  ${nameOf('ob')} AS later_batch, coalesce(a.began_at, o.changed_at) AS ordered_at
FROM submissions s
JOIN batches b ON b.id = s.batch_id
LEFT JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
JOIN submissions o ON ${laterOrderConditions[kind]}
LEFT JOIN batches ob ON ob.id = o.batch_id
LEFT JOIN attempts a ON a.id = o.attempt_id
WHERE s.batch_id = :batchId AND coalesce(s.package_id, b.package_id) IS NOT NULL AND ${
  isPage
    ? `s.row_number > :after AND s.row_number <= :last AND {isIn (s.state || ''), states}`
    : '{isIn s.state, states}'
}
  AND (b.account = '' OR ob.account IN ('', b.account))
  AND (o.state <> 'accepted' OR coalesce(a.began_at, o.changed_at) >= b.added_at
    OR s.state = 'invalid' AND b.allow_duplicate = 0)
  AND NOT coalesce(${isLeftOutButOrdered}, FALSE)
  AND NOT EXISTS (SELECT 1 FROM releases r WHERE
    r.batch_id = s.batch_id AND r.row_number = s.row_number AND r.other_batch = o.batch_id AND r.other_row = o.row_number
    OR r.batch_id = o.batch_id AND r.row_number = o.row_number AND r.other_batch = s.batch_id AND r.other_row = s.row_number)
ORDER BY ordered_at`

/** Returns a row if the store has anything that a new row may conflict with. */
const selectAnyOrder = `
SELECT 1 FROM (SELECT 1 FROM submissions LIMIT 1) s UNION ALL SELECT 1 FROM (SELECT 1 FROM unmatched_requests LIMIT 1) u`

const selectBodies = `
SELECT row_number, package_id, body FROM submissions r`

/**
 * Returns the statement for a page of rows after a row, in the order of the file. `filtersStates`: only rows in one
 * of `:states`.
 */
export const selectPageOf = (select: string, filtersStates: boolean): string => `${select}
WHERE r.batch_id = :batchId AND r.row_number > :after ${filtersStates ? 'AND {isIn r.state, states}' : ''}
ORDER BY r.row_number LIMIT :limit`

export const selectNextPending = `${selectRows}
WHERE r.batch_id = :batchId AND r.state = 'pending' AND r.row_number > :after
ORDER BY {pendingOrder r.row_number} LIMIT 1`

/** Counts the finished requests of each batch; a batch without one is missing. */
const countFinished = `
SELECT batch_id, count(*) AS count FROM submissions
WHERE state = 'accepted' AND request_status IN ${sqlList(terminalStatuses)} GROUP BY batch_id`

const selectRejected = `
SELECT row_number FROM submissions
WHERE batch_id = :batchId AND state = 'rejected' AND body IS NOT NULL ORDER BY row_number`

/**
 * Batches with a row whose request was read at or after `:since`, or with a row that was not sent because it conflicts
 * with such a row.
 */
const selectReadSince = `
SELECT b.id FROM batches b WHERE b.id IN (
  SELECT batch_id FROM submissions WHERE state = 'accepted' AND request_status_at >= :since
  UNION
  SELECT s.batch_id FROM submissions s
  JOIN submissions m ON m.batch_id = s.matches_batch AND m.row_number = s.matches_row
  WHERE s.matches_batch IS NOT NULL AND m.state = 'accepted' AND m.request_status_at >= :since)
ORDER BY b.added_at, b.{added}`

/** Frees the identity of a finished batch for a new batch of the same file. */
const freeIdentity = `
UPDATE batches SET identity = identity || ' ' || id WHERE id = :id AND identity NOT LIKE '%' || id`

/** Cancels the rows that were not sent: all of a batch, or only the row `:row`. */
const cancelWaitingRows = `
UPDATE submissions AS s SET state = 'cancelled', changed_at = :at, reason = :reason
WHERE batch_id = :batchId AND row_number = coalesce(CAST(:row AS bigint), row_number)
  AND state IN ${sqlList(waitingStates)} AND NOT ${sqlMayBeSent('s')}`

/** The exact bytes that were or will be sent for a row. */
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
  Record<'shared', string> &
  Record<'haltedAt', number | undefined> &
  Record<'states' | 'haltCode' | 'haltMessage' | 'haltHint', string | undefined>

export function batchOf(selected: SelectedBatch, holder: Batch['holder']): Batch {
  const { haltedAt: at, haltCode: code = '', haltMessage: message = '', haltHint: hint, ...others } = selected
  const { states = '', ...batch } = others
  const found = Array.from(states.matchAll(/([a-z]{1,20}) (\d{1,16}) (-?\d{1,16})/g), (words) => {
    return { state: words[1] as SubmissionState, count: Number(words[2]), changedAt: Number(words[3]) }
  })
  return {
    ...batch,
    allowDuplicate: batch.allowDuplicate === 1,
    allowSimilar: batch.allowSimilar === 1,
    shared: JSON.parse(batch.shared) as string[],
    counts: countsOf(found),
    halt: at === undefined ? undefined : { at, code, message, hint },
    changedAt: Math.max(batch.addedAt, ...found.map(({ changedAt }) => changedAt)),
    holder,
  }
}

/** States of rows that change no more by themselves, and whose people may have been ordered otherwise. */
const statesWithLaterOrders: readonly SubmissionState[] = ['rejected', 'cancelled', 'invalid']
/** States of rows that were never orders, or were refused, and whose people may be ordered with a corrected detail. */
const correctableStates: ReadonlySet<SubmissionState> = new Set(['rejected', 'invalid'])

/** A row of `selectLaterOrders`. */
type SelectedLaterOrder = Required<
  Pick<Match, 'batchId' | 'row' | 'state' | 'requestId' | 'orderedAt' | 'requestStatus' | 'laterBatch'>
> &
  Record<'ownRow' | 'ownPackage' | 'packageId', number> &
  Record<'ownBaseUrl' | 'baseUrl', string> &
  StoredRecipient & { ownState: SubmissionState }

/**
 * Finds the latest accepted order for the same checks that was made for the person of a row after the row's batch was
 * added, or else an order that may have been accepted. A rejected, cancelled or invalid row that has one is shown as ordered or
 * perhaps ordered. Returns the orders by the number of the row. `page`: only those of these rows.
 */
export function* findLaterOrders(
  matching: Matching,
  batchId: string,
  states = statesWithLaterOrders,
  page?: { after: number; last: number },
): Work<Map<number, LaterOrder>> {
  const values = { batchId, states, ...page }
  const found = yield* all<SelectedLaterOrder>(selectLaterOrders(page !== undefined), values)
  const correctable = states.filter((state) => correctableStates.has(state))
  if (correctable.length > 0) {
    const select = selectLaterOrders(page !== undefined, 'corrected')
    const corrected = yield* all<SelectedLaterOrder>(select, { ...values, states: correctable })
    const exactRows = new Set(found.map(({ ownRow }) => ownRow))
    found.push(...corrected.filter(({ ownRow }) => !exactRows.has(ownRow)))
  }
  const orders = new Map<number, LaterOrder>()
  if (found.length === 0) return orders
  const { services, packages } = yield* matching.readRelations()
  for (const { ownRow, ownState, ownPackage, ownBaseUrl, ...selected } of found) {
    const { baseUrl, firstName, lastName, email, phone, ...order } = selected
    if (order.batchId === batchId && order.row === ownRow) continue
    if (order.state !== 'accepted' && orders.get(ownRow)?.match.state === 'accepted') continue
    const own = { baseUrl: ownBaseUrl, packageId: ownPackage }
    if (!areForSameChecks(own, { baseUrl, packageId: order.packageId }, services, packages)) continue
    const recipient = recipientOf({ firstName, lastName, email, phone })
    orders.set(ownRow, { state: ownState, match: { ...order, recipient } })
  }
  return orders
}

export function countsOf(rows: readonly { state: SubmissionState; count: number }[]): BatchCounts {
  const counts = createEmptyCounts()
  for (const { state, count } of rows) {
    counts[state] = count
    counts.total += count
  }
  return counts
}

/** Batches of files. The states of their rows are changed by the ledger. */
export class Batches extends StorePart {
  /** Whether several runners may send rows of one batch. */
  get allowsSeveralRunners(): boolean {
    return this.engine.allowsSeveralRunners
  }

  /**
   * Adds the batch of a file with all of its rows, in one transaction that excludes other processes. The caller has
   * the batch's lease. A row becomes `duplicate` or `held` if it conflicts with an order of the store or with an
   * earlier row (domain/submission/conflicts). Returns undefined if the batch was added. If another process has added
   * the same file meanwhile, nothing is added and the existing batch is returned.
   */
  async add(batch: NewFileBatch, rows: RowList): Promise<Batch | undefined> {
    refuseMemoryStore(this.engine.location, batch.baseUrl)
    await this.rollbacks.compareStore()
    return this.#toBatch(await this.addOnce(batch, () => this.#addBatch(batch, rows)))
  }

  *#addBatch(batch: NewFileBatch, rows: RowList): Work<SelectedBatch | undefined> {
    if (batch.replaces !== undefined) yield* run(freeIdentity, { id: batch.replaces })
    const existing = yield* get<SelectedBatch>(selectByIdentity, { identity: batch.identity })
    if (existing !== undefined) return existing
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

  /**
   * Returns the counts and conflicts that `add` would produce, without adding anything; used to print a plan.
   */
  preview(batch: NewFileBatch, rows: RowList): Promise<BatchPreview> {
    return this.engine.snapshot(() => this.#preview(batch, rows))
  }

  *#preview(batch: NewFileBatch, rows: RowList): Work<BatchPreview> {
    const preview = emptyPreview()
    const { key } = this
    const { baseUrl } = batch
    yield* this.#compare(batch, rows, function* (page) {
      const orders = page.flatMap(({ row, conflict }) =>
        row.state === 'pending' && conflict === undefined ? [{ ...row, baseUrl }] : [],
      )
      const namesakeOf = yield* findNamesakes(key, batch, orders)
      const orderedAtByRow = new Map(orders.map((order) => [order.row, namesakeOf(order)]))
      for (const each of page) addToPreview(preview, each, orderedAtByRow.get(each.row.row))
    })
    return preview
  }

  /**
   * Acquires the lease of a file's batch, as `Ledger.acquire` does. Returns undefined if another process has
   * it (see `Batch.holder`).
   */
  acquire(batchId: string, use?: LeaseUse): Promise<Lease | undefined> {
    return this.leaseForOrdering({ id: batchId, kind: 'file' }, { ...shortWait, for: use })
  }

  /** Finds a batch by the identity of its file (see NewFileBatch.identity). */
  async findByIdentity(identity: string): Promise<Batch | undefined> {
    return this.#toBatch(await this.engine.run(get<SelectedBatch>(selectByIdentity, { identity })))
  }

  /** Finds a batch by its id, or by the start of an id (at least 4 characters) that only one batch has. */
  async find(id: string): Promise<Batch | undefined> {
    await this.rollbacks.noteHeads()
    // Ids are hexadecimal, so `g` sorts after every continuation of the start of an id.
    const values = { start: id, beyond: `${id}g` }
    const found = await this.engine.run(all<SelectedBatch>(selectByIdStart, values))
    return found.length === 1 ? this.#toBatch(found[0]) : undefined
  }

  /** Returns the id of the newest batch that has its results at this path. */
  async findLatestOfResults(path: string): Promise<string | undefined> {
    return (await this.engine.run(get<{ id: string }>(selectLatestOfResults, { path })))?.id
  }

  /** Returns the batches, the newest first; those of single orders only on request. */
  async list({ includesSingleOrders = false }: { includesSingleOrders?: boolean } = {}): Promise<Batch[]> {
    await this.rollbacks.noteHeads()
    return this.#readBatches(selectNewest(includesSingleOrders ? '' : `WHERE b.kind = 'file'`))
  }

  /** Returns, by the id of the batch, the number of requests that were finished when they were last read. */
  async countFinishedRequests(): Promise<ReadonlyMap<string, number>> {
    const found = await this.engine.run(all<{ batchId: string; count: number }>(countFinished))
    return new Map(found.map(({ batchId, count }) => [batchId, count]))
  }

  /** Returns the ids of batches with a row whose request, or whose conflicting order's request, was read since then. */
  async findReadSince(since: number): Promise<string[]> {
    return (await this.engine.run(all<{ id: string }>(selectReadSince, { since }))).map(({ id }) => id)
  }

  async countRows(batchId: string): Promise<BatchCounts> {
    return countsOf(await this.engine.run(all(selectCounts, { batchId })))
  }

  /** Reads the rows in the order of the file. Rejected, cancelled and invalid rows have the later orders of their people. */
  async *rows(batchId: string, { states, ...range }: RowFilter = {}): AsyncGenerator<BatchRow> {
    const text = selectPageOf(selectRows, states !== undefined)
    yield* readPages(
      range,
      (after, limit) => this.engine.run(this.#readRows(text, { batchId, after, limit, states })),
      ({ row }) => row,
    )
  }

  *#readRows(
    text: string,
    values: { batchId: string; after: number; limit: number } & RowFilter,
  ): Work<BatchRow[]> {
    const rows = (yield* all<SelectedRow>(text, values)).map(batchRowOf)
    const { batchId, after } = values
    const last = rows.findLast(({ state }) => statesWithLaterOrders.includes(state))?.row
    if (last === undefined) return rows
    const states = statesWithLaterOrders.filter((state) => rows.some((row) => row.state === state))
    const orders = yield* findLaterOrders(new Matching(this.key), batchId, states, { after, last })
    if (orders.size === 0) return rows
    for (const row of rows) row.matches = orders.get(row.row)?.match ?? row.matches
    return rows
  }

  /** Reads the bodies of the rows that have one, in the order of the file. */
  async *bodies(batchId: string, filter: RowFilter = {}): AsyncIterable<RowBody> {
    for await (const each of this.#readRowPages<Partial<RowBody> & { row: number }>(
      selectBodies,
      batchId,
      filter,
    )) {
      const { row, packageId, body } = each
      if (body !== undefined && packageId !== undefined) yield { row, packageId, body }
    }
  }

  /** Returns the first pending row after the row `after`. */
  async findNextPending(batchId: string, after = 0): Promise<BatchRow | undefined> {
    const selected = await this.engine.run(get<SelectedRow>(selectNextPending, { batchId, after }))
    return selected && batchRowOf(selected)
  }

  /** Records why the batch was halted; undefined records that it is no longer halted. */
  async recordHalt(batchId: string, halt: Halt | undefined): Promise<void> {
    const { at, code, message, hint } = halt ?? {}
    const columns = { haltedAt: at, haltCode: code, haltMessage: message, haltHint: hint }
    await this.engine.run(updateRows('batches', columns, { id: batchId }))
  }

  async recordResultsFile(batchId: string, path: string): Promise<void> {
    await this.engine.run(updateRows('batches', { resultsFile: path }, { id: batchId }))
  }

  /** Records that the batch is queued for a worker since `at`. */
  recordQueued(batchId: string, at: number): Promise<void> {
    return this.#setQueuedAt(batchId, at)
  }

  recordNotQueued(batchId: string): Promise<void> {
    return this.#setQueuedAt(batchId, undefined)
  }

  async #setQueuedAt(batchId: string, at: number | undefined): Promise<void> {
    await this.engine.transaction(function* () {
      yield* updateRows('batches', { queuedAt: at }, { id: batchId })
      yield* runShared(`NOTIFY ${newsChannel}, 'batch'`)
    })
  }

  /** Returns the batches that are queued for a worker, the oldest first. */
  listQueued(): Promise<Batch[]> {
    return this.#readBatches(selectQueued)
  }

  /**
   * Changes every row that was not sent, also held rows and duplicates, to `cancelled`; `row`: only this one. Rows that are
   * held because the store had lost attempts stay held, because they may have been sent. Returns the number of rows
   * changed.
   */
  cancelWaiting(batchId: string, at: number, reason: string, row?: number): Promise<number> {
    return this.engine.run(run(cancelWaitingRows, { batchId, at, reason, row }))
  }

  /**
   * Queues the rejected rows, or those in `rows`, again (`rejected → pending`). Each row is compared first and may
   * become `duplicate` or `held`; a row stays rejected if its person was erased. Without `rows`, a row also stays
   * rejected if its person was ordered later under the package that probably replaced the row's. Returns the number of
   * rows that are queued.
   */
  requeue(batchId: string, at: number, rows?: readonly number[]): Promise<number> {
    const { engine, key } = this
    const requeueRows = function* (): Work<number> {
      const rejected = yield* all<{ row: number }>(selectRejected, { batchId })
      const matching = new Matching(key)
      const laterOrders = rows === undefined ? yield* findLaterOrders(matching, batchId) : undefined
      let queuedCount = 0
      for (const { row } of rejected) {
        if (rows !== undefined && !rows.includes(row)) continue
        if (laterOrders?.has(row) === true) {
          const lockedRow = yield* matching.lockRow({ batchId, row })
          // The person was ordered under the package that probably replaced the row's, which is no conflict.
          if (lockedRow === undefined || (yield* matching.findConflict(lockedRow)) === undefined) continue
        }
        if ((yield* matching.compareAgain({ batchId, row }, 'rejected', at)) === 'pending') queuedCount += 1
      }
      return queuedCount
    }
    return engine.transaction(requeueRows, { accountOf: batchId })
  }

  /**
   * Finds the conflict of each row with an order of the store or an earlier row of the file. Calls `onPage` with a
   * page of rows at a time.
   */
  *#compare(batch: NewFileBatch, rows: RowList, onPage: OnPage): Work<void> {
    const { baseUrl } = batch
    const matching = new Matching(this.key)
    const isEmpty = (yield* get(selectAnyOrder)) === undefined
    const storedCandidates = isEmpty ? undefined : new StoredCandidates(this.key, batch)
    const { services, packages } = yield* matching.readRelations()
    const service = serviceOf(baseUrl)
    const relations = new Map<number, KnownRelations>()
    const allowed = { ...allowedBy(batch), shared: batch.shared ?? [] }
    const comparer = new FileComparer(batch, rows, allowed, (packageId) => {
      // No release exists for a new row, so all rows with one package have the same relations.
      const knownRelations = relations.get(packageId) ?? {
        ...relationsOf({ service, packageId }, services, packages),
        isReleased: () => false,
      }
      relations.set(packageId, knownRelations)
      return knownRelations
    })
    for (const page of pagesOf(rows, maxRows)) {
      const candidatesOf = storedCandidates && (yield* storedCandidates.findForPage(page))
      const work = onPage(page.map((row) => comparer.compare(row, candidatesOf?.(row) ?? [])))
      if (work !== undefined) yield* work
    }
  }

  #readRowPages<Row extends { row: number }>(
    select: string,
    batchId: string,
    { states, ...range }: RowFilter,
  ): AsyncGenerator<Row> {
    const text = selectPageOf(select, states !== undefined)
    return readPages(
      range,
      (after, limit) => this.engine.run(allOrders<Row>(text, { batchId, after, limit, states })),
      ({ row }) => row,
    )
  }

  async #readBatches(select: string): Promise<Batch[]> {
    const batches: Batch[] = []
    for (const row of await this.engine.run(all<SelectedBatch>(select)))
      batches.push((await this.#toBatch(row)) as Batch)
    return batches
  }

  async #toBatch(row: SelectedBatch | undefined): Promise<Batch | undefined> {
    return row && batchOf(row, row.kind === 'file' ? await this.leases.holder(row.id) : undefined)
  }
}

type OnPage = (page: ComparedRow[]) => Work<unknown> | undefined
