import type {
  Batch,
  BatchCounts,
  BatchPreview,
  BatchRow,
  Halt,
  NewFileBatch,
  NewRow,
  RowFilter,
} from '../../domain/batch/batch.ts'
import {
  addToPreview,
  type ComparedRow,
  comparedRows,
  emptyPreview,
  type OrderRow,
} from '../../domain/batch/compare.ts'
import { refuseForgetting } from '../../domain/store/kept-in-memory.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import { relationsOf } from '../../domain/submission/joined-packages.ts'
import type { Candidate, Compared, KnownRelations } from '../../domain/submission/match.ts'
import {
  batchOf,
  batchRowOf,
  bodyOf,
  countsOf,
  haltColumns,
  type RowBody,
  type SelectedBatch,
} from './batch-rows.ts'
import {
  cancelWaitingRows,
  insertFile,
  pageOf,
  rowColumns,
  selectBodies,
  selectByIdentity,
  selectByStart,
  selectCounts,
  selectNewest,
  selectNextPending,
  selectQueued,
  selectRejected,
  selectRows,
  updateHalt,
  updateQueued,
  updateResultsFile,
} from './batch-statements.ts'
import { resolveAmbiguousCommit } from './ambiguous-commit.ts'
import { all, type Engine, get, run, type Work } from './engine.ts'
import { type PersonPrints, personPrints, type StoreKey } from './fingerprints.ts'
import { type HeldFor, type Hold, holdForOrdering, type Holds, shortWait } from './holds.ts'
import { newsChannel } from './inbox-statements.ts'
import { Matching } from './matching.ts'
import { fileColumns, fileRowColumns } from './new-rows.ts'
import type { Rollbacks } from './claim.ts'
import { ensureAccount } from './store-state.ts'
import { insertRows, maxRows } from './rows.ts'

/** What batches are kept with. */
export interface BatchParts {
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
  async add(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<Batch | undefined> {
    refuseForgetting(this.#engine.location, batch.baseUrl)
    await this.#parts.rollbacks.begin()
    const list = [...rows]
    const lock = { account: batch.account ?? '' }
    const { there } = await resolveAmbiguousCommit(
      () => this.#engine.transaction(() => this.#add(batch, list), lock),
      () => this.#engine.transaction(() => this.#whetherAdded(batch.id), lock),
    )
    return this.#batch(there)
  }

  *#add(batch: NewFileBatch, rows: readonly NewRow[]): Work<{ there: unknown }> {
    const same = yield* get(selectByIdentity, { identity: batch.identity })
    if (same !== undefined) return { there: same }
    yield* ensureAccount(batch.account ?? '', batch.addedAt)
    yield* run(insertFile, fileColumns(batch))
    const compared = yield* this.#compare(batch, rows)
    let page: ReturnType<typeof fileRowColumns>[] = []
    const insert = { table: 'submissions', columns: rowColumns }
    for (const each of compared) {
      page.push(fileRowColumns(batch, each, this.#parts.key.fingerprint))
      if (page.length < maxRows) continue
      yield* insertRows(this.#engine.dialect, insert, page)
      page = []
    }
    yield* insertRows(this.#engine.dialect, insert, page)
    return { there: undefined }
  }

  /** Undefined where a commit without an answer was none. */
  *#whetherAdded(id: string): Work<{ there: undefined } | undefined> {
    const { dialect } = this.#engine
    const added = yield* get(`SELECT 1 FROM batches WHERE id = :id ${dialect.lockRows('batches')}`, { id })
    return added === undefined ? undefined : { there: undefined }
  }

  /** What `add` would make of the rows, with nothing added: for a plan to be looked at. */
  async preview(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<BatchPreview> {
    const list = [...rows]
    const preview = emptyPreview()
    const compared = await this.#engine.snapshot(() => this.#compare(batch, list))
    for (const each of compared) addToPreview(preview, each)
    return preview
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

  /** Each row with its conflict: with an order of the store, or with an earlier one of these rows. */
  *#compare(batch: NewFileBatch, rows: readonly NewRow[]): Work<Generator<ComparedRow>> {
    const { id: batchId, baseUrl, addedAt, account = '' } = batch
    const { key } = this.#parts
    const matching = new Matching(key, this.#engine.dialect)
    const toCompare = ({ row, packageId, recipient }: OrderRow): Compared & { prints: PersonPrints } => ({
      batchId,
      row,
      baseUrl,
      packageId,
      recipient,
      addedAt,
      kind: 'file',
      account,
      prints: personPrints(key.fingerprint, recipient),
    })
    const isEmpty = (yield* get('SELECT 1 FROM submissions LIMIT 1')) === undefined
    const orders = isEmpty ? [] : rows.filter((row) => row.state === 'pending')
    const known = new Map<number, Candidate[]>()
    for (let at = 0; at < orders.length; at += maxRows) {
      const page = orders.slice(at, at + maxRows).map(toCompare)
      const candidatesOf = yield* matching.findCandidatesOfMany(page, account)
      for (const row of page) known.set(row.row, candidatesOf(row))
    }
    const { services, packages } = yield* matching.readRelations()
    const service = serviceOf(baseUrl)
    const relations = new Map<number, KnownRelations>()
    const allowed = {
      duplicate: batch.allowDuplicate,
      similar: batch.allowSimilar === true,
      shared: batch.shared ?? [],
    }
    return comparedRows(batch, rows, allowed, {
      candidates: ({ row }) => known.get(row) ?? [],
      // A new row was released for nothing yet, so all rows of a package have the same.
      kin({ packageId }) {
        const found = relations.get(packageId) ?? {
          ...relationsOf({ service, packageId }, services, packages),
          released: () => false,
        }
        relations.set(packageId, found)
        return found
      },
    })
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
