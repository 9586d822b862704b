import type { MergedCells } from './cell.ts'

/** What a program shows of a sheet and a workbook of ours does not have. */
export type LostPart =
  | 'formulas'
  | 'fonts and colours'
  | 'row heights'
  | 'comments'
  | 'pictures'
  | 'merged cells'
  | 'filters'
  | 'tables'
  | 'conditional formats'
  | 'data validations'
  | 'date formats'
  | 'links'
  | 'lines above the header'

/** What a workbook's sheet shows besides its values; final once all of its rows were read. */
export interface SheetLook {
  /** By column, in characters. */
  widths: ReadonlyMap<number, number>
  /** What a rule may strike through: conditional formats are not evaluated. */
  struckByRule: readonly MergedCells[]
  lost: ReadonlySet<LostPart>
  /** Sheets beside the one that is read, by name. */
  otherSheets: readonly string[]
}
