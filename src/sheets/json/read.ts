import {
  type Cell,
  type Dialect,
  type JsonRow,
  type JsonValue,
  plainDialect,
  type SheetRow,
} from '../../domain/sheet/cell.ts'
import { type Element, elements } from './elements.ts'
import { limits } from '../limits.ts'
import { refusal } from '../refusal.ts'
import type { Sheet } from '../sheet.ts'
import type { SheetSource } from '../source.ts'
import { type DecodedText, decodedText } from '../text.ts'

/** Which columns an object has is the caller's to say: it may look inside. */
export type JsonRowReader = (text: string) => JsonRow

export async function openJson(source: SheetSource, array: boolean, read: JsonRowReader): Promise<Sheet> {
  const { name } = source
  const text = decodedText(source)
  const columns = await everyColumn(text, array, name, read)
  const dialect: Dialect = { ...plainDialect, ...text.found, format: array ? 'json' : 'jsonl' }
  const rows = (): AsyncGenerator<SheetRow> => dataRows(text, { array, name, read, columns })
  return { name, columns, dialect, rows, parts: () => alone(rows()) }
}

async function everyColumn(
  text: DecodedText,
  array: boolean,
  name: string,
  read: JsonRowReader,
): Promise<string[]> {
  const columns = new Set<string>()
  for await (const element of elements(text.chunks(), array, name)) {
    for (const [column] of entriesOf(element, read, name)) columns.add(column)
    if (columns.size > limits.columns) {
      throw refusal(name, `it has more than ${String(limits.columns)} names`, 'Leave out what is not needed.')
    }
  }
  if (columns.size > 0) return [...columns]
  throw refusal(name, 'it holds nobody', 'It needs an array of objects, or one object a line.')
}

interface Reading {
  array: boolean
  name: string
  read: JsonRowReader
  columns: readonly string[]
}

async function* dataRows(text: DecodedText, reading: Reading): AsyncGenerator<SheetRow> {
  const { array, name, read, columns } = reading
  const places = new Map(columns.map((column, at) => [column, at]))
  let row = 0
  for await (const element of elements(text.chunks(), array, name)) {
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
  throw refusal(name, `line ${String(at)}: ${fault.reason}`, 'Mend that line, then run this again.')
}

function cellOf(value: Exclude<JsonValue, null>): Cell {
  return typeof value === 'string' ? value : { kind: 'json', text: JSON.stringify(value), value }
}
