import { delimiters } from './dialect.ts'
import type { Cell, Dialect } from '../../domain/sheet/cell.ts'
import { encoderOf } from '../encode.ts'
import { marked } from '../../domain/sheet/formula.ts'

const rowsAtOnce = 200

/** A table as CSV in its dialect, formulas made harmless. */
export async function* csvBytes(
  header: readonly string[],
  rows: AsyncIterable<readonly Cell[]>,
  dialect: Dialect,
): AsyncGenerator<Uint8Array> {
  const { encode, bom } = encoderOf(dialect)
  const line = (cells: readonly Cell[]): string => csvLine(cells, dialect)
  let text = `${bom ? '\uFEFF' : ''}${dialect.separatorLine ? `sep=${dialect.delimiter}${dialect.lineEnd}` : ''}`
  text += line(header)
  let waiting = 0
  for await (const cells of rows) {
    text += line(cells)
    waiting += 1
    if (waiting < rowsAtOnce) continue
    yield encode(text)
    text = ''
    waiting = 0
  }
  yield encode(text)
}

function csvLine(cells: readonly Cell[], dialect: Dialect): string {
  const written = cells.map((cell) => csvCell(cell, dialect))
  // A lone empty cell would be an empty line, which is no row.
  return `${written.length === 1 && written[0] === '' ? '""' : written.join(dialect.delimiter)}${dialect.lineEnd}`
}

const needsQuotes = new RegExp(
  `["\\r\\n${delimiters.map((each) => (each === '|' ? '\\|' : each)).join('')}]|^\\s|\\s$`,
)

function csvCell(cell: Cell, { quote, delimiter }: Dialect): string {
  const text =
    typeof cell === 'string'
      ? marked(cell, delimiter)
      : cell.kind === 'marked'
        ? cell.written
        : marked(cell.text, delimiter)
  const quoted = quote === 'all' || needsQuotes.test(text) || text.includes(delimiter) || /^sep=/i.test(text)
  return quoted ? `"${text.replaceAll('"', '""')}"` : text
}
