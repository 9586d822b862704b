import type { z } from 'zod'

import { hiddenInJson } from '../host/text.ts'
import type { Style, Terminal } from './terminal.ts'

/** What a command answers: the exact JSON for scripts, and text for people. */
export interface View {
  /** Printed as it is with --json. */
  readonly json: unknown
  /** Without a final newline, and not wrapped; the strings of others in it have been through `sanitize`. */
  text(terminal: Terminal): string
  /** The text is from outside, or for a script: it is not wrapped, and no command in it is completed. */
  readonly isVerbatim?: true
}

export type Cell = string | number | boolean | null | undefined

/** Names of the fields of a row that a cell can show as they are. */
type CellField<Row> = string &
  keyof { [Name in keyof Row as string extends Name ? never : Row[Name] extends Cell ? Name : never]: 1 }

/** `name`: snake_case, the API's own; for --columns, --sort and the CSV header. Without `value` the field of that name is shown. */
export type Column<Row> = ColumnStyle<Row> &
  ({ readonly name: CellField<Row>; value?: undefined } | { readonly name: string; value(row: Row): Cell })

export const cellIn = <Row>(column: Column<Row>, row: Row): Cell =>
  column.value === undefined ? (row[column.name as keyof Row] as Cell) : column.value(row)

interface ColumnStyle<Row> {
  /** How people read it, where that differs from the value. */
  show?(row: Row): string
  style?(row: Row): Style | undefined
  /** Shown instead where the terminal is too narrow for all columns: an id by its start. */
  short?(row: Row): string
  /** Not wrapped while another column can be: an id that people copy. */
  readonly whole?: boolean
  /** What a person approves: shown to the last character, however long it is. */
  readonly uncut?: boolean
  /** Left out of the text table unless asked for with --columns. */
  readonly extra?: boolean
}

/** An answer of many rows: a table, CSV, or a JSON array. */
export interface ListView<Row> {
  readonly rows: readonly Row[]
  /** What --json prints for a row; the row itself where absent. */
  json?(row: Row): unknown
  readonly columns: readonly Column<Row>[]
  /** Printed instead of an empty table. */
  readonly empty: string
}

/** What a schema of `output/schemas` describes, as a view takes it. */
export type Printed<Schema extends z.ZodType> = Frozen<z.infer<Schema>>

type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T

/** JSON that a terminal does not obey and that hides nothing: what JSON leaves as it is of that is escaped, and nothing is lost. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return text.replace(hiddenInJson, (each) =>
    Array.from({ length: each.length }, (_, at) => escapeOf(each.charCodeAt(at))).join(''),
  )
}

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
