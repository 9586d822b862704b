import type { z } from 'zod'

import { hiddenInJson } from '../host/text.ts'
import type { Style, Terminal } from './terminal.ts'

/** The answer of a command: JSON for scripts, and text for people. */
export interface View {
  /** The document that --json prints unchanged. */
  readonly json: unknown
  /** Returns the text without a final newline and not wrapped. All strings from outside are sanitized. */
  text(terminal: Terminal): string
  /** Set for text from outside or for scripts. It is not wrapped, and global flags are not added to commands in it. */
  readonly isVerbatim?: true
}

export type Cell = string | number | boolean | null | undefined

/** Names of the fields of a row that a cell can show as they are. */
type CellField<Row> = string &
  keyof { [Name in keyof Row as string extends Name ? never : Row[Name] extends Cell ? Name : never]: 1 }

/**
 * A column of a list. `name` is in snake_case, as in the API, and is used by --columns, --sort and the CSV header.
 * `value` returns the content of a cell; without it, the field with this name is the content.
 */
export type Column<Row> = ColumnStyle<Row> &
  ({ readonly name: CellField<Row>; value?: undefined } | { readonly name: string; value(row: Row): Cell })

export const cellValue = <Row>(column: Column<Row>, row: Row): Cell =>
  column.value === undefined ? (row[column.name as keyof Row] as Cell) : column.value(row)

interface ColumnStyle<Row> {
  /** Returns the text of a cell in a table, if it differs from the value. */
  show?(row: Row): string
  style?(row: Row): Style | undefined
  /** Returns a shorter text, such as the start of an id, for terminals that are too narrow for all columns. */
  short?(row: Row): string
  /** Whether the column is wrapped only after all others. Set for ids, because people copy them. */
  readonly avoidsWrapping?: boolean
  /** Whether long values are shown in full. Set for answers that a person approves. */
  readonly isUncut?: boolean
  /** Whether a table shows the column only if --columns names it. */
  readonly extra?: boolean
}

/** An answer of many rows, printed as a table, CSV, or a JSON array. */
export interface ListView<Row> {
  readonly rows: readonly Row[]
  /** Returns the JSON of a row; without it, --json prints the row itself. */
  json?(row: Row): unknown
  readonly columns: readonly Column<Row>[]
  /** The text that is printed instead of an empty table. */
  readonly empty: string
}

/** The type of the JSON that a schema of `output/schemas` describes, as a readonly parameter of a view. */
export type JsonOf<Schema extends z.ZodType> = DeepReadonly<z.infer<Schema>>

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T

/**
 * Returns JSON that is safe to print on a terminal. Control characters and invisible characters that
 * JSON.stringify does not escape are escaped too, so that parsing gives the same value.
 */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return text.replace(hiddenInJson, (each) =>
    Array.from({ length: each.length }, (_, index) => escapeCodeUnit(each.charCodeAt(index))).join(''),
  )
}

const escapeCodeUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
