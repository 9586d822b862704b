import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'

import { cutText } from '../domain/wording/text.ts'
import { InvalidInputError, IoError, UsageError, UndecidedError } from '../errors/kinds.ts'
import type { Dialect, MergedCells, SheetRow, JsonRow } from '../domain/sheet/cell.ts'
import type { SheetAppearance } from '../domain/sheet/appearance.ts'

const mebibyte = 1024 * 1024

/** Far above any file people order from, far below what would hurt the machine that reads it. */
export const limits = {
  /** Of a file of any format; workbooks, and what comes from stdin, are held in memory. */
  fileBytes: 64 * mebibyte,
  columns: 1000,
  /** Rows that hold anything: all of them are compared with one another, so each costs memory. */
  rows: 100_000,
  /** Lines of a text, blank ones too: as many as a spreadsheet has rows. */
  lines: 1_048_576,
  /** Of all cells of a table, and one for each cell: a workbook may repeat one text in millions of them. */
  characters: 64 * mebibyte,
  /** Of a CSV, blank ones and those past the header too. */
  cells: 8 * mebibyte,
  /** One CSV record or JSON row; an open quote would otherwise swallow the file. */
  rowCharacters: mebibyte,
  /** Workbooks only, as all below. */
  entries: 1000,
  sheets: 256,
  /** Pieces of 16 KiB that are inflated to find the sheets that hold something. */
  searchedPieces: 3072,
  sheetBytes: 256 * mebibyte,
  /** Of the texts all cells have in common, and of every other part that is held whole. */
  partBytes: 64 * mebibyte,
  /** How many times smaller a large part may have been packed; sheets come to 50 at most. */
  ratio: 150,
  ratioFrom: 16 * mebibyte,
  /** Elements within elements, of XML; programs come to a dozen. */
  nesting: 64,
  /** Of one element, declarations of namespaces included; programs write some dozens. */
  attributes: 256,
  /** Of one text, comment, name or value in XML; a cell has 32,767 at most. */
  xmlCharacters: mebibyte,
  relations: 100_000,
  /** Elements that describe columns: Excel has one for each of its columns at most. */
  columnElements: 16_384,
  smallPartBytes: mebibyte,
  texts: 1_000_000,
  /** Excel has at most 65,490. */
  styles: 100_000,
  merged: 100_000,
} as const

/** The file cannot be understood: what, where, and what to do. */
export function refusal(name: string, what: string, hint: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`${name}: ${what}`, { hint, cause })
}

export const splitHint = 'Split it into several files.'

/** A workbook that is larger in some way than any that is read. */
export function beyondLimit(name: string, what: string): InvalidInputError {
  return refusal(name, what, 'Copy the rows into a new workbook, or save them as CSV.')
}

const longestShown = 60

/** A text from the file as a message shows it. */
export function shown(text: string): string {
  return `"${cutText(text, longestShown)}"`
}

/** Larger ones make rows of a chunk outlive a young collection, which costs time and twice the memory. */
const chunkBytes = 32 * 1024

/** Bytes that can be read from the start more than once. At most `limits.fileBytes`. */
export interface SheetSource {
  /** As typed; for messages, and its extension distinguishes text formats. */
  readonly name: string
  chunks(): AsyncIterable<Uint8Array>
  whole(): Promise<Buffer>
}

/** A file at an absolute path. It may not change between two readings. */
export async function fileSource(path: string, name: string): Promise<SheetSource> {
  const first = await identity(path, name)
  if (first.size > limits.fileBytes) throw tooLarge(name)
  const unchanged = async (): Promise<void> => {
    if ((await identity(path, name)).mark === first.mark) return
    throw refusal(name, 'it was changed while it was being read', 'Save it, then run this again.')
  }
  return {
    name,
    async *chunks() {
      await unchanged()
      try {
        yield* createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Buffer>
      } catch (error) {
        throw unreadable(name, error)
      }
    },
    async whole() {
      await unchanged()
      const file = await open(path).catch((error: unknown) => {
        throw unreadable(name, error)
      })
      try {
        return await file.readFile()
      } finally {
        await file.close()
      }
    },
  }
}

/** A stream that comes once, such as stdin: it is held in memory. */
export async function heldSource(
  stream: AsyncIterable<Uint8Array | string>,
  name: string,
): Promise<SheetSource> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of stream) {
    const bytes = Buffer.from(part)
    size += bytes.length
    if (size > limits.fileBytes) throw tooLarge(name)
    parts.push(bytes)
  }
  const bytes = Buffer.concat(parts)
  return {
    name,
    async *chunks() {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
    whole: () => Promise.resolve(bytes),
  }
}

async function identity(path: string, name: string): Promise<{ mark: string; size: number }> {
  const status = await stat(path).catch((error: unknown) => {
    throw unreadable(name, error)
  })
  if (status.isDirectory()) throw new UsageError(`${name} is a folder`, { hint: 'Give the name of a file.' })
  const { dev, ino, size, mtimeMs } = status
  return { mark: [dev, ino, size, mtimeMs].join(' '), size }
}

function tooLarge(name: string): InvalidInputError {
  const mebibytes = String(limits.fileBytes / 1024 / 1024)
  return refusal(name, `it is larger than ${mebibytes} MiB, the limit`, splitHint)
}

function unreadable(name: string, error: unknown): Error {
  if (error instanceof InvalidInputError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new UsageError(`file not found: ${name}`, { hint: 'Check the path.' })
  return new IoError(`${name} cannot be read${code === '' ? '' : ` (${code})`}`, {
    hint: 'Check its permissions.',
    cause: error,
  })
}

/** An opened table. Each call of `rows` reads the file from its start. */
export interface Sheet {
  /** The source's name, for messages. */
  readonly name: string
  /** Header cells as they are written; '' for a column without a name, which holds nothing. */
  readonly columns: readonly string[]
  /** The line of the header; 0 in JSON. */
  readonly headerLine: number
  /** Columns that are not shown. */
  readonly hiddenColumns: ReadonlySet<number>
  readonly dialect: Dialect
  /** Throws an InvalidInputError where the file cannot be understood, with the line or cell. */
  rows(): AsyncGenerator<SheetRow>
  /** The same, as many at a time as come at once: for very many rows, which one by one would take longer. */
  parts(): AsyncGenerator<SheetRow[]>
  /** What was found merged, once all rows have been read. */
  merged(): readonly MergedCells[]
  style(): SheetAppearance
  /**
   * The refusal of values whose encoding is not known, with the likeliest ones. `position` is where the first
   * is; `samples` are their texts as the cells of kind `bytes` have them.
   */
  undecided(position: string, samples: readonly string[]): Promise<UndecidedError>
}

/** What a file shows that has values alone. */
export const noLook: SheetAppearance = {
  widths: new Map(),
  struckByRule: [],
  lost: new Set(),
  otherSheets: [],
}

export interface OpenOptions {
  /** Workbooks only, by name; needed where several sheets contain something. */
  sheet?: string | undefined
  /** Tables only: the line that names the columns, as a spreadsheet program counts. */
  headerRow?: number | undefined
  /** Of a text's bytes that are no UTF-8; a name of TextDecoder's or iconv-lite's. */
  encoding?: string | undefined
  readJson: JsonRowReader
}

/** The caller decides which columns an object has: nested objects may become columns. */
export type JsonRowReader = (text: string) => JsonRow

/** The sheet of a template that shows how it is filled in. It is not read as data unless asked for. */
export const exampleSheet = 'Example'

/** What the reader of a format knows of a table; `openSheet` adds the rest. */
export type OpenedSheet = Pick<Sheet, 'columns' | 'headerLine' | 'dialect' | 'parts'> & Partial<Sheet>

/** Rows that come by parts, one by one. */
export async function* oneByOne(parts: AsyncIterable<readonly SheetRow[]>): AsyncGenerator<SheetRow> {
  for await (const rows of parts) yield* rows
}

/** A row at the head of a table, as texts; '' for an empty cell. */
export interface HeadRow {
  line: number
  texts: readonly string[]
}

/** How many rows with something in them are read to find the header. */
const headRows = 25

/** The rows at the head of a table that hold something; where a line is asked for, the last one down to it. */
export async function headOf<Row extends HeadRow>(
  parts: AsyncIterable<readonly Row[]>,
  asked: number | undefined,
): Promise<Row[]> {
  const head: Row[] = []
  for await (const rows of parts) {
    for (const row of rows) {
      if (asked !== undefined) head.length = 0
      head.push(row)
      if (asked === undefined ? head.length === headRows : row.line >= asked) return head
    }
  }
  return head
}

/**
 * The row that names the columns: the one asked for, else the first that holds something. Throws an
 * UndecidedError where that one looks like a title: exports of Workday and others put some above the header.
 */
export function headerRow<Row extends HeadRow>(
  head: readonly Row[],
  asked: number | undefined,
  name: string,
): Row {
  if (asked !== undefined) {
    const found = head.find(({ line }) => line === asked)
    if (found !== undefined) return found
    throw new UsageError(`--header-row ${asked}: line ${asked} of ${name} holds nothing`, {
      hint: 'Give the number of the line that names the columns, as the spreadsheet program counts.',
    })
  }
  const [first] = head
  if (first === undefined) {
    throw refusal(name, 'it is empty', 'Its first row names the columns: first_name, last_name, email, phone')
  }
  const meant = belowTitle(head)
  if (meant === undefined) return first
  throw new UndecidedError(
    `${name}: line ${first.line}, ${shown(filledTexts(first)[0] ?? '')}, looks like a title, not like the header`,
    {
      flag: 'header-row',
      hint: `If line ${meant.line} names the columns (${listTexts(meant)}), add: --header-row ${meant.line}`,
      question: `Which line of ${name} names the columns?`,
      answers: [meant, first].map((row) => ({
        value: String(row.line),
        label: `line ${row.line}: ${listTexts(row)}`,
      })),
    },
  )
}

const filledTexts = ({ texts }: HeadRow): string[] =>
  texts.map((text) => text.trim()).filter((text) => text !== '')

/** The first row that could be a header, where the first of all is too narrow to name the columns of the others. */
function belowTitle(head: readonly HeadRow[]): HeadRow | undefined {
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

function listTexts(row: HeadRow): string {
  const texts = filledTexts(row)
  const some = texts.slice(0, 5).map((text) => text.replaceAll(/\s+/g, ' ').slice(0, 30))
  return `${some.join(', ')}${texts.length > some.length ? ', …' : ''}`
}

/** The columns of a header. Cells without a name after the last name are dropped; rows may hold nothing there. */
export function headerOf(cells: readonly string[], name: string): string[] {
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
