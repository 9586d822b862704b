import type { Cell, Dialect, JsonValue, SheetRow } from '../sheet.ts'

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
  const encode = (text: string): Uint8Array => Buffer.from(text)
  let first = true
  if (array) yield encode('[')
  for await (const { row, added } of rows) {
    const object = extended(row.source ?? objectOf(columns, row.cells), addedColumns, added)
    if (array) yield encode(`${first ? '\n' : ',\n'}${object}`)
    else yield encode(`${oneLine(object)}\n`)
    first = false
  }
  if (array) yield encode(first ? ']\n' : '\n]\n')
}

/** Puts names at the end of an object's text. Names of an earlier writing are given anew, the rest stays as it is. */
function extended(source: string, names: readonly string[], values: readonly Cell[]): string {
  const old = names.some((name) => source.includes(JSON.stringify(name)))
  const whole = old ? without(source, names) : source
  const body = whole.trimEnd().slice(0, -1).trimEnd()
  const added = names.map(
    (name, at) => `${JSON.stringify(name)}: ${JSON.stringify(valueOf(values[at] ?? ''))}`,
  )
  if (added.length === 0) return whole
  return `${body}${body.endsWith('{') ? '' : ', '}${added.join(', ')}}`
}

function without(source: string, names: readonly string[]): string {
  const object = JSON.parse(source) as Record<string, JsonValue>
  return JSON.stringify(Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))))
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
      return cell.text
  }
}
