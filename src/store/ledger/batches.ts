import type { Recipient } from '../../contract/request-body.ts'
import type { Hold } from './ledger.ts'
import type { Submission, SubmissionState } from './types.ts'

/** A file that was taken in as a batch. */
export interface NewFileBatch {
  /** A UUID, never used twice. */
  id: string
  addedAt: number
  baseUrl: string
  userEmail: string
  /** The same for the same bytes read in the same way for the same service, whatever the file is called. */
  identity: string
  /** The file's name as it was typed, for people. */
  name: string
  /** SHA-256 of the file's bytes, in hex. */
  sha256: string
  /** Undefined where the rows name their packages. */
  packageId: number | undefined
  /** An absolute path; undefined where the file came by stdin. */
  path: string | undefined
  /** Where results go; an absolute path. */
  resultsFile: string | undefined
  /** What is needed to read the file again in the same way: JSON, opaque to the store. */
  reading: string
  /** Order although the same was ordered before. */
  allowDuplicate: boolean
}

/** A data row as it is taken in. `row` counts the file's data rows from 1. */
export type NewRow =
  | {
      row: number
      state: 'pending'
      packageId: number
      recipient: Recipient
      /** What will be sent, to the byte. */
      body: Uint8Array
      /** What makes two orders the same, in one form. Only a keyed hash of it is kept. */
      identity: string
    }
  | {
      row: number
      /** `duplicate`: of an earlier row of the same file. */
      state: 'invalid' | 'duplicate'
      packageId: number | undefined
      /** As far as it could be read. */
      email: string | undefined
      reason: string
      /** The first field that is wrong. */
      field: string | undefined
      /** Of the earlier row, for a duplicate. */
      matchesRow: number | undefined
    }

/** Why a batch stands still although rows are pending. */
export interface Halt {
  at: number
  /** An `error.code` of the contract. */
  code: string
  message: string
  hint: string | undefined
}

export type BatchCounts = Record<SubmissionState | 'total', number>

/** A batch as it stands. */
export interface Batch extends Omit<NewFileBatch, 'identity'> {
  /** `single`: a `request create`, a batch of one. */
  kind: 'file' | 'single'
  counts: BatchCounts
  halt: Halt | undefined
  /** Of the newest change of any row. */
  changedAt: number
  /** Who runs it now, as far as a lock can tell; undefined where nobody does. */
  holder: { pid: number; since: number } | undefined
}

/** A row of a batch as it stands. */
export interface BatchRow extends Omit<Submission, 'packageId'> {
  packageId: number | undefined
  /** Of a row that never was a whole order, as far as it could be read. */
  email: string | undefined
  /** What a duplicate matches: a row of this batch or an order of another. */
  matches: { batchId: string; row: number; requestId: string | undefined } | undefined
}

export interface BatchPreview {
  counts: BatchCounts
  /** Orders of earlier batches that rows match, in the order of the file. */
  matches: { row: number; order: Submission }[]
}

export interface RowFilter {
  states?: readonly SubmissionState[] | undefined
  /** Rows after this one. */
  after?: number | undefined
  limit?: number | undefined
}

/** Batches of files: many orders under one name. The orders themselves move in the ledger. */
export interface Batches {
  /**
   * Takes a file in: all rows or none, in one step for all processes. The batch is held by its caller.
   * A pending row whose order is known to the store becomes `duplicate` with what it matches, by the
   * rule of `Ledger.add`: with `allowDuplicate` only where the outcome of the match is not known yet.
   * A file that another process took in meanwhile is added no second time: its batch is returned.
   */
  add(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<Batch | undefined>

  /** What `add` would make of the rows, with nothing added: for a plan to be looked at. */
  preview(batch: NewFileBatch, rows: Iterable<NewRow>): Promise<BatchPreview>

  /** As Ledger.hold, for a batch of a file: undefined where another process has it (see Batch.holder). */
  hold(batchId: string): Promise<Hold | undefined>

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
  bodies(
    batchId: string,
    filter?: RowFilter,
  ): AsyncIterable<{ row: number; packageId: number; body: Uint8Array }>

  /** The first pending row, or the first after a row. */
  nextPending(batchId: string, after?: number): Promise<BatchRow | undefined>

  /** Says why the batch stands still, or with undefined that it goes on. */
  recordHalt(batchId: string, halt: Halt | undefined): Promise<void>

  recordResultsFile(batchId: string, path: string): Promise<void>

  /** `pending → cancelled`, every one; how many. */
  cancelPending(batchId: string, at: number, reason: string): Promise<number>

  /**
   * `rejected → pending`: rejected rows, or some, are queued again. A row whose order was made elsewhere since
   * becomes `duplicate`; one whose person was forgotten stays. How many are queued.
   */
  requeue(batchId: string, at: number, rows?: readonly number[]): Promise<number>
}
