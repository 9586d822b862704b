import type { Cell, Dialect, JsonValue, SheetRow } from '../../domain/sheet/cell.ts'
import { encoderOf } from '../encode.ts'
import { members } from './members.ts'

/** A row of a JSON file with what is added to it. */
export interface JsonWritten {
  row: Pick<SheetRow, 'source' | 'cells'>
  added: readonly Cell[]
}

/** Rows as JSON, each object as it was, ours after its own names. */
export async function* jsonBytes(
  columns: readonly string[],
  addedColumns: readonly string[],
  rows: AsyncIterable<JsonWritten>,
  dialect: Dialect,
): AsyncGenerator<Uint8Array> {
  const array = dialect.format === 'json'
  const { encode, bom } = encoderOf(dialect)
  let first = true
  if (bom) yield encode('\uFEFF')
  if (array) yield encode('[')
  for await (const { row, added } of rows) {
    const object = extended(row.source ?? objectOf(columns, row.cells), addedColumns, added)
    if (array) yield encode(`${first ? '\n' : ',\n'}${object}`)
    else yield encode(`${oneLine(object)}\n`)
    first = false
  }
  if (array) yield encode(first ? ']\n' : '\n]\n')
}

/** Puts names at the end of an object's text; every other stays as it is written, its digits too. */
function extended(source: string, names: readonly string[], values: readonly Cell[]): string {
  if (names.length === 0) return source
  const added = names.map(
    (name, at) => `${JSON.stringify(name)}: ${JSON.stringify(valueOf(values[at] ?? ''))}`,
  )
  const all = members(source)
  if (all.some(({ name }) => names.includes(name))) {
    const kept = all.filter(({ name }) => !names.includes(name)).map(({ text }) => text)
    return `{${[...kept, ...added].join(', ')}}`
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
  switch (cell.kind) {
    case 'number':
    case 'boolean':
    case 'json':
      return cell.value
    case 'date':
    case 'marked':
    case 'fault':
    case 'bytes':
      return cell.text
  }
}
