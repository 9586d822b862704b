import { UsageError } from '../../errors/kinds.ts'

export type SheetFormat = 'csv' | 'xlsx' | 'ods' | 'json' | 'jsonl'

/** What JSON can say. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue }

/** One value of a file: a plain text, '' for an empty cell, or a value with a type of its own. */
export type Cell = string | TypedCell

export type TypedCell =
  /** `format` is the number format it is shown in. `text` is the shortest decimal that is the same number. */
  | { kind: 'number'; text: string; value: number; format: string }
  /** `text` is ISO 8601: a day, a time of day, or both. `serial` counts days as the workbook does. */
  | { kind: 'date'; text: string; serial: number; format: string }
  | { kind: 'boolean'; text: string; value: boolean }
  /** JSON files only, anything but a text; `text` is its JSON. */
  | { kind: 'json'; text: string; value: Exclude<JsonValue, string> }
  /** A text with an apostrophe before it, so that it is not run as a formula; `written` has it. */
  | { kind: 'marked'; text: string; written: string }
  /** No value can be had; `reason` goes on after the cell's name. A text that its `format` hides or changes has one. */
  | { kind: 'fault'; text: string; reason: string; format?: string }
  /** Bytes above 127 of an encoding that is not known yet, each a character of `text` (Latin-1). */
  | { kind: 'bytes'; text: string }

/** What is to be done so that what is written looks like what was read. */
export interface Dialect {
  format: SheetFormat
  /**
   * Of text formats; workbooks are UTF-8 within. Known for sure once all rows have been read. Undefined where
   * bytes are no UTF-8 and no encoding was given.
   */
  encoding: string | undefined
  /** Whether the file begins with a byte order mark. */
  bom: boolean
  /** CSV only, as all below but the sheet. */
  delimiter: string
  lineEnd: '\r\n' | '\n' | '\r'
  /** Whether every cell is quoted, or those that need it. */
  quote: 'needed' | 'all'
  /** Whether the first line is Excel's `sep=;`. */
  separatorLine: boolean
  /** CSV only: whether spaces stand between separators and quotes. */
  spaced: boolean
  /** Workbooks only. */
  sheet: string | undefined
  /** XLSX only: whether days count from 1904. */
  from1904: boolean
}

export interface SheetRow {
  /** Data rows from 1: the records below the header, empty ones counted though they are not given out. */
  row: number
  /** Its line as a spreadsheet program counts, from 1; in JSON the line it begins on. */
  line: number
  /** One for each column. */
  cells: Cell[]
  /** JSON only: the row's own text. */
  source?: string
  /** Workbooks only: not shown, by hand or by a filter. */
  hidden?: true
  /** Workbooks only: columns whose text is struck through. */
  struck?: readonly number[]
}

/** Cells that are shown as one; rows as a spreadsheet counts, columns from 0, all inclusive. */
export interface MergedCells {
  range: string
  firstRow: number
  lastRow: number
  firstColumn: number
  lastColumn: number
}

export const plainDialect: Dialect = {
  format: 'csv',
  encoding: 'utf-8',
  bom: false,
  delimiter: ',',
  lineEnd: '\n',
  quote: 'needed',
  separatorLine: false,
  spaced: false,
  sheet: undefined,
  from1904: false,
}

/** A cell's text, whatever its type. */
export function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** How people find a cell: `C5`, `line 5, column 3`, `line 5`. `column` counts from 0. */
export function positionOf({ format }: Pick<Dialect, 'format'>, line: number, column: number): string {
  if (format === 'xlsx' || format === 'ods') return `${columnName(column)}${line}`
  return format === 'csv' ? `line ${line}, column ${column + 1}` : `line ${line}`
}

/** 0 → A, 25 → Z, 26 → AA. */
export function columnName(column: number): string {
  let name = ''
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCodePoint(65 + ((rest - 1) % 26)) + name
  }
  return name
}

/** One object as columns and values, or why its text is not taken. Offsets count UTF-16 units. */
export type JsonRow =
  | { entries: [column: string, value: JsonValue][]; fault?: undefined }
  | { fault: { reason: string; offset: number }; entries?: undefined }

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

/** What spreadsheets show for TRUE and FALSE, in the languages that they run in. */
const yes =
  /^(?:true|wahr|vrai|verdadero|verdadeiro|vero|waar|prawda|pravda|igaz|sant|sann|sand|tosi|do[gğ]ru|adev[aă]rat|cert|истина)$/iu
const no =
  /^(?:false|falsch|faux|falso|onwaar|fa[lł]sz|nepravda|hamis|usant|falskt?|falsk|ep[aä]tosi|yanl[ıi]ş|fals|ложь)$/iu

/** Whether a word that is shown for a boolean says its value: a format may well show TRUE as "No". */
export function isBooleanWord(word: string, value: boolean): boolean {
  return (value ? yes : no).test(word)
}

/**
 * The format of a file that is written: as asked for, else as its name ends, else CSV (also for a name without an ending, or
 * with `.txt`). Throws a UsageError for a name that ends otherwise, and for one that contradicts what was asked for.
 * `what` is written, as messages say it: "a template".
 */
export function writtenFormat<Format extends string>(
  what: string,
  formats: readonly (Format | 'csv')[],
  { asked, output }: { asked: Format | undefined; output: string | undefined },
): Format | 'csv' {
  const ending = /[^./\\]\.([a-z\d]+)$/i.exec(output ?? '')?.[1]?.toLowerCase()
  const named = formats.find((format) => format === (ending === 'htm' ? 'html' : ending))
  if (asked !== undefined && named !== undefined && asked !== named) {
    throw new UsageError(`--format ${asked} contradicts --output ${output ?? ''}`, {
      hint: `Leave out --format, or give a name that ends in .${asked}.`,
    })
  }
  if (asked === undefined && ending !== undefined && named === undefined && ending !== 'txt') {
    const endings = formats.map((format) => `.${format}`)
    throw new UsageError(`--output ${output ?? ''}: ${what} cannot be written as .${ending}`, {
      hint: `Give a name that ends in ${endings.slice(0, -1).join(', ')} or ${endings.at(-1)}, or add --format.`,
    })
  }
  return asked ?? named ?? 'csv'
}
