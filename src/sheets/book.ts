import { crc32 } from 'node:zlib'

import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { SaxesParser } from 'saxes'

import { InvalidInputError } from '../errors/kinds.ts'
import { beyondLimit, limits, refusal } from './sheet.ts'
import { escapeXml } from '../domain/wording/text.ts'
import { type Cell, columnName, type MergedCells, textOf } from '../domain/sheet/cell.ts'
import type { LostPart } from '../domain/sheet/appearance.ts'
import { markedEncoding } from './text.ts'

/** The parts of a workbook, by name. */
export interface Archive {
  has(part: string): boolean
  names(): string[]
  /** Every inflated byte is counted against the size in the archive, and that size against what is allowed. */
  read(part: string, largest?: number): AsyncGenerator<Buffer>
}

/** Opens a zip held in memory. Nothing is inflated yet. */
export async function openArchive(bytes: Buffer, name: string): Promise<Archive> {
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true })
    const parts = await partsOf(zip, name)
    return {
      has: (part) => parts.has(part),
      names: () => [...parts.keys()],
      async *read(part, largest = limits.partBytes) {
        const entry = parts.get(part)
        if (entry === undefined) throw damagedError(name, new Error(`${part} is missing`))
        if (entry.isEncrypted()) throw refusal(name, 'it is encrypted', 'Save it without a password.')
        requireAllowedSize(entry, largest, name)
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
  if (zip.entryCount > limits.entries) {
    throw beyondLimit(
      name,
      `it has ${zip.entryCount} parts, too many for a workbook: the limit is ${limits.entries}`,
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
 * yauzl fails a stream whose length differs from the size that the archive states, so it is enough to check
 * that size.
 */
function requireAllowedSize(
  { fileName, uncompressedSize, compressedSize }: Entry,
  largest: number,
  name: string,
): void {
  const exceedsRatio = uncompressedSize > limits.ratioFrom && uncompressedSize > limits.ratio * compressedSize
  if (uncompressedSize <= largest && !exceedsRatio) return
  const mebibytes = String(Math.ceil(uncompressedSize / 1024 / 1024))
  throw beyondLimit(name, `its part ${fileName} is ${mebibytes} MiB unpacked, too large for a list of people`)
}

async function* inflate(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  let sum = 0
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    const bytes = chunk as Buffer
    sum = crc32(bytes, sum)
    yield bytes
  }
  if (sum !== entry.crc32) throw new Error(`the checksum of ${entry.fileName} is wrong`)
}

/**
 * The refusal of a workbook whose parts contradict one another; an InvalidInputError is returned unchanged.
 */
export function damagedError(name: string, error: unknown, what = 'it is a damaged workbook'): Error {
  if (error instanceof InvalidInputError) return error
  const reason = error instanceof Error ? error.message.slice(0, 120) : 'unknown'
  return refusal(name, `${what} (${reason})`, 'Open it in a spreadsheet program and save it again.', error)
}

export type Attributes = Readonly<Record<string, string>>

export const isTrue = (text: string | undefined): boolean => text === '1' || text === 'true'

export const isFalse = (text: string | undefined): boolean => text === '0' || text === 'false'

/** A property that is there and not switched off. */
export function isOn({ val }: Attributes): boolean {
  return val === undefined || isTrue(val)
}

/** Callbacks of the parser. Start and end tags of namespaces that are not in `spaces` are not reported. */
interface XmlHandlers {
  /** Namespace URIs whose elements are reported, each with the prefix that is put before their names. */
  spaces?: ReadonlyMap<string, string>
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
  ].map((space) => [space, '']),
)

/** Namespaces of sheets: also those of the conditional formats of Excel 2010 and later. */
export const sheetNamespaces: ReadonlyMap<string, string> = new Map([
  ...workbookNamespaces,
  ['http://schemas.microsoft.com/office/spreadsheetml/2009/9/main', 'x14:'],
  ['http://schemas.microsoft.com/office/excel/2006/main', 'xm:'],
])

/** Reads a part to its end. */
export async function readXml(
  archive: Archive,
  part: string,
  name: string,
  handlers: XmlHandlers & { largest?: number },
): Promise<void> {
  for await (const _ of xmlChunks(archive, part, name, handlers, handlers.largest));
}

/** As `readXml`, but yields after each chunk. A document type is refused, so that no entity can expand. */
export async function* xmlChunks(
  archive: Archive,
  part: string,
  name: string,
  handlers: XmlHandlers,
  largest?: number,
): AsyncGenerator<void> {
  const size = new XmlSize(part, name)
  const parser = createParser(handlers, size)
  let decoder: InstanceType<typeof TextDecoder> | undefined
  try {
    for await (const bytes of archive.read(part, largest)) {
      decoder ??= new TextDecoder(markedEncoding(bytes), { fatal: true })
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

  /** The parser has handed over what it had collected. */
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
      throw beyondLimit(
        this.#name,
        `its part ${this.#part} has ${what} with more than ${max} ${unit}, the limit`,
      )
  }
}

function createParser(handlers: XmlHandlers, size: XmlSize): SaxesParser<{ xmlns: false }> {
  const { spaces = workbookNamespaces, open, close, text } = handlers
  const parser = new SaxesParser({ position: false, xmlns: false })
  const names = new NamespaceResolver(spaces)
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
    names.declare(tag.attributes, depth)
    const own = names.reportedName(tag.name)
    if (own !== undefined) open?.(own, tag.attributes)
  })
  parser.on('closetag', (tag) => {
    size.reset()
    const own = names.reportedName(tag.name)
    if (own !== undefined) close?.(own)
    names.undeclare(depth)
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
  readonly #spaces: ReadonlyMap<string, string>
  /** By prefix, '' the default one: what is declared now. */
  readonly #declared = new Map<string, string>()
  /** What was declared before, to go back to at the end of an element. */
  readonly #before: { depth: number; prefix: string; space: string | undefined }[] = []
  readonly #known = new Map<string, string | undefined>()

  constructor(spaces: ReadonlyMap<string, string>) {
    this.#spaces = spaces
  }

  /**
   * The name that handlers get, with the prefix of its namespace in `spaces`; undefined for any other
   * namespace.
   */
  reportedName(name: string): string | undefined {
    if (this.#known.has(name)) return this.#known.get(name)
    const colon = name.indexOf(':')
    const space = this.#declared.get(colon === -1 ? '' : name.slice(0, colon))
    // A name whose namespace is declared nowhere is reported without a prefix.
    const prefix = space === undefined ? '' : this.#spaces.get(space)
    const own = prefix === undefined ? undefined : prefix + name.slice(colon + 1)
    if (this.#known.size < 1000) this.#known.set(name, own)
    return own
  }

  declare(attributes: Attributes, depth: number): void {
    for (const key in attributes) {
      if (!key.startsWith('xmlns')) continue
      const prefix = key === 'xmlns' ? '' : key.startsWith('xmlns:') ? key.slice(6) : undefined
      if (prefix === undefined) continue
      this.#before.push({ depth, prefix, space: this.#declared.get(prefix) })
      this.#declared.set(prefix, attributes[key] ?? '')
      this.#known.clear()
    }
  }

  undeclare(depth: number): void {
    for (let last = this.#before.at(-1); last?.depth === depth; last = this.#before.at(-1)) {
      this.#before.pop()
      if (last.space === undefined) this.#declared.delete(last.prefix)
      else this.#declared.set(last.prefix, last.space)
      this.#known.clear()
    }
  }
}

/**
 * ST_Xstring (ECMA-376 part 1, 22.9.2.19): what XML cannot hold is written `_xHHHH_`, and so is the
 * underscore of a text that looks like that itself.
 */
const escapeSequence = /_x([\dA-Fa-f]{4})_/g

export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(escapeSequence, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

const unsafe = /_(?=x[\dA-Fa-f]{4}_)|(?![\t\n])\p{Cc}|\p{Cs}|[\uFFFE\uFFFF]/gu

/** A text as element content or in a quoted attribute. */
export function escapeText(text: string): string {
  return escapeXml(
    text.replaceAll(
      unsafe,
      (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    ),
  )
}

export function requireFewSheets(count: number, name: string): void {
  if (count > limits.sheets) throw beyondLimit(name, `it has more than ${limits.sheets} sheets, the limit`)
}

export interface BookRow {
  /** Number of the row in its sheet, from 1. */
  number: number
  /** By column; a hole is an empty cell. */
  cells: Cell[]
  hidden: boolean
  /** Columns whose text is struck through. */
  struck: number[]
  /** Columns whose text has the colour of its background. */
  unseen: number[]
  /** Whether a cell has a font, a colour or a border of its own. */
  hasOwnStyle: boolean
}

/** Properties of a sheet other than its rows; filled while the rows are read. */
export interface SheetProperties {
  hiddenColumns: Set<number>
  merged: MergedCells[]
  /** What a rule may strike through: conditional formats are not evaluated. */
  struckByRule: MergedCells[]
  /** By column, in characters. */
  widths: Map<number, number>
  /** Parts of the sheet that are lost when it is written again. */
  lost: Set<LostPart>
}

export function noFindings(): SheetProperties {
  return {
    hiddenColumns: new Set(),
    merged: [],
    struckByRule: [],
    widths: new Map(),
    lost: new Set(),
  }
}

/** A sheet of a workbook of either kind. */
export interface BookSheet {
  name: string
  hidden: boolean
  found: SheetProperties
  /** The rows that are not empty, in order, one array per chunk of the file; an array is often empty. */
  rows: () => AsyncGenerator<BookRow[]>
}

export interface Book {
  format: 'xlsx' | 'ods'
  from1904: boolean
  sheets: BookSheet[]
}

/**
 * A longer text counts as content without a search for white space: a workbook may repeat one text in
 * millions of cells.
 */
const maxWhiteSpace = 1000

/**
 * Whether a row holds anything but white space. Throws for a row longer than the limit, which is that of CSV
 * rows.
 */
export function hasContent(cells: readonly Cell[], row: number, name: string): boolean {
  const characters = cells.reduce((sum, cell) => sum + textOf(cell).length, 0)
  if (characters > limits.rowCharacters) {
    throw refusal(name, `row ${row} is longer than 1 MiB`, 'Shorten its cells.')
  }
  return cells.some((cell) => typeof cell !== 'string' || cell.length > maxWhiteSpace || cell.trim() !== '')
}

/** The error for a cell beyond the last column that is read. */
export function beyondColumns(name: string, column: number, row: number) {
  return refusal(
    name,
    `cell ${columnName(column)}${row} lies beyond the ${limits.columns} columns that are read`,
    'Empty it, or leave out what is not about the requests.',
  )
}

/** A rectangle of cells with the name of its range. */
export function cellRange(area: Omit<MergedCells, 'range'>): MergedCells {
  const { firstRow, lastRow, firstColumn, lastColumn } = area
  const range = `${columnName(firstColumn)}${firstRow}:${columnName(lastColumn)}${lastRow}`
  return { range, ...area }
}

/** A row without cells. */
export function newRow(number: number, hidden = false): BookRow {
  return { number, cells: [], hidden, struck: [], unseen: [], hasOwnStyle: false }
}

/** A cell whose value cannot be read; see `TypedCell`. */
export const fault = (text: string, reason: string): Cell => ({ kind: 'fault', text, reason })

/** Turns a zero into a fault, for a sheet that hides zeros. */
export function zeroAsFault(cell: Cell): Cell {
  const isZero = typeof cell === 'object' && cell.kind === 'number' && cell.value === 0
  return isZero ? fault('0', 'is 0, and the sheet shows no zeros') : cell
}

/**
 * Text and epoch milliseconds of an ISO 8601 date and time. Undefined for a day or a time that does not
 * exist.
 */
export function momentOf(day: string, time = '00:00:00'): { text: string; ms: number } | undefined {
  const ms = Date.parse(`${day}T${time}Z`)
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(day)) return undefined
  return { text: time === '00:00:00' ? day : `${day}T${time}`, ms }
}
