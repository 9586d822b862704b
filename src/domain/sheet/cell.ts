export type SheetFormat = 'csv' | 'xlsx' | 'ods' | 'json' | 'jsonl'

/** What JSON can say. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue }

/** One value as it stands in a file: a plain text, '' where nothing stands, or a value with a type of its own. */
export type Cell = string | TypedCell

export type TypedCell =
  /** `format` is the number format it is shown in. `text` is the shortest decimal that is the same number. */
  | { kind: 'number'; text: string; value: number; format: string }
  /** `text` is ISO 8601: a day, a time of day, or both. `serial` counts days as the workbook does. */
  | { kind: 'date'; text: string; serial: number; format: string }
  | { kind: 'boolean'; text: string; value: boolean }
  /** JSON files only, anything but a text; `text` is its JSON. */
  | { kind: 'json'; text: string; value: Exclude<JsonValue, string> }
  /** A text that an apostrophe kept from being run as a formula; `written` has it. */
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
  /** Whether a byte order mark stands first. */
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
  /** Where it stands as a spreadsheet program counts, from 1; in JSON the line it begins on. */
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
  if (format === 'xlsx' || format === 'ods') return `${columnName(column)}${String(line)}`
  return format === 'csv' ? `line ${String(line)}, column ${String(column + 1)}` : `line ${String(line)}`
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
