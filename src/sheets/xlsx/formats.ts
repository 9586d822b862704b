import { black, type Colour, colourIn, isUnseen, applyTint, white } from '../../domain/sheet/appearance.ts'
import { showsText } from '../../domain/sheet/number-format.ts'
import { limits } from '../sheet.ts'
import { type Archive, type Attributes, isOn, readXml } from '../book.ts'
import type { WorkbookParts } from './parts.ts'

export interface CellFormat {
  code: string
  date: boolean
  /** Whether texts are shown as they are. */
  plain: boolean
  struck: boolean
  /** Whether the text has the colour of its background. */
  unseen: boolean
  /** Undefined where it is no plain one. */
  background: Colour | undefined
  /** Whether it has a font, a colour or a border of its own. */
  adorned: boolean
}

interface Font {
  struck: boolean
  colour: Attributes
  /** Its other properties, as one text to compare. */
  style: string
}

interface CellFormats {
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
    const largest = Math.max(this.styles.length, this.rules.count, this.#fonts.length, this.#fills.length)
    if (largest > limits.styles) throw new Error('it has too many styles')
  }

  readonly close = (tag: string): void => {
    if (tag === this.#within) this.#within = undefined
  }

  #openFont(tag: string, attributes: Attributes): void {
    const font = this.#fonts.at(-1)
    if (tag === 'font') this.#fonts.push({ struck: false, colour: {}, style: '' })
    else if (tag === 'strike' && font !== undefined) font.struck = isOn(attributes)
    else if (font !== undefined && font.style.length < 1000) {
      if (tag === 'color') font.colour = attributes
      font.style += tag + JSON.stringify(Object.entries(attributes))
    }
  }

  formatOf({ numFmtId, fontId, fillId, borderId }: Attributes, palette: Palette): CellFormat {
    const id = idOf(numFmtId)
    const font = this.#fonts[idOf(fontId)]
    const isPlain =
      // The first two fills are none and an unused pattern.
      idOf(fillId) < 2 && idOf(borderId) === 0 && (font === undefined || font.style === this.#fonts[0]?.style)
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

/**
 * Built-in formats (ECMA-376 part 1, 18.8.30) as their codes in English. In other languages they show the same
 * digits with other separators and words.
 */
const codes: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);("$"#,##0)',
  6: '"$"#,##0_);[Red]("$"#,##0)',
  7: '"$"#,##0.00_);("$"#,##0.00)',
  8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);[Red](#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);[Red](#,##0.00)',
  41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
}

/** Those that each language lays out again, though it shows the same parts of the date. */
const local: Readonly<Record<number, string>> = {
  14: 'yyyy-mm-dd',
  22: 'yyyy-mm-dd hh:mm',
  30: 'yyyy-mm-dd',
  31: 'yyyy-mm-dd',
}

const ids = new Map(Object.entries(codes).map(([id, code]) => [code, Number(id)]))

/** Dates and times of Chinese, Japanese and Korean, each showing other parts of it in each language. */
const isEastern = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/**
 * The code of a format by its number. One that depends on the language has its number in brackets, so that
 * `builtInId` finds it again; what it shows is not known then.
 */
function builtInCode(id: number): string {
  const code = codes[id]
  if (code !== undefined) return code
  if (local[id] !== undefined || isEastern(id) || (id >= 59 && id <= 81)) {
    return `[built-in ${id}]${local[id] ?? ''}`
  }
  return 'General'
}

/** The number of a built-in format; undefined for any other. */
export function builtInId(code: string): number | undefined {
  const marked = /^\[built-in (\d{2})\]/.exec(code)?.[1]
  return marked === undefined ? ids.get(code) : Number(marked)
}

/** Whether a built-in format is one of dates or times. */
function isBuiltInDate(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 45 && id <= 47) || isEastern(id)
}

/** Whether numbers in a format of this code are shown as dates or times, whichever number it is. */
function isDateCode(code: string): boolean {
  if (/\[[<>=]/.test(code)) return false
  const [positive = ''] = code.slice(0, 300).split(';')
  const bare = positive
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .replaceAll(/general|e[+-]/gi, '')
  return /[dmyhse]/i.test(bare)
}

const day = 86_400_000

/** Whole days of a serial as the workbook counts them, seconds to the nearest. */
export function dateText(serial: number, from1904: boolean): string | undefined {
  // Just before midnight is not the day after, unless it is so near that only a computer distinguishes them.
  const today = Math.floor(serial + 2e-8)
  const seconds = Math.min(Math.round(serial * 86_400), today * 86_400 + 86_399)
  if (serial < 0 || serial >= 2_958_466 || !Number.isFinite(serial)) return undefined
  const days = Math.floor(seconds / 86_400)
  const time = seconds % 86_400
  const clock = new Date(time * 1000).toISOString().slice(11, 19)
  if (days === 0 && !from1904) return time === 0 ? undefined : clock
  // Serial 60 is 29 February 1900, which Excel has and the calendar has not.
  if (days === 60 && !from1904) return undefined
  const epoch = from1904 ? Date.UTC(1904, 0, 1) : days < 60 ? Date.UTC(1899, 11, 31) : Date.UTC(1899, 11, 30)
  const date = new Date(epoch + days * day).toISOString().slice(0, 10)
  return time === 0 ? date : `${date}T${clock}`
}

/** What is behind a text: undefined where there is nothing, or what is no plain colour. */
interface Fill {
  pattern: string | undefined
  front: Attributes | undefined
  back: Attributes | undefined
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

/** Colours that others refer to by number. */
export interface Palette {
  /** Of the theme: light, dark, light, dark and six accents, as cells count them. */
  theme: readonly (Colour | undefined)[]
  indexed: readonly (Colour | undefined)[]
}

/** ECMA-376 part 1, 18.8.27: the first eight come twice; the last two are those of the system. */
const basic = '000000 FFFFFF FF0000 00FF00 0000FF FFFF00 FF00FF 00FFFF'
const further =
  '800000 008000 000080 808000 800080 008080 C0C0C0 808080 9999FF 993366 FFFFCC CCFFFF 660066 FF8080 0066CC CCCCFF ' +
  '000080 FF00FF FFFF00 00FFFF 800080 800000 008080 0000FF 00CCFF CCFFFF CCFFCC FFFF99 99CCFF FF99CC CC99FF FFCC99 ' +
  '3366FF 33CCCC 99CC00 FFCC00 FF9900 FF6600 666699 969696 003366 339966 003300 333300 993300 993366 333399 333333'
const indexedColours = `${basic} ${basic} ${further} 000000 FFFFFF`.split(' ').map(colourIn)

/** What a workbook without a theme has. */
const officeTheme = ['FFFFFF', '000000', 'E7E6E6', '44546A'].map(colourIn)

/** A colour as an element names it (CT_Color); undefined for one that the program chooses, or that is not known. */
function colourOf(attributes: Attributes, { theme, indexed }: Palette): Colour | undefined {
  const { rgb, theme: ofTheme, indexed: index, tint = '0' } = attributes
  const colour =
    rgb !== undefined
      ? colourIn(rgb)
      : ofTheme !== undefined
        ? theme[Number(ofTheme)]
        : index !== undefined
          ? indexed[Number(index)]
          : undefined
  const by = Number(tint)
  return colour === undefined || Number.isNaN(by) ? undefined : applyTint(colour, by)
}

/** The palette of a workbook; `own`: colours that its styles define instead of the usual ones. */
async function paletteOf(
  archive: Archive,
  part: string | undefined,
  name: string,
  own: readonly string[],
): Promise<Palette> {
  const indexed = own.length === 0 ? indexedColours : own.map(colourIn)
  if (part === undefined) return { theme: officeTheme, indexed }
  const found = new Map<string, Colour | undefined>()
  let of: string | undefined
  await readXml(archive, part, name, {
    spaces: new Map([
      ['http://schemas.openxmlformats.org/drawingml/2006/main', ''],
      ['http://purl.oclc.org/ooxml/drawingml/main', ''],
    ]),
    open(tag, { val = '', lastClr = val }) {
      if (names.includes(tag)) of = tag
      else if (of !== undefined && (tag === 'srgbClr' || tag === 'sysClr') && !found.has(of)) {
        found.set(of, colourIn(tag === 'sysClr' ? lastClr : val))
      }
    },
    close(tag) {
      if (tag === of) of = undefined
    },
  })
  return { theme: names.map((each) => found.get(each)), indexed }
}

/** As cells count them: the light ones first. */
const names = [
  'lt1',
  'dk1',
  'lt2',
  'dk2',
  'accent1',
  'accent2',
  'accent3',
  'accent4',
  'accent5',
  'accent6',
  'hlink',
  'folHlink',
]

/** What a rule applies instead of a cell's own format. */
interface Rule {
  struck: boolean
  /** Whether it has a number format, which shows the value otherwise. */
  formatted: boolean
  colour: Attributes | undefined
  fill: Fill | undefined
}

/** Formats of rules (`dxf`), as their elements come. */
export class RuleFormats {
  readonly #rules: Rule[] = []
  /** Whether the elements of a rule that are read now are of its font. */
  #ofFont = false

  get count(): number {
    return this.#rules.length
  }

  open(tag: string, attributes: Attributes): void {
    const rule = this.#rules.at(-1)
    if (tag === 'font' || tag === 'fill' || tag === 'border') this.#ofFont = tag === 'font'
    if (tag === 'dxf')
      this.#rules.push({ struck: false, formatted: false, colour: undefined, fill: undefined })
    else if (rule === undefined) return
    else if (tag === 'strike') rule.struck = isOn(attributes)
    else if (tag === 'numFmt') rule.formatted = true
    else if (tag === 'fill') rule.fill = noFill()
    else if (tag === 'color' && this.#ofFont) rule.colour = attributes
    else putFill(rule.fill, tag, attributes)
  }

  /** Those that strike through, hide or show values otherwise, by their index. */
  striking(palette: Palette): Set<number> {
    return new Set([...this.#rules.keys()].filter((at) => changes(this.#rules[at], palette)))
  }
}

/** Whether cells are seen otherwise under a rule. Its fill is the background colour (18.8.14, `dxf`). */
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
