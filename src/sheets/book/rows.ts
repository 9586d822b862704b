import { limits } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { type Cell, columnName, textOf } from '../../domain/sheet/cell.ts'

/** White space of this length is not looked through: a workbook may repeat one text in millions of cells. */
const maxWhiteSpace = 1000

/** Whether a row holds anything but white space. Throws for one that is too long, as of a CSV. */
export function holdsAnything(cells: readonly Cell[], row: number, name: string): boolean {
  const characters = cells.reduce((sum, cell) => sum + textOf(cell).length, 0)
  if (characters > limits.rowCharacters) {
    throw refusal(name, `row ${String(row)} is longer than 1 MiB`, 'Shorten its cells.')
  }
  return cells.some((cell) => typeof cell !== 'string' || cell.length > maxWhiteSpace || cell.trim() !== '')
}

/** A cell further out than any table of people. */
export function beyondColumns(name: string, column: number, row: number) {
  return refusal(
    name,
    `cell ${columnName(column)}${String(row)} lies beyond the ${String(limits.columns)} columns that are read`,
    'Empty it, or leave out what is not about the requests.',
  )
}

/** A number that a sheet without zeros does not show. */
export function asShownWithoutZeros(cell: Cell): Cell {
  const isZero = typeof cell === 'object' && cell.kind === 'number' && cell.value === 0
  return isZero ? { kind: 'fault', text: '0', reason: 'is 0, and the sheet shows no zeros' } : cell
}
