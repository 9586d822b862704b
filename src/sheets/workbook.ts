import {
  type Cell,
  columnName,
  type Dialect,
  plainDialect,
  type SheetRow,
  textOf,
} from '../domain/sheet/cell.ts'
import { UndecidedError } from '../errors/kinds.ts'
import type { Book, BookOptions, BookSheet } from './book.ts'
import { headerOf, headerRow, type HeadRow, headRows, oneByOne, type Sheet } from './sheet.ts'
import { limits, refusal, shown } from './limits.ts'
import type { SheetSource } from './source.ts'
import { undecidedEncoding } from './undecided-encoding.ts'
import { openArchive } from './xlsx/archive.ts'
import { xlsxBook } from './xlsx/read.ts'

/** A zip as the workbook that it holds. */
export async function openWorkbook(source: SheetSource, options: BookOptions): Promise<Sheet> {
  const { name } = source
  const archive = await openArchive(await source.whole(), name)
  if (archive.has('content.xml')) {
    const { odsBook } = await import('./ods/read.ts')
    return openBook(await odsBook(archive, name), options, name)
  }
  return openBook(await xlsxBook(archive, name), options, name)
}

/** A workbook's sheet as a table. */
async function openBook(book: Book, options: BookOptions, name: string): Promise<Sheet> {
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
    style: () => ({
      widths: new Map([...chosen.found.widths].filter(([at]) => at < columns.length)),
      struckByRule: chosen.found.struckByRule,
      lost: new Set([...(hasAbove ? (['lines above the header'] as const) : []), ...chosen.found.lost]),
      otherSheets: others.map((each) => each.name),
    }),
    undecided: (position, samples) => undecidedEncoding(name, position, samples),
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

/** The sheet that was named, or the only visible one that holds anything. */
async function chosenSheet(
  sheets: readonly BookSheet[],
  { sheet: wanted, aside }: BookOptions,
  name: string,
): Promise<BookSheet> {
  const list = sheets.map((sheet) => shown(sheet.name)).join(', ')
  if (wanted !== undefined) {
    const found = sheets.find((sheet) => sheet.name === wanted)
    if (found !== undefined) return found
    throw refusal(name, `it has no sheet named ${shown(wanted)}`, `Its sheets: ${list}`)
  }
  const visible = sheets.filter((sheet) => !sheet.hidden && !aside.includes(sheet.name))
  const [only, other] = visible
  if (only === undefined) throw refusal(name, 'it has no sheet to read', `Its sheets: ${list}`)
  if (other === undefined) return only
  const filled: { sheet: BookSheet; label: string }[] = []
  const search = { pieces: 0 }
  for (const sheet of visible) {
    const label = await beginning(sheet, search, name)
    if (label !== undefined) filled.push({ sheet, label: `${sheet.name}: ${label}` })
  }
  const [first, second] = filled
  if (first === undefined) return only
  if (second === undefined) return first.sheet
  throw new UndecidedError(
    `${name}: it has several sheets: ${filled.map((each) => shown(each.sheet.name)).join(', ')}`,
    {
      about: 'sheet',
      hint: `Say which one: --sheet ${shown(first.sheet.name)}`,
      question: `Which sheet of ${name} is the list?`,
      answers: filled.map(({ sheet, label }) => ({ value: sheet.name, label })),
    },
  )
}

/** The first texts of a sheet; undefined where it is empty. */
async function beginning(
  { rows, name: title }: BookSheet,
  search: { pieces: number },
  name: string,
): Promise<string | undefined> {
  for await (const [row] of rows()) {
    search.pieces += 1
    if (search.pieces > limits.searchedPieces) {
      throw refusal(
        name,
        `its sheets hold more than ${String(limits.searchedPieces / 64)} MiB before their first rows, the limit`,
        `Say which sheet is the list, for example: --sheet ${shown(title)}`,
      )
    }
    if (row === undefined) continue
    const texts = row.cells.map(textOf).filter((text) => text.trim() !== '')
    return texts.slice(0, 5).join(', ').slice(0, 120)
  }
  return undefined
}
