import type { Recipient, RequestBody } from '../../contract/request-body.ts'
import type { SheetRow } from '../sheet/cell.ts'

/** One thing wrong with a row. */
export interface RowProblem {
  row: number
  /** Where it stands as a spreadsheet program counts. */
  line: number
  /** Whose row it is, as far as that can be read; '' where it cannot. */
  person: string
  /** The file's own header; the contract's name where the file has no such column. */
  column: string
  /** As it stands in the cell; '' where nothing does. */
  value: string
  problem: string
  suggestion?: string | undefined
}

/** A value that its type allows and that is improbable: a person is asked about it, and it is sent as it stands. */
export type UnlikelyValue = Omit<RowProblem, 'suggestion'>

/** A value that will be sent otherwise than the file has it. */
export interface RowChange {
  row: number
  line: number
  column: string
  from: string
  to: string
}

/** What became of a row. */
export interface RowReading {
  /** Data rows from 1. */
  row: number
  source: SheetRow
  /** Undefined where the row does not say one that can be ordered. */
  packageId: number | undefined
  /** As far as it can be read, whatever else is wrong; for telling people apart. */
  person: Recipient
  /** Fit to be sent; undefined where anything is wrong. */
  body: RequestBody | undefined
  changes: RowChange[]
  problems: RowProblem[]
  /** The row before it that orders the same; set where rows are compared. */
  duplicateOf?: number | undefined
}
