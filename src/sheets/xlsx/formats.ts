import {
  black,
  type Colour,
  parseColour,
  isSameColour,
  applyTint,
  white,
} from '../../domain/sheet/appearance.ts'
import { showsText } from '../../domain/sheet/number-format.ts'
import { limits } from '../sheet.ts'
import { type Archive, type Attributes, isPropertySet, readXml } from '../book.ts'
import type { WorkbookParts } from './parts.ts'

export interface CellFormat {
  /** Code of the number format, such as `0.00`. */
  code: string
  isDate: boolean
  /** Whether the format shows texts unchanged. */
  showsTextUnchanged: boolean
  isStruckThrough: boolean
  /** Whether the text has the colour of its background. */
  isInvisible: boolean
  /** Undefined if it is not one known colour. */
  background: Colour | undefined
  /** Whether the style itself sets a font, a colour or a border. */
  isDecorated: boolean
}

interface Font {
  isStruckThrough: boolean
  colour: Attributes
  /** All properties except strike-through as one text, for comparison. */
  style: string
}

interface CellFormats {
  /** Formats of the cell styles, by style index. */
  formats: readonly CellFormat[]
  /** Indexes of the conditional formats that strike a value through, hide it or show it differently. */
  alteringRules: ReadonlySet<number>
  palette: Palette
}

export async function readCellFormats(
  archive: Archive,
  { stylesPart: part, themePart }: Pick<WorkbookParts, 'stylesPart' | 'themePart'>,
  name: string,
): Promise<CellFormats> {
  const styles = new StylesPart()
  if (part !== undefined) await readXml(archive, part, name, styles)
  const palette = await readPalette(archive, themePart, name, styles.customColours)
  return {
    formats: styles.styles.map((style) => styles.resolveFormat(style, palette)),
    alteringRules: styles.ruleFormats.findAlteringRules(palette),
    palette,
  }
}

const toId = (text = '0'): number => Number(text)

class StylesPart {
  /** Attributes of the cell styles (`xf`), by style index. */
  readonly styles: Attributes[] = []
  readonly ruleFormats = new RuleFormats()
  /** Colours that replace the usual indexed colours, in the order of their indexes. */
  readonly customColours: string[] = []
  /** Codes of the number formats that the workbook defines, by id. */
  readonly #customCodes = new Map<number, string>()
  readonly #fonts: Font[] = []
  readonly #fills: Fill[] = []
  /** The list whose elements are being read. */
  #section: 'fonts' | 'fills' | 'cellXfs' | 'dxfs' | undefined

  readonly open = (tag: string, attributes: Attributes): void => {
    if (tag === 'fonts' || tag === 'fills' || tag === 'cellXfs' || tag === 'dxfs') this.#section = tag
    else if (this.#section === 'dxfs') this.ruleFormats.open(tag, attributes)
    else if (tag === 'numFmt') {
      this.#customCodes.set(toId(attributes['numFmtId']), attributes['formatCode'] ?? '')
    } else if (tag === 'rgbColor') this.customColours.push(attributes['rgb'] ?? '')
    else if (this.#section === 'fonts') this.#openFont(tag, attributes)
    else if (tag === 'fill') this.#fills.push(emptyFill())
    else if (this.#section === 'fills') readFillElement(this.#fills.at(-1), tag, attributes)
    else if (tag === 'xf' && this.#section === 'cellXfs') this.styles.push(attributes)
    const largestCount = Math.max(
      this.styles.length,
      this.ruleFormats.count,
      this.#fonts.length,
      this.#fills.length,
    )
    if (largestCount > limits.cellStyles) throw new Error('it has too many styles')
  }

  readonly close = (tag: string): void => {
    if (tag === this.#section) this.#section = undefined
  }

  #openFont(tag: string, attributes: Attributes): void {
    const font = this.#fonts.at(-1)
    if (tag === 'font') this.#fonts.push({ isStruckThrough: false, colour: {}, style: '' })
    else if (tag === 'strike' && font !== undefined) font.isStruckThrough = isPropertySet(attributes)
    else if (font !== undefined && font.style.length < 1000) {
      if (tag === 'color') font.colour = attributes
      font.style += tag + JSON.stringify(Object.entries(attributes))
    }
  }

  resolveFormat({ numFmtId, fontId, fillId, borderId }: Attributes, palette: Palette): CellFormat {
    const id = toId(numFmtId)
    const font = this.#fonts[toId(fontId)]
    const isUndecorated =
      // Fills 0 and 1 are reserved: "no fill", and a pattern that no style uses.
      toId(fillId) < 2 && toId(borderId) === 0 && (font === undefined || font.style === this.#fonts[0]?.style)
    const { code, isDate } = numberFormatOf(id, this.#customCodes.get(id))
    const background = backgroundColour(this.#fills[toId(fillId)], palette)
    const colour = font === undefined ? black : textColour(font.colour, palette)
    return {
      code,
      isDate,
      showsTextUnchanged: showsText(code),
      isStruckThrough: font?.isStruckThrough === true,
      isInvisible: background !== undefined && colour !== undefined && isSameColour(colour, background),
      background,
      isDecorated: !isUndecorated,
    }
  }
}

function numberFormatOf(id: number, code = ''): Pick<CellFormat, 'code' | 'isDate'> {
  if (code !== '') return { code, isDate: isDateCode(code) }
  return { code: builtInCode(id), isDate: isBuiltInDate(id) }
}

/**
 * Built-in formats (ECMA-376 part 1, 18.8.30) with their codes in English. Programs in other languages show the same
 * digits with other separators and words.
 */
const builtInCodes: Readonly<Record<number, string>> = {
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

/**
 * Built-in date formats that show the same parts of the date in every language, in an order that depends on the
 * language of the program.
 */
const localisedCodes: Readonly<Record<number, string>> = {
  14: 'yyyy-mm-dd',
  22: 'yyyy-mm-dd hh:mm',
  30: 'yyyy-mm-dd',
  31: 'yyyy-mm-dd',
}

const builtInIds = new Map(Object.entries(builtInCodes).map(([id, code]) => [code, Number(id)]))

/**
 * Whether the format is a Chinese, Japanese or Korean date or time. Which parts of the date it shows depends on the
 * language of the program.
 */
const isEastAsianDate = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58)

/**
 * Returns the code of a built-in format. For a format that depends on the language, the code starts with
 * `[built-in N]`, a marker of refcheck (not of XLSX) from which `builtInId` reads the number. For an id in
 * `localisedCodes`, the code of that table follows the marker.
 */
function builtInCode(id: number): string {
  const code = builtInCodes[id]
  if (code !== undefined) return code
  if (localisedCodes[id] !== undefined || isEastAsianDate(id) || (id >= 59 && id <= 81)) {
    return `[built-in ${id}]${localisedCodes[id] ?? ''}`
  }
  return 'General'
}

/** Returns the number of a built-in format; undefined for any other code. */
export function builtInId(code: string): number | undefined {
  const marked = /^\[built-in (\d{2})\]/.exec(code)?.[1]
  return marked === undefined ? builtInIds.get(code) : Number(marked)
}

/** Whether a built-in format shows a value as a date or time. */
function isBuiltInDate(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 45 && id <= 47) || isEastAsianDate(id)
}

/** Whether a format code shows every number as a date or time. A code with conditions does not. */
function isDateCode(code: string): boolean {
  if (/\[[<>=]/.test(code)) return false
  const [positiveSection = ''] = code.slice(0, 300).split(';')
  const withoutLiterals = positiveSection
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, '')
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .replaceAll(/general|e[+-]/gi, '')
  return /[dmyhse]/i.test(withoutLiterals)
}

const dayMs = 86_400_000

/**
 * Converts a serial number to an ISO 8601 date or time, rounded to seconds. Undefined for a number that is no date.
 * `from1904`: the workbook counts days from 1 January 1904.
 */
export function dateText(serial: number, from1904: boolean): string | undefined {
  // Rounding to seconds must not move a time before midnight to the next day. Only a time within 2e-8 days of midnight,
  // the precision of a serial number, counts as midnight.
  const wholeDays = Math.floor(serial + 2e-8)
  const seconds = Math.min(Math.round(serial * 86_400), wholeDays * 86_400 + 86_399)
  if (serial < 0 || serial >= 2_958_466 || !Number.isFinite(serial)) return undefined
  const days = Math.floor(seconds / 86_400)
  const secondsOfDay = seconds % 86_400
  const timeText = new Date(secondsOfDay * 1000).toISOString().slice(11, 19)
  if (days === 0 && !from1904) return secondsOfDay === 0 ? undefined : timeText
  // Serial 60 is 29 February 1900 in Excel, a date that does not exist.
  if (days === 60 && !from1904) return undefined
  const epoch = from1904 ? Date.UTC(1904, 0, 1) : days < 60 ? Date.UTC(1899, 11, 31) : Date.UTC(1899, 11, 30)
  const date = new Date(epoch + days * dayMs).toISOString().slice(0, 10)
  return secondsOfDay === 0 ? date : `${date}T${timeText}`
}

/** The fill of a cell as the XML has it; a member is undefined if its element is missing. */
interface Fill {
  pattern: string | undefined
  frontColour: Attributes | undefined
  backColour: Attributes | undefined
}

const emptyFill = (): Fill => ({ pattern: undefined, frontColour: undefined, backColour: undefined })

function readFillElement(fill: Fill | undefined, tag: string, attributes: Attributes): void {
  if (fill === undefined) return
  if (tag === 'patternFill') fill.pattern = attributes['patternType'] ?? 'none'
  else if (tag === 'gradientFill') fill.pattern = tag
  else if (tag === 'fgColor') fill.frontColour = attributes
  else if (tag === 'bgColor') fill.backColour = attributes
}

/** Returns white for no fill; undefined for a pattern, a gradient or an unknown colour. */
function backgroundColour(fill: Fill | undefined, palette: Palette): Colour | undefined {
  const { pattern = 'none', frontColour } = fill ?? emptyFill()
  if (pattern === 'none') return white
  return pattern === 'solid' && frontColour !== undefined ? resolveColour(frontColour, palette) : undefined
}

/** Returns the colour of a text: black if the program chooses it, undefined if it is unknown. */
export function textColour(attributes: Attributes, palette: Palette): Colour | undefined {
  const { rgb, theme, indexed = '64' } = attributes
  return rgb === undefined && theme === undefined && indexed === '64'
    ? black
    : resolveColour(attributes, palette)
}

/** Colours that cell styles refer to by number. */
export interface Palette {
  /** Theme colours in the order of the indexes in cells: light, dark, light, dark and six accents. */
  theme: readonly (Colour | undefined)[]
  indexed: readonly (Colour | undefined)[]
}

/**
 * Indexed colours (ECMA-376 part 1, 18.8.27): the first eight are repeated, and the last two are those of the system.
 */
const basicColours = '000000 FFFFFF FF0000 00FF00 0000FF FFFF00 FF00FF 00FFFF'
const furtherColours =
  '800000 008000 000080 808000 800080 008080 C0C0C0 808080 9999FF 993366 FFFFCC CCFFFF 660066 FF8080 0066CC CCCCFF ' +
  '000080 FF00FF FFFF00 00FFFF 800080 800000 008080 0000FF 00CCFF CCFFFF CCFFCC FFFF99 99CCFF FF99CC CC99FF FFCC99 ' +
  '3366FF 33CCCC 99CC00 FFCC00 FF9900 FF6600 666699 969696 003366 339966 003300 333300 993300 993366 333399 333333'
const indexedColours = `${basicColours} ${basicColours} ${furtherColours} 000000 FFFFFF`
  .split(' ')
  .map(parseColour)

/** Theme colours of a workbook without a theme. */
const officeTheme = ['FFFFFF', '000000', 'E7E6E6', '44546A'].map(parseColour)

/** Resolves a colour element (CT_Color); undefined if the program chooses the colour or it is unknown. */
function resolveColour(attributes: Attributes, { theme, indexed }: Palette): Colour | undefined {
  const { rgb, theme: themeIndex, indexed: index, tint = '0' } = attributes
  const colour =
    rgb !== undefined
      ? parseColour(rgb)
      : themeIndex !== undefined
        ? theme[Number(themeIndex)]
        : index !== undefined
          ? indexed[Number(index)]
          : undefined
  const tintAmount = Number(tint)
  return colour === undefined || Number.isNaN(tintAmount) ? undefined : applyTint(colour, tintAmount)
}

/** Reads the palette of a workbook; `customColours` replace the usual indexed colours. */
async function readPalette(
  archive: Archive,
  part: string | undefined,
  name: string,
  customColours: readonly string[],
): Promise<Palette> {
  const indexed = customColours.length === 0 ? indexedColours : customColours.map(parseColour)
  if (part === undefined) return { theme: officeTheme, indexed }
  const coloursByElement = new Map<string, Colour | undefined>()
  let openElement: string | undefined
  await readXml(archive, part, name, {
    namespaces: new Map([
      ['http://schemas.openxmlformats.org/drawingml/2006/main', ''],
      ['http://purl.oclc.org/ooxml/drawingml/main', ''],
    ]),
    open(tag, { val = '', lastClr = val }) {
      if (themeElements.includes(tag)) openElement = tag
      else if (
        openElement !== undefined &&
        (tag === 'srgbClr' || tag === 'sysClr') &&
        !coloursByElement.has(openElement)
      ) {
        coloursByElement.set(openElement, parseColour(tag === 'sysClr' ? lastClr : val))
      }
    },
    close(tag) {
      if (tag === openElement) openElement = undefined
    },
  })
  return { theme: themeElements.map((each) => coloursByElement.get(each)), indexed }
}

/** Elements of the theme colours, in the order of the indexes in cells: the light ones first. */
const themeElements = [
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

/** The format that a conditional format applies to a cell. */
interface Rule {
  isStruckThrough: boolean
  /** Whether it sets a number format, which shows the value differently. */
  hasNumberFormat: boolean
  colour: Attributes | undefined
  fill: Fill | undefined
}

/** Collects the formats of conditional formats (`dxf`) from their elements. */
export class RuleFormats {
  readonly #rules: Rule[] = []
  /** Whether the elements being read belong to the font of a rule. */
  #isInFont = false

  get count(): number {
    return this.#rules.length
  }

  open(tag: string, attributes: Attributes): void {
    const rule = this.#rules.at(-1)
    if (tag === 'font' || tag === 'fill' || tag === 'border') this.#isInFont = tag === 'font'
    if (tag === 'dxf')
      this.#rules.push({ isStruckThrough: false, hasNumberFormat: false, colour: undefined, fill: undefined })
    else if (rule === undefined) return
    else if (tag === 'strike') rule.isStruckThrough = isPropertySet(attributes)
    else if (tag === 'numFmt') rule.hasNumberFormat = true
    else if (tag === 'fill') rule.fill = emptyFill()
    else if (tag === 'color' && this.#isInFont) rule.colour = attributes
    else readFillElement(rule.fill, tag, attributes)
  }

  /** Returns the indexes of the formats that strike a value through, hide it or show it differently. */
  findAlteringRules(palette: Palette): Set<number> {
    return new Set([...this.#rules.keys()].filter((index) => altersValue(this.#rules[index], palette)))
  }
}

/**
 * Whether a conditional format strikes a value through, hides it or shows it differently. Its fill is the background
 * colour (18.8.14, `dxf`).
 */
function altersValue(rule: Rule | undefined, palette: Palette): boolean {
  if (rule === undefined || rule.isStruckThrough || rule.hasNumberFormat) return rule !== undefined
  const { colour, fill } = rule
  if (colour === undefined && fill === undefined) return false
  const hasPlainPattern = ['none', 'solid', undefined].includes(fill?.pattern)
  const backgroundAttributes = fill?.backColour ?? fill?.frontColour
  const background = backgroundAttributes === undefined ? white : resolveColour(backgroundAttributes, palette)
  const front = textColour(colour ?? {}, palette)
  return hasPlainPattern && background !== undefined && front !== undefined && isSameColour(front, background)
}
