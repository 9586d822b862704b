import { type Cell, type Dialect, type JsonValue, plainDialect, type SheetRow } from '../domain/sheet/cell.ts'
import { InvalidInputError } from '../errors/kinds.ts'
import { encoderOf, type DecodedText, decodedText } from './text.ts'
import {
  limits,
  refusal,
  splitHint,
  type SheetSource,
  type OpenedSheet,
  type JsonRowReader,
  type OpenOptions,
} from './sheet.ts'

/** `array`: whether it is one array, not an object a line. */
export async function openJson(
  source: SheetSource,
  array: boolean,
  { readJson: read, encoding }: Pick<OpenOptions, 'readJson' | 'encoding'>,
): Promise<OpenedSheet> {
  const { name } = source
  const text = decodedText(source, encoding ?? 'utf-8')
  const plain: JsonLayout = array ? 'array' : 'lines'
  const isWrapped = !array && !linesFileName.test(name) && (await readsAs('wrapped', text, name))
  const layout = isWrapped ? 'wrapped' : plain
  const columns = await everyColumn(text, layout, name, read)
  return {
    columns,
    headerLine: 0,
    dialect: { ...plainDialect, ...text.found, format: layout === 'lines' ? 'jsonl' : 'json' },
    parts: () => dataRows(text, { layout, name, read, columns }),
  }
}

/** A file name of JSON Lines: in such a file, what looks like a wrapped list is a row. */
const linesFileName = /\.(?:jsonl|ndjson)$/iu

/** Whether the file as a whole has that layout; a single row may begin as a wrapped list does. */
async function readsAs(layout: JsonLayout, text: DecodedText, name: string): Promise<boolean> {
  try {
    let first: string | undefined
    for await (const element of elements(text.chunks(), layout, name)) first ??= element.text
    return first !== undefined && !isInformation(first)
  } catch (error) {
    if (error instanceof InvalidInputError) return false
    throw error
  }
}

/**
 * Whether it is an entry of `additional_information`: a row that has no other key looks like a wrapped list.
 */
function isInformation(element: string): boolean {
  const names = members(element).map(({ name }) => name)
  return names.length === 2 && names.includes('code') && names.includes('fields')
}

async function everyColumn(
  text: DecodedText,
  layout: JsonLayout,
  name: string,
  read: JsonRowReader,
): Promise<string[]> {
  const columns = new Set<string>()
  let rows = 0
  for await (const element of elements(text.chunks(), layout, name)) {
    rows += 1
    if (rows > limits.rows) throw refusal(name, `it has more than ${limits.rows} rows, the limit`, splitHint)
    for (const [column] of entriesOf(element, read, name)) columns.add(column)
    if (columns.size > limits.columns) {
      throw refusal(name, `it has more than ${limits.columns} names`, 'Leave out what is not needed.')
    }
  }
  if (columns.size > 0) return [...columns]
  throw refusal(name, 'it contains no rows', 'Give an array of objects, or one object per line.')
}

interface ReadState {
  layout: JsonLayout
  name: string
  read: JsonRowReader
  columns: readonly string[]
}

/** Yields one row at a time: parsing an object takes far longer than passing it on. */
async function* dataRows(
  text: DecodedText,
  { layout, name, read, columns }: ReadState,
): AsyncGenerator<SheetRow[]> {
  const positions = new Map(columns.map((column, at) => [column, at]))
  let row = 0
  for await (const element of elements(text.chunks(), layout, name)) {
    row += 1
    const cells: Cell[] = columns.map(() => '')
    let blank = true
    for (const [column, value] of entriesOf(element, read, name)) {
      const at = positions.get(column)
      if (at === undefined || value === null || value === '') continue
      cells[at] = cellOf(value)
      blank = false
    }
    if (!blank) yield [{ row, line: element.line, cells, source: element.text }]
  }
}

function entriesOf({ text, line }: Element, read: JsonRowReader, name: string): [string, JsonValue][] {
  const { entries, fault } = read(text)
  if (entries !== undefined) return entries
  const at = line + text.slice(0, fault.offset).split('\n').length - 1
  throw refusal(name, `line ${at}: ${fault.reason}`, 'Fix that line, then run this again.')
}

function cellOf(value: Exclude<JsonValue, null>): Cell {
  return typeof value === 'string' ? value : { kind: 'json', text: JSON.stringify(value), value }
}

/** The text of one JSON object of a file, and the line it begins on. */
interface Element {
  text: string
  line: number
}

/** One array; an array under the only name of an object, `{"candidates": […]}`; or one object after the other. */
type JsonLayout = 'array' | 'wrapped' | 'lines'

/**
 * The objects of a JSON array, or of JSON Lines (RFC 8259 texts one after the other, each on one line or
 * several), not parsed. One pass; memory is bounded by the longest object.
 */
async function* elements(
  chunks: AsyncIterable<Buffer>,
  layout: JsonLayout,
  name: string,
): AsyncGenerator<Element> {
  const scan = new Scan(layout, name)
  const decoder = new TextDecoder()
  for await (const bytes of chunks) yield* scan.read(decoder.decode(bytes, { stream: true }))
  scan.finish()
}

type Expected = 'wrapper' | 'name' | 'colon' | 'open' | 'first' | 'element' | 'comma' | 'end' | 'nothing'

class Scan {
  readonly #array: boolean
  readonly #wrapped: boolean
  readonly #name: string
  #expected: Expected
  #line = 1
  /** Line on which the current element starts. */
  #startLine = 1
  #text = ''
  #depth = 0
  #inString = false
  #escaped = false

  constructor(layout: JsonLayout, name: string) {
    this.#array = layout !== 'lines'
    this.#wrapped = layout === 'wrapped'
    this.#name = name
    this.#expected = layout === 'wrapped' ? 'wrapper' : layout === 'array' ? 'open' : 'element'
  }

  *read(chunk: string): Generator<Element> {
    let start = this.#depth > 0 ? 0 : -1
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at)
      if (code === 10) this.#line += 1
      if (this.#inString) this.#readInString(code)
      else if (this.#depth > 0) {
        this.#readInObject(code)
        if (this.#depth > 0) continue
        yield { text: this.#text + chunk.slice(start, at + 1), line: this.#startLine }
        this.#text = ''
        start = -1
        this.#expected = this.#array ? 'comma' : 'element'
      } else if (code !== 32 && code !== 9 && code !== 10 && code !== 13) {
        this.#between(chunk.charAt(at))
        if (this.#depth > 0) [start, this.#startLine] = [at, this.#line]
      }
    }
    if (start !== -1) this.#text += chunk.slice(start)
    if (this.#text.length > limits.rowCharacters) {
      throw refusal(
        this.#name,
        `the object that starts on line ${this.#startLine} is longer than 1 MiB`,
        'Check for a missing closing bracket or quote.',
      )
    }
  }

  finish(): void {
    if (this.#depth > 0) throw this.#wrong(`the object that starts on line ${this.#startLine} has no end`)
    if (this.#array && this.#expected !== 'nothing') throw this.#wrong('the array has no end')
  }

  #readInString(code: number): void {
    if (this.#escaped) this.#escaped = false
    else if (code === 92) this.#escaped = true
    else if (code === 34) this.#inString = false
    if (!this.#inString && this.#expected === 'name') this.#expected = 'colon'
  }

  #readInObject(code: number): void {
    if (code === 34) this.#inString = true
    else if (code === 123 || code === 91) this.#depth += 1
    else if (code === 125 || code === 93) this.#depth -= 1
  }

  #between(character: string): void {
    const expected = this.#expected
    if (character === '[' && expected === 'open') this.#expected = 'first'
    else if (character === ']' && (expected === 'first' || expected === 'comma'))
      this.#expected = this.#wrapped ? 'end' : 'nothing'
    else if (character === '{' && expected === 'wrapper') this.#expected = 'name'
    else if (character === '"' && expected === 'name') this.#inString = true
    else if (character === ':' && expected === 'colon') this.#expected = 'open'
    else if (character === '}' && expected === 'end') this.#expected = 'nothing'
    else if (character === ',' && expected === 'comma') this.#expected = 'element'
    else if (character === '{' && (expected === 'element' || expected === 'first')) this.#depth = 1
    else throw this.#wrong(`line ${this.#line} has ${JSON.stringify(character)} where ${wanted[expected]}`)
  }

  #wrong(what: string) {
    return refusal(this.#name, what, 'Give an array of objects, or one object per line.')
  }
}

const wanted: Record<Expected, string> = {
  wrapper: 'a { is expected',
  name: 'a name is expected',
  colon: 'a : is expected',
  open: 'a [ is expected',
  first: 'an object or ] is expected',
  element: 'an object is expected',
  comma: 'a comma or ] is expected',
  end: 'a } is expected',
  nothing: 'nothing more is expected',
}

/** A name of a JSON object and the text from it to the end of its value. */
interface Member {
  name: string
  text: string
}

/** The members of a JSON object's text, each as it is written. The text is known to be sound. */
function members(object: string): Member[] {
  const found: Member[] = []
  let depth = 0
  let start = -1
  let nameEnd = -1
  const end = (at: number): void => {
    if (start === -1) return
    const name = JSON.parse(object.slice(start, nameEnd)) as string
    found.push({ name, text: object.slice(start, at).trimEnd() })
    start = -1
    nameEnd = -1
  }
  for (let at = 0; at < object.length; at += 1) {
    const character = object.charAt(at)
    if (character === '"') {
      const close = stringEnd(object, at)
      if (depth === 1 && start === -1) [start, nameEnd] = [at, close]
      at = close - 1
    } else if (character === '{' || character === '[') {
      depth += 1
    } else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) end(at)
    } else if (character === ',' && depth === 1) {
      end(at)
    }
  }
  return found
}

/** Just past the quote that closes the string that opens at `from`. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\\') at += 1
    else if (character === '"') return at + 1
  }
  return text.length
}

/** A row of a JSON file with what is added to it. */
interface JsonOutputRow {
  row: Pick<SheetRow, 'source' | 'cells'>
  added: readonly Cell[]
}

/** Rows as JSON, each object's text unchanged, the added columns at its end. */
export async function* jsonBytes(
  columns: readonly string[],
  addedColumns: readonly string[],
  rows: AsyncIterable<JsonOutputRow>,
  dialect: Dialect,
): AsyncGenerator<Uint8Array> {
  const array = dialect.format === 'json'
  const { encode, bom } = encoderOf(dialect)
  let first = true
  if (bom) yield encode('\uFEFF')
  if (array) yield encode('[')
  for await (const { row, added } of rows) {
    const object = extendObject(row.source ?? objectOf(columns, row.cells), addedColumns, added)
    if (array) yield encode(`${first ? '\n' : ',\n'}${object}`)
    else yield encode(`${oneLine(object)}\n`)
    first = false
  }
  if (array) yield encode(first ? ']\n' : '\n]\n')
}

/** Puts names at the end of an object's text; every other stays as it is written, its digits too. */
function extendObject(source: string, names: readonly string[], values: readonly Cell[]): string {
  if (names.length === 0) return source
  const added = names.map(
    (name, at) => `${JSON.stringify(name)}: ${JSON.stringify(valueOf(values[at] ?? ''))}`,
  )
  const all = members(source)
  if (all.some(({ name }) => names.includes(name))) {
    const others = all.filter(({ name }) => !names.includes(name)).map(({ text }) => text)
    return `{${[...others, ...added].join(', ')}}`
  }
  const body = source.trimEnd().slice(0, -1).trimEnd()
  return `${body}${all.length === 0 ? '' : ', '}${added.join(', ')}}`
}

function objectOf(columns: readonly string[], cells: readonly Cell[]): string {
  const entries = columns.map((column, at): [string, JsonValue] => [column, valueOf(cells[at] ?? '')])
  return JSON.stringify(Object.fromEntries(entries.filter(([, value]) => value !== null)))
}

/** Line breaks of a JSON text are white space between its tokens, never part of a string. */
function oneLine(object: string): string {
  return object.replaceAll(/[\r\n]+\s*/g, ' ')
}

function valueOf(cell: Cell): JsonValue {
  if (typeof cell === 'string') return cell === '' ? null : cell
  return 'value' in cell ? cell.value : cell.text
}
