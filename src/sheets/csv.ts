import { CsvError, parse } from 'csv-parse'
import { type Options, parse as parseSample, CsvError as SampleError } from 'csv-parse/sync'

import { type Cell, textOf, type Dialect, plainDialect, type SheetRow } from '../domain/sheet/cell.ts'
import { addFormulaMarks, removeFormulaMarks } from '../domain/sheet/formula.ts'
import { formatCount } from '../domain/wording/text.ts'
import { createEncoder, type DecodedText, decodeSource, undecidedEncodingError } from './text.ts'
import {
  limits,
  refusal,
  quoteForMessage,
  splitHint,
  trimHeader,
  findHeaderRow,
  type HeadRow,
  type Sheet,
  type SheetSource,
  type OpenedSheet,
  readHead,
  type OpenOptions,
} from './sheet.ts'

const maxSampleBytes = 64 * 1024

export async function openCsv(
  source: SheetSource,
  options: Pick<OpenOptions, 'headerRow' | 'encoding'>,
): Promise<OpenedSheet> {
  const { name } = source
  const text = decodeSource(source, options.encoding)
  const { sample, isWholeFile } = await readSample(text)
  if (sample.trim() === '')
    throw refusal(name, 'it is empty', 'It needs a header line and a row for each person.')
  const dialect: Dialect = { ...plainDialect, ...detectDialect(sample, isWholeFile, name), ...text.detected }
  const header = await readHeader(text, dialect, options.headerRow, name)
  const columns = trimHeader(
    header.texts.map((cell) => removeFormulaMarks(cell, dialect.delimiter) ?? cell),
    name,
  )
  const sheet = { name, columns, dialect, headerLine: header.line }
  return { ...sheet, rowChunks: () => dataRows(text, sheet) }
}

async function readSample(text: DecodedText): Promise<{ sample: string; isWholeFile: boolean }> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of text.chunks()) {
    parts.push(part)
    size += part.length
    if (size > maxSampleBytes) {
      return { sample: Buffer.concat(parts).subarray(0, maxSampleBytes).toString(), isWholeFile: false }
    }
  }
  return { sample: Buffer.concat(parts).toString(), isWholeFile: true }
}

async function readHeader(
  text: DecodedText,
  dialect: Dialect,
  requestedLine: number | undefined,
  name: string,
): Promise<HeadRow> {
  const head = await readHead(nonBlankRows(text, dialect, name), requestedLine)
  const header = findHeaderRow(head, requestedLine, name)
  if (text.detected.encoding === undefined && header.texts.some((cell) => nonAscii.test(cell))) {
    const samples = [header, ...head].flatMap(({ texts }) => texts.filter((cell) => nonAscii.test(cell)))
    throw await undecidedEncodingError(name, `line ${header.line}`, samples)
  }
  return header
}

async function* nonBlankRows(text: DecodedText, dialect: Dialect, name: string): AsyncGenerator<HeadRow[]> {
  for await (const recordsOfChunk of records(text, dialect, name))
    yield recordsOfChunk.flatMap(({ cells, line }) => (isBlank(cells) ? [] : { line, texts: cells }))
}

/** Bytes above 127, which an unknown encoding leaves as characters of Latin-1. */
const nonAscii = /[\u0080-\u00FF]/

async function* dataRows(
  text: DecodedText,
  sheet: Pick<Sheet, 'name' | 'columns' | 'dialect' | 'headerLine'>,
): AsyncGenerator<SheetRow[]> {
  const { columns, dialect, headerLine, name } = sheet
  const width = columns.length
  const isNamedColumn = columns.map((column) => column !== '')
  for await (const recordsOfChunk of records(text, dialect, name)) {
    const rows: SheetRow[] = []
    for (const { cells, line } of recordsOfChunk) {
      if (line <= headerLine) continue
      if ((cells.length !== width || isWhite(cells[0] as string)) && isBlank(cells)) continue
      if (cells.length !== width) removeEmptyExcessCells(cells, width, line, name)
      const unmarkedCells = unmarkCells(cells, isNamedColumn, line, { name, delimiter: dialect.delimiter })
      rows.push({
        row: line - headerLine,
        line,
        cells: text.detected.encoding === undefined ? unmarkedCells.map(asBytesCell) : unmarkedCells,
      })
    }
    yield rows
  }
  Object.assign(dialect, text.detected)
}

/** Returns a cell of a text in an unknown encoding as bytes, unless all of its characters are ASCII. */
function asBytesCell(cell: Cell): Cell {
  return typeof cell === 'string' && nonAscii.test(cell) ? { kind: 'bytes', text: cell } : cell
}

/**
 * Removes empty cells past the header, which spreadsheet programs write. Throws for any other row whose width
 * differs.
 */
function removeEmptyExcessCells(cells: string[], width: number, line: number, name: string): void {
  while (cells.length > width && isWhite(cells.at(-1) as string)) cells.pop()
  if (cells.length === width) return
  throw refusal(
    name,
    `line ${line} has ${formatCount(cells.length, 'cell')}, and the header has ${width}`,
    'Put a cell that holds the separator or a line break in double quotes, or save the file as XLSX.',
  )
}

/**
 * Removes the marks that keep texts from being read as formulas. Throws for a value in a column without a name.
 */
function unmarkCells(
  cells: string[],
  isNamedColumn: readonly boolean[],
  line: number,
  { name, delimiter }: { name: string; delimiter: string },
): Cell[] {
  let unmarkedCells: Cell[] | undefined
  for (let index = 0; index < cells.length; index += 1) {
    const text = cells[index] as string
    if (text === '') continue
    if (isNamedColumn[index] !== true) {
      if (isWhite(text)) continue
      throw refusal(
        name,
        `line ${line}, column ${index + 1} holds ${quoteForMessage(text)}, and its column has no name`,
        'Name the column in the header, or empty it.',
      )
    }
    const unmarkedText = removeFormulaMarks(text, delimiter)
    if (unmarkedText === undefined) continue
    unmarkedCells ??= [...cells]
    unmarkedCells[index] = { kind: 'escaped', text: unmarkedText, written: text }
  }
  return unmarkedCells ?? cells
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
  /** Line number as a spreadsheet program counts: a line break within quotes starts no new line. */
  line: number
}

/** Parses the text and yields its records, one array per chunk. */
async function* records(text: DecodedText, dialect: Dialect, name: string): AsyncGenerator<CsvRecord[]> {
  let finished: CsvRecord[] = []
  // A `sep=;` line gets the number 0, because spreadsheet programs do not show it.
  let line = dialect.separatorLine ? 0 : 1
  let cellCount = 0
  /**
   * Bytes of the unfinished record. Their limit, 4 bytes for each of `rowCharacters`, is checked here, since csv-parse
   * does not count separators.
   */
  let unfinishedBytes = 0
  const parser = parse({
    ...parserOptions(dialect),
    max_record_size: limits.rowCharacters,
    // Collected in this callback: the parser's stream would yield one record at a time.
    on_record: (cells: string[]) => {
      if (line > 0) finished.push({ cells, line })
      line += 1
      cellCount += cells.length
      unfinishedBytes = 0
      return null
    },
  })
  const parserFailure = new Promise<never>((_, reject) => parser.on('error', reject))
  parserFailure.catch(() => undefined)
  const takeFinished = async (): Promise<CsvRecord[]> => {
    const finishedRecords = finished
    finished = []
    if (parser.errored !== null) await parserFailure
    if (line > limits.lines + 1) {
      throw refusal(name, `it has more than ${limits.lines} lines, the limit`, splitHint)
    }
    if (cellCount > limits.cells) {
      const lines = `its first ${line - 1} lines`
      throw refusal(name, `${lines} hold more than ${limits.cells} cells, the limit`, splitHint)
    }
    if (unfinishedBytes > 4 * limits.rowCharacters) throw new CsvError('CSV_MAX_RECORD_SIZE', 'no end')
    return finishedRecords
  }
  try {
    for await (const part of text.chunks()) {
      unfinishedBytes += part.length
      parser.write(part)
      yield await takeFinished()
    }
    await new Promise<void>((resolve) => parser.end(() => resolve()))
    yield await takeFinished()
  } catch (error) {
    throw error instanceof CsvError ? csvRefusal(error, line, name) : error
  } finally {
    parser.destroy()
  }
}

/** Problem and hint by the error code of csv-parse. `at` is the number of the first line that was not read whole. */
const problemsByParseError: Partial<Record<string, (at: string) => [what: string, hint: string]>> = {
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
  const [what, hint] = problemsByParseError[error.code]?.(at) ?? [
    `line ${at}: ${error.message}`,
    'Save it as XLSX.',
  ]
  return refusal(name, what, hint, error)
}

const delimiters = [',', ';', '\t', '|'] as const

const maxSampledRecords = 50

/** Options of every csv-parse call, so that csv-parse neither guesses nor ignores anything. */
function parserOptions({ delimiter, spaced }: Pick<Dialect, 'delimiter' | 'spaced'>): Options {
  const record_delimiter = ['\r\n', '\n', '\r']
  return { delimiter, record_delimiter, relax_column_count: true, bom: false, trim: spaced }
}

type CsvDialect = Pick<Dialect, 'delimiter' | 'lineEnd' | 'quote' | 'separatorLine' | 'spaced'>

/** Detects the dialect from the start of the file; `isWholeFile`: the sample is the whole file. */
function detectDialect(sample: string, isWholeFile: boolean, name: string): CsvDialect {
  const separator = /^sep=(.)(?:\r\n|\n|\r|$)/i.exec(sample)
  const body = sample.slice(separator?.[0].length ?? 0)
  const { delimiter, spaced } = findDelimiter(separator?.[1], body, isWholeFile, name)
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
  /** Whether the file can only be parsed with spaces between separators and quotes, as in `"a", "b"`. */
  spaced: boolean
  /** Number of cells in the header. */
  width: number
  /** Share of the records that have this width, from 0 to 1. */
  evenness: number
}

function findDelimiter(
  declaredDelimiter: string | undefined,
  body: string,
  isWholeFile: boolean,
  name: string,
): Pick<Candidate, 'delimiter' | 'spaced'> {
  if (declaredDelimiter !== undefined) return rateDelimiter(declaredDelimiter, body, isWholeFile)
  const candidates = delimiters
    .map((delimiter) => rateDelimiter(delimiter, body, isWholeFile))
    .filter(({ width }) => width > 1)
    .sort((a, b) => b.evenness - a.evenness || b.width - a.width)
  const [best, second] = candidates
  if (best === undefined) return { delimiter: ',', spaced: false }
  if (second !== undefined && second.evenness === best.evenness && second.width === best.width) {
    const names = [best, second].map(({ delimiter }) => JSON.stringify(delimiter)).join(' or ')
    throw refusal(
      name,
      `the separator could be ${names}`,
      'Put a line such as sep=; before the header, or save it as XLSX.',
    )
  }
  return best
}

function rateDelimiter(delimiter: string, body: string, isWholeFile: boolean): Candidate {
  let spaced = false
  let result = sampleWidths(body, { delimiter, spaced })
  if (result.errorCode === 'INVALID_OPENING_QUOTE' && delimiter !== '\t') {
    const resultWithSpaces = sampleWidths(body, { delimiter, spaced: true })
    if (
      resultWithSpaces.errorCode === undefined ||
      (!isWholeFile && resultWithSpaces.errorCode === 'CSV_QUOTE_NOT_CLOSED')
    ) {
      spaced = true
      result = resultWithSpaces
    }
  }
  const { widths, errorCode } = result
  // The error is thrown later, with its line, when the whole file is read. A sample that is cut off may end inside
  // quotes.
  if (errorCode !== undefined && (isWholeFile || widths.length === 0)) {
    return { delimiter, spaced, width: headerWidth(body, delimiter), evenness: 0 }
  }
  if (!isWholeFile && widths.length > 1) widths.pop()
  const width = usualWidth(widths)
  return {
    delimiter,
    spaced,
    width,
    evenness: widths.filter((each) => each === width).length / Math.max(1, widths.length),
  }
}

/** Returns the widths of the first records that are not empty, and the code of the error that stopped the parser. */
function sampleWidths(
  body: string,
  dialect: Pick<Dialect, 'delimiter' | 'spaced'>,
): { widths: number[]; errorCode?: string | undefined } {
  const widths: number[] = []
  try {
    parseSample(body, {
      ...parserOptions(dialect),
      to: maxSampledRecords,
      on_record: (record: string[]) => {
        if (record.some((cell) => cell !== '')) widths.push(record.length)
        return null
      },
    })
    return { widths }
  } catch (error) {
    return { widths, errorCode: error instanceof SampleError ? error.code : 'unknown' }
  }
}

/**
 * Returns the header's width, or the most frequent width if it is that of most rows: a title may precede the header.
 */
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

/** Returns the first line end outside quotes. */
function detectLineEnd(sample: string): CsvDialect['lineEnd'] {
  const textOutsideQuotes = sample.replaceAll(/"[^"]*"/g, '')
  const found = /\r\n|\n|\r/.exec(textOutsideQuotes)?.[0]
  return found === '\r\n' || found === '\r' ? found : '\n'
}

function isAllQuoted(body: string, delimiter: string): boolean {
  const [line = ''] = body.trimStart().split(/\r\n|\n|\r/, 1)
  const cells = line.split(delimiter)
  return line !== '' && cells.every((cell) => cell.length > 1 && cell.startsWith('"') && cell.endsWith('"'))
}

const rowsPerChunk = 200

/** Writes a table as CSV in its dialect. Formulas get a mark that keeps spreadsheet programs from evaluating them. */
export async function* csvBytes(
  header: readonly string[],
  rows: AsyncIterable<readonly Cell[]>,
  dialect: Dialect,
): AsyncGenerator<Uint8Array> {
  const { encode, bom } = createEncoder(dialect)
  const { separatorLine, delimiter, lineEnd } = dialect
  let text = `${bom ? '\uFEFF' : ''}${separatorLine ? `sep=${delimiter}${lineEnd}` : ''}${csvLine(header, dialect)}`
  let bufferedRows = 0
  for await (const cells of rows) {
    text += csvLine(cells, dialect)
    bufferedRows += 1
    if (bufferedRows < rowsPerChunk) continue
    yield encode(text)
    text = ''
    bufferedRows = 0
  }
  yield encode(text)
}

function csvLine(cells: readonly Cell[], dialect: Dialect): string {
  const cellTexts = cells.map((cell) => csvCell(cell, dialect))
  // A row of one empty cell is quoted, because an empty line is not read as a row.
  return `${cellTexts.length === 1 && cellTexts[0] === '' ? '""' : cellTexts.join(dialect.delimiter)}${dialect.lineEnd}`
}

const needsQuotes = new RegExp(
  `["\\r\\n${delimiters.map((each) => (each === '|' ? '\\|' : each)).join('')}]|^\\s|\\s$`,
)

function csvCell(cell: Cell, { quote, delimiter }: Dialect): string {
  const text =
    typeof cell === 'object' && cell.kind === 'escaped'
      ? cell.written
      : addFormulaMarks(textOf(cell), delimiter)
  const quoted = quote === 'all' || needsQuotes.test(text) || text.includes(delimiter) || /^sep=/i.test(text)
  return quoted ? `"${text.replaceAll('"', '""')}"` : text
}
