import { type Cell, columnName, plainDialect, type SheetRow, textOf } from '../domain/sheet/cell.ts'
import { UndecidedError } from '../errors/kinds.ts'
import { type Book, type BookSheet, openArchive } from './book.ts'
import {
  headerOf,
  headerRow,
  type HeadRow,
  limits,
  refusal,
  shown,
  type SheetSource,
  type OpenedSheet,
  headOf,
  type OpenOptions,
  exampleSheet,
} from './sheet.ts'
import { xlsxBook } from './xlsx/read.ts'

/** Opens a zip file as an XLSX or ODS workbook. */
export async function openWorkbook(source: SheetSource, options: OpenOptions): Promise<OpenedSheet> {
  const { name } = source
  const archive = await openArchive(await source.whole(), name)
  if (archive.has('content.xml')) {
    const { odsBook } = await import('./ods/read.ts')
    return openBook(await odsBook(archive, name), options, name)
  }
  return openBook(await xlsxBook(archive, name), options, name)
}

/** A workbook's sheet as a table. */
async function openBook(
  { format, from1904, sheets }: Book,
  options: OpenOptions,
  name: string,
): Promise<OpenedSheet> {
  const chosen = await chosenSheet(sheets, options, name)
  const { found } = chosen
  const header = await headerCells(chosen, options.headerRow, name)
  const others = sheets.filter(({ name: each }) => each !== chosen.name && each !== exampleSheet)
  const columns = headerOf(header.cells.map(headerText(name, header.line)), name)
  return {
    columns,
    headerLine: header.line,
    hiddenColumns: new Set(found.hiddenColumns),
    dialect: { ...plainDialect, format, sheet: chosen.name, from1904 },
    parts: () => dataRows(chosen, columns, header.line, name),
    merged: () => found.merged,
    style: () => ({
      widths: new Map([...found.widths].filter(([at]) => at < columns.length)),
      struckByRule: found.struckByRule,
      lost: new Set([...(header.at > 0 ? (['lines above the header'] as const) : []), ...found.lost]),
      otherSheets: others.map((each) => each.name),
    }),
  }
}

interface HeaderCells extends HeadRow {
  /** How many rows that hold something are above it. */
  at: number
  cells: Cell[]
}

async function headerCells(sheet: BookSheet, asked: number | undefined, name: string): Promise<HeaderCells> {
  const head = await headOf(wholeRows(sheet), asked)
  if (head.length > 0) return headerRow(head, asked, name)
  throw refusal(
    name,
    `the sheet ${shown(sheet.name)} is empty`,
    'Its first row names the columns: first_name, last_name, email, phone',
  )
}

async function* wholeRows({ rows }: BookSheet): AsyncGenerator<HeaderCells[]> {
  let at = 0
  for await (const part of rows()) {
    yield part.map(({ number, cells: filled }) => {
      const cells = Array.from(filled, (cell) => cell ?? '')
      return { at: at++, line: number, cells, texts: cells.map(textOf) }
    })
  }
}

function headerText(name: string, line: number) {
  return (cell: Cell, at: number): string => {
    if (typeof cell === 'string' || cell.kind !== 'fault') return textOf(cell)
    throw refusal(name, `the header ${columnName(at)}${line} ${cell.reason}`, 'Give it a name as text.')
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
    for (const { number, cells, hidden, struck, unseen, hasOwnStyle } of part) {
      if (number <= header) continue
      if (hasOwnStyle) found.lost.add('fonts and colours')
      const whole: Cell[] = []
      for (let at = 0; at < Math.max(columns.length, cells.length); at += 1) {
        const cell = cells[at] ?? ''
        if (cell !== '' && (columns[at] ?? '') === '') throw unnamedColumnError(cell, at, number, name)
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

/**
 * The fault for a text in the colour of its background; the format `;;;` hides it when it is written again.
 */
function unseenCell(cell: Cell): Cell {
  const text = textOf(cell)
  if (text.trim() === '' || (typeof cell === 'object' && cell.kind === 'fault')) return cell
  const reason = 'has the colour of its background, so nobody sees it; give it another colour, or empty it'
  return { kind: 'fault', text, reason, format: ';;;' }
}

function unnamedColumnError(cell: Cell, at: number, number: number, name: string) {
  return refusal(
    name,
    `cell ${columnName(at)}${number} holds ${shown(textOf(cell))}, and its column has no name`,
    'Name the column in the header, or empty it.',
  )
}

/** The sheet that was named, or the only visible one that holds anything. */
async function chosenSheet(
  sheets: readonly BookSheet[],
  { sheet: wanted }: OpenOptions,
  name: string,
): Promise<BookSheet> {
  const list = sheets.map((sheet) => shown(sheet.name)).join(', ')
  if (wanted !== undefined) {
    const found = sheets.find((sheet) => sheet.name === wanted)
    if (found !== undefined) return found
    throw refusal(name, `it has no sheet named ${shown(wanted)}`, `Its sheets: ${list}`)
  }
  const visible = sheets.filter((sheet) => !sheet.hidden && sheet.name !== exampleSheet)
  const [only, other] = visible
  if (only === undefined) throw refusal(name, 'it has no sheet to read', `Its sheets: ${list}`)
  if (other === undefined) return only
  const filled: { sheet: BookSheet; label: string }[] = []
  const search = { pieces: 0 }
  for (const sheet of visible) {
    const label = await firstTexts(sheet, search, name)
    if (label !== undefined) filled.push({ sheet, label: `${sheet.name}: ${label}` })
  }
  const [first, second] = filled
  if (first === undefined) return only
  if (second === undefined) return first.sheet
  throw new UndecidedError(
    `${name}: it has several sheets: ${filled.map((each) => shown(each.sheet.name)).join(', ')}`,
    {
      flag: 'sheet',
      hint: `Say which one: --sheet ${shown(first.sheet.name)}`,
      question: `Which sheet of ${name} is the list?`,
      answers: filled.map(({ sheet, label }) => ({ value: sheet.name, label })),
    },
  )
}

/** The first texts of a sheet; undefined where it is empty. */
async function firstTexts(
  { rows, name: title }: BookSheet,
  search: { pieces: number },
  name: string,
): Promise<string | undefined> {
  for await (const [row] of rows()) {
    search.pieces += 1
    if (search.pieces > limits.searchedPieces) {
      throw refusal(
        name,
        `its sheets hold more than ${limits.searchedPieces / 64} MiB before their first rows, the limit`,
        `Say which sheet is the list, for example: --sheet ${shown(title)}`,
      )
    }
    if (row === undefined) continue
    const texts = row.cells.map(textOf).filter((text) => text.trim() !== '')
    return texts.slice(0, 5).join(', ').slice(0, 120)
  }
  return undefined
}
