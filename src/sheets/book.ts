import { type Cell, columnName, type MergedCells, textOf } from '../domain/sheet/cell.ts'
import type { LostPart } from '../domain/sheet/appearance.ts'
import { limits, refusal } from './limits.ts'

export interface BookRow {
  /** The sheet's own number, from 1. */
  number: number
  /** By column; a hole is an empty cell. */
  cells: Cell[]
  hidden: boolean
  /** Columns whose text is struck through. */
  struck: number[]
  /** Columns whose text has the colour of what it stands on. */
  unseen: number[]
  /** Whether a cell has a font, a colour or a border of its own. */
  adorned: boolean
}

/** What a sheet says of itself besides its rows, as far as it was read. */
export interface Findings {
  hiddenColumns: Set<number>
  merged: MergedCells[]
  /** What a rule may strike through: conditional formats are not evaluated. */
  struckByRule: MergedCells[]
  /** By column, in characters. */
  widths: Map<number, number>
  /** What is there and is not written again. */
  lost: Set<LostPart>
}

export function noFindings(): Findings {
  return {
    hiddenColumns: new Set(),
    merged: [],
    struckByRule: [],
    widths: new Map(),
    lost: new Set(),
  }
}

/** A sheet of a workbook of either kind. */
export interface BookSheet {
  name: string
  hidden: boolean
  found: Findings
  /** Rows that hold anything, from the first, as many at a time as a piece of the file has: often none. */
  rows: () => AsyncGenerator<BookRow[]>
}

export interface Book {
  format: 'xlsx' | 'ods'
  from1904: boolean
  sheets: BookSheet[]
}

export interface BookOptions {
  /** By name; needed where several hold something. */
  sheet: string | undefined
  /** Sheets that hold no data, unless asked for. */
  aside: readonly string[]
  /** As the spreadsheet counts, from 1. */
  headerRow: number | undefined
}

/** White space of this length is not looked through: a workbook may repeat one text in millions of cells. */
const maxWhiteSpace = 1000

/** Whether a row holds anything but white space. Throws for one that is too long, as of a CSV. */
export function hasContent(cells: readonly Cell[], row: number, name: string): boolean {
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
