import { headerOf, headerRow, type HeadRow, headRows } from '../header.ts'
import { undecidedEncoding } from '../undecided-encoding.ts'
import { refusal, shown } from '../refusal.ts'
import {
  type Cell,
  columnName,
  type Dialect,
  plainDialect,
  type SheetRow,
  textOf,
} from '../../domain/sheet/cell.ts'
import { oneByOne, type Sheet } from '../sheet.ts'
import type { Book, BookOptions, BookSheet } from './book.ts'
import { chosenSheet } from './choose.ts'

/** A workbook's sheet as a table. */
export async function openBook(book: Book, options: BookOptions, name: string): Promise<Sheet> {
  const { format, from1904 } = book
  const chosen = await chosenSheet(book.sheets, options, name)
  const dialect: Dialect = { ...plainDialect, format, sheet: chosen.name, from1904 }
  const { header, hasAbove } = await headerCells(chosen, options.headerRow, name)
  const others = book.sheets.filter(({ name: each }) => each !== chosen.name && !options.aside.includes(each))
  const columns = headerOf(header.cells.map(headerText(name, header.number)), name)
  const people = (): AsyncGenerator<SheetRow[]> => dataRows(chosen, columns, header.number, name)
  return {
    name,
    columns,
    headerLine: header.number,
    hiddenColumns: new Set(chosen.found.hiddenColumns),
    dialect,
    parts: people,
    rows: () => oneByOne(people()),
    merged: () => chosen.found.merged,
    look: () => ({
      widths: new Map([...chosen.found.widths].filter(([at]) => at < columns.length)),
      struckByRule: chosen.found.struckByRule,
      lost: new Set([...(hasAbove ? (['lines above the header'] as const) : []), ...chosen.found.lost]),
      otherSheets: others.map((each) => each.name),
    }),
    undecided: (place, samples) => undecidedEncoding(name, place, samples),
  }
}

interface HeaderCells {
  number: number
  cells: Cell[]
}

async function headerCells(
  { rows, name: sheet }: BookSheet,
  asked: number | undefined,
  name: string,
): Promise<{ header: HeaderCells; hasAbove: boolean }> {
  const head: (HeadRow & HeaderCells)[] = []
  let count = 0
  reading: for await (const part of rows()) {
    for (const { number, cells } of part) {
      const whole = Array.from(cells, (cell) => cell ?? '')
      count += 1
      head.push({ line: number, number, cells: whole, texts: whole.map(textOf) })
      if (asked === undefined ? head.length === headRows : number >= asked) break reading
      if (asked !== undefined) head.splice(0, head.length - 1)
    }
  }
  if (head.length === 0) {
    throw refusal(
      name,
      `the sheet ${shown(sheet)} is empty`,
      'Its first row names the columns: first_name, last_name, email, phone',
    )
  }
  const { line } = headerRow(head, asked, name)
  const header = head.find(({ number }) => number === line) ?? { number: line, cells: [] }
  return { header, hasAbove: count > head.length || head[0] !== header }
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
  { rows: all, found }: BookSheet,
  columns: readonly string[],
  header: number,
  name: string,
): AsyncGenerator<SheetRow[]> {
  for await (const part of all()) {
    const rows: SheetRow[] = []
    for (const { number, cells, hidden, struck, unseen, adorned } of part) {
      if (number <= header) continue
      if (adorned) found.lost.add('fonts and colours')
      const whole: Cell[] = []
      for (let at = 0; at < Math.max(columns.length, cells.length); at += 1) {
        const cell = cells[at] ?? ''
        if (cell !== '' && (columns[at] ?? '') === '') throw unnamed(cell, at, number, name)
        if (at < columns.length) whole.push(unseen.includes(at) ? unseenCell(cell) : cell)
      }
      const row: SheetRow = { row: number - header, line: number, cells: whole }
      if (hidden) row.hidden = true
      if (struck.length > 0) row.struck = struck
      rows.push(row)
    }
    yield rows
  }
}

/** A cell that cannot be read on the screen; written again it is not seen either. */
function unseenCell(cell: Cell): Cell {
  const text = textOf(cell)
  if (text.trim() === '' || (typeof cell === 'object' && cell.kind === 'fault')) return cell
  const reason = 'has the colour of its background, so nobody sees it; give it another colour, or empty it'
  return { kind: 'fault', text, reason, format: ';;;' }
}

function unnamed(cell: Cell, at: number, number: number, name: string) {
  return refusal(
    name,
    `cell ${columnName(at)}${String(number)} holds ${shown(textOf(cell))}, and its column has no name`,
    'Name the column in the header, or empty it.',
  )
}
