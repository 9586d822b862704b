import type { KnownPerson, Recipient } from '../../contract/request.ts'
import { type SubmissionState, submissionStates } from '../submission/states.ts'
import type { SharedDetail } from '../submission/similarity.ts'
import type { Conflict, ConflictReason } from '../submission/conflicts.ts'
import type { Submission } from '../submission/submission.ts'
import type { ExternalResult } from '../submission/external-results.ts'
import { personName } from '../wording/text.ts'

/** A file whose rows were added to the store as a batch. */
export interface NewFileBatch {
  /** A UUID that is never used again. */
  id: string
  addedAt: number
  baseUrl: string
  userEmail: string
  /** The same text for the same bytes, read in the same way for the same service. The file's name is not part of it. */
  identity: string
  /** The file's name as the user typed it. */
  name: string
  /** SHA-256 of the file's bytes, in hex. */
  sha256: string
  /** Undefined if the rows name their packages. */
  packageId: number | undefined
  /** An absolute path; undefined if the file was read from stdin. */
  path: string | undefined
  /** The absolute path of the results file. */
  resultsFile: string | undefined
  /** The options for reading the file again in the same way: JSON that the store does not interpret. */
  reading: string
  /** The account under which these people are ordered; '' if no account was named. */
  account?: string | undefined
  /** Whether rows are ordered although the same person was ordered before. */
  allowDuplicate: boolean
  /** Whether rows are ordered although they are similar to one another. */
  allowSimilar?: boolean | undefined
  /** E-mails and phones that many rows share, normalised by `sharedKey` (domain/submission/identity.ts). */
  shared?: readonly string[] | undefined
  /**
   * The id of a finished batch of the same file. The new batch replaces it: from then on the file belongs to the new
   * batch.
   */
  replaces?: string | undefined
}

/** A data row when it is added. `row` is its number among the data rows of the file, from 1. */
export type NewRow =
  | {
      row: number
      state: 'pending'
      packageId: number
      recipient: Recipient
      /** The exact bytes of the request body. */
      body: Uint8Array
      /** The row's line as a spreadsheet program counts. */
      line?: number | undefined
      /** The external results for the person of the row. */
      externalResults?: readonly ExternalResult[] | undefined
    }
  | {
      row: number
      /** `duplicate`: the row repeats an earlier row of the same file. */
      state: 'invalid' | 'duplicate'
      packageId: number | undefined
      /** The person as far as the row could be read; a part that could not be read is ''. */
      person: Recipient
      /** Which of the details by which a person is found are invalid. */
      invalidDetails?: readonly ('email' | 'phone')[] | undefined
      reason: string
      /** The first invalid field. */
      field: string | undefined
      /** For a duplicate, the number of the earlier row. */
      matchesRow: number | undefined
      /** For an invalid row, the order that its line names as a line of a results file. */
      externalResults?: readonly ExternalResult[] | undefined
    }

/** The rows of a file in file order. Positions start at 0. */
export interface RowList extends Iterable<NewRow> {
  at(position: number): NewRow | undefined
}

/** The number of rows of a batch that were accepted under another package than the batch has now. */
export interface OtherPackageCount {
  packageId: number
  count: number
}

/** Why a batch is halted although rows are pending. */
export interface Halt {
  at: number
  /** An `error.code` (src/docs/cli.md, "Exit codes"). */
  code: string
  message: string
  hint: string | undefined
}

export type BatchCounts = Record<SubmissionState | 'total', number>

/** A batch in its present state. */
export interface Batch extends Omit<NewFileBatch, 'identity'> {
  /** `single`: a batch of one row, made by `request create`. */
  kind: 'file' | 'single'
  counts: BatchCounts
  halt: Halt | undefined
  /** The time since which a worker may run the batch. */
  queuedAt: number | undefined
  /** The time of the latest change of a row. */
  changedAt: number
  /**
   * The process that holds the lock of the batch; undefined if no process does. `machine` is set for another machine.
   */
  holder: { pid: number; since: number; machine?: string } | undefined
}

/** A row of a batch in its present state. */
export interface BatchRow extends Omit<Submission, 'packageId'> {
  packageId: number | undefined
  /** The parts of the person that the store has, also of a row that was never a complete order. */
  person: KnownPerson
  /**
   * The order that a duplicate or held row matches, in its present state: a row of this batch or of another one. For a
   * rejected or cancelled row, the other order by which its person is ordered all the same, or may be.
   */
  matches: Match | undefined
  /** The reason why the row is held, or was held before it was left out. */
  heldFor: ConflictReason | undefined
  /** What the row's person has in common with the person of `matches`; empty for the same person. */
  shares: readonly SharedDetail[]
  /** The line in the file as a spreadsheet program counts. It is not stored; set if the file was read for it. */
  line?: number | undefined
}

export interface Match {
  batchId: string
  row: number
  requestId: string | undefined
  /** Undefined if the store no longer has the row. */
  state: SubmissionState | undefined
  packageId: number | undefined
  /** The time when it was sent; if it was not sent, the time when it was added. */
  orderedAt: number | undefined
  /** The last status of its request that was read or reported by an event. */
  requestStatus?: string | undefined
  /** Undefined if the person was erased, or if no row of this store matches. */
  recipient?: Recipient | undefined
  /** The line of a row of the same file, as a spreadsheet program counts. It is not stored. */
  line?: number | undefined
  /** The line of a results file, if no row of this store matches. */
  externalResult?: Pick<ExternalResult, 'file' | 'line'> | undefined
  /**
   * The name of the order's batch. It is set only for an order that was made after the batch of the row was added or that
   * may have been made, and that is found whenever the row is read, because the stored state of the row does not change.
   */
  laterBatch?: string | undefined
}

/**
 * The state of a row that was rejected or cancelled or that is pending, and the order by which its person is ordered or
 * may be ordered.
 */
export interface LaterOrder {
  state: SubmissionState
  match: Match
}

export interface BatchPreview {
  counts: BatchCounts
  /** The number of orders of each package that would be sent. */
  packages: Map<number, number>
  /** Rows that conflict with earlier orders or with earlier rows of the file, in the order of the file. */
  conflicts: { row: NewRow; conflict: Conflict }[]
  /** Rows that would be sent and have the phone of another person. */
  phoneSharers: { row: NewRow; order: Submission }[]
  /**
   * Rows that would be sent, with the last time at which a person of the same full name, but another e-mail and phone,
   * was ordered.
   */
  namesakes: { row: NewRow; orderedAt: number }[]
  /**
   * Rows that would be sent, with an earlier row of the file that has the same full name, but another e-mail and phone.
   */
  namesakesInFile: { row: NewRow; earlier: NewRow }[]
  /** The first people who would be ordered: one more than a message names. */
  people: Recipient[]
}

export interface RowFilter {
  states?: readonly SubmissionState[] | undefined
  /** Only rows with a greater number. */
  after?: number | undefined
  limit?: number | undefined
}

export function createEmptyCounts(): BatchCounts {
  const counts = Object.fromEntries(submissionStates.map((state) => [state, 0]))
  return { total: 0, ...counts } as BatchCounts
}

/** The name of a batch whose file name was removed, because it may name a person. */
export const unnamedFile = 'a file'

/** Returns the person and line of a row, such as `Ana Silva (line 3)`; the number of the row if neither is known. */
export function formatRow({
  row,
  recipient,
  person = recipient ?? {},
  line,
}: Pick<BatchRow, 'row'> & Partial<Pick<BatchRow, 'recipient' | 'person' | 'line'>>): string {
  const position = line === undefined ? undefined : `line ${line}`
  const text = nameOrEmail(person)
  if (text === '') return position ?? `row ${row}`
  return position === undefined ? text : `${text} (${position})`
}

/** Returns the name of a person, or else the e-mail; '' if neither is known. */
const nameOrEmail = (person: KnownPerson): string => personName(person) || (person.email ?? '')
