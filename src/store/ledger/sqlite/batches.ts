import { batchOf, batchRowOf, bodyOf, countsOf, haltColumns, type SelectedBatch } from '../batch-rows.ts'
import {
  cancelWaitingRows,
  insertFile,
  insertRow,
  selectBatches,
  selectBodies,
  selectByIdentity,
  selectCounts,
  selectRows,
  updateHalt,
  updateQueued,
  updateResultsFile,
} from './batch-statements.ts'
import type { Batches, RowBody } from '../batches.ts'
import type { Database, Values } from './connection.ts'
import {
  type Batch,
  type BatchCounts,
  type BatchPreview,
  type BatchRow,
  type Halt,
  type NewFileBatch,
  type NewRow,
  type RowFilter,
} from '../../../domain/batch/batch.ts'
import { refuseForgetting } from '../../../domain/store/kept-in-memory.ts'
import type { Allowed, KnownRelations } from '../../../domain/submission/match.ts'
import { addToPreview, type ComparedRow, comparedRows, emptyPreview } from '../../../domain/batch/compare.ts'
import { fingerprinting } from './fingerprints.ts'
import { personPrints } from '../fingerprints.ts'
import { fileColumns, fileRowColumns } from '../new-rows.ts'
import { Matching } from './matching.ts'
import { holdForOrdering, shortWait, type Holds } from '../holds.ts'
import type { Hold } from '../ledger.ts'
import type { AttemptAge } from './age.ts'

const pageRows = 500

/** Batches of files in an SQLite file. Every method does its work before it first awaits, but for holds. */
export class SqliteBatches implements Batches {
  readonly isShared = false
  readonly #database: Database
  readonly #holds: Holds
  readonly #age: AttemptAge
  readonly #matching: Matching

  constructor(database: Database, holds: Holds, age: AttemptAge) {
    this.#database = database
    this.#holds = holds
    this.#age = age
    this.#matching = new Matching(database)
  }

  async add(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<Batch | undefined> {
    refuseForgetting(this.#database.location, batch.baseUrl)
    this.#age.begin()
    const there = this.#database.transaction(() => {
      const same = this.#database.get(selectByIdentity, { identity: batch.identity })
      if (same !== undefined) return same
      this.#database.run(insertFile, fileColumns(batch))
      const fingerprint = fingerprinting(this.#database)
      for (const compared of this.#compared(batch, rows)) {
        this.#database.run(insertRow, fileRowColumns(batch, compared, fingerprint))
      }
      return undefined
    })
    return this.#batch(there)
  }

  async preview(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<BatchPreview> {
    return this.#database.snapshot(() => {
      const preview = emptyPreview()
      for (const compared of this.#compared(batch, rows)) addToPreview(preview, compared)
      return preview
    })
  }

  hold(batchId: string): Promise<Hold | undefined> {
    return holdForOrdering(() => this.#holds.take({ id: batchId, kind: 'file' }, shortWait), this.#age)
  }

  async findByIdentity(identity: string): Promise<Batch | undefined> {
    return this.#batch(this.#database.get(selectByIdentity, { identity }))
  }

  async find(id: string): Promise<Batch | undefined> {
    const found = this.#database.all(`${selectBatches} WHERE b.id >= :low AND b.id < :high LIMIT 2`, {
      low: id,
      high: `${id}g`,
    })
    return found.length === 1 ? this.#batch(found[0]) : undefined
  }

  async list({ singles = false }: { singles?: boolean } = {}): Promise<Batch[]> {
    const only = singles ? '' : `WHERE b.kind = 'file'`
    return this.#all(`${only} ORDER BY b.added_at DESC, b.rowid DESC`)
  }

  async counts(batchId: string): Promise<BatchCounts> {
    return countsOf(this.#database.all(selectCounts, { batch_id: batchId }))
  }

  async *rows(batchId: string, filter: RowFilter = {}): AsyncGenerator<BatchRow> {
    for await (const row of this.#pages(selectRows, batchId, filter)) yield batchRowOf(row)
  }

  async *bodies(batchId: string, filter: RowFilter = {}): AsyncGenerator<RowBody> {
    for await (const each of this.#pages(selectBodies, batchId, filter)) {
      const found = bodyOf(each)
      if (found !== undefined) yield found
    }
  }

  async nextPending(batchId: string, after = 0): Promise<BatchRow | undefined> {
    const found = this.#database.get(
      `${selectRows} WHERE r.batch_id = :batch_id AND r.state = 'pending' AND r.row_number > :after ORDER BY r.row_number LIMIT 1`,
      { batch_id: batchId, after },
    )
    return found === undefined ? undefined : batchRowOf(found)
  }

  async recordHalt(batchId: string, halt: Halt | undefined): Promise<void> {
    this.#database.run(updateHalt, { id: batchId, ...haltColumns(halt) })
  }

  async recordResultsFile(batchId: string, path: string): Promise<void> {
    this.#database.run(updateResultsFile, { id: batchId, path })
  }

  async recordQueued(batchId: string, at: number | undefined): Promise<void> {
    this.#database.run(updateQueued, { id: batchId, at: at ?? null })
  }

  async queued(): Promise<Batch[]> {
    return this.#all('WHERE b.queued_at IS NOT NULL ORDER BY b.queued_at, b.rowid')
  }

  async cancelWaiting(batchId: string, at: number, reason: string): Promise<number> {
    return this.#database.run(cancelWaitingRows, { batch_id: batchId, at, reason })
  }

  async requeue(batchId: string, at: number, rows?: readonly number[]): Promise<number> {
    return this.#database.transaction(() => {
      const rejected = this.#database.all(
        `SELECT row_number FROM submissions
          WHERE batch_id = :batch_id AND state = 'rejected' AND body IS NOT NULL ORDER BY row_number`,
        { batch_id: batchId },
      ) as { row_number: number }[]
      return rejected
        .map(({ row_number }) => row_number)
        .filter((row) => rows === undefined || rows.includes(row))
        .filter((row) => this.#matching.settle({ batchId, row }, 'rejected', at) === 'pending').length
    })
  }

  /** Each row with what stands in its way: an order of the store, or an earlier one of these rows. */
  #compared(batch: NewFileBatch, rows: Iterable<NewRow>): Generator<ComparedRow> {
    const { id: batchId, baseUrl, addedAt, account = '' } = batch
    const allowed: Allowed = {
      duplicate: batch.allowDuplicate,
      similar: batch.allowSimilar === true,
      shared: batch.shared ?? [],
    }
    const fingerprint = fingerprinting(this.#database)
    const isEmpty = this.#database.get('SELECT 1 FROM submissions LIMIT 1') === undefined
    let kin: { packageId: number; kin: KnownRelations } | undefined
    return comparedRows(batch, rows, allowed, {
      candidates: ({ row, packageId, recipient }, identities) =>
        isEmpty
          ? []
          : this.#matching.candidates({
              batchId,
              row,
              baseUrl,
              packageId,
              recipient,
              addedAt,
              kind: 'file',
              account,
              allowed,
              prints: personPrints(fingerprint, recipient, identities),
            }),
      // A new row was released for nothing yet, so all rows of a package have the same.
      kin: ({ row, packageId }) => {
        if (kin?.packageId !== packageId) {
          kin = { packageId, kin: this.#matching.kin({ baseUrl, packageId, batchId, row }) }
        }
        return kin.kin
      },
    })
  }

  /** A page at a time and by key, so that the rows may change and nothing is held open meanwhile. */
  async *#pages(select: string, batchId: string, filter: RowFilter): AsyncGenerator {
    const states = filter.states === undefined ? null : JSON.stringify(filter.states)
    let left = filter.limit ?? Number.POSITIVE_INFINITY
    for (let after = filter.after ?? 0; left > 0;) {
      const values: Values = { batch_id: batchId, after, states, limit: Math.min(pageRows, left) }
      const page = this.#database.all(
        `${select} WHERE r.batch_id = :batch_id AND r.row_number > :after
          AND (:states IS NULL OR r.state IN (SELECT value FROM json_each(:states)))
          ORDER BY r.row_number LIMIT :limit`,
        values,
      ) as { row_number: number }[]
      yield* page
      const last = page.at(-1)
      if (last === undefined || page.length < Number(values['limit'])) return
      after = last.row_number
      left -= page.length
    }
  }

  async #all(which: string): Promise<Batch[]> {
    const batches: Batch[] = []
    for (const row of this.#database.all(`${selectBatches} ${which}`))
      batches.push((await this.#batch(row)) as Batch)
    return batches
  }

  async #batch(selected: unknown): Promise<Batch | undefined> {
    if (selected === undefined) return undefined
    const row = selected as SelectedBatch
    return batchOf(row, row.kind === 'file' ? await this.#holds.holder(row.id) : undefined)
  }
}
