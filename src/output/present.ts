import { stringify } from 'csv-stringify/sync'

import { type FieldProblem, type RefcheckError, UsageError } from '../errors/kinds.ts'
import { capitalize } from '../domain/wording/text.ts'
import { sanitize } from '../host/text.ts'
import { wrapLines, styled, type Terminal, type Sink } from './terminal.ts'
import { addFormulaMarks } from '../domain/sheet/formula.ts'
import { type FlagRepeater, repeatNoFlags } from '../domain/wording/pasted-command.ts'
import { table } from './table.ts'
import { type Cell, type Column, jsonText, type ListView, type View, cellValue } from './view.ts'

/** Returns the `error` object of src/docs/cli.md, "Streams", without the keys that do not apply. */
export function failureJson(error: RefcheckError): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({
      code: error.code,
      message: error.message,
      hint: error.hint,
      status: error.status,
      field: error.field,
      retry_after: error.retryAfter,
      request_id: error.order?.requestId,
      batch_id: error.order?.batchId,
      row: error.order?.row,
      match: error.order?.match,
      problems: severalProblems(error)?.map(({ field, value, problem }) => ({ field, value, problem })),
    }).filter(([, value]) => value !== undefined),
  )
}

/** Returns the error as one line for stderr, for commands whose JSON document on stdout has the whole error. */
export function failureLine(error: RefcheckError, terminal: Terminal): string {
  const [firstLine = ''] =
    error.code === 'interrupted' ? errorLines(error) : [`Error: ${sanitize(error.message)}`]
  return `${styledHead(firstLine, error, terminal)}\n`
}

/**
 * Returns the error message, its problems (one per line if there are several) and the hint. The message of an
 * interruption by the user does not start with "Error:". If `isUserChoice` is true, the user omitted the
 * other orders on purpose. The answer already says so, and only the hint is returned.
 */
export function failureText(error: RefcheckError, terminal: Terminal): string {
  const wrappedLines = errorLines(error).map((line) => wrapLines(line, terminal.columns))
  const [firstLine = '', ...otherLines] = error.isUserChoice ? [] : wrappedLines
  const head = styledHead(firstLine, error, terminal)
  const hintLines =
    error.hint === undefined
      ? []
      : wrapLines(sanitize(error.hint, { keepsLines: true }), terminal.columns).split('\n')
  return [
    ...(error.isUserChoice ? [] : [head]),
    ...otherLines,
    ...hintLines.map((line) => styled(terminal, 'dim', line)),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function styledHead(firstLine: string, { code }: RefcheckError, terminal: Terminal): string {
  return code === 'interrupted' ? firstLine : firstLine.replace(/^Error:/, styled(terminal, 'red', 'Error:'))
}

function errorLines(error: RefcheckError): string[] {
  if (error.code === 'interrupted') return [sanitize(capitalize(error.message))]
  const problems = severalProblems(error)
  if (problems === undefined) return [`Error: ${sanitize(error.message)}`]
  const [sharedStart = ''] = error.message.split(': ', 1)
  return [`Error: ${sanitize(sharedStart)}`, ...problems.map(({ text }) => `  ${sanitize(text)}`)]
}

function severalProblems({ problems = [] }: RefcheckError): readonly FieldProblem[] | undefined {
  return problems.length > 1 ? problems : undefined
}

/** The flags that format a list: `--csv --columns a,b --sort col --no-header`. */
export interface ListFormat {
  csv: boolean
  columns: string | undefined
  /** The name of a column; `-name` sorts in descending order. */
  sort: string | undefined
  header: boolean
}

/** Returns a JSON document. If the command has an answer and also failed, `failure` is added to the answer. */
export function jsonDocument(json: unknown, failure?: RefcheckError): string {
  const document =
    failure !== undefined && canHaveErrorKey(json) ? { ...json, error: failureJson(failure) } : json
  return `${jsonText(document, 2)}\n`
}

/**
 * Returns true if the error of a command can be added to its answer, which is the case if the answer is an
 * object.
 */
export function canHaveErrorKey(json: unknown): json is object {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

/**
 * Prints the text of a view, wrapped to the terminal. `repeatFlags` adds the user's global flags to commands in it.
 */
export function presentText(
  view: View,
  stdout: Sink,
  terminal: Terminal,
  repeatFlags: FlagRepeater = repeatNoFlags,
): void {
  const rendered = view.text(terminal)
  const text = view.isVerbatim === true ? rendered : wrapLines(repeatFlags(rendered), terminal.columns)
  if (text !== '') stdout.write(`${text}\n`)
}

/**
 * Returns the list with the columns and the order of rows that the flags name. Throws a UsageError for an
 * unknown column.
 */
export function arrangeColumns<Row>(view: ListView<Row>, format: ListFormat): ListView<Row> {
  const columns = chooseColumns(view.columns, format)
  return { ...view, columns, rows: sortRows(view, format.sort) }
}

/** Prints an arranged list as CSV or as a table, or the sentence for an empty list. */
export function presentList<Row>(
  view: ListView<Row>,
  format: ListFormat,
  stdout: Sink,
  terminal: Terminal,
  repeatFlags: FlagRepeater = repeatNoFlags,
): void {
  if (format.csv) {
    const headerRows = format.header ? [view.columns.map((column) => column.name)] : []
    stdout.write(
      formatCsv([
        ...headerRows,
        ...view.rows.map((row) => view.columns.map((column) => cellValue(column, row))),
      ]),
    )
    return
  }
  const text =
    view.rows.length === 0
      ? wrapLines(repeatFlags(view.empty), terminal.columns)
      : table(view.rows, view.columns, terminal, format.header)
  stdout.write(`${text}\n`)
}

function chooseColumns<Row>(columns: readonly Column<Row>[], format: ListFormat): readonly Column<Row>[] {
  if (format.columns === undefined) {
    return format.csv ? columns : columns.filter((column) => column.extra !== true)
  }
  return format.columns.split(',').map((name) => findColumn(columns, name.trim(), '--columns'))
}

function sortRows<Row>(view: ListView<Row>, sort: string | undefined): readonly Row[] {
  if (sort === undefined) return view.rows
  const column = findColumn(view.columns, sort.replace(/^-/, ''), '--sort')
  const direction = sort.startsWith('-') ? -1 : 1
  return [...view.rows].sort((a, b) => direction * compare(cellValue(column, a), cellValue(column, b)))
}

/** Compares numbers by value and all other values as English text. Missing values are last in ascending order. */
function compare(a: unknown, b: unknown): number {
  const missingOrder = Number(isMissing(a)) - Number(isMissing(b))
  if (missingOrder !== 0 || isMissing(a)) return missingOrder
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a).localeCompare(String(b), 'en', { numeric: true })
}

function isMissing(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

function findColumn<Row>(columns: readonly Column<Row>[], name: string, flag: string): Column<Row> {
  const column = columns.find((each) => each.name === name)
  if (column === undefined) {
    throw new UsageError(`${flag}: no column named "${name}"`, {
      hint: `Columns: ${columns.map((each) => each.name).join(', ')}`,
    })
  }
  return column
}

/**
 * Returns the rows as CSV (RFC 4180, but with `\n` line ends). An apostrophe is put before a cell that a
 * spreadsheet would run as a formula. Numbers and phone numbers get no apostrophe, so that `+61412345678` can
 * be read again. Control characters are replaced, as in a table.
 */
export function formatCsv(rows: readonly (readonly Cell[])[]): string {
  return stringify(
    rows.map((row) => row.map(csvCell)),
    { quoted_string: false },
  )
}

function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const parts = String(cell).split('\t')
  return addFormulaMarks(parts.map((part) => sanitize(part, { keepsLines: true })).join('\t'))
}
