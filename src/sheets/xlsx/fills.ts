import { black, type Colour, white } from '../../domain/sheet/colour.ts'
import { colourOf, type Palette } from './colours.ts'
import type { Attributes } from './xml.ts'

/** What stands behind a text: undefined where there is nothing, or what is no plain colour. */
export interface Fill {
  pattern: string | undefined
  front: Attributes | undefined
  back: Attributes | undefined
}

export const noFill = (): Fill => ({ pattern: undefined, front: undefined, back: undefined })

export function putFill(fill: Fill | undefined, tag: string, attributes: Attributes): void {
  if (fill === undefined) return
  if (tag === 'patternFill') fill.pattern = attributes['patternType'] ?? 'none'
  else if (tag === 'gradientFill') fill.pattern = tag
  else if (tag === 'fgColor') fill.front = attributes
  else if (tag === 'bgColor') fill.back = attributes
}

/** White where there is none; undefined where it is no plain colour, or one that is not known. */
export function backgroundOf(fill: Fill | undefined, palette: Palette): Colour | undefined {
  const { pattern = 'none', front } = fill ?? noFill()
  if (pattern === 'none') return white
  return pattern === 'solid' && front !== undefined ? colourOf(front, palette) : undefined
}

/** The colour of a text: black where it is left to the program; undefined for one that is not known. */
export function textColour(attributes: Attributes, palette: Palette): Colour | undefined {
  const { rgb, theme, indexed = '64' } = attributes
  return rgb === undefined && theme === undefined && indexed === '64' ? black : colourOf(attributes, palette)
}
