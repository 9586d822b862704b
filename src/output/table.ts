import Table from 'cli-table3'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

import { harmless } from '../host/text.ts'
import { type Style, styled, type Terminal } from './terminal.ts'
import type { Column } from './view.ts'

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

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
  const wrap = (text: string, at: number, style?: Style): string =>
    wrapAnsi(text, widths[at] ?? 1, { hard: true })
      .split('\n')
      .map((line) => (style === undefined ? line : styled(terminal, style, line)))
      .join('\n')
  const drawn = new Table({
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colWidths: widths,
  })
  if (header) drawn.push(head.map((name, at) => wrap(name, at, 'bold')))
  for (const [at, row] of rows.entries()) {
    drawn.push(columns.map((column, place) => wrap(cells[at]?.[place] ?? '', place, column.style?.(row))))
  }
  return drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
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
