import { hiddenInJson } from '../host/text.ts'
import type { Style, Terminal } from './terminal.ts'

/** What a command answers: the exact JSON for scripts, and text for people. */
export interface View {
  /** Printed as it is with --json. */
  readonly json: unknown
  /** Without a final newline; the strings of others in it have been through `sanitize`. */
  text(terminal: Terminal): string
  /** The text is from outside, or a value for a script: no command in it is completed. */
  readonly isVerbatim?: true
}

export type Cell = string | number | boolean | null | undefined

export interface Column<Row> {
  /** snake_case, the API's own name: for --columns, --sort and the CSV header. */
  readonly name: string
  value(row: Row): Cell
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
  /** Said in place of an empty table, on stdout's behalf. */
  readonly empty: string
}

/** JSON that a terminal does not obey and that hides nothing: what JSON leaves as it is of that is escaped, and nothing is lost. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent)
  return text.replace(hiddenInJson, (each) =>
    Array.from({ length: each.length }, (_, at) => escapeOf(each.charCodeAt(at))).join(''),
  )
}

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
