import { CsvError, parse } from 'csv-parse'
import { type Options, parse as parseSample, CsvError as SampleError } from 'csv-parse/sync'

import { type Cell, textOf, type Dialect, plainDialect, type SheetRow } from '../domain/sheet/cell.ts'
import { addFormulaMarks, removeFormulaMarks } from '../domain/sheet/formula.ts'
import { formatCount } from '../domain/wording/text.ts'
import { encoderOf, type DecodedText, decodedText, undecidedEncoding } from './text.ts'
import {
  limits,
  refusal,
  shown,
  splitHint,
  headerOf,
  headerRow,
  type HeadRow,
  type Sheet,
  type SheetSource,
  type OpenedSheet,
  headOf,
  type OpenOptions,
} from './sheet.ts'

const sampleBytes = 64 * 1024

export async function openCsv(
  source: SheetSource,
  options: Pick<OpenOptions, 'headerRow' | 'encoding'>,
): Promise<OpenedSheet> {
  const { name } = source
  const text = decodedText(source, options.encoding)
  const { sample, complete } = await firstPart(text)
  if (sample.trim() === '')
    throw refusal(name, 'it is empty', 'It needs a header line and a row for each person.')
  const dialect: Dialect = { ...plainDialect, ...detectDialect(sample, complete, name), ...text.found }
  const header = await headerCells(text, dialect, options.headerRow, name)
  const columns = headerOf(
    header.texts.map((cell) => removeFormulaMarks(cell, dialect.delimiter) ?? cell),
    name,
  )
  const sheet = { name, columns, dialect, headerLine: header.line }
  return { ...sheet, parts: () => dataRows(text, sheet) }
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

async function headerCells(
  text: DecodedText,
  dialect: Dialect,
  asked: number | undefined,
  name: string,
): Promise<HeadRow> {
  const head = await headOf(filledRows(text, dialect, name), asked)
  const header = headerRow(head, asked, name)
  if (text.found.encoding === undefined && header.texts.some((cell) => foreign.test(cell))) {
    const samples = [header, ...head].flatMap(({ texts }) => texts.filter((cell) => foreign.test(cell)))
    throw await undecidedEncoding(name, `line ${header.line}`, samples)
  }
  return header
}

async function* filledRows(text: DecodedText, dialect: Dialect, name: string): AsyncGenerator<HeadRow[]> {
  for await (const part of records(text, dialect, name))
    yield part.flatMap(({ cells, line }) => (isBlank(cells) ? [] : { line, texts: cells }))
}

/** How bytes above 127 of an encoding that is not known come. */
const foreign = /[\u0080-\u00FF]/

async function* dataRows(
  text: DecodedText,
  sheet: Pick<Sheet, 'name' | 'columns' | 'dialect' | 'headerLine'>,
): AsyncGenerator<SheetRow[]> {
  const { columns, dialect, headerLine, name } = sheet
  const width = columns.length
  const named = columns.map((column) => column !== '')
  for await (const part of records(text, dialect, name)) {
    const rows: SheetRow[] = []
    for (const { cells, line } of part) {
      if (line <= headerLine) continue
      if ((cells.length !== width || isWhite(cells[0] as string)) && isBlank(cells)) continue
      if (cells.length !== width) fitToHeader(cells, width, line, name)
      const whole = unmarkCells(cells, named, line, { name, delimiter: dialect.delimiter })
      rows.push({
        row: line - headerLine,
        line,
        cells: text.found.encoding === undefined ? whole.map(asBytes) : whole,
      })
    }
    yield rows
  }
  Object.assign(dialect, text.found)
}

function asBytes(cell: Cell): Cell {
  return typeof cell === 'string' && foreign.test(cell) ? { kind: 'bytes', text: cell } : cell
}

/** Empty cells past the header are left over by spreadsheets; anything else is a row gone wrong. */
function fitToHeader(cells: string[], width: number, line: number, name: string): void {
  while (cells.length > width && isWhite(cells.at(-1) as string)) cells.pop()
  if (cells.length === width) return
  throw refusal(
    name,
    `line ${line} has ${formatCount(cells.length, 'cell')}, and the header has ${width}`,
    'Put a cell that holds the separator or a line break in double quotes, or save the file as XLSX.',
  )
}

function unmarkCells(
  cells: string[],
  named: readonly boolean[],
  line: number,
  { name, delimiter }: { name: string; delimiter: string },
): Cell[] {
  let whole: Cell[] | undefined
  for (let at = 0; at < cells.length; at += 1) {
    const text = cells[at] as string
    if (text === '') continue
    if (named[at] !== true) {
      if (isWhite(text)) continue
      throw refusal(
        name,
        `line ${line}, column ${at + 1} holds ${shown(text)}, and its column has no name`,
        'Name the column in the header, or empty it.',
      )
    }
    const clean = removeFormulaMarks(text, delimiter)
    if (clean === undefined) continue
    whole ??= [...cells]
    whole[at] = { kind: 'marked', text: clean, written: text }
  }
  return whole ?? cells
}

function isWhite(text: string): boolean {
  const first = text.charCodeAt(0)
  return !(first > 32 && first < 127) && text.trim() === ''
}

function isBlank(cells: readonly string[]): boolean {
  return cells.every(isWhite)
}

interface CsvRecord {
  cells: string[]
  /** Its line as a spreadsheet program counts: a line break within quotes begins no line. */
  line: number
}

/** Every record with its line, as many at a time as a chunk holds. */
async function* records(text: DecodedText, dialect: Dialect, name: string): AsyncGenerator<CsvRecord[]> {
  let found: CsvRecord[] = []
  // A line that only names the separator is shown by no program.
  let line = dialect.separatorLine ? 0 : 1
  let cellCount = 0
  /** Of the record that is being read, 4 a character at most: csv-parse counts no separators. */
  let unfinishedBytes = 0
  const parser = parse({
    ...parserOptions(dialect),
    max_record_size: limits.rowCharacters,
    // Collected here and not read from the stream, which would yield one at a time.
    on_record: (cells: string[]) => {
      if (line > 0) found.push({ cells, line })
      line += 1
      cellCount += cells.length
      unfinishedBytes = 0
      return null
    },
  })
  const failed = new Promise<never>((_, reject) => parser.on('error', reject))
  failed.catch(() => undefined)
  const parsed = async (): Promise<CsvRecord[]> => {
    const taken = found
    found = []
    if (parser.errored !== null) await failed
    if (line > limits.lines + 1) {
      throw refusal(name, `it has more than ${limits.lines} lines, the limit`, splitHint)
    }
    if (cellCount > limits.cells) {
      const lines = `its first ${line - 1} lines`
      throw refusal(name, `${lines} hold more than ${limits.cells} cells, the limit`, splitHint)
    }
    if (unfinishedBytes > 4 * limits.rowCharacters) throw new CsvError('CSV_MAX_RECORD_SIZE', 'no end')
    return taken
  }
  try {
    for await (const part of text.chunks()) {
      unfinishedBytes += part.length
      parser.write(part)
      yield await parsed()
    }
    await new Promise<void>((resolve) => parser.end(() => resolve()))
    yield await parsed()
  } catch (error) {
    throw error instanceof CsvError ? csvRefusal(error, line, name) : error
  } finally {
    parser.destroy()
  }
}

/** What is wrong, by csv-parse's code, and what to do. `at`: the first line that was not read whole. */
const complaints: Partial<Record<string, (at: string) => [what: string, hint: string]>> = {
  CSV_QUOTE_NOT_CLOSED: (at) => [
    `the row that starts on line ${at} has an opening quote without a closing one`,
    'Close it with ", and write a " inside a quoted cell as "".',
  ],
  CSV_INVALID_CLOSING_QUOTE: (at) => [
    `line ${at} has text after a closing quote`,
    'Write a " inside a quoted cell as "".',
  ],
  INVALID_OPENING_QUOTE: (at) => [
    `line ${at} has a quote in the middle of a cell`,
    'Put the whole cell in double quotes, and write the " inside it as "".',
  ],
  CSV_MAX_RECORD_SIZE: (at) => [
    `a row that starts on line ${at} or later is longer than 1 MiB`,
    'Check for a missing closing quote.',
  ],
}

function csvRefusal(error: CsvError, line: number, name: string): Error {
  const at = String(Math.max(1, line))
  const [what, hint] = complaints[error.code]?.(at) ?? [`line ${at}: ${error.message}`, 'Save it as XLSX.']
  return refusal(name, what, hint, error)
}

const delimiters = [',', ';', '\t', '|'] as const

const sampledRecords = 50

/** The options of csv-parse everywhere: nothing is guessed, nothing is ignored. */
function parserOptions({ delimiter, spaced }: Pick<Dialect, 'delimiter' | 'spaced'>): Options {
  const record_delimiter = ['\r\n', '\n', '\r']
  return { delimiter, record_delimiter, relax_column_count: true, bom: false, trim: spaced }
}

type CsvDialect = Pick<Dialect, 'delimiter' | 'lineEnd' | 'quote' | 'separatorLine' | 'spaced'>

/** How the file's first part is written; `complete`: whether it is the whole file. */
function detectDialect(sample: string, complete: boolean, name: string): CsvDialect {
  const separator = /^sep=(.)(?:\r\n|\n|\r|$)/i.exec(sample)
  const body = sample.slice(separator?.[0].length ?? 0)
  const { delimiter, spaced } = findDelimiter(separator?.[1], body, complete, name)
  return {
    delimiter,
    spaced,
    lineEnd: detectLineEnd(sample),
    quote: isAllQuoted(body, delimiter) ? 'all' : 'needed',
    separatorLine: separator !== null,
  }
}

interface Candidate {
  delimiter: string
  /** Whether it can only be read with spaces between separators and quotes, as in `"a", "b"`. */
  spaced: boolean
  /** Cells of the header. */
  width: number
  /** How many of the records are as wide, from 0 to 1. */
  even: number
}

function findDelimiter(
  declared: string | undefined,
  body: string,
  complete: boolean,
  name: string,
): Pick<Candidate, 'delimiter' | 'spaced'> {
  if (declared !== undefined) return rateDelimiter(declared, body, complete)
  const candidates = delimiters
    .map((delimiter) => rateDelimiter(delimiter, body, complete))
    .filter(({ width }) => width > 1)
    .sort((a, b) => b.even - a.even || b.width - a.width)
  const [best, second] = candidates
  if (best === undefined) return { delimiter: ',', spaced: false }
  if (second !== undefined && second.even === best.even && second.width === best.width) {
    const names = [best, second].map(({ delimiter }) => JSON.stringify(delimiter)).join(' or ')
    throw refusal(
      name,
      `the separator could be ${names}`,
      'Put a line such as sep=; before the header, or save it as XLSX.',
    )
  }
  return best
}

function rateDelimiter(delimiter: string, body: string, complete: boolean): Candidate {
  let spaced = false
  let read = sampleWidths(body, { delimiter, spaced })
  if (read.failed === 'INVALID_OPENING_QUOTE' && delimiter !== '\t') {
    const other = sampleWidths(body, { delimiter, spaced: true })
    if (other.failed === undefined || (!complete && other.failed === 'CSV_QUOTE_NOT_CLOSED')) {
      spaced = true
      read = other
    }
  }
  const { widths, failed } = read
  // The error, with its line, is thrown when the file is read. A cut sample may well end inside quotes.
  if (failed !== undefined && (complete || widths.length === 0)) {
    return { delimiter, spaced, width: headerWidth(body, delimiter), even: 0 }
  }
  if (!complete && widths.length > 1) widths.pop()
  const width = usualWidth(widths)
  return {
    delimiter,
    spaced,
    width,
    even: widths.filter((each) => each === width).length / Math.max(1, widths.length),
  }
}

/** How wide the first records are, empty ones left out, and what ended the reading too early. */
function sampleWidths(
  body: string,
  dialect: Pick<Dialect, 'delimiter' | 'spaced'>,
): { widths: number[]; failed?: string | undefined } {
  const widths: number[] = []
  try {
    parseSample(body, {
      ...parserOptions(dialect),
      to: sampledRecords,
      on_record: (record: string[]) => {
        if (record.some((cell) => cell !== '')) widths.push(record.length)
        return null
      },
    })
    return { widths }
  } catch (error) {
    return { widths, failed: error instanceof SampleError ? error.code : 'unknown' }
  }
}

/** The header's, unless most rows are otherwise: a title may be above it. */
function usualWidth(widths: readonly number[]): number {
  const [first = 0] = widths
  const count = (width: number): number => widths.filter((each) => each === width).length
  if (first > 1 && count(first) * 2 >= widths.length) return first
  return [...new Set(widths)].reduce(
    (best, width) =>
      count(width) > count(best) || (count(width) === count(best) && width > best) ? width : best,
    first,
  )
}

function headerWidth(body: string, delimiter: string): number {
  const [line = ''] = body.split(/\r\n|\n|\r/, 1)
  return line.replaceAll(/"[^"]*"/g, '').split(delimiter).length
}

/** The first line end outside quotes. */
function detectLineEnd(sample: string): CsvDialect['lineEnd'] {
  const outside = sample.replaceAll(/"[^"]*"/g, '')
  const found = /\r\n|\n|\r/.exec(outside)?.[0]
  return found === '\r\n' || found === '\r' ? found : '\n'
}

function isAllQuoted(body: string, delimiter: string): boolean {
  const [line = ''] = body.trimStart().split(/\r\n|\n|\r/, 1)
  const cells = line.split(delimiter)
  return line !== '' && cells.every((cell) => cell.length > 1 && cell.startsWith('"') && cell.endsWith('"'))
}

const rowsAtOnce = 200

/** A table as CSV in its dialect, formulas made harmless. */
export async function* csvBytes(
  header: readonly string[],
  rows: AsyncIterable<readonly Cell[]>,
  dialect: Dialect,
): AsyncGenerator<Uint8Array> {
  const { encode, bom } = encoderOf(dialect)
  const { separatorLine, delimiter, lineEnd } = dialect
  let text = `${bom ? '\uFEFF' : ''}${separatorLine ? `sep=${delimiter}${lineEnd}` : ''}${csvLine(header, dialect)}`
  let waiting = 0
  for await (const cells of rows) {
    text += csvLine(cells, dialect)
    waiting += 1
    if (waiting < rowsAtOnce) continue
    yield encode(text)
    text = ''
    waiting = 0
  }
  yield encode(text)
}

function csvLine(cells: readonly Cell[], dialect: Dialect): string {
  const written = cells.map((cell) => csvCell(cell, dialect))
  // A lone empty cell would be an empty line, which is no row.
  return `${written.length === 1 && written[0] === '' ? '""' : written.join(dialect.delimiter)}${dialect.lineEnd}`
}

const needsQuotes = new RegExp(
  `["\\r\\n${delimiters.map((each) => (each === '|' ? '\\|' : each)).join('')}]|^\\s|\\s$`,
)

function csvCell(cell: Cell, { quote, delimiter }: Dialect): string {
  const text =
    typeof cell === 'object' && cell.kind === 'marked'
      ? cell.written
      : addFormulaMarks(textOf(cell), delimiter)
  const quoted = quote === 'all' || needsQuotes.test(text) || text.includes(delimiter) || /^sep=/i.test(text)
  return quoted ? `"${text.replaceAll('"', '""')}"` : text
}
