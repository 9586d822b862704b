import { batchOf, batchRowOf, type SelectedBatch } from './batch-rows.ts'
import {
  cancelPendingRows,
  insertFile,
  insertRow,
  rejectedToDuplicate,
  requeueRow,
  selectBatches,
  selectBodies,
  selectByIdentity,
  selectCounts,
  selectRows,
  updateHalt,
  updateResultsFile,
} from './batch-statements.ts'
import type { Batches } from '../batches.ts'
import type { Database, Values } from './connection.ts'
import {
  type Batch,
  type BatchCounts,
  type BatchPreview,
  type BatchRow,
  type Halt,
  type NewFileBatch,
  type NewRow,
  noCounts,
  type RowFilter,
} from '../../../domain/batch/batch.ts'
import { refuseForgetting } from '../../../domain/store/kept-in-memory.ts'
import type { SubmissionState } from '../../../domain/submission/states.ts'
import type { Submission } from '../../../domain/submission/submission.ts'
import { fingerprinting, sha256 } from './fingerprints.ts'
import { takenToOrder } from './holds.ts'
import { aMoment, type Holds } from '../holds.ts'
import { selectMatch } from './ledger-statements.ts'
import type { Hold } from '../ledger.ts'
import type { Age } from './age.ts'
import { submissionOf } from './submission-rows.ts'

const pageRows = 500

/** A row as it is added, after it was compared with what the store knows. */
interface Taken {
  row: NewRow
  fingerprint: string | undefined
  /** An order that stands in its way. */
  match: { batchId: string; row: number; order: Submission | undefined } | undefined
}

/** Batches of files in an SQLite file. Every method does its work before it first awaits, but for holds. */
export class SqliteBatches implements Batches {
  readonly #database: Database
  readonly #holds: Holds
  readonly #age: Age

  constructor(database: Database, holds: Holds, age: Age) {
    this.#database = database
    this.#holds = holds
    this.#age = age
  }

  async add(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<Batch | undefined> {
    refuseForgetting(this.#database.location, batch.baseUrl)
    this.#age.begin()
    const there = this.#database.transaction(() => {
      const same = this.#database.get(selectByIdentity, { identity: batch.identity })
      if (same !== undefined) return same
      this.#database.run(insertFile, {
        id: batch.id,
        base_url: batch.baseUrl,
        user_email: batch.userEmail,
        added_at: batch.addedAt,
        name: batch.name,
        identity: batch.identity,
        sha256: batch.sha256,
        package_id: batch.packageId ?? null,
        path: batch.path ?? null,
        results_file: batch.resultsFile ?? null,
        reading: batch.reading,
        allow_duplicate: batch.allowDuplicate ? 1 : 0,
      })
      for (const taken of this.#compared(batch, rows)) this.#insert(batch, taken)
      return undefined
    })
    return this.#batch(there)
  }

  async preview(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<BatchPreview> {
    return this.#database.snapshot(() => {
      const preview: BatchPreview = { counts: noCounts(), matches: [] }
      for (const { row, match } of this.#compared(batch, rows)) {
        preview.counts.total += 1
        preview.counts[match === undefined ? row.state : 'duplicate'] += 1
        if (match?.order !== undefined) preview.matches.push({ row: row.row, order: match.order })
      }
      return preview
    })
  }

  hold(batchId: string): Promise<Hold | undefined> {
    return takenToOrder(() => this.#holds.take({ id: batchId, kind: 'file' }, aMoment), this.#age)
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
    const found = this.#database.all(`${selectBatches} ${only} ORDER BY b.added_at DESC, b.rowid DESC`)
    const batches: Batch[] = []
    for (const row of found) batches.push((await this.#batch(row)) as Batch)
    return batches
  }

  async counts(batchId: string): Promise<BatchCounts> {
    const counts = noCounts()
    for (const each of this.#database.all(selectCounts, { batch_id: batchId })) {
      const { state, count } = each as { state: SubmissionState; count: number }
      counts[state] = count
      counts.total += count
    }
    return counts
  }

  async *rows(batchId: string, filter: RowFilter = {}): AsyncGenerator<BatchRow> {
    for await (const row of this.#pages(selectRows, batchId, filter)) yield batchRowOf(row)
  }

  async *bodies(
    batchId: string,
    filter: RowFilter = {},
  ): AsyncGenerator<{ row: number; packageId: number; body: Uint8Array }> {
    for await (const each of this.#pages(selectBodies, batchId, filter)) {
      const { row_number, package_id, body } = each as {
        row_number: number
        package_id: number | null
        body: Uint8Array | null
      }
      if (body !== null && package_id !== null) yield { row: row_number, packageId: package_id, body }
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
    this.#database.run(updateHalt, {
      id: batchId,
      at: halt?.at ?? null,
      code: halt?.code ?? null,
      message: halt?.message ?? null,
      hint: halt?.hint ?? null,
    })
  }

  async recordResultsFile(batchId: string, path: string): Promise<void> {
    this.#database.run(updateResultsFile, { id: batchId, path })
  }

  async cancelPending(batchId: string, at: number, reason: string): Promise<number> {
    return this.#database.run(cancelPendingRows, { batch_id: batchId, at, reason })
  }

  async requeue(batchId: string, at: number, rows?: readonly number[]): Promise<number> {
    return this.#database.transaction(() => {
      let queued = 0
      const rejected = this.#database.all(
        `SELECT row_number, fingerprint FROM submissions
          WHERE batch_id = :batch_id AND state = 'rejected' AND body IS NOT NULL ORDER BY row_number`,
        { batch_id: batchId },
      ) as { row_number: number; fingerprint: string }[]
      const allow = this.#database.get('SELECT allow_duplicate FROM batches WHERE id = :id', { id: batchId })
      const { allow_duplicate } = (allow ?? { allow_duplicate: 0 }) as { allow_duplicate: number }
      for (const { row_number, fingerprint } of rejected) {
        if (rows !== undefined && !rows.includes(row_number)) continue
        const match = this.#match(fingerprint, allow_duplicate === 1)
        const key = { batch_id: batchId, row_number, at }
        if (match === undefined) queued += this.#database.run(requeueRow, key)
        else {
          const { batchId: matches_batch, row: matches_row } = match
          this.#database.run(rejectedToDuplicate, { ...key, matches_batch, matches_row })
        }
      }
      return queued
    })
  }

  /** Each row with the order that stands in its way: an earlier one of the store, or of these rows. */
  *#compared(batch: NewFileBatch, rows: Iterable<NewRow>): Generator<Taken> {
    const fingerprint = fingerprinting(this.#database)
    const seen = new Map<string, number>()
    for (const row of rows) {
      if (row.state !== 'pending') {
        const { matchesRow } = row
        const match =
          matchesRow === undefined ? undefined : { batchId: batch.id, row: matchesRow, order: undefined }
        yield { row, fingerprint: undefined, match }
        continue
      }
      const key = fingerprint(row.identity)
      const earlier = seen.get(key)
      const order = earlier === undefined ? this.#match(key, batch.allowDuplicate) : undefined
      if (earlier !== undefined) {
        yield { row, fingerprint: key, match: { batchId: batch.id, row: earlier, order: undefined } }
      } else if (order !== undefined) {
        yield { row, fingerprint: key, match: { batchId: order.batchId, row: order.row, order } }
      } else {
        seen.set(key, row.row)
        yield { row, fingerprint: key, match: undefined }
      }
    }
  }

  #insert(batch: NewFileBatch, { row, fingerprint, match }: Taken): void {
    const isOrder = row.state === 'pending'
    this.#database.run(insertRow, {
      batch_id: batch.id,
      row_number: row.row,
      state: match === undefined ? row.state : 'duplicate',
      changed_at: batch.addedAt,
      package_id: row.packageId ?? null,
      first_name: isOrder ? row.recipient.first_name : null,
      last_name: isOrder ? row.recipient.last_name : null,
      email: isOrder ? row.recipient.email : (row.email ?? null),
      phone: isOrder ? row.recipient.phone : null,
      body: isOrder ? row.body : null,
      body_sha256: isOrder ? sha256(row.body) : null,
      fingerprint: fingerprint ?? null,
      reason: isOrder ? null : row.reason,
      field: isOrder ? null : (row.field ?? null),
      matches_batch: match?.batchId ?? null,
      matches_row: match?.row ?? null,
    })
  }

  #match(fingerprint: string, allowDuplicate: boolean): Submission | undefined {
    const found = this.#database.get(selectMatch, { fingerprint, allow_duplicate: allowDuplicate ? 1 : 0 })
    return found === undefined ? undefined : submissionOf(found)
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

  async #batch(selected: unknown): Promise<Batch | undefined> {
    if (selected === undefined) return undefined
    const row = selected as SelectedBatch
    return batchOf(row, row.kind === 'file' ? await this.#holds.holder(row.id) : undefined)
  }
}
