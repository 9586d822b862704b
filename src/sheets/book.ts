import { crc32 } from 'node:zlib'

import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { SaxesParser } from 'saxes'

import { InvalidInputError } from '../errors/kinds.ts'
import { beyondLimitError, limits, refusal } from './sheet.ts'
import { escapeXml } from '../domain/wording/text.ts'
import { type Cell, columnName, type MergedCells, textOf } from '../domain/sheet/cell.ts'
import type { LostPart } from '../domain/sheet/appearance.ts'
import { encodingByMark } from './text.ts'

/** Reads the parts (files) of a workbook's zip by their names. */
export interface Archive {
  has(part: string): boolean
  names(): string[]
  /**
   * Yields the unpacked bytes of a part. Throws if the size that the archive states exceeds `maxBytes` or is wrong.
   */
  read(part: string, maxBytes?: number): AsyncGenerator<Buffer>
}

/**
 * Reads the directory of a zip that is in memory; parts are unpacked when they are read. In this folder, `name` is the
 * name of the file, for messages.
 */
export async function openArchive(bytes: Buffer, name: string): Promise<Archive> {
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true })
    const parts = await partsOf(zip, name)
    return {
      has: (part) => parts.has(part),
      names: () => [...parts.keys()],
      async *read(part, maxBytes = limits.partBytes) {
        const entry = parts.get(part)
        if (entry === undefined) throw damagedError(name, new Error(`${part} is missing`))
        if (entry.isEncrypted()) throw refusal(name, 'it is encrypted', 'Save it without a password.')
        requireAllowedSize(entry, maxBytes, name)
        try {
          yield* inflate(zip, entry)
        } catch (error) {
          throw damagedError(name, error)
        }
      },
    }
  } catch (error) {
    throw damagedError(name, error)
  }
}

async function partsOf(zip: ZipFile, name: string): Promise<Map<string, Entry>> {
  if (zip.entryCount > limits.zipEntries) {
    throw beyondLimitError(
      name,
      `it has ${zip.entryCount} parts, too many for a workbook: the limit is ${limits.zipEntries}`,
    )
  }
  const parts = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) {
    if (parts.has(entry.fileName)) throw new Error(`two parts are called ${entry.fileName}`)
    parts.set(entry.fileName, entry)
  }
  return parts
}

/**
 * Throws if the size that the archive states for a part exceeds a limit. The unpacked bytes need not be counted: yauzl
 * fails a stream whose length differs from the stated size.
 */
function requireAllowedSize(
  { fileName, uncompressedSize, compressedSize }: Entry,
  maxBytes: number,
  name: string,
): void {
  const exceedsRatio =
    uncompressedSize > limits.compressionRatioFromBytes &&
    uncompressedSize > limits.compressionRatio * compressedSize
  if (uncompressedSize <= maxBytes && !exceedsRatio) return
  const mebibytes = String(Math.ceil(uncompressedSize / 1024 / 1024))
  throw beyondLimitError(
    name,
    `its part ${fileName} is ${mebibytes} MiB unpacked, too large for a list of people`,
  )
}

async function* inflate(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  let checksum = 0
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    const bytes = chunk as Buffer
    checksum = crc32(bytes, checksum)
    yield bytes
  }
  if (checksum !== entry.crc32) throw new Error(`the checksum of ${entry.fileName} is wrong`)
}

/**
 * Returns the error for a workbook whose parts contradict one another; an InvalidInputError is returned unchanged.
 */
export function damagedError(name: string, error: unknown, what = 'it is a damaged workbook'): Error {
  if (error instanceof InvalidInputError) return error
  const reason = error instanceof Error ? error.message.slice(0, 120) : 'unknown'
  return refusal(name, `${what} (${reason})`, 'Open it in a spreadsheet program and save it again.', error)
}

export type Attributes = Readonly<Record<string, string>>

export const isTrue = (text: string | undefined): boolean => text === '1' || text === 'true'

export const isFalse = (text: string | undefined): boolean => text === '0' || text === 'false'

/** Whether the element of a boolean property sets the property: its `val` is absent or true. */
export function isPropertySet({ val }: Attributes): boolean {
  return val === undefined || isTrue(val)
}

/** Callbacks of the parser. Tags of namespaces that are not in `namespaces` are not reported. */
interface XmlHandlers {
  /** Namespace URIs whose elements are reported, each with the prefix that is put before their names. */
  namespaces?: ReadonlyMap<string, string>
  open?: (name: string, attributes: Attributes) => void
  close?: (name: string) => void
  text?: (text: string) => void
}

/**
 * Namespaces of workbooks and their relationships, transitional and strict; names are reported without a
 * prefix.
 */
const workbookNamespaces: ReadonlyMap<string, string> = new Map(
  [
    'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
    'http://purl.oclc.org/ooxml/spreadsheetml/main',
    'http://schemas.openxmlformats.org/package/2006/relationships',
  ].map((uri) => [uri, '']),
)

/** Namespaces of sheets: also those of the conditional formats of Excel 2010 and later. */
export const sheetNamespaces: ReadonlyMap<string, string> = new Map([
  ...workbookNamespaces,
  ['http://schemas.microsoft.com/office/spreadsheetml/2009/9/main', 'x14:'],
  ['http://schemas.microsoft.com/office/excel/2006/main', 'xm:'],
])

/** Parses a part to its end and calls the handlers. */
export async function readXml(
  archive: Archive,
  part: string,
  name: string,
  handlers: XmlHandlers & { maxBytes?: number },
): Promise<void> {
  for await (const _ of xmlChunks(archive, part, name, handlers, handlers.maxBytes));
}

/**
 * Parses a part as `readXml` does, but yields after each chunk. Throws for a document type, so that no entity can
 * expand.
 */
export async function* xmlChunks(
  archive: Archive,
  part: string,
  name: string,
  handlers: XmlHandlers,
  maxBytes?: number,
): AsyncGenerator<void> {
  const size = new XmlSize(part, name)
  const parser = createParser(handlers, size)
  let decoder: InstanceType<typeof TextDecoder> | undefined
  try {
    for await (const bytes of archive.read(part, maxBytes)) {
      decoder ??= new TextDecoder(encodingByMark(bytes), { fatal: true })
      const text = decoder.decode(bytes, { stream: true })
      parser.write(text)
      size.countCharacters(text.length)
      yield
    }
    parser.write(decoder?.decode() ?? '')
    parser.close()
    yield
  } catch (error) {
    throw damagedError(name, error, `its part ${part} is not sound XML`)
  }
}

/** Limits the attributes and characters that the parser buffers before it emits an event. */
class XmlSize {
  readonly #part: string
  readonly #name: string
  #attributes = 0
  #characters = 0

  constructor(part: string, name: string) {
    this.#part = part
    this.#name = name
  }

  /** Starts counting again; called at each event of the parser, since it then empties its buffer. */
  reset(): void {
    this.#attributes = 0
    this.#characters = 0
  }

  countAttribute(): void {
    this.#attributes += 1
    this.#characters = 0
    this.#check('an element', 'attributes', this.#attributes, limits.attributes)
  }

  /** Counts an upper bound of the characters that the parser has buffered since its last event. */
  countCharacters(count: number): void {
    this.#characters += count
    this.#check('a text', 'characters', this.#characters, limits.xmlCharacters)
  }

  #check(what: string, unit: string, count: number, max: number): void {
    if (count > max)
      throw beyondLimitError(
        this.#name,
        `its part ${this.#part} has ${what} with more than ${max} ${unit}, the limit`,
      )
  }
}

function createParser(handlers: XmlHandlers, size: XmlSize): SaxesParser<{ xmlns: false }> {
  const { namespaces = workbookNamespaces, open, close, text } = handlers
  const parser = new SaxesParser({ position: false, xmlns: false })
  const resolver = new NamespaceResolver(namespaces)
  let depth = 0
  parser.on('error', (error) => {
    throw error
  })
  parser.on('doctype', () => {
    throw new Error('a document type has no place in a workbook')
  })
  parser.on('attribute', () => size.countAttribute())
  parser.on('opentag', (tag) => {
    size.reset()
    depth += 1
    if (depth > limits.nesting) {
      throw new Error(`elements are nested deeper than ${limits.nesting} levels`)
    }
    resolver.declare(tag.attributes, depth)
    const reportedName = resolver.reportedName(tag.name)
    if (reportedName !== undefined) open?.(reportedName, tag.attributes)
  })
  parser.on('closetag', (tag) => {
    size.reset()
    const reportedName = resolver.reportedName(tag.name)
    if (reportedName !== undefined) close?.(reportedName)
    resolver.undeclare(depth)
    depth -= 1
  })
  if (text !== undefined) {
    parser.on('text', text)
    parser.on('cdata', text)
  }
  return parser
}

/**
 * Resolves the namespace of an element's name. Results are cached, since a sheet may have a million cells.
 */
class NamespaceResolver {
  readonly #namespaces: ReadonlyMap<string, string>
  /** Namespace URIs in scope, by prefix; the default namespace has the prefix ''. */
  readonly #declaredNamespaces = new Map<string, string>()
  /** Declarations that inner elements replaced; they are restored at the end of the element at `depth`. */
  readonly #replacedDeclarations: { depth: number; prefix: string; uri: string | undefined }[] = []
  /** The results of `reportedName`, by name. */
  readonly #reportedNames = new Map<string, string | undefined>()

  constructor(namespaces: ReadonlyMap<string, string>) {
    this.#namespaces = namespaces
  }

  /**
   * Returns the name that handlers get, with the prefix of its namespace in `namespaces`; undefined for other
   * namespaces.
   */
  reportedName(name: string): string | undefined {
    if (this.#reportedNames.has(name)) return this.#reportedNames.get(name)
    const colon = name.indexOf(':')
    const uri = this.#declaredNamespaces.get(colon === -1 ? '' : name.slice(0, colon))
    // A name whose namespace is declared nowhere is reported without a prefix.
    const prefix = uri === undefined ? '' : this.#namespaces.get(uri)
    const reported = prefix === undefined ? undefined : prefix + name.slice(colon + 1)
    if (this.#reportedNames.size < 1000) this.#reportedNames.set(name, reported)
    return reported
  }

  declare(attributes: Attributes, depth: number): void {
    for (const key in attributes) {
      if (!key.startsWith('xmlns')) continue
      const prefix = key === 'xmlns' ? '' : key.startsWith('xmlns:') ? key.slice(6) : undefined
      if (prefix === undefined) continue
      this.#replacedDeclarations.push({ depth, prefix, uri: this.#declaredNamespaces.get(prefix) })
      this.#declaredNamespaces.set(prefix, attributes[key] ?? '')
      this.#reportedNames.clear()
    }
  }

  undeclare(depth: number): void {
    for (
      let last = this.#replacedDeclarations.at(-1);
      last?.depth === depth;
      last = this.#replacedDeclarations.at(-1)
    ) {
      this.#replacedDeclarations.pop()
      if (last.uri === undefined) this.#declaredNamespaces.delete(last.prefix)
      else this.#declaredNamespaces.set(last.prefix, last.uri)
      this.#reportedNames.clear()
    }
  }
}

/**
 * ST_Xstring (ECMA-376 part 1, 22.9.2.19): a character that XML cannot contain is written as `_xHHHH_`. An underscore
 * before a text of that form is escaped too.
 */
const escapeSequence = /_x([\dA-Fa-f]{4})_/g

export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(escapeSequence, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

const charactersToEscape = /_(?=x[\dA-Fa-f]{4}_)|(?![\t\n])\p{Cc}|\p{Cs}|[\uFFFE\uFFFF]/gu

/** Escapes a text for element content and quoted attributes. */
export function escapeText(text: string): string {
  return escapeXml(
    text.replaceAll(
      charactersToEscape,
      (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    ),
  )
}

export function requireFewSheets(count: number, name: string): void {
  if (count > limits.sheets)
    throw beyondLimitError(name, `it has more than ${limits.sheets} sheets, the limit`)
}

export interface BookRow {
  /** Number of the row in its sheet, from 1. */
  number: number
  /** Cells by column index; a hole in the array is an empty cell. */
  cells: Cell[]
  isHidden: boolean
  /** Indexes of the columns whose text is struck through. */
  struckColumns: number[]
  /** Indexes of the columns whose text has the colour of its background. */
  invisibleColumns: number[]
  /** Whether a cell has a font, a colour or a border of its own. */
  hasOwnStyle: boolean
}

/** Properties of a sheet other than its rows; filled while the rows are read. */
export interface SheetProperties {
  hiddenColumns: Set<number>
  merged: MergedCells[]
  /** Ranges that a conditional format may strike through; conditional formats are not evaluated. */
  struckByConditionalFormat: MergedCells[]
  /** Column widths in characters, by column index. */
  widths: Map<number, number>
  /** Parts of the sheet that are lost when it is written again. */
  lostParts: Set<LostPart>
}

export function emptySheetProperties(): SheetProperties {
  return {
    hiddenColumns: new Set(),
    merged: [],
    struckByConditionalFormat: [],
    widths: new Map(),
    lostParts: new Set(),
  }
}

/** A sheet of an XLSX or ODS workbook. */
export interface BookSheet {
  name: string
  isHidden: boolean
  properties: SheetProperties
  /** The rows that are not empty, in order, one array per chunk of the file; an array is often empty. */
  rows: () => AsyncGenerator<BookRow[]>
}

export interface Book {
  format: 'xlsx' | 'ods'
  /** Whether the workbook counts dates from 1904 instead of 1900. */
  from1904: boolean
  sheets: BookSheet[]
}

/**
 * A longer text counts as content without a search for white space: a workbook may repeat one text in
 * millions of cells.
 */
const maxWhiteSpace = 1000

/**
 * Whether a row contains anything but white space. Throws an InvalidInputError for a row longer than the limit of CSV
 * rows.
 */
export function hasContent(cells: readonly Cell[], row: number, name: string): boolean {
  const characters = cells.reduce((sum, cell) => sum + textOf(cell).length, 0)
  if (characters > limits.rowCharacters) {
    throw refusal(name, `row ${row} is longer than 1 MiB`, 'Shorten its cells.')
  }
  return cells.some((cell) => typeof cell !== 'string' || cell.length > maxWhiteSpace || cell.trim() !== '')
}

/** Returns the error for a cell beyond the last column that is read. */
export function beyondColumnsError(name: string, column: number, row: number) {
  return refusal(
    name,
    `cell ${columnName(column)}${row} lies beyond the ${limits.columns} columns that are read`,
    'Empty it, or leave out what is not about the requests.',
  )
}

/** Adds the name of the range, such as `A1:C2`, to a rectangle of cells. */
export function cellRange(rectangle: Omit<MergedCells, 'range'>): MergedCells {
  const { firstRow, lastRow, firstColumn, lastColumn } = rectangle
  const range = `${columnName(firstColumn)}${firstRow}:${columnName(lastColumn)}${lastRow}`
  return { range, ...rectangle }
}

/** A row without cells. */
export function newRow(number: number, isHidden = false): BookRow {
  return { number, cells: [], isHidden, struckColumns: [], invisibleColumns: [], hasOwnStyle: false }
}

/** Returns a cell whose value cannot be read; see `TypedCell`. */
export const faultCell = (text: string, reason: string): Cell => ({ kind: 'fault', text, reason })

/** Turns a zero into a fault, for a sheet that hides zeros. */
export function zeroAsFault(cell: Cell): Cell {
  const isZero = typeof cell === 'object' && cell.kind === 'number' && cell.value === 0
  return isZero ? faultCell('0', 'is 0, and the sheet shows no zeros') : cell
}

/**
 * Parses an ISO 8601 date and time as UTC; `ms` is since the Unix epoch. Undefined for a date or time that does not
 * exist.
 */
export function parseIsoTime(day: string, time = '00:00:00'): { text: string; ms: number } | undefined {
  const ms = Date.parse(`${day}T${time}Z`)
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(day)) return undefined
  return { text: time === '00:00:00' ? day : `${day}T${time}`, ms }
}
