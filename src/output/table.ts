import Table from 'cli-table3'
import { wrapAnsi } from 'fast-wrap-ansi'
import stringWidth from 'fast-string-width'

import { shownName } from '../domain/wording/text.ts'
import { sanitize } from '../host/text.ts'
import { type Style, styled, type Terminal } from './terminal.ts'
import { type Column, cellIn } from './view.ts'

/** What people and packages are called. */
const nameColumn = /(?:^|_)name$/
const gap = 2
/**
 * Minimum widths of a column, in characters: the first while the row can be made to fit with it, the second
 * otherwise.
 */
const comfortable = 8
const narrowest = 3
/** Lines that are drawn together: the time of one drawing grows with their square. */
const maxLinesAtOnce = 16
/** No frame: columns apart from each other by blanks alone. */
const bare = {
  chars: Object.fromEntries(
    ['top', 'bottom', 'left', 'mid', 'right']
      .flatMap((name) => [name, `${name}-left`, `${name}-mid`, `${name}-right`])
      .concat('middle')
      .map((name) => [name, '']),
  ),
  // Nothing is cut, but cli-table3 measures what it would cut with, and the width of its own "…" takes emoji patterns.
  truncate: '~',
  style: { 'padding-left': 0, 'padding-right': gap, head: [], border: [] },
}

/** Rows as aligned columns; cells wrap where the terminal is too narrow for them. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  terminal: Terminal,
  header = true,
): string {
  const head = columns.map((column) => column.name.replaceAll('_', ' ').toUpperCase())
  const textsOf = (cells: readonly (readonly string[])[]): string[][] =>
    columns.map((_, at) => [header ? (head[at] ?? '') : '', ...cells.map((row) => row[at] ?? '')])
  let cells = rows.map((row) => columns.map((column) => cellText(column, row)))
  if (
    columns.some((column) => column.short !== undefined) &&
    widthOf(textsOf(cells)) > (terminal.columns ?? Infinity)
  )
    cells = rows.map((row) => columns.map((column) => cellText(column, row, true)))
  const texts = textsOf(cells)
  const widths = fit(
    texts,
    terminal.columns,
    columns.map((column) => column.whole === true),
  )
  const styles =
    (row: Row): StyleAt =>
    (at) =>
      columns[at]?.style?.(row)
  const drawn = rows.map((row, at) => linesOf(cells[at] ?? [], widths, styles(row), terminal))
  return draw(header ? [linesOf(head, widths, () => 'bold', terminal), ...drawn] : drawn, widths)
}

type StyleAt = (column: number) => Style | undefined

/** The lines of each cell of a row, wrapped to its column and styled. */
function linesOf(
  cells: readonly string[],
  widths: readonly number[],
  style: StyleAt,
  terminal: Terminal,
): string[][] {
  return cells.map((text, at) => {
    const width = widths[at] ?? 1
    const lines = stringWidth(text) <= width ? [text] : wrapCell(text, width)
    const chosen = style(at)
    return chosen === undefined ? lines : lines.map((line) => styled(terminal, chosen, line))
  })
}

/** A word that is wider than its column, such as a URL, is broken after a sign of punctuation where it has one. */
function wrapCell(text: string, width: number): string[] {
  const [branch] = /^└ /.exec(text) ?? []
  if (branch !== undefined && width > 2 * narrowest) {
    const lines = wrapCell(text.slice(branch.length), width - branch.length)
    return lines.map((line, at) => (at === 0 ? branch : ' '.repeat(branch.length)) + line)
  }
  const parted = text.replaceAll(/[!-~]+/g, (word) =>
    word.length <= width ? word : partsOf(word, width).join('\n'),
  )
  return wrapAnsi(parted, width, { hard: true }).split('\n')
}

function partsOf(word: string, width: number): string[] {
  const parts: string[] = []
  for (const piece of piecesOf(word)) {
    const last = parts.at(-1)
    if (last !== undefined && last.length + piece.length <= width) parts[parts.length - 1] = last + piece
    else parts.push(piece)
  }
  return parts
}

/** `olive@`, `example.com`: where a word may be broken. */
const piecesOf = (word: string): string[] => word.match(/[^-@/:_=,;]*[-@/:_=,;]+|[^-@/:_=,;]+/g) ?? [word]

const uuid = /^\W*[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\W*$/

/** Splits a word for the second step of `fit`. An id is not split, because users copy it. */
const breakable = (word: string): string[] => (uuid.test(word) ? [word] : piecesOf(word))

/**
 * Renders rows; each cell is an array of lines. Each line is a row of its own for cli-table3, which measures a whole
 * cell again for each of its lines: an answer of 4,000 characters took 15 s.
 */
function draw(rows: readonly (readonly string[][])[], widths: readonly number[]): string {
  const lines = rows.flatMap((cells) =>
    Array.from({ length: Math.max(...cells.map((cell) => cell.length)) }, (_, line) =>
      cells.map((cell) => cell[line] ?? ''),
    ),
  )
  const drawn: string[] = []
  for (let from = 0; from < lines.length; from += maxLinesAtOnce) {
    const some = lines.slice(from, from + maxLinesAtOnce)
    // A line is wider than its column if a single character is; the column is widened, so that it is not truncated.
    const colWidths = widths.map(
      (width, at) => Math.max(width, longest(some.map((line) => line[at] ?? ''))) + gap,
    )
    const drawing = new Table({ ...bare, colWidths })
    drawing.push(...some)
    drawn.push(drawing.toString())
  }
  return drawn.join('\n').replace(/(?<! ) +$/gm, '')
}

/** Text of a cell, without control characters; `-` for a missing value. */
function cellText<Row>(column: Column<Row>, row: Row, isNarrow = false): string {
  const { uncut } = column
  const clean = (text: string): string =>
    sanitize(nameColumn.test(column.name) ? shownName(text) : text, { uncut })
  if (isNarrow && column.short !== undefined) return clean(column.short(row))
  if (column.show !== undefined) return clean(column.show(row))
  const value = cellIn(column, row)
  return value === null || value === undefined || value === '' ? '-' : clean(String(value))
}

/** What a row takes where nothing of it is wrapped. */
function widthOf(texts: readonly (readonly string[])[]): number {
  return texts.reduce((sum, each) => sum + longest(each), 0) + gap * (texts.length - 1)
}

function longest(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, stringWidth(text)), 1)
}

/**
 * Returns widths of columns with which a row fits. Narrows the widest column first: down to its longest word, then to
 * its longest piece of a word (see `breakable`), then to `comfortable`, then to `narrowest`. Columns with `whole` are
 * narrowed last.
 */
function fit(
  texts: readonly (readonly string[])[],
  available: number | undefined,
  whole: readonly boolean[],
): number[] {
  const longestOf = texts.map((each) => longest(each))
  if (available === undefined || widthOf(texts) <= available) return longestOf
  const fitted = longestOf.map((width) => Math.min(width, available))
  let over = fitted.reduce((sum, width) => sum + width, gap * (texts.length - 1)) - available
  const words = texts.map((each) => each.flatMap((text) => text.split(' ')))
  const ofWord = words.map((each) => longest(each))
  const ofPiece = words.map((each) => longest(each.flatMap((word) => breakable(word))))
  const shrink = (floor: (at: number) => number, mayShrink: (at: number) => boolean): void => {
    while (over > 0) {
      const candidates = fitted.map((width, at) => (mayShrink(at) && width > floor(at) ? width : 0))
      const widest = Math.max(...candidates)
      if (widest === 0) return
      fitted[candidates.indexOf(widest)] = widest - 1
      over -= 1
    }
  }
  const isLoose = (at: number): boolean => whole[at] !== true
  shrink((at) => Math.max(comfortable, ofWord[at] ?? 0), isLoose)
  shrink((at) => Math.max(comfortable, ofPiece[at] ?? 0), isLoose)
  shrink(() => comfortable, isLoose)
  shrink(() => narrowest, isLoose)
  shrink(
    () => narrowest,
    () => true,
  )
  return fitted
}
