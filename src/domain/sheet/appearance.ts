import type { MergedCells } from './cell.ts'

/** Parts of a sheet that refcheck does not write, so that a results file in XLSX loses them. */
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

/** The appearance of a sheet of a workbook. It is complete only after all rows were read. */
export interface SheetAppearance {
  /** Widths in characters, by column. */
  widths: ReadonlyMap<number, number>
  /** Cells that a conditional format may strike through. Conditional formats are not evaluated. */
  struckByConditionalFormat: readonly MergedCells[]
  lost: ReadonlySet<LostPart>
  /** Names of the sheets that are not read. */
  otherSheets: readonly string[]
}

/** Red, green and blue, each from 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number]

export const black: Colour = [0, 0, 0]
export const white: Colour = [255, 255, 255]

/** Colours whose parts all differ by less than this look the same. */
const minVisibleDifference = 16

/** Whether two colours look the same, so that a text in one is invisible on a background in the other. */
export function isSameColour(text: Colour, background: Colour): boolean {
  return text.every((part, index) => Math.abs(part - (background[index] ?? 0)) < minVisibleDifference)
}

/** Parses six hexadecimal digits, or eight with the opacity first. Returns undefined for another text. */
export function parseColour(hex: string): Colour | undefined {
  const digits = /^(?:[\da-f]{2})?([\da-f]{6})$/i.exec(hex)?.[1]
  if (digits === undefined) return undefined
  const value = Number.parseInt(digits, 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

/** Returns a lighter colour for a tint from 0 to 1, and a darker one for a tint from -1 to 0. */
export function applyTint(colour: Colour, tint: number): Colour {
  const tinted = (part: number): number =>
    tint < 0 ? part * (1 + Math.max(-1, tint)) : part + (255 - part) * Math.min(1, tint)
  return [tinted(colour[0]), tinted(colour[1]), tinted(colour[2])]
}
