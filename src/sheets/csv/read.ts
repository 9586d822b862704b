import { CsvError, parse } from 'csv-parse'

import { detectDialect, parserOptions } from './dialect.ts'
import { type Cell, type Dialect, plainDialect, type SheetRow } from '../../domain/sheet/cell.ts'
import { headerOf, titleHint } from '../header.ts'
import { limits } from '../limits.ts'
import { unmarked } from './marks.ts'
import { refusal, shown } from '../refusal.ts'
import { oneByOne, type Sheet } from '../sheet.ts'
import type { SheetSource } from '../source.ts'
import { type DecodedText, decodedText } from '../text.ts'
import { countInWords } from '../../domain/wording/count-in-words.ts'

const sampleBytes = 64 * 1024

export async function openCsv(source: SheetSource): Promise<Sheet> {
  const { name } = source
  const text = decodedText(source)
  const { sample, complete } = await firstPart(text)
  if (sample.trim() === '')
    throw refusal(name, 'it is empty', 'It needs a header line and a row for each person.')
  const dialect: Dialect = { ...plainDialect, ...detectDialect(sample, complete, name), ...text.found }
  const columns = await headerCells(text, dialect, name)
  const sheet = { name, columns, dialect }
  const parts = (): AsyncGenerator<SheetRow[]> => dataRows(text, sheet)
  return { ...sheet, parts, rows: () => oneByOne(parts()) }
}

async function firstPart(text: DecodedText): Promise<{ sample: string; complete: boolean }> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of text.chunks()) {
    parts.push(part)
    size += part.length
    if (size > sampleBytes) {
      return { sample: Buffer.concat(parts).subarray(0, sampleBytes).toString(), complete: false }
    }
  }
  return { sample: Buffer.concat(parts).toString(), complete: true }
}

async function headerCells(text: DecodedText, dialect: Dialect, name: string): Promise<string[]> {
  for await (const part of records(text, dialect, name)) {
    const header = part.find(({ cells }) => !isBlank(cells))
    if (header === undefined) continue
    const cells = header.cells.map((cell) => unmarked(cell) ?? cell)
    return headerOf(cells, dialect, header.line, name)
  }
  throw refusal(
    name,
    'it has no header',
    'Its first line names the columns: first_name,last_name,email,phone',
  )
}

async function* dataRows(
  text: DecodedText,
  sheet: Pick<Sheet, 'name' | 'columns' | 'dialect'>,
): AsyncGenerator<SheetRow[]> {
  const { columns, dialect, name } = sheet
  const width = columns.length
  const named = columns.map((column) => column !== '')
  let row = -1
  for await (const part of records(text, dialect, name)) {
    const rows: SheetRow[] = []
    for (const { cells, line } of part) {
      const blank = (cells.length !== width || cells[0] === '') && isBlank(cells)
      if (row === -1 && blank) continue
      row += 1
      if (blank || row === 0) continue
      if (cells.length !== width) fitted(cells, width, line, name)
      rows.push({ row, line, cells: typed(cells, named, line, name) })
    }
    yield rows
  }
  Object.assign(dialect, text.found)
}

/** Empty cells past the header are left over by spreadsheets; anything else is a row gone wrong. */
function fitted(cells: string[], width: number, line: number, name: string): void {
  while (cells.length > width && cells.at(-1) === '') cells.pop()
  if (cells.length === width) return
  throw refusal(
    name,
    `line ${String(line)} has ${countInWords(cells.length, 'cell')}, and the header has ${String(width)}`,
    width === 1
      ? titleHint
      : 'Put a cell that holds the separator or a line break in double quotes, or save the file as XLSX.',
  )
}

function typed(cells: string[], named: readonly boolean[], line: number, name: string): Cell[] {
  let whole: Cell[] | undefined
  for (let at = 0; at < cells.length; at += 1) {
    const text = cells[at] as string
    if (text === '') continue
    if (named[at] !== true) {
      throw refusal(
        name,
        `line ${String(line)}, column ${String(at + 1)} holds ${shown(text)}, and its column has no name`,
        'Name the column in the header, or empty it.',
      )
    }
    const clean = text.charCodeAt(0) === 39 ? unmarked(text) : undefined
    if (clean === undefined) continue
    whole ??= [...cells]
    whole[at] = { kind: 'marked', text: clean, written: text }
  }
  return whole ?? cells
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every((cell) => cell === '')
}

interface CsvRecord {
  cells: string[]
  /** Where it begins, from 1. */
  line: number
}

/** Every record with the line it begins on, as many at a time as a chunk holds. */
async function* records(text: DecodedText, dialect: Dialect, name: string): AsyncGenerator<CsvRecord[]> {
  let found: CsvRecord[] = []
  let line = 1
  let before = 0
  const parser = parse({
    ...parserOptions(dialect.delimiter),
    max_record_size: limits.rowCharacters,
    // Taken here and not from the stream, which would hand out one at a time.
    on_record: (cells: string[], { lines: upTo }) => {
      found.push({ cells, line })
      // Its own count takes a CRLF within quotes for two.
      line += upTo - before === 1 ? 1 : lines(cells)
      before = upTo
      return null
    },
  })
  const failed = new Promise<never>((_, reject) => parser.on('error', reject))
  failed.catch(() => undefined)
  let separator = dialect.separatorLine
  const parsed = async (): Promise<CsvRecord[]> => {
    const taken = found
    found = []
    if (parser.errored !== null) await failed
    if (separator && taken.shift() !== undefined) separator = false
    return taken
  }
  try {
    for await (const part of text.chunks()) {
      parser.write(part)
      yield await parsed()
    }
    await new Promise<void>((resolve) => parser.end(() => resolve()))
    yield await parsed()
  } catch (error) {
    throw error instanceof CsvError ? broken(error, line, name) : error
  } finally {
    parser.destroy()
  }
}

/** How many lines a record takes. */
function lines(cells: readonly string[]): number {
  let count = 1
  for (const cell of cells) {
    if (cell.includes('\n') || cell.includes('\r')) count += cell.split(/\r\n|\n|\r/).length - 1
  }
  return count
}

/** What is wrong, by csv-parse's code, and what to do. `row` is where the first row begins that was not read whole. */
const complaints: Partial<Record<string, (at: string, row: string) => [what: string, hint: string]>> = {
  CSV_QUOTE_NOT_CLOSED: (_, row) => [
    `the row that begins on line ${row} opens a quote that is never closed`,
    'Close it with ", and write a " inside a quoted cell as "".',
  ],
  CSV_INVALID_CLOSING_QUOTE: (at) => [
    `line ${at} goes on after a closing quote`,
    'Write a " inside a quoted cell as "".',
  ],
  INVALID_OPENING_QUOTE: (at) => [
    `line ${at} has a quote in the middle of a cell`,
    'Put the whole cell in double quotes, and write the " inside it as "".',
  ],
  CSV_MAX_RECORD_SIZE: (_, row) => [
    `a row that begins on line ${row} or after it is longer than a mebibyte`,
    'Is a quote not closed there?',
  ],
}

function broken(error: CsvError, line: number, name: string): Error {
  const at = String(typeof error['lines'] === 'number' ? error['lines'] : line)
  const complaint = complaints[error.code]
  const [what, hint] = complaint?.(at, String(line)) ?? [`line ${at}: ${error.message}`, 'Save it as XLSX.']
  return refusal(name, what, hint, error)
}
