import type { PostgresAge } from './age.ts'
import {
  cancelWaitingRows,
  columnsOf,
  insertFile,
  insertRows,
  pageOf,
  selectBatches,
  selectBodies,
  selectByIdentity,
  selectCounts,
  selectNextPending,
  selectRejected,
  selectRows,
  updateHalt,
  updateQueued,
  updateResultsFile,
} from './batch-statements.ts'
import type { Database, Sql } from './connection.ts'
import type {
  Batch,
  BatchCounts,
  BatchPreview,
  BatchRow,
  Halt,
  NewFileBatch,
  NewRow,
  RowFilter,
} from '../../../domain/batch/batch.ts'
import {
  addToPreview,
  type ComparedRow,
  comparedRows,
  emptyPreview,
  type OrderRow,
} from '../../../domain/batch/compare.ts'
import type { Candidate, Compared, KnownRelations } from '../../../domain/submission/match.ts'
import { relationsOf } from '../../../domain/submission/joined-packages.ts'
import { serviceOf } from '../../../domain/submission/identity.ts'
import type { Runner } from './holds.ts'
import type { Keyed } from './keyed.ts'
import { lockAccount, lockAccountOf } from './locking.ts'
import { Matching } from './matching.ts'
import { notify } from './inbox-statements.ts'
import { surely } from './sure.ts'
import { batchOf, batchRowOf, bodyOf, countsOf, haltColumns, type SelectedBatch } from '../batch-rows.ts'
import type { Batches, RowBody } from '../batches.ts'
import { type PersonPrints, personPrints } from '../fingerprints.ts'
import { type HeldFor, holdForOrdering } from '../holds.ts'
import type { Hold } from '../ledger.ts'
import { fileColumns, fileRowColumns } from '../new-rows.ts'

const pageRows = 500

/** Batches of files in a PostgreSQL database. */
export class PostgresBatches implements Batches {
  readonly isShared = true
  readonly #database: Database
  readonly #keyed: Keyed
  readonly #runner: Runner
  readonly #age: PostgresAge

  constructor(database: Database, keyed: Keyed, runner: Runner, age: PostgresAge) {
    this.#database = database
    this.#keyed = keyed
    this.#runner = runner
    this.#age = age
  }

  async add(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<Batch | undefined> {
    await this.#age.begin()
    const all = [...rows]
    const account = batch.account ?? ''
    const { there } = await surely(
      () =>
        this.#database.transaction(async (sql) => {
          await lockAccount(sql, account)
          const same = await sql.get(selectByIdentity, { identity: batch.identity })
          if (same !== undefined) return { there: same }
          await sql.run(insertFile, fileColumns(batch))
          await this.#insert(sql, batch, all)
          return { there: undefined }
        }),
      () =>
        this.#database.transaction(async (sql) => {
          await lockAccount(sql, account)
          const added = await sql.get('SELECT 1 FROM batches WHERE id = :id FOR SHARE', { id: batch.id })
          return added === undefined ? undefined : { there: undefined }
        }),
    )
    return this.#batch(there)
  }

  async preview(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<BatchPreview> {
    const preview = emptyPreview()
    const all = [...rows]
    const compared = await this.#database.transaction((sql) => this.#compared(sql, batch, all))
    for (const each of compared) addToPreview(preview, each)
    return preview
  }

  hold(batchId: string, what?: HeldFor): Promise<Hold | undefined> {
    const how = what === undefined ? {} : { for: what }
    return holdForOrdering(() => this.#runner.take({ id: batchId, kind: 'file' }, how), this.#age)
  }

  async findByIdentity(identity: string): Promise<Batch | undefined> {
    return this.#batch(await this.#database.get(selectByIdentity, { identity }))
  }

  async find(id: string): Promise<Batch | undefined> {
    const found = await this.#database.all(
      `${selectBatches} WHERE b.id >= CAST(:low AS text) AND b.id < CAST(:high AS text) LIMIT 2`,
      { low: id, high: `${id}g` },
    )
    return found.length === 1 ? this.#batch(found[0]) : undefined
  }

  async list({ singles = false }: { singles?: boolean } = {}): Promise<Batch[]> {
    const only = singles ? '' : `WHERE b.kind = 'file'`
    return this.#all(`${only} ORDER BY b.added_at DESC, b.serial DESC`)
  }

  async counts(batchId: string): Promise<BatchCounts> {
    return countsOf(await this.#database.all(selectCounts, { batch_id: batchId }))
  }

  async *rows(batchId: string, filter: RowFilter = {}): AsyncGenerator<BatchRow> {
    for await (const row of this.#pages(pageOf(selectRows), batchId, filter)) yield batchRowOf(row)
  }

  async *bodies(batchId: string, filter: RowFilter = {}): AsyncGenerator<RowBody> {
    for await (const each of this.#pages(pageOf(selectBodies), batchId, filter)) {
      const found = bodyOf(each)
      if (found !== undefined) yield found
    }
  }

  async nextPending(batchId: string, after = 0): Promise<BatchRow | undefined> {
    const found = await this.#database.get(selectNextPending, { batch_id: batchId, after })
    return found === undefined ? undefined : batchRowOf(found)
  }

  async recordHalt(batchId: string, halt: Halt | undefined): Promise<void> {
    await this.#database.run(updateHalt, { id: batchId, ...haltColumns(halt) })
  }

  async recordResultsFile(batchId: string, path: string): Promise<void> {
    await this.#database.run(updateResultsFile, { id: batchId, path })
  }

  async recordQueued(batchId: string, at: number | undefined): Promise<void> {
    await this.#database.transaction(async (sql) => {
      await sql.run(updateQueued, { id: batchId, at: at ?? null })
      await sql.run(notify('batch'))
    })
  }

  queued(): Promise<Batch[]> {
    return this.#all('WHERE b.queued_at IS NOT NULL ORDER BY b.queued_at, b.serial')
  }

  async cancelWaiting(batchId: string, at: number, reason: string): Promise<number> {
    return this.#database.run(cancelWaitingRows, { batch_id: batchId, at, reason })
  }

  async requeue(batchId: string, at: number, rows?: readonly number[]): Promise<number> {
    return this.#database.transaction(async (sql) => {
      await lockAccountOf(sql, batchId)
      const matching = new Matching(sql, this.#keyed)
      const rejected = (await sql.all(selectRejected, { batch_id: batchId })) as { row_number: number }[]
      let queued = 0
      for (const { row_number: row } of rejected) {
        if (rows !== undefined && !rows.includes(row)) continue
        if ((await matching.settle({ batchId, row }, 'rejected', at)) === 'pending') queued += 1
      }
      return queued
    })
  }

  async #all(which: string): Promise<Batch[]> {
    const batches: Batch[] = []
    for (const row of await this.#database.all(`${selectBatches} ${which}`)) {
      batches.push((await this.#batch(row)) as Batch)
    }
    return batches
  }

  async #insert(sql: Sql, batch: NewFileBatch, rows: readonly NewRow[]): Promise<void> {
    let page: ReturnType<typeof fileRowColumns>[] = []
    for (const compared of await this.#compared(sql, batch, rows)) {
      page.push(fileRowColumns(batch, compared, this.#keyed.fingerprint))
      if (page.length < pageRows) continue
      await sql.run(insertRows, columnsOf(page))
      page = []
    }
    if (page.length > 0) await sql.run(insertRows, columnsOf(page))
  }

  /** Each row with what stands in its way: an order of the store, or an earlier one of these rows. */
  async #compared(sql: Sql, batch: NewFileBatch, rows: readonly NewRow[]): Promise<Generator<ComparedRow>> {
    const { id: batchId, baseUrl, addedAt, account = '' } = batch
    const allowed = {
      duplicate: batch.allowDuplicate,
      similar: batch.allowSimilar === true,
      shared: batch.shared ?? [],
    }
    const matching = new Matching(sql, this.#keyed)
    const toCompare = (row: OrderRow): Compared & { prints: PersonPrints } => ({
      batchId,
      row: row.row,
      baseUrl,
      packageId: row.packageId,
      recipient: row.recipient,
      addedAt,
      kind: 'file',
      account,
      prints: personPrints(this.#keyed.fingerprint, row.recipient),
    })
    const orders = new Map(
      rows.flatMap((row) => (row.state === 'pending' ? [[row.row, toCompare(row)]] : [])),
    )
    const isEmpty = (await sql.get('SELECT 1 FROM submissions LIMIT 1')) === undefined
    const sought = isEmpty ? [] : [...orders.values()]
    const known = new Map<number, Candidate[]>()
    for (let at = 0; at < sought.length; at += pageRows) {
      const page = sought.slice(at, at + pageRows)
      const candidatesOf = await matching.candidatesOfMany(page, account)
      for (const row of page) known.set(row.row, candidatesOf(row))
    }
    const { services, packages } = await matching.relations()
    const service = serviceOf(baseUrl)
    const kin = new Map<number, KnownRelations>()
    return comparedRows(batch, rows, allowed, {
      candidates: ({ row }) => known.get(row) ?? [],
      // A new row was released for nothing yet, so all rows of a package have the same.
      kin({ packageId }) {
        const found = kin.get(packageId) ?? {
          ...relationsOf({ service, packageId }, services, packages),
          released: () => false,
        }
        kin.set(packageId, found)
        return found
      },
    })
  }

  /** A page at a time and by key, so that the rows may change and nothing is held open meanwhile. */
  async *#pages(select: string, batchId: string, filter: RowFilter): AsyncGenerator {
    let left = filter.limit ?? Number.POSITIVE_INFINITY
    for (let after = filter.after ?? 0; left > 0;) {
      const limit = Math.min(pageRows, left)
      const values = { batch_id: batchId, after, states: filter.states ?? null, limit }
      const page = (await this.#database.all(select, values)) as { row_number: number }[]
      yield* page
      const last = page.at(-1)
      if (last === undefined || page.length < limit) return
      after = last.row_number
      left -= page.length
    }
  }

  async #batch(selected: unknown): Promise<Batch | undefined> {
    if (selected === undefined) return undefined
    const row = selected as SelectedBatch
    return batchOf(row, row.kind === 'file' ? await this.#runner.holder(row.id) : undefined)
  }
}
