import { type Cell, columnName, plainDialect, type SheetRow, textOf } from '../domain/sheet/cell.ts'
import { UndecidedError } from '../errors/kinds.ts'
import { type Book, type BookSheet, openArchive } from './book.ts'
import {
  trimHeader,
  findHeaderRow,
  type HeadRow,
  limits,
  refusal,
  quoteForMessage,
  type SheetSource,
  type OpenedSheet,
  readHead,
  type OpenOptions,
  exampleSheet,
} from './sheet.ts'
import { openXlsxBook } from './xlsx/read.ts'

/** Opens a zip file as an XLSX or ODS workbook. */
export async function openWorkbook(source: SheetSource, options: OpenOptions): Promise<OpenedSheet> {
  const { name } = source
  const archive = await openArchive(await source.readAll(), name)
  if (archive.has('content.xml')) {
    const { openOdsBook } = await import('./ods/read.ts')
    return openBook(await openOdsBook(archive, name), options, name)
  }
  return openBook(await openXlsxBook(archive, name), options, name)
}

/** Opens one sheet of a workbook as a table. */
async function openBook(
  { format, from1904, sheets }: Book,
  options: OpenOptions,
  name: string,
): Promise<OpenedSheet> {
  const sheet = await chooseSheet(sheets, options, name)
  const { properties } = sheet
  const headerRow = await readHeaderRow(sheet, options.headerRow, name)
  const otherSheets = sheets.filter(({ name: each }) => each !== sheet.name && each !== exampleSheet)
  const columns = trimHeader(headerRow.cells.map(requireHeaderText(name, headerRow.line)), name)
  return {
    columns,
    headerLine: headerRow.line,
    hiddenColumns: new Set(properties.hiddenColumns),
    dialect: { ...plainDialect, format, sheet: sheet.name, from1904 },
    rowChunks: () => dataRows(sheet, columns, headerRow.line, name),
    merged: () => properties.merged,
    appearance: () => ({
      widths: new Map([...properties.widths].filter(([at]) => at < columns.length)),
      struckByConditionalFormat: properties.struckByConditionalFormat,
      lost: new Set([
        ...(headerRow.index > 0 ? (['lines above the header'] as const) : []),
        ...properties.lostParts,
      ]),
      otherSheets: otherSheets.map((each) => each.name),
    }),
  }
}

interface HeaderCells extends HeadRow {
  /** Number of rows above it that are not empty. */
  index: number
  cells: Cell[]
}

async function readHeaderRow(
  sheet: BookSheet,
  requestedLine: number | undefined,
  name: string,
): Promise<HeaderCells> {
  const head = await readHead(rowsWithTexts(sheet), requestedLine)
  if (head.length > 0) return findHeaderRow(head, requestedLine, name)
  throw refusal(
    name,
    `the sheet ${quoteForMessage(sheet.name)} is empty`,
    'Its first row names the columns: first_name, last_name, email, phone',
  )
}

async function* rowsWithTexts({ rows }: BookSheet): AsyncGenerator<HeaderCells[]> {
  let index = 0
  for await (const rowsOfChunk of rows()) {
    yield rowsOfChunk.map(({ number, cells: sparseCells }) => {
      const cells = Array.from(sparseCells, (cell) => cell ?? '')
      return { index: index++, line: number, cells, texts: cells.map(textOf) }
    })
  }
}

function requireHeaderText(name: string, line: number) {
  return (cell: Cell, at: number): string => {
    if (typeof cell === 'string' || cell.kind !== 'fault') return textOf(cell)
    throw refusal(name, `the header ${columnName(at)}${line} ${cell.reason}`, 'Give it a name as text.')
  }
}

async function* dataRows(
  { rows: readRows, properties }: BookSheet,
  columns: readonly string[],
  headerLine: number,
  name: string,
): AsyncGenerator<SheetRow[]> {
  for await (const rowsOfChunk of readRows()) {
    const rows: SheetRow[] = []
    for (const { number, cells, isHidden, struckColumns, invisibleColumns, hasOwnStyle } of rowsOfChunk) {
      if (number <= headerLine) continue
      if (hasOwnStyle) properties.lostParts.add('fonts and colours')
      const rowCells: Cell[] = []
      for (let at = 0; at < Math.max(columns.length, cells.length); at += 1) {
        const cell = cells[at] ?? ''
        if (cell !== '' && (columns[at] ?? '') === '') throw unnamedColumnError(cell, at, number, name)
        if (at < columns.length)
          rowCells.push(invisibleColumns.includes(at) ? invisibleTextFault(cell) : cell)
      }
      const row: SheetRow = { row: number - headerLine, line: number, cells: rowCells }
      if (isHidden) row.isHidden = true
      if (struckColumns.length > 0) row.struckColumns = struckColumns
      rows.push(row)
    }
    yield rows
  }
}

/**
 * Returns the fault for a text in the colour of its background. Its number format `;;;` displays nothing, so the text
 * stays hidden in the results file too.
 */
function invisibleTextFault(cell: Cell): Cell {
  const text = textOf(cell)
  if (text.trim() === '' || (typeof cell === 'object' && cell.kind === 'fault')) return cell
  const reason = 'has the colour of its background, so nobody sees it; give it another colour, or empty it'
  return { kind: 'fault', text, reason, format: ';;;' }
}

function unnamedColumnError(cell: Cell, at: number, number: number, name: string) {
  return refusal(
    name,
    `cell ${columnName(at)}${number} holds ${quoteForMessage(textOf(cell))}, and its column has no name`,
    'Name the column in the header, or empty it.',
  )
}

/**
 * Returns the requested sheet, or the only visible one that is not empty. Throws an UndecidedError if there are
 * several.
 */
async function chooseSheet(
  sheets: readonly BookSheet[],
  { sheet: requestedSheet }: OpenOptions,
  name: string,
): Promise<BookSheet> {
  const list = sheets.map((sheet) => quoteForMessage(sheet.name)).join(', ')
  if (requestedSheet !== undefined) {
    const found = sheets.find((sheet) => sheet.name === requestedSheet)
    if (found !== undefined) return found
    throw refusal(name, `it has no sheet named ${quoteForMessage(requestedSheet)}`, `Its sheets: ${list}`)
  }
  const visible = sheets.filter((sheet) => !sheet.isHidden && sheet.name !== exampleSheet)
  const [firstVisible, secondVisible] = visible
  if (firstVisible === undefined) throw refusal(name, 'it has no sheet to read', `Its sheets: ${list}`)
  if (secondVisible === undefined) return firstVisible
  const nonEmpty: { sheet: BookSheet; label: string }[] = []
  const search = { chunkCount: 0 }
  for (const sheet of visible) {
    const label = await readFirstTexts(sheet, search, name)
    if (label !== undefined) nonEmpty.push({ sheet, label: `${sheet.name}: ${label}` })
  }
  const [first, second] = nonEmpty
  if (first === undefined) return firstVisible
  if (second === undefined) return first.sheet
  throw new UndecidedError(
    `${name}: it has several sheets: ${nonEmpty.map((each) => quoteForMessage(each.sheet.name)).join(', ')}`,
    {
      flag: 'sheet',
      hint: `Say which one: --sheet ${quoteForMessage(first.sheet.name)}`,
      question: `Which sheet of ${name} is the list?`,
      answers: nonEmpty.map(({ sheet, label }) => ({ value: sheet.name, label })),
    },
  )
}

/** Returns the first texts of a sheet; undefined if the sheet is empty. */
async function readFirstTexts(
  { rows, name: title }: BookSheet,
  search: { chunkCount: number },
  name: string,
): Promise<string | undefined> {
  for await (const [row] of rows()) {
    search.chunkCount += 1
    if (search.chunkCount > limits.searchedChunks) {
      throw refusal(
        name,
        `its sheets hold more than ${limits.searchedChunks / 64} MiB before their first rows, the limit`,
        `Say which sheet is the list, for example: --sheet ${quoteForMessage(title)}`,
      )
    }
    if (row === undefined) continue
    const texts = row.cells.map(textOf).filter((text) => text.trim() !== '')
    return texts.slice(0, 5).join(', ').slice(0, 120)
  }
  return undefined
}
