import type { Archive } from './archive.ts'
import { type CellContext, cellOf, type RawCell } from './cells.ts'
import { type Cell, columnName } from '../../domain/sheet/cell.ts'
import { limits } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { type Attributes, xmlChunks } from './xml.ts'

export interface XlsxRow {
  /** The sheet's own number, from 1. */
  number: number
  /** By column; a hole is an empty cell. */
  cells: Cell[]
}

export interface SheetPlace {
  part: string
  name: string
  context: CellContext
}

/** The rows of a sheet that hold anything, in order, as they are inflated; at the end what was merged. */
export async function* sheetRows(
  archive: Archive,
  { part, name, context }: SheetPlace,
): AsyncGenerator<XlsxRow[]> {
  const walk = new Walk(name, context)
  for await (const _ of xmlChunks(archive, part, name, walk, limits.sheetBytes)) {
    if (walk.rows.length > 0) yield walk.rows.splice(0)
  }
  const merged = walk.merged.find((range) => touches(range, walk.lastRow))
  if (merged === undefined) return
  throw refusal(
    name,
    `the cells ${merged} are merged, so which row the value belongs to is not said`,
    'Unmerge them, and give every row its own value.',
  )
}

function touches(range: string, lastRow: number): boolean {
  const row = /^[A-Z]+(\d+)/.exec(range)?.[1]
  return row === undefined || Number(row) <= lastRow
}

class Walk {
  readonly rows: XlsxRow[] = []
  readonly merged: string[] = []
  /** The last row that holds anything. */
  lastRow = 0
  readonly #name: string
  readonly #context: CellContext
  #row: XlsxRow = { number: 0, cells: [] }
  #column = -1
  #raw: RawCell | undefined
  /** Where texts go now. */
  #into: 'text' | 'formula' | undefined
  #aloud = 0

  constructor(name: string, context: CellContext) {
    this.#name = name
    this.#context = context
  }

  readonly open = (tag: string, attributes: Attributes): void => {
    switch (tag) {
      case 'row':
        return this.#openRow(attributes['r'])
      case 'c':
        return this.#openCell(attributes)
      case 'v':
      case 't':
        if (this.#raw !== undefined && this.#aloud === 0) {
          this.#raw.hasValue = true
          this.#into = 'text'
        }
        return
      case 'f':
        if (this.#raw !== undefined) {
          this.#raw.formula = ''
          this.#into = 'formula'
        }
        return
      case 'rPh':
        this.#aloud += 1
        return
      case 'mergeCell':
        this.merged.push(attributes['ref'] ?? '')
    }
  }

  readonly text = (piece: string): void => {
    if (this.#raw === undefined || this.#into === undefined) return
    if (this.#into === 'text') this.#raw.text += piece
    else this.#raw.formula = (this.#raw.formula ?? '') + piece
  }

  readonly close = (tag: string): void => {
    switch (tag) {
      case 'v':
      case 't':
      case 'f':
        this.#into = undefined
        return
      case 'rPh':
        this.#aloud -= 1
        return
      case 'c':
        return this.#closeCell()
      case 'row':
        if (this.#row.cells.length === 0) return
        this.lastRow = this.#row.number
        this.rows.push(this.#row)
    }
  }

  #openRow(text: string | undefined): void {
    const number = text === undefined ? this.#row.number + 1 : Number(text)
    if (!Number.isInteger(number) || number <= this.#row.number || number > 1_048_576) {
      throw this.#damaged(`row ${String(text).slice(0, 20)} after row ${String(this.#row.number)}`)
    }
    this.#row = { number, cells: [] }
    this.#column = -1
  }

  #openCell({ r, t = 'n', s = '0' }: Attributes): void {
    const column = r === undefined ? this.#column + 1 : this.#columnOf(r)
    if (column <= this.#column) throw this.#damaged(`cell ${String(r)} out of its place`)
    this.#column = column
    this.#raw = { type: t, style: Number(s), text: '', hasValue: false, formula: undefined }
  }

  #columnOf(name: string): number {
    let column = 0
    let at = 0
    for (; at < 3; at += 1) {
      const code = name.charCodeAt(at)
      if (code < 65 || code > 90 || Number.isNaN(code)) break
      column = column * 26 + code - 64
    }
    if (at === 0 || column > 16_384 || Number(name.slice(at)) !== this.#row.number) {
      throw this.#damaged(`cell ${name.slice(0, 20)} in row ${String(this.#row.number)}`)
    }
    return column - 1
  }

  #closeCell(): void {
    const raw = this.#raw
    this.#raw = undefined
    if (raw === undefined) return
    const cell = cellOf(raw, this.#context)
    if (cell === '') return
    if (this.#column >= limits.columns) {
      throw refusal(
        this.#name,
        `cell ${columnName(this.#column)}${String(this.#row.number)} lies beyond the ${String(limits.columns)} columns that are read`,
        'Empty it, or leave out what is not about the requests.',
      )
    }
    this.#row.cells[this.#column] = cell
  }

  #damaged(what: string) {
    return refusal(
      this.#name,
      `it is a damaged workbook (${what})`,
      'Open it in a spreadsheet and save it anew.',
    )
  }
}
