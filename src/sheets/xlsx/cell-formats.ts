import { black, type Colour, isUnseen, white } from '../../domain/sheet/colour.ts'
import { showsText } from '../../domain/sheet/number-format.ts'
import { limits } from '../limits.ts'
import type { Archive } from './archive.ts'
import { builtInCode, isBuiltInDate } from './built-in-formats.ts'
import { colourOf, type Palette, paletteOf } from './colours.ts'
import { isDateCode } from './dates.ts'
import type { WorkbookParts } from './parts.ts'
import { type Attributes, isOn, readXml } from './xml.ts'

export interface CellFormat {
  code: string
  date: boolean
  /** Whether texts are shown as they are. */
  plain: boolean
  struck: boolean
  /** Whether the text has the colour of what it stands on. */
  unseen: boolean
  /** Undefined where it is no plain one. */
  background: Colour | undefined
  /** Whether it has a font, a colour or a border of its own. */
  adorned: boolean
}

interface Font {
  struck: boolean
  colour: Attributes
  /** What is said of it besides. */
  look: string
}

/** What stands behind a text: undefined where there is nothing, or what is no plain colour. */
interface Fill {
  pattern: string | undefined
  front: Attributes | undefined
  back: Attributes | undefined
}

/** What a rule puts in place of a cell's own. */
interface Rule {
  struck: boolean
  /** Whether it has a number format, which shows the value otherwise. */
  formatted: boolean
  colour: Attributes | undefined
  fill: Fill | undefined
}

export interface CellFormats {
  /** Of each cell style, by its index. */
  formats: readonly CellFormat[]
  /** Formats of rules that strike through, hide or show values otherwise, by their index. */
  striking: ReadonlySet<number>
  palette: Palette
}

export async function cellFormats(
  archive: Archive,
  { styles: part, theme }: Pick<WorkbookParts, 'styles' | 'theme'>,
  name: string,
): Promise<CellFormats> {
  const styles = new StylesPart()
  if (part !== undefined) await readXml(archive, part, name, styles)
  const palette = await paletteOf(archive, theme, name, styles.ownColours)
  return {
    formats: styles.styles.map((style) => styles.formatOf(style, palette)),
    striking: new Set([...styles.rules.keys()].filter((at) => changes(styles.rules[at], palette))),
    palette,
  }
}

const idOf = (text = '0'): number => Number(text)

class StylesPart {
  readonly styles: Attributes[] = []
  readonly rules: Rule[] = []
  readonly ownColours: string[] = []
  readonly #codes = new Map<number, string>()
  readonly #fonts: Font[] = []
  readonly #fills: Fill[] = []
  /** Whether what a rule says now is said of its font. */
  #ofFont = false
  #within: 'fonts' | 'fills' | 'cellXfs' | 'dxfs' | undefined

  readonly open = (tag: string, attributes: Attributes): void => {
    if (tag === 'fonts' || tag === 'fills' || tag === 'cellXfs' || tag === 'dxfs') this.#within = tag
    else if (this.#within === 'dxfs') this.#openRule(tag, attributes)
    else if (tag === 'numFmt') {
      this.#codes.set(idOf(attributes['numFmtId']), attributes['formatCode'] ?? '')
    } else if (tag === 'rgbColor') this.ownColours.push(attributes['rgb'] ?? '')
    else if (this.#within === 'fonts') this.#openFont(tag, attributes)
    else if (tag === 'fill') this.#fills.push(noFill())
    else if (this.#within === 'fills') putFill(this.#fills.at(-1), tag, attributes)
    else if (tag === 'xf' && this.#within === 'cellXfs') this.styles.push(attributes)
    const most = Math.max(this.styles.length, this.rules.length, this.#fonts.length, this.#fills.length)
    if (most > limits.styles) throw new Error('it has too many styles')
  }

  readonly close = (tag: string): void => {
    if (tag === this.#within) this.#within = undefined
  }

  #openRule(tag: string, attributes: Attributes): void {
    const rule = this.rules.at(-1)
    if (tag === 'font' || tag === 'fill' || tag === 'border') this.#ofFont = tag === 'font'
    if (tag === 'dxf')
      this.rules.push({ struck: false, formatted: false, colour: undefined, fill: undefined })
    else if (rule === undefined) return
    else if (tag === 'strike') rule.struck = isOn(attributes)
    else if (tag === 'numFmt') rule.formatted = true
    else if (tag === 'fill') rule.fill = noFill()
    else if (tag === 'color' && this.#ofFont) rule.colour = attributes
    else putFill(rule.fill, tag, attributes)
  }

  #openFont(tag: string, attributes: Attributes): void {
    const font = this.#fonts.at(-1)
    if (tag === 'font') this.#fonts.push({ struck: false, colour: {}, look: '' })
    else if (tag === 'strike' && font !== undefined) font.struck = isOn(attributes)
    else if (font !== undefined && font.look.length < 1000) {
      if (tag === 'color') font.colour = attributes
      font.look += tag + JSON.stringify(Object.entries(attributes))
    }
  }

  formatOf({ numFmtId, fontId, fillId, borderId }: Attributes, palette: Palette): CellFormat {
    const id = idOf(numFmtId)
    const font = this.#fonts[idOf(fontId)]
    const isPlain =
      // The first two fills are none and a pattern that nobody uses.
      idOf(fillId) < 2 && idOf(borderId) === 0 && (font === undefined || font.look === this.#fonts[0]?.look)
    const { code, date } = shownBy(id, this.#codes.get(id))
    const background = backgroundOf(this.#fills[idOf(fillId)], palette)
    const colour = font === undefined ? black : textColour(font.colour, palette)
    return {
      code,
      date,
      plain: showsText(code),
      struck: font?.struck === true,
      unseen: background !== undefined && colour !== undefined && isUnseen(colour, background),
      background,
      adorned: !isPlain,
    }
  }
}

const noFill = (): Fill => ({ pattern: undefined, front: undefined, back: undefined })

function putFill(fill: Fill | undefined, tag: string, attributes: Attributes): void {
  if (fill === undefined) return
  if (tag === 'patternFill') fill.pattern = attributes['patternType'] ?? 'none'
  else if (tag === 'gradientFill') fill.pattern = tag
  else if (tag === 'fgColor') fill.front = attributes
  else if (tag === 'bgColor') fill.back = attributes
}

/** White where there is none; undefined where it is no plain colour, or one that is not known. */
function backgroundOf(fill: Fill | undefined, palette: Palette): Colour | undefined {
  const { pattern = 'none', front } = fill ?? noFill()
  if (pattern === 'none') return white
  return pattern === 'solid' && front !== undefined ? colourOf(front, palette) : undefined
}

/** The colour of a text: black where it is left to the program; undefined for one that is not known. */
export function textColour(attributes: Attributes, palette: Palette): Colour | undefined {
  const { rgb, theme, indexed = '64' } = attributes
  return rgb === undefined && theme === undefined && indexed === '64' ? black : colourOf(attributes, palette)
}

/** Whether cells are seen otherwise under a rule. What it fills them with stands at its back (18.8.14, `dxf`). */
function changes(rule: Rule | undefined, palette: Palette): boolean {
  if (rule === undefined || rule.struck || rule.formatted) return rule !== undefined
  const { colour, fill } = rule
  if (colour === undefined && fill === undefined) return false
  const isPlain = ['none', 'solid', undefined].includes(fill?.pattern)
  const behind = fill?.back ?? fill?.front
  const background = behind === undefined ? white : colourOf(behind, palette)
  const front = textColour(colour ?? {}, palette)
  return isPlain && background !== undefined && front !== undefined && isUnseen(front, background)
}

function shownBy(id: number, code = ''): Pick<CellFormat, 'code' | 'date'> {
  if (code !== '') return { code, date: isDateCode(code) }
  return { code: builtInCode(id), date: isBuiltInDate(id) }
}
