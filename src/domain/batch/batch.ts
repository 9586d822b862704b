import type { Recipient } from '../../contract/request.ts'
import { type SubmissionState, submissionStates } from '../submission/states.ts'
import type { Shared } from '../submission/similarity.ts'
import type { Conflict, ConflictReason } from '../submission/conflicts.ts'
import type { Submission } from '../submission/submission.ts'
import type { ExternalResult } from '../submission/external-results.ts'

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
  /** The account of these people; '' where none was named. */
  account?: string | undefined
  /** Order although the same was ordered before. */
  allowDuplicate: boolean
  /** Order its own rows although they are similar to one another. */
  allowSimilar?: boolean | undefined
  /** E-mails and phones that many of its rows share, as `sharedKey` has them. */
  shared?: readonly string[] | undefined
  /** The finished batch of the same file whose place it takes: the file is this batch from then on. */
  replaces?: string | undefined
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
      /** Its line as a spreadsheet program counts. */
      line?: number | undefined
      /** What results files say of the person. */
      externalResults?: readonly ExternalResult[] | undefined
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

/** The rows of a file in its order, by position from 0. */
export interface RowList extends Iterable<NewRow> {
  at(position: number): NewRow | undefined
}

/** Why a batch is halted although rows are pending. */
export interface Halt {
  at: number
  /** An `error.code` of the contract. */
  code: string
  message: string
  hint: string | undefined
}

export type BatchCounts = Record<SubmissionState | 'total', number>

/** A batch in its present state. */
export interface Batch extends Omit<NewFileBatch, 'identity'> {
  /** `single`: a `request create`, a batch of one. */
  kind: 'file' | 'single'
  counts: BatchCounts
  halt: Halt | undefined
  /** Since when it is left for a worker. */
  queuedAt: number | undefined
  /** Of the newest change of any row. */
  changedAt: number
  /** The process that runs it now, by its lock; undefined where there is none. */
  holder: { pid: number; since: number; /** Where it is not this one. */ machine?: string } | undefined
}

/** A row of a batch in its present state. */
export interface BatchRow extends Omit<Submission, 'packageId'> {
  packageId: number | undefined
  /** Of a row that never was a whole order, as far as it could be read. */
  email: string | undefined
  /** What a duplicate or held row matches: a row of this batch or an order of another, in its present state. */
  matches: Match | undefined
  /** Why it is held, and what it has in common with what it matches. */
  heldFor: ConflictReason | undefined
  shares: readonly Shared[]
}

export interface Match {
  batchId: string
  row: number
  requestId: string | undefined
  /** Undefined where it is gone. */
  state: SubmissionState | undefined
  packageId: number | undefined
  /** When it was sent, or else when it came in. */
  orderedAt: number | undefined
  /** The results file that names it, where no store here has it. */
  externalResult?: Pick<ExternalResult, 'file' | 'line'> | undefined
}

export interface BatchPreview {
  counts: BatchCounts
  /** Orders of each package that would be sent. */
  packages: Map<number, number>
  /** What rows conflict with: orders made before, or earlier rows of the file; in the order of the file. */
  conflicts: { row: NewRow; stop: Conflict }[]
  /** Rows that would be sent and have the phone of another person. */
  phones: { row: NewRow; order: Submission }[]
  /** Rows that would be sent, of whose full name a person with another e-mail and phone was ordered, last at this time. */
  names: { row: NewRow; orderedAt: number }[]
  /** Rows that would be sent, whose full name an earlier such row of the file has with another e-mail and phone. */
  namesInFile: { row: NewRow; earlier: NewRow }[]
  /** The first people who would be ordered: one more than are named. */
  people: Recipient[]
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
