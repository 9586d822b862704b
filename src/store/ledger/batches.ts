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
import type { HeldFor } from './holds.ts'
import type { Hold } from './ledger.ts'

/** What was or will be sent for a row, to the byte. */
export interface RowBody {
  row: number
  packageId: number
  body: Uint8Array
}

/** Batches of files: many orders under one name. The orders themselves move in the ledger. */
export interface Batches {
  /** Whether runners share a batch, row by row; else it has one at a time. */
  readonly isShared: boolean

  /**
   * Takes a file in: all rows or none, in one step for all processes. The batch is held by its caller.
   * A row becomes `duplicate` or `held` where an order of the store or an earlier row stands in its way, with what it
   * matches (domain/submission/match).
   * A file that another process took in meanwhile is added no second time: its batch is returned.
   */
  add(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<Batch | undefined>

  /** What `add` would make of the rows, with nothing added: for a plan to be looked at. */
  preview(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<BatchPreview>

  /** As Ledger.hold, for a batch of a file: undefined where another process has it (see Batch.holder). */
  hold(batchId: string, what?: HeldFor): Promise<Hold | undefined>

  /** By its file: see NewFileBatch.identity. */
  findByIdentity(identity: string): Promise<Batch | undefined>

  /** By the id or the beginning of one (at least 4 characters) that only one batch has. */
  find(id: string): Promise<Batch | undefined>

  /** Newest first; without the singles unless asked for. */
  list(options?: { singles?: boolean }): Promise<Batch[]>

  counts(batchId: string): Promise<BatchCounts>

  /** In the order of the file. */
  rows(batchId: string, filter?: RowFilter): AsyncGenerator<BatchRow>

  /** What was or will be sent for the rows that have it, in the order of the file. */
  bodies(batchId: string, filter?: RowFilter): AsyncIterable<RowBody>

  /** The first pending row, or the first after a row. */
  nextPending(batchId: string, after?: number): Promise<BatchRow | undefined>

  /** Says why the batch stands still, or with undefined that it goes on. */
  recordHalt(batchId: string, halt: Halt | undefined): Promise<void>

  recordResultsFile(batchId: string, path: string): Promise<void>

  /** Leaves it for a worker from then on, or with undefined no longer. */
  recordQueued(batchId: string, at: number | undefined): Promise<void>

  /** Those that are left for a worker, the oldest first. */
  queued(): Promise<Batch[]>

  /** Every row that was not sent, held ones and duplicates too, is `cancelled`; how many. */
  cancelWaiting(batchId: string, at: number, reason: string): Promise<number>

  /**
   * `rejected → pending`: rejected rows, or some, are queued again. A row is compared first and
   * may become `duplicate` or `held`; one whose person was forgotten stays. How many are queued.
   */
  requeue(batchId: string, at: number, rows?: readonly number[]): Promise<number>
}
