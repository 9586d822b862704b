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

/** A row of the person's own file, and the cells that are added to it. */
export interface AnnotatedRow {
  row: Pick<SheetRow, 'cells' | 'source'>
  added: readonly Cell[]
  /** Columns of the person's own whose cells were refused: where a file has texts only, they stay so. */
  refused?: ReadonlySet<number> | undefined
  /** Hidden or struck through, and therefore not ordered: a written copy would show it as any other. */
  leftOut?: boolean | undefined
}

interface Annotated {
  sheet: Pick<Sheet, 'columns'> & Partial<Pick<Sheet, 'hiddenColumns' | 'style'>>
  /** Our columns; ones of the same names in the sheet make way. */
  addedColumns: readonly string[]
  rows: AsyncIterable<AnnotatedRow>
}

/** A person's table written back, every column in its order, with ours at the end. */
export function annotatedBytes(table: Annotated, dialect: Dialect): AsyncGenerator<Uint8Array> {
  const { sheet, addedColumns, rows } = table
  const columnsToKeep = [...sheet.columns.keys()].filter(
    (at) => !addedColumns.includes(sheet.columns[at]?.trim() ?? ''),
  )
  switch (dialect.format) {
    case 'csv': {
      const own = columnsToKeep.map((at) => sheet.columns[at] ?? '')
      return csvBytes([...own, ...addedColumns], flat(asTexts(rows), columnsToKeep), dialect)
    }
    // OpenDocument is read, and written back as what every program opens.
    case 'ods':
    case 'xlsx':
      return bookBytes({
        sheets: [
          {
            name: dialect.sheet ?? 'Sheet1',
            columns: [...ownColumns(sheet, columnsToKeep), ...addedColumns.map((header) => ({ header }))],
            rows: flat(toWrite(rows, ['json']), columnsToKeep),
          },
        ],
        from1904: dialect.from1904,
      })
    case 'json':
    case 'jsonl':
      return jsonBytes(sheet.columns, addedColumns, asTexts(rows), dialect)
  }
}

/** A table of our own in a format's plainest dialect. */
export function tableBytes(
  { columns, rows }: { columns: readonly string[]; rows: Iterable<readonly Cell[]> },
  format: 'csv' | 'xlsx' | 'json',
): AsyncGenerator<Uint8Array> {
  return annotatedBytes(
    { sheet: { columns: [] }, addedColumns: columns, rows: bare(rows) },
    { ...plainDialect, format },
  )
}

async function* bare(rows: Iterable<readonly Cell[]>): AsyncGenerator<AnnotatedRow> {
  for (const added of rows) yield { row: { cells: [] }, added }
}

async function* flat(
  rows: AsyncIterable<AnnotatedRow>,
  columnsToKeep: readonly number[],
): AsyncGenerator<Cell[]> {
  for await (const { row, added } of rows) yield [...columnsToKeep.map((at) => row.cells[at] ?? ''), ...added]
}

/** A workbook has the widths of columns and the hidden ones too. */
function ownColumns(
  { columns, hiddenColumns, style }: Annotated['sheet'],
  columnsToKeep: readonly number[],
): XlsxColumn[] {
  const widths = style?.().widths
  return columnsToKeep.map((at) => ({
    header: columns[at] ?? '',
    width: widths?.get(at),
    hidden: hiddenColumns?.has(at),
  }))
}

/** Rows as a file of texts has them. */
function asTexts(rows: AsyncIterable<AnnotatedRow>): AsyncGenerator<AnnotatedRow> {
  return toWrite(rows, ['number', 'date', 'boolean', 'fault', 'json'])
}

async function* toWrite(
  rows: AsyncIterable<AnnotatedRow>,
  kinds: readonly TypedCell['kind'][],
): AsyncGenerator<AnnotatedRow> {
  for await (const each of rows) if (each.leftOut !== true) yield markRefused(each, kinds)
}

/**
 * A cell whose type is why it was refused would be any text where it is written as one. Of an unknown encoding
 * the letters are not known, in a column that is not sent.
 */
function markRefused(each: AnnotatedRow, kinds: readonly TypedCell['kind'][]): AnnotatedRow {
  const { refused, row } = each
  if (row.cells.every((cell) => typeof cell === 'string')) return each
  const cells = row.cells.map((cell, at) => {
    if (typeof cell === 'string') return cell
    if (cell.kind === 'bytes') return cell.text.replaceAll(/[^\0-\x7F]/g, '\uFFFD')
    return kinds.includes(cell.kind) && refused?.has(at) === true ? `${refusedMark} ${textOf(cell)}` : cell
  })
  return { ...each, row: { ...row, cells } }
}

/** The sheet that people fill in. */
const templateSheet = 'Requests'

/** What a cell of a workbook holds at most, and a note of it that is still read. */
const longestHeader = 32_767

const longestNote = 2000

/** An empty table: a header as CSV, or a workbook whose header explains itself. */
export function templateBytes(
  columns: readonly TemplateColumn[],
  format: 'csv' | 'xlsx',
): AsyncGenerator<Uint8Array> {
  const headers = columns.map(({ header }) => header)
  for (const header of headers) check(header, format)
  if (format === 'csv') return csvBytes(headers, rowless(), plainDialect)
  return bookBytes({
    sheets: [
      { name: templateSheet, columns: columns.map(withNote), rows: [] },
      {
        name: exampleSheet,
        columns: columns.map(({ header, required, text }) => ({ header, required, text })),
        rows: [columns.map(({ example }) => example)],
      },
    ],
  })
}

function check(header: string, format: 'csv' | 'xlsx'): void {
  const problem =
    format === 'csv' && header.includes('\0')
      ? 'a field name of this package holds a NUL character, which no CSV file can'
      : header.length > longestHeader
        ? `a field name of this package is longer than the ${longestHeader} characters of a cell`
        : undefined
  if (problem !== undefined) {
    throw new InvalidInputError(problem, { hint: 'Write a JSON body instead with: --format json' })
  }
}

function withNote({ header, required, note = '', text, choices }: TemplateColumn): XlsxColumn {
  return { header, required, text, choices, note: cutText(sanitize(note, { lines: true }), longestNote) }
}

async function* rowless(): AsyncGenerator<never> {}

/** `xlsxBytes`, loaded with the zip library when the first byte is asked for: most tables are CSV. */
async function* bookBytes(book: XlsxBook): AsyncGenerator<Uint8Array> {
  const { xlsxBytes } = await import('./xlsx/write.ts')
  yield* xlsxBytes(book)
}
