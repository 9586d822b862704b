import { type Cell, isBooleanWord } from '../../domain/sheet/cell.ts'
import { type Colour, parseColour, isSameColour, white } from '../../domain/sheet/appearance.ts'
import { limits } from '../sheet.ts'
import { type Archive, type Attributes, readXml, faultCell, parseIsoTime } from '../book.ts'

/** A cell as it is in the XML. */
export interface RawCell {
  attributes: Readonly<Record<string, string>>
  /** The text that the cell shows; undefined if it has no paragraph. */
  text: string | undefined
  isStruckThrough: boolean
  /** Names of the styles of the spans in the text. */
  spanStyles: string[]
  /** Whether the style of the cell sets a number format. */
  hasNumberFormat: boolean
}

/**
 * Converts a cell by its type (ODF 1.3 part 3, 19.387). The number format is derived from the text that the cell
 * shows.
 */
export function cellOf({ attributes, text, hasNumberFormat }: RawCell): Cell {
  const type = attributes['office:value-type'] ?? attributes['calcext:value-type']
  const formula = attributes['table:formula']
  const faultWith = (reason: string, shown = text ?? ''): Cell => faultCell(shown, reason)
  if (attributes['calcext:value-type'] === 'error' || (formula !== undefined && isError(text))) {
    return faultWith(`is the error ${text ?? ''}`)
  }
  if (type === undefined) {
    return formula === undefined ? (text ?? '') : faultWith('is a formula whose value was not saved', formula)
  }
  if (hasNumberFormat && text === undefined && type !== 'string') {
    const shown = 'is saved without the text that its number format shows'
    const attribute = Object.entries(attributes).find(([key]) => /^office:.*value$/.test(key))?.[1]
    return faultWith(`${shown}; open the file in LibreOffice and save it`, attribute)
  }
  switch (type) {
    case 'string':
      return visibleText(text, attributes['office:string-value'])
    case 'float':
    case 'percentage':
    case 'currency':
      return numberCell(attributes['office:value'], text, type) ?? faultWith('is no number')
    case 'boolean': {
      const written = attributes['office:boolean-value']
      if (written !== 'true' && written !== 'false')
        return faultWith('is a TRUE or FALSE whose value was not saved')
      if (text === '') return faultWith('is a TRUE or FALSE that its number format hides', written)
      if (text !== undefined && !isBooleanWord(text, written === 'true')) {
        return faultWith(`is ${written.toUpperCase()} shown as "${text.slice(0, 40)}"`, written)
      }
      return { kind: 'boolean', text: written, value: written === 'true' }
    }
    case 'date':
      return dateCell(attributes['office:date-value'] ?? '', text) ?? faultWith('is no date that can be read')
    case 'time':
      return (
        timeCell(attributes['office:time-value'] ?? '') ?? faultWith('is no time of day that can be read')
      )
    default:
      return faultWith(`is of the type ${type.slice(0, 40)}, which is not known`)
  }
}

/** Returns the text of a cell, or a fault if a number format hides or changes the text. */
function visibleText(shown = '', value?: string): Cell {
  if (value === undefined || value.replaceAll(/\s/g, '') === shown.replaceAll(/\s/g, '')) return shown
  return {
    kind: 'fault',
    text: value,
    reason: `is shown as "${shown.slice(0, 40)}" by its number format; format the column as text and look at it again`,
    format: `;;;"${shown.replaceAll('"', '').slice(0, 200)}"`,
  }
}

function isError(text = ''): boolean {
  return /^(?:#[A-ZÄÖÜ/0?]{2,}[!?]?|Err:\d{3})$/i.test(text)
}

function numberCell(
  written: string | undefined,
  shownText: string | undefined,
  type: string,
): Cell | undefined {
  if (written === undefined || !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(written))
    return undefined
  const value = Number(written)
  if (!Number.isFinite(value)) return undefined
  // LibreOffice saves a boolean result of a formula as a number, and its text as a word in the language of the
  // program.
  if ((value === 0 || value === 1) && shownText !== undefined && isBooleanWord(shownText, value === 1)) {
    return { kind: 'boolean', text: String(value === 1), value: value === 1 }
  }
  const text = String(value)
  if (shownText === undefined)
    return { kind: 'number', text, value, format: type === 'percentage' ? '0%' : 'General' }
  return { kind: 'number', text, value, format: shownText === text ? 'General' : formatShowing(shownText) }
}

/**
 * Returns a number format that shows a number as the text `shown`: with as many decimals for a plain number, else as
 * the literal text.
 */
function formatShowing(shown: string): string {
  const decimals = /^-?\d+[.,](\d+)$/.exec(shown)?.[1]
  if (decimals !== undefined && shown.includes('.')) return `0.${'0'.repeat(decimals.length)}`
  return /^-?\d+$/.test(shown) && !/^-?0\d/.test(shown) ? '0' : `"${shown.replaceAll('"', '')}"`
}

/** Serial number of 1 March 1900. Excel counts earlier days wrongly, so an earlier date is written as text. */
const firstSerial = 61

function dateCell(written: string, shown: string | undefined): Cell | undefined {
  const match = /^((\d{4})-(\d{2})-(\d{2}))(?:T(\d{2}:\d{2}:\d{2})(?:[.,]0+)?)?$/.exec(written)
  if (match === null) return undefined
  const [, date = '', year = '', month = '', day = '', timeOfDay] = match
  const moment = parseIsoTime(date, timeOfDay)
  if (moment === undefined) return undefined
  const { text } = moment
  // 25,569 is the serial number of 1 January 1970.
  const serial = moment.ms / 86_400_000 + 25_569
  if (serial < firstSerial) return text
  const time = text === date ? '' : ' hh:mm:ss'
  return {
    kind: 'date',
    text,
    serial,
    format: `${dateFormatShowing(shown ?? date, year, month, day)}${time}`,
  }
}

/**
 * Returns the date format for the parts of a date that are shown: day, month as a number or a word, year of two or
 * four digits.
 */
function dateFormatShowing(shown: string, year: string, month: string, day: string): string {
  const numbers = (shown.match(/\d+/g) ?? []).map(Number)
  // Each number of the text is used for one part of the date.
  const takeNumber = (...candidates: number[]): boolean => {
    const index = numbers.findIndex((each) => candidates.includes(each))
    if (index !== -1) numbers.splice(index, 1)
    return index !== -1
  }
  const hasDay = takeNumber(Number(day))
  const hasMonth = takeNumber(Number(month)) || /\p{L}{3,}/u.test(shown)
  const hasYear = takeNumber(Number(year), Number(year.slice(2)))
  if (hasDay && hasMonth && hasYear) return 'yyyy-mm-dd'
  const parts = [hasDay ? 'd' : '', hasMonth ? 'mmmm' : '', hasYear ? 'yyyy' : '']
  return parts.filter((part) => part !== '').join(' ') || 'dddd'
}

function timeCell(written: string): Cell | undefined {
  const match = /^PT(\d{1,2})H(\d{1,2})M(\d{1,2})(?:[.,]0+)?S$/.exec(written)
  if (match === null) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number)
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined
  const text = [hours, minutes, seconds].map((each) => String(each).padStart(2, '0')).join(':')
  return { kind: 'date', text, serial: (hours * 3600 + minutes * 60 + seconds) / 86_400, format: 'hh:mm:ss' }
}

/**
 * Collects the text of a cell, one line per paragraph. White space stays as written: ODF 1.3 would collapse it, but
 * LibreOffice Calc shows it, and writes white space that would be collapsed as elements.
 */
export class CellText {
  #text: string | undefined
  /** Number of open paragraphs and headings. */
  #paragraphDepth = 0
  /** Spaces in the whole sheet that are written as counts: a few bytes of a file can mean thousands of them. */
  #repeatedSpaces = 0

  clear(): void {
    this.#text = undefined
    this.#paragraphDepth = 0
  }

  /** Returns the text since `clear`; undefined if the cell has no paragraph. */
  current(): string | undefined {
    return this.#text
  }

  open(tag: string, attributes: Attributes): void {
    if (tag === 'text:p' || tag === 'text:h') {
      this.#paragraphDepth += 1
      this.#text = this.#text === undefined ? '' : `${this.#text}\n`
    } else if (tag === 'text:s') {
      const count = Number(attributes['text:c'] ?? 1)
      const length = Math.min(count > 0 ? count : 1, 32_767)
      this.#repeatedSpaces += length
      if (this.#repeatedSpaces > limits.characters) {
        throw new Error(`it holds more than ${limits.characters} repeated spaces`)
      }
      this.add(' '.repeat(length))
    } else if (tag === 'text:tab') this.add('\t')
    else if (tag === 'text:line-break') this.add('\n')
  }

  close(tag: string): void {
    if (tag === 'text:p' || tag === 'text:h') this.#paragraphDepth -= 1
  }

  add(piece: string): void {
    if (this.#paragraphDepth > 0) this.#text = (this.#text ?? '') + piece
  }
}

/** The properties of styles that affect how cells are read. Sets contain style names. */
export interface Styles {
  /** Styles of cells and spans that strike text through. */
  struckThrough: ReadonlySet<string>
  /** Styles of cells with a condition that may strike the text through or hide it. */
  struckByConditionalFormat: ReadonlySet<string>
  /** Styles of cells whose text has the colour of its background. */
  invisible: ReadonlySet<string>
  /** Styles of cells that set a number format. */
  withNumberFormat: ReadonlySet<string>
  /** Whether a span with the style `span` is invisible in a cell with the style `cell`. */
  isInvisible: (span: string, cell: string) => boolean
  hiddenTables: ReadonlySet<string>
  /** Column widths in characters, by style name. */
  widths: ReadonlyMap<string, number>
  /** Styles that the document itself defines with a font, a colour or a border. */
  decorated: ReadonlySet<string>
}

interface Style {
  name: string
  parent: string
  strikesThrough: boolean | undefined
  /**
   * Undefined if the style sets no colour. `auto`: the program chooses the colour of the text; as a background, none.
   */
  colour: Colour | 'auto' | undefined
  background: Colour | 'auto' | undefined
  hasNumberFormat: boolean
  /** Names of the styles that conditions apply instead of this one. */
  conditionalStyles: string[]
}

export async function readStyles(archive: Archive, name: string): Promise<Styles> {
  const styles = new Map<string, Style>()
  const hiddenTables = new Set<string>()
  const widths = new Map<string, number>()
  const decorated = new Set<string>()
  for (const part of ['styles.xml', 'content.xml']) {
    if (!archive.has(part)) continue
    let style: Style | undefined
    await readXml(archive, part, name, {
      namespaces,
      maxBytes: limits.sheetBytes,
      open(tag, attributes) {
        if (tag === 'style:style') {
          const { 'style:name': styleName = '', 'style:parent-style-name': parent = '' } = attributes
          const hasNumberFormat = attributes['style:data-style-name'] !== undefined
          const properties = { strikesThrough: undefined, colour: undefined, background: undefined }
          style = { name: styleName, parent, ...properties, hasNumberFormat, conditionalStyles: [] }
          styles.set(styleName, style)
          if (styles.size > limits.cellStyles) throw new Error('it has too many styles')
        }
        if (style === undefined) return
        if (part === 'content.xml' && isDecoration(tag, attributes)) decorated.add(style.name)
        if (tag === 'style:map') style.conditionalStyles.push(attributes['style:apply-style-name'] ?? '')
        if (tag === 'style:text-properties') {
          style.strikesThrough = lineThrough(attributes) ?? style.strikesThrough
          style.colour = textColour(attributes) ?? style.colour
        } else if (tag === 'style:table-cell-properties') style.background = backgroundColour(attributes)
        else if (tag === 'style:table-column-properties') {
          const width = widthInCharacters(attributes['style:column-width'])
          if (width !== undefined) widths.set(style.name, width)
        }
        if (tag === 'style:table-properties' && attributes['table:display'] === 'false') {
          hiddenTables.add(style.name)
        }
      },
      close(tag) {
        if (tag === 'style:style') style = undefined
      },
    })
  }
  const namesWhere = (predicate: (each: string) => boolean): Set<string> =>
    new Set([...styles.keys()].filter(predicate))
  const struckThrough = namesWhere((each) => isStruck(each, styles))
  const isInvisible = (span: string, cell: string): boolean => isInvisibleText(styles, span, cell)
  const invisible = namesWhere((each) => isInvisible(each, each))
  const struckByConditionalFormat = namesWhere((each) =>
    styleWithParents(each, styles).some(({ conditionalStyles }) =>
      conditionalStyles.some((other) => struckThrough.has(other) || invisible.has(other)),
    ),
  )
  const withNumberFormat = namesWhere((each) =>
    styleWithParents(each, styles).some((style) => style.hasNumberFormat),
  )
  return {
    struckThrough,
    struckByConditionalFormat,
    invisible,
    withNumberFormat,
    isInvisible,
    hiddenTables,
    widths,
    decorated,
  }
}

/**
 * Whether text with the style `span` has the colour of its background in a cell with the style `cell`. Text without a
 * colour is always visible: the program chooses the colour by the background.
 */
function isInvisibleText(styles: ReadonlyMap<string, Style>, span: string, cell: string): boolean {
  const colour = styleWithParents(span, styles).find((style) => style.colour !== undefined)?.colour ?? 'auto'
  const background =
    styleWithParents(cell, styles).find((style) => style.background !== undefined)?.background ?? 'auto'
  return colour !== 'auto' && isSameColour(colour, background === 'auto' ? white : background)
}

function textColour(attributes: Readonly<Record<string, string>>): Style['colour'] {
  if (attributes['style:use-window-font-color'] === 'true') return 'auto'
  return hexColour(attributes['fo:color'])
}

function backgroundColour(attributes: Readonly<Record<string, string>>): Style['background'] {
  const written = attributes['fo:background-color']
  return written === 'transparent' ? 'auto' : hexColour(written)
}

function hexColour(text = ''): Colour | undefined {
  return text.startsWith('#') ? parseColour(text.slice(1)) : undefined
}

/** Converts a length to characters: 96 pixels per inch, 7 pixels per character, and 5 pixels of padding per cell. */
function widthInCharacters(length = ''): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(cm|mm|in|pt|pc)$/.exec(length) ?? []
  const inches: Record<string, number> = { cm: 1 / 2.54, mm: 1 / 25.4, in: 1, pt: 1 / 72, pc: 1 / 6 }
  const width = (Number(digits) * (inches[unit] ?? 0) * 96 - 5) / 7
  return width > 0 && width <= 255 ? Math.round(width * 100) / 100 : undefined
}

function isDecoration(tag: string, attributes: Readonly<Record<string, string>>): boolean {
  if (tag === 'style:text-properties') {
    return ['fo:color', 'fo:font-weight', 'fo:font-style', 'fo:font-size', 'style:font-name'].some(
      (each) => attributes[each] !== undefined,
    )
  }
  if (tag !== 'style:table-cell-properties') return false
  const { 'fo:background-color': background = 'transparent', 'fo:border': border = 'none' } = attributes
  return background !== 'transparent' || border !== 'none'
}

function lineThrough(attributes: Readonly<Record<string, string>>): boolean | undefined {
  const line = attributes['style:text-line-through-style'] ?? attributes['style:text-line-through-type']
  return line === undefined ? undefined : line !== 'none'
}

function isStruck(name: string, styles: ReadonlyMap<string, Style>): boolean {
  return (
    styleWithParents(name, styles).find(({ strikesThrough }) => strikesThrough !== undefined)
      ?.strikesThrough ?? false
  )
}

/** Returns a style and its ancestors, the nearest first; 20 at most, since a file may contain a cycle. */
function styleWithParents(name: string, styles: ReadonlyMap<string, Style>): Style[] {
  const ancestors: Style[] = []
  for (
    let style = styles.get(name);
    style !== undefined && ancestors.length < 20;
    style = styles.get(style.parent)
  )
    ancestors.push(style)
  return ancestors
}

/** Namespaces of OpenDocument whose elements are reported, with their usual prefixes. */
export const namespaces: ReadonlyMap<string, string> = new Map(
  ['office', 'table', 'text', 'style', 'config'].map((each) => [
    `urn:oasis:names:tc:opendocument:xmlns:${each}:1.0`,
    `${each}:`,
  ]),
).set('urn:oasis:names:tc:opendocument:xmlns:drawing:1.0', 'draw:')
