import { InvalidInputError } from '../../errors/kinds.ts'
import { limits } from '../limits.ts'
import { undecidedEncoding } from '../undecided-encoding.ts'
import { refusal, splitHint } from '../refusal.ts'
import {
  type JsonRow,
  type Cell,
  type Dialect,
  type JsonValue,
  plainDialect,
  type SheetRow,
} from '../../domain/sheet/cell.ts'
import { noLook, type Sheet } from '../sheet.ts'
import type { SheetSource } from '../source.ts'
import { type DecodedText, decodedText } from '../text.ts'
import { type Element, elements, type JsonLayout } from './elements.ts'
import { members } from './members.ts'

/** Which columns an object has is the caller's to say: it may look inside. */
export type JsonRowReader = (text: string) => JsonRow

export interface JsonOptions {
  /** Whether it is one array, not an object a line. */
  array: boolean
  read: JsonRowReader
  /** Of bytes that are no UTF-8. */
  encoding?: string | undefined
}

export async function openJson(source: SheetSource, { array, read, encoding }: JsonOptions): Promise<Sheet> {
  const { name } = source
  const text = decodedText(source, encoding ?? 'utf-8')
  const plain: JsonLayout = array ? 'array' : 'lines'
  const isWrapped = !array && !saysLines.test(name) && (await readsAs('wrapped', text, name))
  const layout = isWrapped ? 'wrapped' : plain
  const columns = await everyColumn(text, layout, name, read)
  const dialect: Dialect = { ...plainDialect, ...text.found, format: layout === 'lines' ? 'jsonl' : 'json' }
  const rows = (): AsyncGenerator<SheetRow> => dataRows(text, { layout, name, read, columns })
  return {
    name,
    columns,
    headerLine: 0,
    hiddenColumns: new Set(),
    dialect,
    rows,
    parts: () => alone(rows()),
    merged: () => [],
    look: () => noLook,
    undecided: (place, samples) => undecidedEncoding(name, place, samples),
  }
}

/** A name that promises a row on each line: the only row of such a file may be what elsewhere is a wrapped list. */
const saysLines = /\.(?:jsonl|ndjson)$/iu

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

/** An entry of a request's `additional_information`, which alone may stand under a row's only name. */
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
    if (rows > limits.rows)
      throw refusal(name, `it has more than ${String(limits.rows)} rows, the limit`, splitHint)
    for (const [column] of entriesOf(element, read, name)) columns.add(column)
    if (columns.size > limits.columns) {
      throw refusal(name, `it has more than ${String(limits.columns)} names`, 'Leave out what is not needed.')
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

async function* dataRows(text: DecodedText, reading: ReadState): AsyncGenerator<SheetRow> {
  const { layout, name, read, columns } = reading
  const places = new Map(columns.map((column, at) => [column, at]))
  let row = 0
  for await (const element of elements(text.chunks(), layout, name)) {
    row += 1
    const cells: Cell[] = columns.map(() => '')
    let blank = true
    for (const [column, value] of entriesOf(element, read, name)) {
      const at = places.get(column)
      if (at === undefined || value === null || value === '') continue
      cells[at] = cellOf(value)
      blank = false
    }
    if (!blank) yield { row, line: element.line, cells, source: element.text }
  }
}

/** Reading an object takes far longer than handing it on. */
async function* alone(rows: AsyncIterable<SheetRow>): AsyncGenerator<SheetRow[]> {
  for await (const row of rows) yield [row]
}

function entriesOf({ text, line }: Element, read: JsonRowReader, name: string): [string, JsonValue][] {
  const { entries, fault } = read(text)
  if (entries !== undefined) return entries
  const at = line + text.slice(0, fault.offset).split('\n').length - 1
  throw refusal(name, `line ${String(at)}: ${fault.reason}`, 'Fix that line, then run this again.')
}

function cellOf(value: Exclude<JsonValue, null>): Cell {
  return typeof value === 'string' ? value : { kind: 'json', text: JSON.stringify(value), value }
}
