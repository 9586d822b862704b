import type { Recipient } from '../../contract/request-body.ts'
import { type SubmissionState, submissionStates } from '../submission/states.ts'
import type { Submission } from '../submission/submission.ts'

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

export function noCounts(): BatchCounts {
  const counts = Object.fromEntries(submissionStates.map((state) => [state, 0]))
  return { total: 0, ...counts } as BatchCounts
}
