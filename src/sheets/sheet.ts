import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'

import { cutText } from '../domain/wording/text.ts'
import { InvalidInputError, unreadableFileError, UsageError, UndecidedError } from '../errors/kinds.ts'
import type { Dialect, MergedCells, SheetRow, JsonRow } from '../domain/sheet/cell.ts'
import type { SheetAppearance } from '../domain/sheet/appearance.ts'

const mebibyte = 1024 * 1024

/**
 * Limits of what is read: far above the files that users order from, and low enough for the memory of any machine.
 */
export const limits = {
  /** Bytes of a file of any format; workbooks and input from stdin are in memory as a whole. */
  fileBytes: 64 * mebibyte,
  columns: 1000,
  /** Rows that are not empty. Each costs memory, because all rows are compared with one another. */
  rows: 100_000,
  /** Lines of a text file, blank ones included: as many as a spreadsheet has rows. */
  lines: 1_048_576,
  /** Characters of a table's cells, plus one per cell: a workbook may repeat one text in millions of cells. */
  characters: 64 * mebibyte,
  /** Cells of a CSV file, including blank ones and those past the header. */
  cells: 8 * mebibyte,
  /**
   * Characters of one CSV record or JSON row; without this limit, an unclosed quote would extend to the end of the
   * file.
   */
  rowCharacters: mebibyte,
  /** Parts in the zip of a workbook. All limits below are for workbooks too. */
  zipEntries: 1000,
  sheets: 256,
  /** Chunks of 16 KiB (64 for a mebibyte) that are unpacked to find the sheets that are not empty. */
  searchedChunks: 3072,
  /** Unpacked bytes of the part with the rows of a sheet. */
  sheetBytes: 256 * mebibyte,
  /** Bytes of the shared texts, and of every other part that is in memory as a whole. */
  partBytes: 64 * mebibyte,
  /** Largest compression ratio of a part above `compressionRatioFromBytes` bytes; sheets reach 50 at most. */
  compressionRatio: 150,
  compressionRatioFromBytes: 16 * mebibyte,
  /** Nesting of XML elements; spreadsheet programs write a dozen levels. */
  nesting: 64,
  /** Attributes of an XML element, including namespace declarations; spreadsheet programs write some dozens. */
  attributes: 256,
  /** Characters of one text, comment, name or value in XML; a cell has 32,767 at most. */
  xmlCharacters: mebibyte,
  /** Relations of one part of an XLSX workbook, such as those to its comments. */
  relations: 100_000,
  /** Elements that describe columns: Excel writes at most one for each of its columns. */
  columnElements: 16_384,
  /** Bytes of the manifest and of the settings of an ODS workbook. */
  smallPartBytes: mebibyte,
  /** Shared texts of an XLSX workbook. */
  sharedTexts: 1_000_000,
  /** Cell styles; Excel allows 65,490. */
  cellStyles: 100_000,
  /** Merged ranges of a sheet, and ranges with conditional formats that may strike a value through. */
  mergedRanges: 100_000,
} as const

/** Returns the error for a file that cannot be read: the problem, where it is, and a hint. */
export function refusal(name: string, what: string, hint: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`${name}: ${what}`, { hint, cause })
}

export const splitHint = 'Split it into several files.'

/** Returns the error for a workbook that exceeds a limit. */
export function beyondLimitError(name: string, what: string): InvalidInputError {
  return refusal(name, what, 'Copy the rows into a new workbook, or save them as CSV.')
}

const maxShownCharacters = 60

/** Quotes and shortens a text of the file for a message. */
export function quoteForMessage(text: string): string {
  return `"${cutText(text, maxShownCharacters)}"`
}

/** Bytes per chunk. With larger chunks, rows survive V8's young generation, which costs time and twice the memory. */
const chunkBytes = 32 * 1024

/** Bytes, at most `limits.fileBytes`, that can be read from the start more than once. */
export interface SheetSource {
  /** The name as typed, for messages; its extension distinguishes text formats. */
  readonly name: string
  chunks(): AsyncIterable<Uint8Array>
  readAll(): Promise<Buffer>
}

/**
 * Returns the source of a file at an absolute path. Reading throws an InvalidInputError if the file has changed
 * since.
 */
export async function fileSource(path: string, name: string): Promise<SheetSource> {
  const identityAtOpen = await fileIdentity(path, name)
  if (identityAtOpen.size > limits.fileBytes) throw tooLargeError(name)
  const requireUnchanged = async (): Promise<void> => {
    if ((await fileIdentity(path, name)).id === identityAtOpen.id) return
    throw refusal(name, 'it was changed while it was being read', 'Save it, then run this again.')
  }
  return {
    name,
    async *chunks() {
      await requireUnchanged()
      try {
        yield* createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>
      } catch (error) {
        throw unreadableFileError(name, error)
      }
    },
    async readAll() {
      await requireUnchanged()
      const file = await open(path).catch((error: unknown) => {
        throw unreadableFileError(name, error)
      })
      try {
        return await file.readFile()
      } finally {
        await file.close()
      }
    },
  }
}

/** Reads a stream that can only be read once, such as stdin, into memory. */
export async function bufferedSource(
  stream: AsyncIterable<Uint8Array | string>,
  name: string,
): Promise<SheetSource> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of stream) {
    const bytes = Buffer.from(part)
    size += bytes.length
    if (size > limits.fileBytes) throw tooLargeError(name)
    parts.push(bytes)
  }
  const bytes = Buffer.concat(parts)
  return {
    name,
    async *chunks() {
      for (let start = 0; start < bytes.length; start += chunkBytes)
        yield bytes.subarray(start, start + chunkBytes)
    },
    readAll: () => Promise.resolve(bytes),
  }
}

async function fileIdentity(path: string, name: string): Promise<{ id: string; size: number }> {
  const status = await stat(path).catch((error: unknown) => {
    throw unreadableFileError(name, error)
  })
  if (status.isDirectory()) throw new UsageError(`${name} is a folder`, { hint: 'Give the name of a file.' })
  const { dev, ino, size, mtimeMs } = status
  return { id: [dev, ino, size, mtimeMs].join(' '), size }
}

function tooLargeError(name: string): InvalidInputError {
  const mebibytes = String(limits.fileBytes / 1024 / 1024)
  return refusal(name, `it is larger than ${mebibytes} MiB, the limit`, splitHint)
}

/** An opened table. Each call of `rows` or `rowChunks` reads the file from its start. */
export interface Sheet {
  /** The source's name, for messages. */
  readonly name: string
  /** Header cells as written; '' for a column without a name, whose cells are all empty. */
  readonly columns: readonly string[]
  /** Line number of the header; 0 in JSON. */
  readonly headerLine: number
  /** Indexes of the hidden columns. */
  readonly hiddenColumns: ReadonlySet<number>
  readonly dialect: Dialect
  /** Throws an InvalidInputError with the line or cell if the file cannot be read. */
  rows(): AsyncGenerator<SheetRow>
  /** As `rows`, but yields an array of rows per chunk: for very many rows, one at a time would take longer. */
  rowChunks(): AsyncGenerator<SheetRow[]>
  /** The merged cells; complete when all rows have been read. */
  merged(): readonly MergedCells[]
  /** Widths and lost formatting; complete when all rows have been read. */
  appearance(): SheetAppearance
  /**
   * Returns the error for values of unknown encoding, with the likeliest encodings. `position` is the position of the
   * first value; `samples` are texts of cells of the kind `bytes`.
   */
  createUndecidedEncodingError(position: string, samples: readonly string[]): Promise<UndecidedError>
}

/** Appearance of a file that contains only values. */
export const noAppearance: SheetAppearance = {
  widths: new Map(),
  struckByConditionalFormat: [],
  lost: new Set(),
  otherSheets: [],
}

export interface OpenOptions {
  /** Name of the sheet in a workbook; required if several sheets contain something. */
  sheet?: string | undefined
  /** For CSV and workbooks: number of the line that names the columns, as a spreadsheet program counts. */
  headerRow?: number | undefined
  /** Encoding of a text file that is not UTF-8, named as TextDecoder or iconv-lite do. */
  encoding?: string | undefined
  readJson: JsonRowReader
}

/** Reads a JSON object as a row. The caller supplies it, because nested objects may become columns. */
export type JsonRowReader = (text: string) => JsonRow

/**
 * Name of the sheet in a template that shows how to fill it in. It is read as data only if it is requested by name.
 */
export const exampleSheet = 'Example'

/** The members that the reader of a format must return; `openSheet` adds the members that are missing. */
export type OpenedSheet = Pick<Sheet, 'columns' | 'headerLine' | 'dialect' | 'rowChunks'> & Partial<Sheet>

/** Yields rows one by one from arrays of rows. */
export async function* oneByOne(chunks: AsyncIterable<readonly SheetRow[]>): AsyncGenerator<SheetRow> {
  for await (const rows of chunks) yield* rows
}

/** A row at the top of a table as texts; '' for an empty cell. */
export interface HeadRow {
  line: number
  texts: readonly string[]
}

/** Maximum number of rows, not counting empty ones, that are read to find the header. */
const maxHeadRows = 25

/**
 * Reads the rows at the top of a table that are not empty. If a line is requested, only the last row up to that line
 * is returned.
 */
export async function readHead<Row extends HeadRow>(
  chunks: AsyncIterable<readonly Row[]>,
  requestedLine: number | undefined,
): Promise<Row[]> {
  const head: Row[] = []
  for await (const rows of chunks) {
    for (const row of rows) {
      if (requestedLine !== undefined) head.length = 0
      head.push(row)
      if (requestedLine === undefined ? head.length === maxHeadRows : row.line >= requestedLine) return head
    }
  }
  return head
}

/**
 * Returns the row that names the columns: the requested one, else the first that is not empty. Throws an
 * UndecidedError if the first row looks like a title: exports of Workday and other programs have titles above the
 * header.
 */
export function findHeaderRow<Row extends HeadRow>(
  head: readonly Row[],
  requestedLine: number | undefined,
  name: string,
): Row {
  if (requestedLine !== undefined) {
    const found = head.find(({ line }) => line === requestedLine)
    if (found !== undefined) return found
    throw new UsageError(`--header-row ${requestedLine}: line ${requestedLine} of ${name} holds nothing`, {
      hint: 'Give the number of the line that names the columns, as the spreadsheet program counts.',
    })
  }
  const [first] = head
  if (first === undefined) {
    throw refusal(name, 'it is empty', 'Its first row names the columns: first_name, last_name, email, phone')
  }
  const likelyHeader = findRowBelowTitle(head)
  if (likelyHeader === undefined) return first
  throw new UndecidedError(
    `${name}: line ${first.line}, ${quoteForMessage(filledTexts(first)[0] ?? '')}, looks like a title, not like the header`,
    {
      flag: 'header-row',
      hint: `If line ${likelyHeader.line} names the columns (${previewTexts(likelyHeader)}), add: --header-row ${likelyHeader.line}`,
      question: `Which line of ${name} names the columns?`,
      answers: [likelyHeader, first].map((row) => ({
        value: String(row.line),
        label: `line ${row.line}: ${previewTexts(row)}`,
      })),
    },
  )
}

const filledTexts = ({ texts }: HeadRow): string[] =>
  texts.map((text) => text.trim()).filter((text) => text !== '')

/**
 * If the first row is too narrow to name the columns of the others, returns the first row below that could be the
 * header.
 */
function findRowBelowTitle(head: readonly HeadRow[]): HeadRow | undefined {
  const [first, ...others] = head
  if (first === undefined) return undefined
  const widest = Math.max(0, ...others.map((row) => filledTexts(row).length))
  const width = filledTexts(first).length
  if (width >= widest || width > Math.max(1, widest / 2)) return undefined
  return others.find((row) => {
    const texts = filledTexts(row)
    if (texts.length <= width || texts.length < widest * 0.6) return false
    return (
      texts.every((text) => /\p{L}/u.test(text) && !text.includes('@')) &&
      new Set(texts).size === texts.length
    )
  })
}

function previewTexts(row: HeadRow): string {
  const texts = filledTexts(row)
  const firstTexts = texts.slice(0, 5).map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 30))
  return `${firstTexts.join(', ')}${texts.length > firstTexts.length ? ', …' : ''}`
}

/** Returns the columns of a header without the unnamed ones at its end; data rows may have no values there. */
export function trimHeader(cells: readonly string[], name: string): string[] {
  const columns = [...cells]
  while (columns.length > 0 && columns.at(-1)?.trim() === '') columns.pop()
  if (columns.length > limits.columns) {
    throw refusal(
      name,
      `it has ${columns.length} columns, and at most ${limits.columns} are read`,
      'Remove the columns that are not needed.',
    )
  }
  return columns.map((column) => (column.trim() === '' ? '' : column))
}
