import { black, type Colour, isUnseen } from '../../domain/sheet/colour.ts'
import { showsText } from '../../domain/sheet/number-format.ts'
import { limits } from '../limits.ts'
import type { Archive } from './archive.ts'
import { builtInCode, isBuiltInDate } from './built-in-formats.ts'
import { type Palette, paletteOf } from './colours.ts'
import { isDateCode } from './dates.ts'
import { backgroundOf, type Fill, noFill, putFill, textColour } from './fills.ts'
import type { WorkbookParts } from './parts.ts'
import { RuleFormats } from './rule-formats.ts'
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
    striking: styles.rules.striking(palette),
    palette,
  }
}

const idOf = (text = '0'): number => Number(text)

class StylesPart {
  readonly styles: Attributes[] = []
  readonly rules = new RuleFormats()
  readonly ownColours: string[] = []
  readonly #codes = new Map<number, string>()
  readonly #fonts: Font[] = []
  readonly #fills: Fill[] = []
  #within: 'fonts' | 'fills' | 'cellXfs' | 'dxfs' | undefined

  readonly open = (tag: string, attributes: Attributes): void => {
    if (tag === 'fonts' || tag === 'fills' || tag === 'cellXfs' || tag === 'dxfs') this.#within = tag
    else if (this.#within === 'dxfs') this.rules.open(tag, attributes)
    else if (tag === 'numFmt') {
      this.#codes.set(idOf(attributes['numFmtId']), attributes['formatCode'] ?? '')
    } else if (tag === 'rgbColor') this.ownColours.push(attributes['rgb'] ?? '')
    else if (this.#within === 'fonts') this.#openFont(tag, attributes)
    else if (tag === 'fill') this.#fills.push(noFill())
    else if (this.#within === 'fills') putFill(this.#fills.at(-1), tag, attributes)
    else if (tag === 'xf' && this.#within === 'cellXfs') this.styles.push(attributes)
    const most = Math.max(this.styles.length, this.rules.count, this.#fonts.length, this.#fills.length)
    if (most > limits.styles) throw new Error('it has too many styles')
  }

  readonly close = (tag: string): void => {
    if (tag === this.#within) this.#within = undefined
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

function shownBy(id: number, code = ''): Pick<CellFormat, 'code' | 'date'> {
  if (code !== '') return { code, date: isDateCode(code) }
  return { code: builtInCode(id), date: isBuiltInDate(id) }
}
