import {
  type Cell,
  type Dialect,
  plainDialect,
  type SheetRow,
  type TemplateColumn,
  textOf,
  type TypedCell,
  type XlsxColumn,
} from '../domain/sheet/cell.ts'
import { refusedMark } from '../domain/sheet/loss.ts'
import { cutText } from '../domain/wording/text.ts'
import { InvalidInputError } from '../errors/kinds.ts'
import { sanitize } from '../host/text.ts'
import { csvBytes } from './csv.ts'
import { jsonBytes } from './json.ts'
import { type Sheet, exampleSheet } from './sheet.ts'
import type { XlsxBook } from './xlsx/write.ts'

/** A row of the user's file and the cells that are added to it. */
export interface AnnotatedRow {
  row: Pick<SheetRow, 'cells' | 'source'>
  added: readonly Cell[]
  /** Columns of the user's file whose cells were refused: in a text-only format these cells keep a mark. */
  refusedColumns?: ReadonlySet<number> | undefined
  /**
   * Whether the row was hidden or struck through and therefore not ordered. It is not written: the copy would show it
   * as any other row.
   */
  isLeftOut?: boolean | undefined
}

interface AnnotatedTable {
  sheet: Pick<Sheet, 'columns'> & Partial<Pick<Sheet, 'hiddenColumns' | 'appearance'>>
  /** Columns that refcheck adds; columns of the same names, in any case, are dropped. */
  addedColumns: readonly string[]
  rows: AsyncIterable<AnnotatedRow>
}

/** Writes the user's table with all its columns in order and the added ones at the end. */
export function annotatedBytes(table: AnnotatedTable, dialect: Dialect): AsyncGenerator<Uint8Array> {
  const { sheet, addedColumns, rows } = table
  const columnsToKeep = [...sheet.columns.keys()].filter(
    (at) => !addedColumns.includes(sheet.columns[at]?.trim().toLowerCase() ?? ''),
  )
  switch (dialect.format) {
    case 'csv': {
      const userColumns = columnsToKeep.map((at) => sheet.columns[at] ?? '')
      return csvBytes(
        [...userColumns, ...addedColumns],
        cellsOf(markRefusedForText(rows), columnsToKeep),
        dialect,
      )
    }
    // ODS is only read: its rows are written as XLSX, which every spreadsheet program opens.
    case 'ods':
    case 'xlsx':
      return bookBytes({
        sheets: [
          {
            name: dialect.sheet ?? 'Sheet1',
            columns: [
              ...userXlsxColumns(sheet, columnsToKeep),
              ...addedColumns.map((header) => ({ header })),
            ],
            rows: cellsOf(rowsToWrite(rows, ['json']), columnsToKeep),
          },
        ],
        from1904: dialect.from1904,
      })
    case 'json':
    case 'jsonl':
      return jsonBytes(sheet.columns, addedColumns, markRefusedForText(rows), dialect)
  }
}

/** Writes a table that refcheck makes, in the plainest dialect of the format. */
export function tableBytes(
  { columns, rows }: { columns: readonly string[]; rows: Iterable<readonly Cell[]> },
  format: 'csv' | 'xlsx' | 'json',
): AsyncGenerator<Uint8Array> {
  return annotatedBytes(
    { sheet: { columns: [] }, addedColumns: columns, rows: addedOnly(rows) },
    { ...plainDialect, format },
  )
}

async function* addedOnly(rows: Iterable<readonly Cell[]>): AsyncGenerator<AnnotatedRow> {
  for (const added of rows) yield { row: { cells: [] }, added }
}

async function* cellsOf(
  rows: AsyncIterable<AnnotatedRow>,
  columnsToKeep: readonly number[],
): AsyncGenerator<Cell[]> {
  for await (const { row, added } of rows) yield [...columnsToKeep.map((at) => row.cells[at] ?? ''), ...added]
}

/** Returns the columns for a workbook, which also stores their widths and which are hidden. */
function userXlsxColumns(
  { columns, hiddenColumns, appearance }: AnnotatedTable['sheet'],
  columnsToKeep: readonly number[],
): XlsxColumn[] {
  const widths = appearance?.().widths
  return columnsToKeep.map((at) => ({
    header: columns[at] ?? '',
    width: widths?.get(at),
    isHidden: hiddenColumns?.has(at),
  }))
}

/** Marks refused cells of all types that a text format does not distinguish from text. */
function markRefusedForText(rows: AsyncIterable<AnnotatedRow>): AsyncGenerator<AnnotatedRow> {
  return rowsToWrite(rows, ['number', 'date', 'boolean', 'fault', 'json'])
}

async function* rowsToWrite(
  rows: AsyncIterable<AnnotatedRow>,
  markedKinds: readonly TypedCell['kind'][],
): AsyncGenerator<AnnotatedRow> {
  for await (const each of rows) if (each.isLeftOut !== true) yield markRefused(each, markedKinds)
}

/**
 * Marks a cell that was refused for its type: written as text, it would be accepted the next time. Letters of an
 * unknown encoding, which only columns that are not sent have, become U+FFFD.
 */
function markRefused(each: AnnotatedRow, markedKinds: readonly TypedCell['kind'][]): AnnotatedRow {
  const { refusedColumns, row } = each
  if (row.cells.every((cell) => typeof cell === 'string')) return each
  const cells = row.cells.map((cell, at) => {
    if (typeof cell === 'string') return cell
    if (cell.kind === 'bytes') return cell.text.replaceAll(/[^\0-\x7F]/g, '\uFFFD')
    return markedKinds.includes(cell.kind) && refusedColumns?.has(at) === true
      ? `${refusedMark} ${textOf(cell)}`
      : cell
  })
  return { ...each, row: { ...row, cells } }
}

/** Name of the sheet that users fill in. */
const templateSheet = 'Requests'

/** Most characters that a cell of a workbook can contain. */
const maxHeaderCharacters = 32_767

const maxNoteCharacters = 2000

/** Writes an empty table for the user to fill in: a CSV header, or a workbook with notes and an example sheet. */
export function templateBytes(
  columns: readonly TemplateColumn[],
  format: 'csv' | 'xlsx',
): AsyncGenerator<Uint8Array> {
  const headers = columns.map(({ header }) => header)
  for (const header of headers) requireWritableHeader(header, format)
  if (format === 'csv') return csvBytes(headers, noRows(), plainDialect)
  return bookBytes({
    sheets: [
      { name: templateSheet, columns: columns.map(withNote), rows: [] },
      {
        name: exampleSheet,
        columns: columns.map(({ header, isRequired, hasTextFormat }) => ({
          header,
          isRequired,
          hasTextFormat,
        })),
        rows: [columns.map(({ example }) => example)],
      },
    ],
  })
}

function requireWritableHeader(header: string, format: 'csv' | 'xlsx'): void {
  const problem =
    format === 'csv' && header.includes('\0')
      ? 'a field name of this package holds a NUL character, which no CSV file can'
      : header.length > maxHeaderCharacters
        ? `a field name of this package is longer than the ${maxHeaderCharacters} characters of a cell`
        : undefined
  if (problem !== undefined) {
    throw new InvalidInputError(problem, { hint: 'Write a JSON body instead with: --format json' })
  }
}

function withNote({ header, isRequired, note = '', hasTextFormat, choices }: TemplateColumn): XlsxColumn {
  return {
    header,
    isRequired,
    hasTextFormat,
    choices,
    note: cutText(sanitize(note, { keepsLines: true }), maxNoteCharacters),
  }
}

async function* noRows(): AsyncGenerator<never> {}

/** Calls `xlsxBytes`. Its module and the zip library are loaded with the first byte, because most tables are CSV. */
async function* bookBytes(book: XlsxBook): AsyncGenerator<Uint8Array> {
  const { xlsxBytes } = await import('./xlsx/write.ts')
  yield* xlsxBytes(book)
}
