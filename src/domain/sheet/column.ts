import type { Cell } from './cell.ts'

/** A column to be filled in, with a cell that shows how. */
export interface TemplateColumn extends XlsxColumn {
  example: Cell
}

/** A column of a sheet being written. */
export interface XlsxColumn {
  header: string
  /** Marks the header. */
  required?: boolean | undefined
  /** What is shown when one points at the header. */
  note?: string | undefined
  /** Empty cells take text as it is typed, so that a leading + or 0 stays. */
  text?: boolean | undefined
  /** In characters; by the header's length where it is left out. */
  width?: number | undefined
  hidden?: boolean | undefined
  /** What a cell may be chosen from. */
  choices?: readonly string[] | undefined
}
