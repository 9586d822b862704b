import Table from 'cli-table3'
import { wrapAnsi } from 'fast-wrap-ansi'
import stringWidth from 'fast-string-width'

import { shownName } from '../domain/wording/text.ts'
import { sanitize } from '../host/text.ts'
import { type Style, styled, type Terminal } from './terminal.ts'
import { type Column, cellValue } from './view.ts'

/** Matches the names of columns that contain names of people or packages. */
const nameColumn = /(?:^|_)name$/
const columnGap = 2
/** The minimum width of a column in characters, if the row fits the terminal with it. */
const preferredMinWidth = 8
/** The minimum width of a column in a row that does not fit with `preferredMinWidth`. */
const minWidth = 3
/**
 * Maximum number of lines that one cli-table3 table draws. The time of a table grows with the square of its
 * lines.
 */
const maxLinesPerTable = 16
/** Options of cli-table3 for a table without a border: only spaces separate the columns. */
const borderless = {
  chars: Object.fromEntries(
    ['top', 'bottom', 'left', 'mid', 'right']
      .flatMap((name) => [name, `${name}-left`, `${name}-mid`, `${name}-right`])
      .concat('middle')
      .map((name) => [name, '']),
  ),
  // No cell is truncated, but cli-table3 always measures the truncation mark. Its default "…" would make it compile
  // the regular expressions for emoji.
  truncate: '~',
  style: { 'padding-left': 0, 'padding-right': columnGap, head: [], border: [] },
}

/** Returns the rows as aligned columns. If the terminal is too narrow, the cells are wrapped. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  terminal: Terminal,
  hasHeader = true,
): string {
  const headerTexts = columns.map((column) => column.name.replaceAll('_', ' ').toUpperCase())
  const columnTexts = (cells: readonly (readonly string[])[]): string[][] =>
    columns.map((_, index) => [
      hasHeader ? (headerTexts[index] ?? '') : '',
      ...cells.map((row) => row[index] ?? ''),
    ])
  let cells = rows.map((row) => columns.map((column) => cellText(column, row)))
  if (
    columns.some((column) => column.short !== undefined) &&
    naturalRowWidth(columnTexts(cells)) > (terminal.columns ?? Infinity)
  )
    cells = rows.map((row) => columns.map((column) => cellText(column, row, true)))
  const widths = fitWidths(
    columnTexts(cells),
    terminal.columns,
    columns.map((column) => column.avoidsWrapping === true),
  )
  const styleGetter =
    (row: Row): StyleGetter =>
    (columnIndex) =>
      columns[columnIndex]?.style?.(row)
  const body = rows.map((row, index) => wrapRow(cells[index] ?? [], widths, styleGetter(row), terminal))
  return draw(hasHeader ? [wrapRow(headerTexts, widths, () => 'bold', terminal), ...body] : body, widths)
}

type StyleGetter = (columnIndex: number) => Style | undefined

/** Returns the lines of each cell of a row, wrapped to the width of the column and styled. */
function wrapRow(
  cells: readonly string[],
  widths: readonly number[],
  getStyle: StyleGetter,
  terminal: Terminal,
): string[][] {
  return cells.map((text, index) => {
    const width = widths[index] ?? 1
    const lines = stringWidth(text) <= width ? [text] : wrapCell(text, width)
    const style = getStyle(index)
    return style === undefined ? lines : lines.map((line) => styled(terminal, style, line))
  })
}

/** Wraps a text. A word wider than the column, such as a URL, is split after a punctuation character if it has any. */
function wrapCell(text: string, width: number): string[] {
  const [branch] = /^└ /.exec(text) ?? []
  if (branch !== undefined && width > 2 * minWidth) {
    const lines = wrapCell(text.slice(branch.length), width - branch.length)
    return lines.map((line, index) => (index === 0 ? branch : ' '.repeat(branch.length)) + line)
  }
  const withLineBreaks = text.replaceAll(/[!-~]+/g, (word) =>
    word.length <= width ? word : splitToWidth(word, width).join('\n'),
  )
  return wrapAnsi(withLineBreaks, width, { hard: true }).split('\n')
}

/** Splits a word into lines of up to `width` characters. A piece without punctuation may be longer. */
function splitToWidth(word: string, width: number): string[] {
  const lines: string[] = []
  for (const piece of splitAtPunctuation(word)) {
    const lastLine = lines.at(-1)
    if (lastLine !== undefined && lastLine.length + piece.length <= width)
      lines[lines.length - 1] = lastLine + piece
    else lines.push(piece)
  }
  return lines
}

/**
 * Splits a word after its punctuation characters, such as `olive@example.com` into `olive@` and
 * `example.com`.
 */
const splitAtPunctuation = (word: string): string[] =>
  word.match(/[^-@/:_=,;]*[-@/:_=,;]+|[^-@/:_=,;]+/g) ?? [word]

const uuid = /^\W*[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\W*$/

/** Splits a word for the second step of `fitWidths`. A UUID is not split, because users copy it. */
const splitUnlessUuid = (word: string): string[] => (uuid.test(word) ? [word] : splitAtPunctuation(word))

/**
 * Renders rows of cells, which are arrays of lines. Each line is a separate row of cli-table3, because
 * cli-table3 measures a whole cell again for each of its lines: a cell of 4,000 characters took 15 s.
 */
function draw(rows: readonly (readonly string[][])[], widths: readonly number[]): string {
  const lines = rows.flatMap((cells) =>
    Array.from({ length: Math.max(...cells.map((cell) => cell.length)) }, (_, line) =>
      cells.map((cell) => cell[line] ?? ''),
    ),
  )
  const tables: string[] = []
  for (let start = 0; start < lines.length; start += maxLinesPerTable) {
    const tableLines = lines.slice(start, start + maxLinesPerTable)
    // A line is wider than its column if a single character is. The column is widened, so that the line is not
    // truncated.
    const colWidths = widths.map(
      (width, index) =>
        Math.max(width, maxTextWidth(tableLines.map((line) => line[index] ?? ''))) + columnGap,
    )
    const cliTable = new Table({ ...borderless, colWidths })
    cliTable.push(...tableLines)
    tables.push(cliTable.toString())
  }
  return tables.join('\n').replace(/(?<! ) +$/gm, '')
}

/** Returns the text of a cell without control characters, or `-` if the value is missing. */
function cellText<Row>(column: Column<Row>, row: Row, isNarrow = false): string {
  const { isUncut } = column
  const clean = (text: string): string =>
    sanitize(nameColumn.test(column.name) ? shownName(text) : text, { isUncut })
  if (isNarrow && column.short !== undefined) return clean(column.short(row))
  if (column.show !== undefined) return clean(column.show(row))
  const value = cellValue(column, row)
  return value === null || value === undefined || value === '' ? '-' : clean(String(value))
}

/** Returns the width of a row without wrapped cells. `texts` contains the texts of each column. */
function naturalRowWidth(texts: readonly (readonly string[])[]): number {
  return texts.reduce((sum, each) => sum + maxTextWidth(each), 0) + columnGap * (texts.length - 1)
}

function maxTextWidth(texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, stringWidth(text)), 1)
}

/**
 * Returns widths of columns with which a row fits. Narrows the widest column first: down to its longest word, then to
 * its longest piece of a word (see `splitUnlessUuid`), then to `preferredMinWidth`, then to `minWidth`. Columns with
 * `avoidsWrapping` are narrowed last.
 */
function fitWidths(
  texts: readonly (readonly string[])[],
  terminalWidth: number | undefined,
  avoidsWrapping: readonly boolean[],
): number[] {
  const naturalWidths = texts.map((each) => maxTextWidth(each))
  if (terminalWidth === undefined || naturalRowWidth(texts) <= terminalWidth) return naturalWidths
  const widths = naturalWidths.map((width) => Math.min(width, terminalWidth))
  let excess = widths.reduce((sum, width) => sum + width, columnGap * (texts.length - 1)) - terminalWidth
  const words = texts.map((each) => each.flatMap((text) => text.split(' ')))
  const longestWords = words.map((each) => maxTextWidth(each))
  const longestPieces = words.map((each) => maxTextWidth(each.flatMap((word) => splitUnlessUuid(word))))
  const shrink = (minOf: (column: number) => number, canShrink: (column: number) => boolean): void => {
    while (excess > 0) {
      const candidates = widths.map((width, column) =>
        canShrink(column) && width > minOf(column) ? width : 0,
      )
      const widest = Math.max(...candidates)
      if (widest === 0) return
      widths[candidates.indexOf(widest)] = widest - 1
      excess -= 1
    }
  }
  const canWrap = (column: number): boolean => avoidsWrapping[column] !== true
  shrink((column) => Math.max(preferredMinWidth, longestWords[column] ?? 0), canWrap)
  shrink((column) => Math.max(preferredMinWidth, longestPieces[column] ?? 0), canWrap)
  shrink(() => preferredMinWidth, canWrap)
  shrink(() => minWidth, canWrap)
  shrink(
    () => minWidth,
    () => true,
  )
  return widths
}
