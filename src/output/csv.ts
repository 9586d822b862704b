import { stringify } from 'csv-stringify/sync'

import { marked } from '../domain/sheet/formula.ts'
import { sanitize } from '../host/text.ts'
import type { Cell } from './view.ts'

/**
 * RFC 4180, with `\n` line ends. A cell that a spreadsheet would run as a formula gets an apostrophe
 * before it; phone numbers and numbers are left, so that `+61412345678` reads back as itself. What a terminal
 * would obey is harmless, as in a table.
 */
export function csv(rows: readonly (readonly Cell[])[]): string {
  return stringify(
    rows.map((row) => row.map(csvCell)),
    { quoted_string: false },
  )
}

function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  const parts = String(cell).split('\t')
  return marked(parts.map((part) => sanitize(part, { lines: true })).join('\t'))
}
