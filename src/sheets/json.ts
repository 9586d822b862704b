import { type Cell, type Dialect, type JsonValue, plainDialect, type SheetRow } from '../domain/sheet/cell.ts'
import { InvalidInputError } from '../errors/kinds.ts'
import { createEncoder, type DecodedText, decodeSource } from './text.ts'
import {
  limits,
  refusal,
  splitHint,
  type SheetSource,
  type OpenedSheet,
  type JsonRowReader,
  type OpenOptions,
} from './sheet.ts'

/**
 * `wrapped` is an array under the only name of an object, `{"candidates": […]}`; `lines` is one object after the
 * other.
 */
type JsonLayout = 'array' | 'wrapped' | 'lines'

/** Opens a JSON file; `isArray` is whether the file is one array, not JSON Lines. */
export async function openJson(
  source: SheetSource,
  isArray: boolean,
  { readJson: readRow, encoding }: Pick<OpenOptions, 'readJson' | 'encoding'>,
): Promise<OpenedSheet> {
  const { name } = source
  const text = decodeSource(source, encoding ?? 'utf-8')
  const layoutIfNotWrapped: JsonLayout = isArray ? 'array' : 'lines'
  const isWrapped = !isArray && !linesFileName.test(name) && (await isWrappedFile(text, name))
  const layout = isWrapped ? 'wrapped' : layoutIfNotWrapped
  const columns = await collectColumns(text, layout, name, readRow)
  return {
    columns,
    headerLine: 0,
    dialect: { ...plainDialect, ...text.detected, format: layout === 'lines' ? 'jsonl' : 'json' },
    rowChunks: () => dataRows(text, { layout, name, readRow, columns }),
  }
}

/** Matches the file name of JSON Lines. In such a file, an object like `{"candidates": […]}` is a row. */
const linesFileName = /\.(?:jsonl|ndjson)$/iu

/**
 * Whether the file has the layout `wrapped`. The whole file is read, because the first row of JSON Lines may begin like
 * the object of a `wrapped` file.
 */
async function isWrappedFile(text: DecodedText, name: string): Promise<boolean> {
  try {
    let firstElement: string | undefined
    for await (const element of elements(text.chunks(), 'wrapped', name)) firstElement ??= element.text
    return firstElement !== undefined && !isAdditionalInformation(firstElement)
  } catch (error) {
    if (error instanceof InvalidInputError) return false
    throw error
  }
}

/**
 * Whether the element is an entry of `additional_information`. A JSON Lines file with one row whose only key is
 * `additional_information` looks like a `wrapped` file of such entries.
 */
function isAdditionalInformation(element: string): boolean {
  const names = splitMembers(element).map(({ name }) => name)
  return names.length === 2 && names.includes('code') && names.includes('fields')
}

async function collectColumns(
  text: DecodedText,
  layout: JsonLayout,
  name: string,
  readRow: JsonRowReader,
): Promise<string[]> {
  const columns = new Set<string>()
  let rowCount = 0
  for await (const element of elements(text.chunks(), layout, name)) {
    rowCount += 1
    if (rowCount > limits.rows)
      throw refusal(name, `it has more than ${limits.rows} rows, the limit`, splitHint)
    for (const [column] of entriesOf(element, readRow, name)) columns.add(column)
    if (columns.size > limits.columns) {
      throw refusal(name, `it has more than ${limits.columns} names`, 'Leave out what is not needed.')
    }
  }
  if (columns.size > 0) return [...columns]
  throw refusal(name, 'it contains no rows', 'Give an array of objects, or one object per line.')
}

interface RowReading {
  layout: JsonLayout
  name: string
  readRow: JsonRowReader
  columns: readonly string[]
}

/**
 * Yields chunks of a single row. Larger chunks would save no time, because parsing an object takes far longer than a
 * step of the generator.
 */
async function* dataRows(
  text: DecodedText,
  { layout, name, readRow, columns }: RowReading,
): AsyncGenerator<SheetRow[]> {
  const indexByColumn = new Map(columns.map((column, index) => [column, index]))
  let row = 0
  for await (const element of elements(text.chunks(), layout, name)) {
    row += 1
    const cells: Cell[] = columns.map(() => '')
    let isEmpty = true
    for (const [column, value] of entriesOf(element, readRow, name)) {
      const columnIndex = indexByColumn.get(column)
      if (columnIndex === undefined || value === null || value === '') continue
      cells[columnIndex] = toCell(value)
      isEmpty = false
    }
    if (!isEmpty) yield [{ row, line: element.line, cells, source: element.text }]
  }
}

function entriesOf({ text, line }: Element, readRow: JsonRowReader, name: string): [string, JsonValue][] {
  const { entries, fault } = readRow(text)
  if (entries !== undefined) return entries
  const faultLine = line + text.slice(0, fault.offset).split('\n').length - 1
  throw refusal(name, `line ${faultLine}: ${fault.reason}`, 'Fix that line, then run this again.')
}

function toCell(value: Exclude<JsonValue, null>): Cell {
  return typeof value === 'string' ? value : { kind: 'json', text: JSON.stringify(value), value }
}

/** The text of one JSON object of a file, and the number of the line on which it begins. */
interface Element {
  text: string
  line: number
}

/**
 * Yields the objects of a JSON array or of JSON Lines (RFC 8259 texts one after the other, on one line or several) as
 * unparsed text. Reads the file once; memory is bounded by the longest object.
 */
async function* elements(
  chunks: AsyncIterable<Buffer>,
  layout: JsonLayout,
  name: string,
): AsyncGenerator<Element> {
  const scanner = new ElementScanner(layout, name)
  const decoder = new TextDecoder()
  for await (const bytes of chunks) yield* scanner.read(decoder.decode(bytes, { stream: true }))
  scanner.finish()
}

/** What has to follow, outside of the objects that are rows. */
type ExpectedToken = 'wrapper' | 'name' | 'colon' | 'open' | 'first' | 'element' | 'comma' | 'end' | 'nothing'

/** Splits the text of a file into the objects that are rows. Character codes: 34 is ", 92 is \, 91 is [, 93 is ], 123 is { and 125 is }. */
class ElementScanner {
  readonly #isArray: boolean
  readonly #isWrapped: boolean
  readonly #name: string
  #expected: ExpectedToken
  #line = 1
  /** Line on which the current element starts. */
  #startLine = 1
  /** The part of the current element that earlier chunks contained. */
  #text = ''
  /** Number of open brackets of the current element; 0 between elements. */
  #depth = 0
  #isInString = false
  #isEscaped = false

  constructor(layout: JsonLayout, name: string) {
    this.#isArray = layout !== 'lines'
    this.#isWrapped = layout === 'wrapped'
    this.#name = name
    this.#expected = layout === 'wrapped' ? 'wrapper' : layout === 'array' ? 'open' : 'element'
  }

  *read(chunk: string): Generator<Element> {
    let start = this.#depth > 0 ? 0 : -1
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at)
      if (code === 10) this.#line += 1
      if (this.#isInString) this.#readInString(code)
      else if (this.#depth > 0) {
        this.#readInObject(code)
        if (this.#depth > 0) continue
        yield { text: this.#text + chunk.slice(start, at + 1), line: this.#startLine }
        this.#text = ''
        start = -1
        this.#expected = this.#isArray ? 'comma' : 'element'
      } else if (code !== 32 && code !== 9 && code !== 10 && code !== 13) {
        this.#readBetweenElements(chunk.charAt(at))
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
    if (this.#depth > 0)
      throw this.#syntaxError(`the object that starts on line ${this.#startLine} has no end`)
    if (this.#isArray && this.#expected !== 'nothing') throw this.#syntaxError('the array has no end')
  }

  #readInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (code === 92) this.#isEscaped = true
    else if (code === 34) this.#isInString = false
    if (!this.#isInString && this.#expected === 'name') this.#expected = 'colon'
  }

  #readInObject(code: number): void {
    if (code === 34) this.#isInString = true
    else if (code === 123 || code === 91) this.#depth += 1
    else if (code === 125 || code === 93) this.#depth -= 1
  }

  #readBetweenElements(character: string): void {
    const expected = this.#expected
    if (character === '[' && expected === 'open') this.#expected = 'first'
    else if (character === ']' && (expected === 'first' || expected === 'comma'))
      this.#expected = this.#isWrapped ? 'end' : 'nothing'
    else if (character === '{' && expected === 'wrapper') this.#expected = 'name'
    else if (character === '"' && expected === 'name') this.#isInString = true
    else if (character === ':' && expected === 'colon') this.#expected = 'open'
    else if (character === '}' && expected === 'end') this.#expected = 'nothing'
    else if (character === ',' && expected === 'comma') this.#expected = 'element'
    else if (character === '{' && (expected === 'element' || expected === 'first')) this.#depth = 1
    else
      throw this.#syntaxError(
        `line ${this.#line} has ${JSON.stringify(character)} where ${expectedTexts[expected]}`,
      )
  }

  #syntaxError(problem: string) {
    return refusal(this.#name, problem, 'Give an array of objects, or one object per line.')
  }
}

const expectedTexts: Record<ExpectedToken, string> = {
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

/** A member of a JSON object. */
interface Member {
  name: string
  /** The text from the name to the end of the value. */
  text: string
}

/** Matches a string, a bracket or a comma of valid JSON. */
const memberToken = /"(?:[^"\\]|\\.)*"|[{}[\],]/g

/** Splits the text of a valid JSON object into its members, each as it is written. */
function splitMembers(object: string): Member[] {
  const members: Member[] = []
  let depth = 0
  let current: { name: string; start: number } | undefined
  for (const { 0: token, index } of object.matchAll(memberToken)) {
    if (depth === 1 && token.startsWith('"')) current ??= { name: JSON.parse(token) as string, start: index }
    if (current !== undefined && depth === 1 && (token === ',' || token === '}')) {
      members.push({ name: current.name, text: object.slice(current.start, index).trimEnd() })
      current = undefined
    }
    if (token === '{' || token === '[') depth += 1
    if (token === '}' || token === ']') depth -= 1
  }
  return members
}

/** A row of a JSON file with the values of the added columns. */
interface JsonOutputRow {
  row: Pick<SheetRow, 'source' | 'cells'>
  added: readonly Cell[]
}

/** Writes rows as JSON: each object's text is unchanged, and the added columns come at its end. */
export async function* jsonBytes(
  columns: readonly string[],
  addedColumns: readonly string[],
  rows: AsyncIterable<JsonOutputRow>,
  dialect: Dialect,
): AsyncGenerator<Uint8Array> {
  const isArray = dialect.format === 'json'
  const { encode, bom } = createEncoder(dialect)
  let isFirst = true
  if (bom) yield encode('\uFEFF')
  if (isArray) yield encode('[')
  for await (const { row, added } of rows) {
    const object = extendObject(row.source ?? toObjectText(columns, row.cells), addedColumns, added)
    if (isArray) yield encode(`${isFirst ? '\n' : ',\n'}${object}`)
    else yield encode(`${joinLines(object)}\n`)
    isFirst = false
  }
  if (isArray) yield encode(isFirst ? ']\n' : '\n]\n')
}

/**
 * Appends members to an object's text and removes its members of the same names in any case. The text of its other members,
 * including the digits of numbers, is not changed.
 */
function extendObject(source: string, names: readonly string[], values: readonly Cell[]): string {
  if (names.length === 0) return source
  const added = names.map(
    (name, at) => `${JSON.stringify(name)}: ${JSON.stringify(valueOf(values[at] ?? ''))}`,
  )
  const existing = splitMembers(source)
  const others = existing.filter(({ name }) => !names.includes(name.toLowerCase()))
  if (others.length < existing.length) return `{${[...others.map(({ text }) => text), ...added].join(', ')}}`
  const body = source.trimEnd().slice(0, -1).trimEnd()
  return `${body}${existing.length === 0 ? '' : ', '}${added.join(', ')}}`
}

function toObjectText(columns: readonly string[], cells: readonly Cell[]): string {
  const entries = columns.map((column, at): [string, JsonValue] => [column, valueOf(cells[at] ?? '')])
  return JSON.stringify(Object.fromEntries(entries.filter(([, value]) => value !== null)))
}

/**
 * Joins the lines of a JSON text. Its line breaks are white space between tokens, since no JSON string contains one.
 */
function joinLines(object: string): string {
  return object.replaceAll(/[\r\n]+\s*/g, ' ')
}

function valueOf(cell: Cell): JsonValue {
  if (typeof cell === 'string') return cell === '' ? null : cell
  return 'value' in cell ? cell.value : cell.text
}
