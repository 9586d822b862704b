import stringWidth from 'fast-string-width'
import { wrapAnsi } from 'fast-wrap-ansi'

import { harmless } from '../host/text.ts'
import { type Style, styled, type Terminal } from './terminal.ts'
import type { Column } from './view.ts'

const gap = 2
/** Columns a cell is narrowed to as long as that is enough, and at the very least. */
const comfortable = 8
const narrowest = 3

/** Rows as aligned columns; cells wrap where the terminal is too narrow for them. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  terminal: Terminal,
  header = true,
): string {
  const head = columns.map((column) => column.name.replaceAll('_', ' ').toUpperCase())
  const cells = rows.map((row) => columns.map((column) => shown(column, row)))
  const widths = fit(
    columns.map((_, at) => longest([header ? (head[at] ?? '') : '', ...cells.map((row) => row[at] ?? '')])),
    terminal.columns,
    columns.map((column) => column.whole === true),
  )
  const drawn = (texts: readonly string[], style: (at: number) => Style | undefined): string[] =>
    beside(texts.map((text, at) => wrapped(text, widths[at] ?? 1, style(at), terminal)))
  return [
    ...(header ? drawn(head, () => 'bold') : []),
    ...rows.flatMap((row, at) => drawn(cells[at] ?? [], (place) => columns[place]?.style?.(row))),
  ].join('\n')
}

/** A cell's lines, as wide as its column and styled. */
interface DrawnCell {
  lines: string[]
  blank: string
}

function wrapped(text: string, width: number, style: Style | undefined, terminal: Terminal): DrawnCell {
  const lines = wrapAnsi(text, width, { hard: true })
    .split('\n')
    .map((line) => {
      const padding = ' '.repeat(Math.max(0, width - stringWidth(line)))
      return (style === undefined ? line : styled(terminal, style, line)) + padding
    })
  return { lines, blank: ' '.repeat(width) }
}

/** Cells of a row side by side, the shorter ones with blank lines below. */
function beside(cells: readonly DrawnCell[]): string[] {
  const height = Math.max(...cells.map((cell) => cell.lines.length))
  return Array.from({ length: height }, (_, at) =>
    cells
      .map((cell) => cell.lines[at] ?? cell.blank)
      .join(' '.repeat(gap))
      .trimEnd(),
  )
}

/** What a person sees of a value: words for what is missing, no control characters. */
function shown<Row>(column: Column<Row>, row: Row): string {
  if (column.show !== undefined) return harmless(column.show(row))
  const value = column.value(row)
  return value === null || value === undefined || value === '' ? '-' : harmless(String(value))
}

function longest(texts: readonly string[]): number {
  return Math.max(1, ...texts.map((text) => stringWidth(text)))
}

/** Takes from the widest columns until the row fits; from those that are kept whole only when nothing else is left. */
function fit(widths: readonly number[], available: number | undefined, whole: readonly boolean[]): number[] {
  if (available === undefined) return [...widths]
  const fitted = [...widths]
  let over = fitted.reduce((sum, each) => sum + each, 0) + gap * (fitted.length - 1) - available
  const shrink = (floor: number, mayShrink: (at: number) => boolean): void => {
    while (over > 0) {
      const candidates = fitted.map((width, at) => (mayShrink(at) && width > floor ? width : 0))
      const widest = Math.max(...candidates)
      if (widest === 0) return
      fitted[candidates.indexOf(widest)] = widest - 1
      over -= 1
    }
  }
  shrink(comfortable, (at) => whole[at] !== true)
  shrink(narrowest, (at) => whole[at] !== true)
  shrink(narrowest, () => true)
  return fitted
}
