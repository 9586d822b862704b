import { type Cell, isBooleanWord } from '../../domain/sheet/cell.ts'
import { type Colour, colourIn, isUnseen, white } from '../../domain/sheet/appearance.ts'
import { limits } from '../sheet.ts'
import { type Archive, type Attributes, readXml, fault, momentOf } from '../book.ts'

/** A cell as its XML has it. */
export interface RawCell {
  attributes: Readonly<Record<string, string>>
  /** What is shown in it; undefined where it holds no paragraph. */
  text: string | undefined
  struck: boolean
  /** Styles of parts of the text. */
  parts: string[]
  /** Whether it has a number format of its own. */
  isFormatted: boolean
}

/** A cell by its type (ODF 1.3 part 3, 19.387). Its format is derived from what is shown. */
export function cellOf({ attributes, text, isFormatted }: RawCell): Cell {
  const type = attributes['office:value-type'] ?? attributes['calcext:value-type']
  const formula = attributes['table:formula']
  const because = (reason: string, shown = text ?? ''): Cell => fault(shown, reason)
  if (attributes['calcext:value-type'] === 'error' || (formula !== undefined && isError(text))) {
    return because(`is the error ${text ?? ''}`)
  }
  if (type === undefined) {
    return formula === undefined ? (text ?? '') : because('is a formula whose value was not saved', formula)
  }
  if (isFormatted && text === undefined && type !== 'string') {
    const shown = 'is saved without the text that its number format shows'
    const written = Object.entries(attributes).find(([key]) => /^office:.*value$/.test(key))?.[1]
    return because(`${shown}; open the file in LibreOffice and save it`, written)
  }
  switch (type) {
    case 'string':
      return visibleText(text, attributes['office:string-value'])
    case 'float':
    case 'percentage':
    case 'currency':
      return numberCell(attributes['office:value'], text, type) ?? because('is no number')
    case 'boolean': {
      const written = attributes['office:boolean-value']
      if (written !== 'true' && written !== 'false')
        return because('is a TRUE or FALSE whose value was not saved')
      if (text === '') return because('is a TRUE or FALSE that its number format hides', written)
      if (text !== undefined && !isBooleanWord(text, written === 'true')) {
        return because(`is ${written.toUpperCase()} shown as "${text.slice(0, 40)}"`, written)
      }
      return { kind: 'boolean', text: written, value: written === 'true' }
    }
    case 'date':
      return dateCell(attributes['office:date-value'] ?? '', text) ?? because('is no date that can be read')
    case 'time':
      return timeCell(attributes['office:time-value'] ?? '') ?? because('is no time of day that can be read')
    default:
      return because(`is of the type ${type.slice(0, 40)}, which is not known`)
  }
}

/** A text, unless its number format hides or changes it: then its value follows what is shown. */
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

function numberCell(written: string | undefined, shown: string | undefined, type: string): Cell | undefined {
  if (written === undefined || !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(written))
    return undefined
  const value = Number(written)
  if (!Number.isFinite(value)) return undefined
  // A boolean of a formula is saved as a number and shown as a word, in the language of the office.
  if ((value === 0 || value === 1) && shown !== undefined && isBooleanWord(shown, value === 1)) {
    return { kind: 'boolean', text: String(value === 1), value: value === 1 }
  }
  const text = String(value)
  if (shown === undefined)
    return { kind: 'number', text, value, format: type === 'percentage' ? '0%' : 'General' }
  return { kind: 'number', text, value, format: shown === text ? 'General' : formatOf(shown) }
}

/** A format that shows what was seen: of a plain number its decimals, of anything else its very text. */
function formatOf(shown: string): string {
  const decimals = /^-?\d+[.,](\d+)$/.exec(shown)?.[1]
  if (decimals !== undefined && shown.includes('.')) return `0.${'0'.repeat(decimals.length)}`
  return /^-?\d+$/.test(shown) && !/^-?0\d/.test(shown) ? '0' : `"${shown.replaceAll('"', '')}"`
}

/** Excel cannot count days before March 1900 as the calendar does; such a date stays a text. */
const firstSerial = 61

function dateCell(written: string, shown: string | undefined): Cell | undefined {
  const found = /^((\d{4})-(\d{2})-(\d{2}))(?:T(\d{2}:\d{2}:\d{2})(?:[.,]0+)?)?$/.exec(written)
  if (found === null) return undefined
  const [, date = '', year = '', month = '', day = '', clock] = found
  const moment = momentOf(date, clock)
  if (moment === undefined) return undefined
  const { text } = moment
  const serial = moment.ms / 86_400_000 + 25_569
  if (serial < firstSerial) return text
  const time = text === date ? '' : ' hh:mm:ss'
  return { kind: 'date', text, serial, format: `${shownParts(shown ?? date, year, month, day)}${time}` }
}

/** The parts of a day that are seen of it, as a format: a month as a number or a word, a year of two digits or four. */
function shownParts(shown: string, year: string, month: string, day: string): string {
  const numbers = (shown.match(/\d+/g) ?? []).map(Number)
  const match = (...wanted: number[]): boolean => {
    const at = numbers.findIndex((each) => wanted.includes(each))
    if (at !== -1) numbers.splice(at, 1)
    return at !== -1
  }
  const hasDay = match(Number(day))
  const hasMonth = match(Number(month)) || /\p{L}{3,}/u.test(shown)
  const hasYear = match(Number(year), Number(year.slice(2)))
  if (hasDay && hasMonth && hasYear) return 'yyyy-mm-dd'
  const parts = [hasDay ? 'd' : '', hasMonth ? 'mmmm' : '', hasYear ? 'yyyy' : '']
  return parts.filter((part) => part !== '').join(' ') || 'dddd'
}

function timeCell(written: string): Cell | undefined {
  const found = /^PT(\d{1,2})H(\d{1,2})M(\d{1,2})(?:[.,]0+)?S$/.exec(written)
  if (found === null) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = found.slice(1).map(Number)
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined
  const text = [hours, minutes, seconds].map((each) => String(each).padStart(2, '0')).join(':')
  return { kind: 'date', text, serial: (hours * 3600 + minutes * 60 + seconds) / 86_400, format: 'hh:mm:ss' }
}

/**
 * The text of a cell: its paragraphs, a line each. White space stays as it is written: ODF 1.3 would collapse it,
 * but LibreOffice Calc shows it, and writes what would be collapsed as elements.
 */
export class Paragraphs {
  #whole: string | undefined
  #depth = 0
  /** Of the whole sheet, written as counts: a few bytes of a file can mean thousands. */
  #spaces = 0

  clear(): void {
    this.#whole = undefined
    this.#depth = 0
  }

  /** Undefined where there was no paragraph. */
  taken(): string | undefined {
    return this.#whole
  }

  open(tag: string, attributes: Attributes): void {
    if (tag === 'text:p' || tag === 'text:h') {
      this.#depth += 1
      this.#whole = this.#whole === undefined ? '' : `${this.#whole}\n`
    } else if (tag === 'text:s') {
      const count = Number(attributes['text:c'] ?? 1)
      const length = Math.min(count > 0 ? count : 1, 32_767)
      this.#spaces += length
      if (this.#spaces > limits.characters) {
        throw new Error(`it holds more than ${limits.characters} repeated spaces`)
      }
      this.add(' '.repeat(length))
    } else if (tag === 'text:tab') this.add('\t')
    else if (tag === 'text:line-break') this.add('\n')
  }

  close(tag: string): void {
    if (tag === 'text:p' || tag === 'text:h') this.#depth -= 1
  }

  add(piece: string): void {
    if (this.#depth > 0) this.#whole = (this.#whole ?? '') + piece
  }
}

/** What of the styles changes what is read. */
export interface Styles {
  /** Of cells and of parts of texts, by name. */
  struck: ReadonlySet<string>
  /** Of cells that a condition may strike through, or hide. */
  struckByRule: ReadonlySet<string>
  /** Of cells whose text has the colour of its background. */
  unseen: ReadonlySet<string>
  /** Of cells with a number format of their own. */
  formatted: ReadonlySet<string>
  /** Whether a part of a text cannot be seen in a cell: both by the names of their styles. */
  hides: (part: string, cell: string) => boolean
  hiddenTables: ReadonlySet<string>
  /** Of columns, in characters. */
  widths: ReadonlyMap<string, number>
  /** Of cells and texts that have a font, a colour or a border of their own. */
  adorned: ReadonlySet<string>
}

interface Style {
  name: string
  parent: string
  struck: boolean | undefined
  /** Undefined where the style does not set it; `auto`: as the program chooses, and none behind a text. */
  colour: Colour | 'auto' | undefined
  background: Colour | 'auto' | undefined
  formatted: boolean
  /** Styles that conditions apply instead of it. */
  conditional: string[]
}

export async function stylesOf(archive: Archive, name: string): Promise<Styles> {
  const styles = new Map<string, Style>()
  const hiddenTables = new Set<string>()
  const widths = new Map<string, number>()
  const adorned = new Set<string>()
  for (const part of ['styles.xml', 'content.xml']) {
    if (!archive.has(part)) continue
    let style: Style | undefined
    await readXml(archive, part, name, {
      spaces,
      largest: limits.sheetBytes,
      open(tag, attributes) {
        if (tag === 'style:style') {
          const { 'style:name': own = '', 'style:parent-style-name': parent = '' } = attributes
          const formatted = attributes['style:data-style-name'] !== undefined
          const properties = { struck: undefined, colour: undefined, background: undefined }
          style = { name: own, parent, ...properties, formatted, conditional: [] }
          styles.set(own, style)
          if (styles.size > limits.styles) throw new Error('it has too many styles')
        }
        if (style === undefined) return
        if (part === 'content.xml' && isAdorned(tag, attributes)) adorned.add(style.name)
        if (tag === 'style:map') style.conditional.push(attributes['style:apply-style-name'] ?? '')
        if (tag === 'style:text-properties') {
          style.struck = struckBy(attributes) ?? style.struck
          style.colour = colourBy(attributes) ?? style.colour
        } else if (tag === 'style:table-cell-properties') style.background = backgroundBy(attributes)
        else if (tag === 'style:table-column-properties') {
          const width = characters(attributes['style:column-width'])
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
  const named = (is: (each: string) => boolean): Set<string> => new Set([...styles.keys()].filter(is))
  const struck = named((each) => isStruck(each, styles))
  const hides = (part: string, cell: string): boolean => hidesText(styles, part, cell)
  const unseen = named((each) => hides(each, each))
  const struckByRule = named((each) =>
    lineage(each, styles).some(({ conditional }) =>
      conditional.some((other) => struck.has(other) || unseen.has(other)),
    ),
  )
  const formatted = named((each) => lineage(each, styles).some((style) => style.formatted))
  return { struck, struckByRule, unseen, formatted, hides, hiddenTables, widths, adorned }
}

/** A text whose colour is left to the program is always seen: it is chosen by the background. */
function hidesText(styles: ReadonlyMap<string, Style>, part: string, cell: string): boolean {
  const colour = lineage(part, styles).find((style) => style.colour !== undefined)?.colour ?? 'auto'
  const background =
    lineage(cell, styles).find((style) => style.background !== undefined)?.background ?? 'auto'
  return colour !== 'auto' && isUnseen(colour, background === 'auto' ? white : background)
}

function colourBy(attributes: Readonly<Record<string, string>>): Style['colour'] {
  if (attributes['style:use-window-font-color'] === 'true') return 'auto'
  return hexColour(attributes['fo:color'])
}

function backgroundBy(attributes: Readonly<Record<string, string>>): Style['background'] {
  const written = attributes['fo:background-color']
  return written === 'transparent' ? 'auto' : hexColour(written)
}

function hexColour(text = ''): Colour | undefined {
  return text.startsWith('#') ? colourIn(text.slice(1)) : undefined
}

/** Widths of characters at 96 points an inch, 7 points wide each, in a cell of 5 points more. */
function characters(length = ''): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(cm|mm|in|pt|pc)$/.exec(length) ?? []
  const inches: Record<string, number> = { cm: 1 / 2.54, mm: 1 / 25.4, in: 1, pt: 1 / 72, pc: 1 / 6 }
  const width = (Number(digits) * (inches[unit] ?? 0) * 96 - 5) / 7
  return width > 0 && width <= 255 ? Math.round(width * 100) / 100 : undefined
}

function isAdorned(tag: string, attributes: Readonly<Record<string, string>>): boolean {
  if (tag === 'style:text-properties') {
    return ['fo:color', 'fo:font-weight', 'fo:font-style', 'fo:font-size', 'style:font-name'].some(
      (each) => attributes[each] !== undefined,
    )
  }
  if (tag !== 'style:table-cell-properties') return false
  const { 'fo:background-color': background = 'transparent', 'fo:border': border = 'none' } = attributes
  return background !== 'transparent' || border !== 'none'
}

function struckBy(attributes: Readonly<Record<string, string>>): boolean | undefined {
  const line = attributes['style:text-line-through-style'] ?? attributes['style:text-line-through-type']
  return line === undefined ? undefined : line !== 'none'
}

function isStruck(name: string, styles: ReadonlyMap<string, Style>): boolean {
  return lineage(name, styles).find(({ struck }) => struck !== undefined)?.struck ?? false
}

/** A style and those that it is made from, the nearest first. */
function lineage(name: string, styles: ReadonlyMap<string, Style>): Style[] {
  const found: Style[] = []
  for (
    let style = styles.get(name);
    style !== undefined && found.length < 20;
    style = styles.get(style.parent)
  )
    found.push(style)
  return found
}

/** Namespaces of OpenDocument that are listened to, by the prefixes that programs give them. */
export const spaces: ReadonlyMap<string, string> = new Map(
  ['office', 'table', 'text', 'style', 'config'].map((each) => [
    `urn:oasis:names:tc:opendocument:xmlns:${each}:1.0`,
    `${each}:`,
  ]),
).set('urn:oasis:names:tc:opendocument:xmlns:drawing:1.0', 'draw:')
