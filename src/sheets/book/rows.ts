import { limits } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { type Cell, columnName } from '../../domain/sheet/cell.ts'

/** Whether a row holds anything but white space. */
export function holdsAnything(cells: readonly Cell[]): boolean {
  return cells.some((cell) => typeof cell !== 'string' || cell.trim() !== '')
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
