import { type Archive, openArchive } from './archive.ts'
import {
  type Cell,
  columnName,
  type Dialect,
  plainDialect,
  type SheetRow,
  textOf,
} from '../../domain/sheet/cell.ts'
import { headerOf, titleHint } from '../header.ts'
import { cellFormats, chosenSheet, sharedStrings, workbookParts } from './parts.ts'
import { refusal, shown } from '../refusal.ts'
import { type SheetPlace, sheetRows } from './rows.ts'
import { oneByOne, type Sheet } from '../sheet.ts'
import type { SheetSource } from '../source.ts'

export interface XlsxOptions {
  /** By name; needed where there are several. */
  sheet: string | undefined
  /** Sheets that hold no data, unless asked for. */
  aside: readonly string[]
}

export async function openXlsx(source: SheetSource, options: XlsxOptions): Promise<Sheet> {
  const { name } = source
  const archive = await openArchive(await source.whole(), name)
  const parts = await workbookParts(archive, name)
  const chosen = chosenSheet(parts, options.sheet, options.aside, name)
  const context = {
    formats: await cellFormats(archive, parts.styles, name),
    strings: await sharedStrings(archive, parts.strings, name),
    from1904: parts.from1904,
  }
  const place = { part: chosen.part, name, context }
  const dialect: Dialect = { ...plainDialect, format: 'xlsx', sheet: chosen.name, from1904: parts.from1904 }
  const header = await headerRow(archive, place, chosen.name)
  const columns = headerOf(header.cells.map(headerText(name, header.number)), dialect, header.number, name)
  const people = (): AsyncGenerator<SheetRow[]> => dataRows(archive, place, columns, header.number)
  return { name, columns, dialect, parts: people, rows: () => oneByOne(people()) }
}

async function headerRow(archive: Archive, place: SheetPlace, sheet: string) {
  for await (const rows of sheetRows(archive, place)) {
    const [row] = rows
    if (row !== undefined) return { number: row.number, cells: Array.from(row.cells, (cell) => cell ?? '') }
  }
  throw refusal(
    place.name,
    `the sheet ${shown(sheet)} is empty`,
    'Its first row names the columns: first_name, last_name, email, phone',
  )
}

function headerText(name: string, line: number) {
  return (cell: Cell, at: number): string => {
    if (typeof cell === 'string' || cell.kind !== 'fault') return textOf(cell)
    throw refusal(
      name,
      `the header ${columnName(at)}${String(line)} ${cell.reason}`,
      'Give it a name as text.',
    )
  }
}

async function* dataRows(
  archive: Archive,
  place: SheetPlace,
  columns: readonly string[],
  header: number,
): AsyncGenerator<SheetRow[]> {
  for await (const part of sheetRows(archive, place)) {
    const rows: SheetRow[] = []
    for (const { number, cells } of part) {
      if (number <= header) continue
      const whole: Cell[] = []
      for (let at = 0; at < Math.max(columns.length, cells.length); at += 1) {
        const cell = cells[at] ?? ''
        if (cell !== '' && (columns[at] ?? '') === '') {
          throw unnamed(cell, at, { number, title: columns.length === 1, name: place.name })
        }
        if (at < columns.length) whole.push(cell)
      }
      rows.push({ row: number - header, line: number, cells: whole })
    }
    yield rows
  }
}

function unnamed(
  cell: Cell,
  at: number,
  { number, title, name }: { number: number; title: boolean; name: string },
) {
  return refusal(
    name,
    `cell ${columnName(at)}${String(number)} holds ${shown(textOf(cell))}, and its column has no name`,
    title ? titleHint : 'Name the column in the header, or empty it.',
  )
}
