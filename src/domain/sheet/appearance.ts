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
export interface SheetAppearance {
  /** By column, in characters. */
  widths: ReadonlyMap<number, number>
  /** What a rule may strike through: conditional formats are not evaluated. */
  struckByRule: readonly MergedCells[]
  lost: ReadonlySet<LostPart>
  /** Sheets other than the one that is read, by name. */
  otherSheets: readonly string[]
}

/** Red, green and blue, each from 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number]

export const black: Colour = [0, 0, 0]
export const white: Colour = [255, 255, 255]

/** Colours that differ by less in each part are one to the eye. */
const leastDifference = 16

/** Whether a text has the colour of its background: white letters on white. */
export function isUnseen(text: Colour, background: Colour): boolean {
  return text.every((part, at) => Math.abs(part - (background[at] ?? 0)) < leastDifference)
}

/** The colour of six hexadecimal digits, or of eight with the opacity first; undefined where it is none. */
export function colourIn(hex: string): Colour | undefined {
  const digits = /^(?:[\da-f]{2})?([\da-f]{6})$/i.exec(hex)?.[1]
  if (digits === undefined) return undefined
  const value = Number.parseInt(digits, 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

/** Lighter for a tint above 0, darker for one below it; from -1 to 1. */
export function applyTint(colour: Colour, tint: number): Colour {
  const part = (each: number): number =>
    tint < 0 ? each * (1 + Math.max(-1, tint)) : each + (255 - each) * Math.min(1, tint)
  return [part(colour[0]), part(colour[1]), part(colour[2])]
}
