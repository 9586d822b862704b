import { UsageError } from '../../errors/kinds.ts'

export type SheetFormat = 'csv' | 'xlsx' | 'ods' | 'json' | 'jsonl'

/** Any value that JSON can represent. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue }

/** A cell of a file: a string for text ('' if it is empty), or an object for values of other types. */
export type Cell = string | TypedCell

export type TypedCell =
  /** `format` is the number format of the cell. `text` is the shortest decimal representation of the number. */
  | { kind: 'number'; text: string; value: number; format: string }
  /**
   * `text` is a date, a time of day, or both in ISO 8601. `serial` is the number of days, as the workbook stores it.
   */
  | { kind: 'date'; text: string; serial: number; format: string }
  | { kind: 'boolean'; text: string; value: boolean }
  /** A value other than a string in a JSON file; `text` is its JSON. */
  | { kind: 'json'; text: string; value: Exclude<JsonValue, string> }
  /**
   * A text that the file contains with an apostrophe, so that it is not run as a formula. `written` has the
   * apostrophe.
   */
  | { kind: 'escaped'; text: string; written: string }
  /**
   * A cell without a usable value. `reason` completes "cell C5 …". `format` is set if the number format hides a text.
   */
  | { kind: 'fault'; text: string; reason: string; format?: string }
  /**
   * A text with bytes above 127 in an encoding that is not known yet. Each character of `text` is one byte (Latin-1).
   */
  | { kind: 'bytes'; text: string }

/** The properties of a file that a results file has to have too. */
export interface Dialect {
  format: SheetFormat
  /**
   * The encoding of a text file, which is certain only after all rows were read. Undefined if the bytes are not UTF-8
   * and no encoding was given. Workbooks always use UTF-8.
   */
  encoding: string | undefined
  /** Whether the file begins with a byte order mark. */
  bom: boolean
  /** CSV only, as are `lineEnd`, `quote`, `separatorLine` and `spaced`. */
  delimiter: string
  lineEnd: '\r\n' | '\n' | '\r'
  /** `needed`: only the cells are quoted that have to be. */
  quote: 'needed' | 'all'
  /** Whether the first line is Excel's `sep=;`. */
  separatorLine: boolean
  /** Whether there are spaces between separators and quotes. */
  spaced: boolean
  /** The name of the sheet; workbooks only. */
  sheet: string | undefined
  /** Whether days are counted from 1904 (XLSX only). */
  from1904: boolean
}

export interface SheetRow {
  /** The number of the data row below the header, from 1. Empty rows are counted, although they are not returned. */
  row: number
  /** The number of the line as spreadsheet programs count, from 1; in JSON the line on which the row begins. */
  line: number
  /** One cell per column. */
  cells: Cell[]
  /** The text of the row (JSON only). */
  source?: string
  /** Whether the row is hidden, manually or by a filter (workbooks only). */
  isHidden?: true
  /** The columns whose text is struck through (workbooks only). */
  struckColumns?: readonly number[]
}

/** Cells that are shown as one cell. Rows are counted from 1 and columns from 0; the last ones are included. */
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

/** Returns the text of a cell of any type. */
export function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text
}

/** Returns the position of a cell for a message: `C5`, `line 5, column 3` or `line 5`. `column` is counted from 0. */
export function positionOf({ format }: Pick<Dialect, 'format'>, line: number, column: number): string {
  if (format === 'xlsx' || format === 'ods') return `${columnName(column)}${line}`
  return format === 'csv' ? `line ${line}, column ${column + 1}` : `line ${line}`
}

/** Returns the letters of a column: 0 → A, 25 → Z, 26 → AA. */
export function columnName(column: number): string {
  let name = ''
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCodePoint(65 + ((rest - 1) % 26)) + name
  }
  return name
}

/** The columns and values of a JSON object, or the reason why it is refused. `offset` is in UTF-16 units. */
export type JsonRow =
  | { entries: [column: string, value: JsonValue][]; fault?: undefined }
  | { fault: { reason: string; offset: number }; entries?: undefined }

/** A column of a template, with an example of its values. */
export interface TemplateColumn extends XlsxColumn {
  example: Cell
}

/** A column of a sheet that is written. */
export interface XlsxColumn {
  header: string
  /** Whether every row needs a value; the header is then highlighted. */
  isRequired?: boolean | undefined
  /** The comment of the header cell. */
  note?: string | undefined
  /**
   * Whether empty cells have the format "text", so that a leading + or 0 is not removed when a person types a value.
   */
  hasTextFormat?: boolean | undefined
  /** The width in characters; derived from the header if undefined. */
  width?: number | undefined
  isHidden?: boolean | undefined
  /** The values of the list from which a cell is chosen. */
  choices?: readonly string[] | undefined
}

/** The words for TRUE and FALSE in the languages of spreadsheet programs. */
const trueWords =
  /^(?:true|wahr|vrai|verdadero|verdadeiro|vero|waar|prawda|pravda|igaz|sant|sann|sand|tosi|do[gğ]ru|adev[aă]rat|cert|истина)$/iu
const falseWords =
  /^(?:false|falsch|faux|falso|onwaar|fa[lł]sz|nepravda|hamis|usant|falskt?|falsk|ep[aä]tosi|yanl[ıi]ş|fals|ложь)$/iu

/** Whether a word that is displayed for a boolean means its value. A number format can display TRUE as "No". */
export function isBooleanWord(word: string, value: boolean): boolean {
  return (value ? trueWords : falseWords).test(word)
}

/**
 * Returns the format of a file to write: the requested one, else that of the ending of `output`, else CSV (also for
 * `.txt`). Throws a UsageError if the ending is unknown or contradicts the requested format. `what` names the file in
 * messages: "a template".
 */
export function chooseOutputFormat<Format extends string>(
  what: string,
  formats: readonly (Format | 'csv')[],
  { requested, output }: { requested: Format | undefined; output: string | undefined },
): Format | 'csv' {
  const ending = /[^./\\]\.([a-z\d]+)$/i.exec(output ?? '')?.[1]?.toLowerCase()
  const ofEnding = formats.find((format) => format === (ending === 'htm' ? 'html' : ending))
  if (requested !== undefined && ofEnding !== undefined && requested !== ofEnding) {
    throw new UsageError(`--format ${requested} contradicts --output ${output ?? ''}`, {
      hint: `Leave out --format, or give a name that ends in .${requested}.`,
    })
  }
  if (requested === undefined && ending !== undefined && ofEnding === undefined && ending !== 'txt') {
    const endings = formats.map((format) => `.${format}`)
    throw new UsageError(`--output ${output ?? ''}: ${what} cannot be written as .${ending}`, {
      hint: `Give a name that ends in ${endings.slice(0, -1).join(', ')} or ${endings.at(-1)}, or add --format.`,
    })
  }
  return requested ?? ofEnding ?? 'csv'
}
