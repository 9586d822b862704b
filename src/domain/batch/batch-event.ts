import type { SheetAppearance } from '../sheet/appearance.ts'
import type { Reconciliation } from './reconciliation.ts'
import type { SecondOrder } from '../submission/unmatched.ts'

/** What is worth a word while a file is read, ordered, and its results are written. */
export type BatchEvent =
  | { name: 'mapping-kept'; mapping: string }
  /** What a person agreed to of the columns of this header: saved now, or used again. */
  | { name: 'columns-saved' }
  | { name: 'columns-agreed-before'; text: string }
  | { name: 'no-results-folder'; folder: string }
  /** --allow-duplicate, given for a file that is a batch already. */
  | { name: 'duplicates-too-late'; batchId: string }
  /** --allow-similar or --shared, given for a file that is a batch already. */
  | { name: 'similar-too-late'; batchId: string }
  /** Orders are attributed to the user who continues a batch, and count for that user's organisation. */
  | { name: 'other-user'; startedAs: string; now: string }
  | { name: 'reconciled'; found: Reconciliation }
  /** The file of people is not what it was, so no results file is written. */
  | { name: 'file-changed'; file: string; batchId: string }
  /** `batchId` where the store's own export can stand in for it. */
  | { name: 'results-unwritten'; why: string; batchId: string | undefined }
  /** A workbook is written that lacks what the person's own shows. */
  | { name: 'look-lost'; file: string; appearance: Pick<SheetAppearance, 'lost' | 'otherSheets'> }
  /** Rows that were hidden or struck through, and are not in a file that is written. */
  | { name: 'rows-left-out'; file: string; rows: number }
  | { name: 'may-order-again'; row: number }
  /** Requests that were not ordered with this store, for people who were. */
  | { name: 'second-orders'; found: readonly SecondOrder[] }
  /** A results file next to the file of people could not be read. */
  | { name: 'results-unread'; file: string; why: string }
  /** Rows of a results file that are about other people than the rows of the file now. */
  | { name: 'results-of-others'; file: string; rows: number }
