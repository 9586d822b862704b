import { type Cell, type MergedCells, isBooleanWord } from '../../domain/sheet/cell.ts'
import { isUnseen as isTooPale, type LostPart, white } from '../../domain/sheet/appearance.ts'
import type { Findings } from '../book.ts'
import { type Attributes, type CommonTexts, isTrue, type Relation, unescaped } from './xml.ts'
import { type CellFormat, dateText, type Palette, textColour } from './formats.ts'

/** What cells refer to. */
export interface CellContext {
  strings: CommonTexts
  formats: readonly CellFormat[]
  /** Formats of rules that strike through, hide or show values otherwise. */
  striking: ReadonlySet<number>
  palette: Palette
  from1904: boolean
  /** See `WorkbookParts`. */
  uncomputed: boolean
}

/** A cell as its XML has it. */
export interface RawCell {
  type: string
  style: number
  /** Of `v`, or the texts of `is`. */
  text: string
  hasValue: boolean
  /** Of `v` and `is`; a sound cell has one. */
  values: number
  /** The formula's own text; undefined where there is none. */
  formula: string | undefined
  /** Whether a part of a text in place is struck through. */
  struck: boolean
  /** Colours of the parts of a text in place. */
  colours?: Attributes[]
}

/** A cell by its type (ECMA-376 part 1, 18.18.11). A formula is as good as the value that was saved with it. */
export function cellOf(raw: RawCell, context: CellContext): Cell {
  const { type, text, formula } = raw
  if (formula !== undefined && context.uncomputed) {
    return {
      kind: 'fault',
      text: `=${formula}`,
      reason: 'is a formula that was never computed; open the file in a spreadsheet and save it',
    }
  }
  if (formula !== undefined && text === '' && type !== 'str') {
    return { kind: 'fault', text: `=${formula}`, reason: 'is a formula whose value was not saved' }
  }
  if (!raw.hasValue) return ''
  if (raw.values > 1) return { kind: 'fault', text, reason: 'has more than one value' }
  switch (type) {
    case 's':
      return seen(shared(text, context), raw, context)
    case 'inlineStr':
    case 'str':
      return seen(unescaped(text), raw, context)
    case 'b':
      return booleanOf(text)
    case 'e':
      return { kind: 'fault', text, reason: `is the error ${text}` }
    case 'd':
      return isoDate(text, raw.style, context)
    case 'n':
      return text === '' ? '' : numeric(text, raw.style, context)
    default:
      return { kind: 'fault', text, reason: `is of the type ${type.slice(0, 40)}, which is not known` }
  }
}

function booleanOf(text: string): Cell {
  const value = isTrue(text)
  if (value || text === '0' || text === 'false') return { kind: 'boolean', text: String(value), value }
  return text === '' ? '' : { kind: 'fault', text, reason: 'is neither TRUE nor FALSE' }
}

/** A text, unless its number format hides or changes it: `;;;`, `"Mr "@`. */
function seen(cell: Cell, { style }: RawCell, { formats }: CellContext): Cell {
  const format = formats[style]
  if (format === undefined || format.plain || typeof cell !== 'string' || cell === '') return cell
  const reason = `is shown otherwise by its number format, ${format.code.slice(0, 40)}; format the column as text and look at it again`
  return { kind: 'fault', text: cell, reason, format: format.code }
}

function shared(text: string, { strings }: CellContext): Cell {
  const string = /^\d{1,10}$/.test(text) ? strings.texts[Number(text)] : undefined
  return string ?? { kind: 'fault', text, reason: 'refers to a text that the workbook does not have' }
}

/** Whether a person sees the text struck through, all of it or a part. */
export function isStruck({ type, style, text, struck }: RawCell, { formats, strings }: CellContext): boolean {
  if (struck || formats[style]?.struck === true) return true
  return strings.struck.size > 0 && type === 's' && strings.struck.has(Number(text))
}

/** Whether a person cannot see it, all of it or a part: it has the colour of what it stands on. */
export function isUnseen({ type, style, text, colours }: RawCell, context: CellContext): boolean {
  const { formats, strings, palette } = context
  const format = formats[style]
  if (format?.unseen === true) return true
  const parts = colours ?? (strings.colours.size > 0 && type === 's' ? strings.colours.get(Number(text)) : [])
  const background = format === undefined ? white : format.background
  if (background === undefined || parts === undefined) return false
  return parts.some((part) => {
    const colour = textColour(part, palette)
    return colour !== undefined && isTooPale(colour, background)
  })
}

const decimal = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/

/** A whole number written out in full, as spreadsheets do not and other programs do. */
function losesDigits(text: string, value: number): boolean {
  if (Number.isSafeInteger(value) || !/^-?\d{16,}$/.test(text)) return false
  return String(value) !== text && BigInt(text) !== BigInt(value)
}

function numeric(text: string, style: number, { formats, from1904 }: CellContext): Cell {
  const value = text.length < 400 && decimal.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) return { kind: 'fault', text, reason: 'is no number' }
  if (losesDigits(text, value)) return { kind: 'fault', text, reason: 'has more digits than a number keeps' }
  const { code, date } = formats[style] ?? { code: 'General', date: false }
  if (isBoolean(value, code)) return { kind: 'boolean', text: String(value === 1), value: value === 1 }
  if (!date) return { kind: 'number', text: String(value), value, format: code }
  const iso = dateText(value, from1904)
  if (iso === undefined) return { kind: 'fault', text, reason: 'is a date that does not exist' }
  return { kind: 'date', text: iso, serial: value, format: code }
}

/** LibreOffice saves a boolean as a number that is shown as `"TRUE"` or `"FALSE"`, in its own language. */
function isBoolean(value: number, code: string): boolean {
  if (value !== 0 && value !== 1) return false
  const [, yes = '', no = ''] = /^"(\p{L}{1,20})";"\1";"(\p{L}{1,20})"$/u.exec(code) ?? []
  return isBooleanWord(yes, true) && isBooleanWord(no, false)
}

function isoDate(text: string, style: number, { formats, from1904 }: CellContext): Cell {
  const found = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}:\d{2}:\d{2})(?:\.0+)?Z?)?$/.exec(text)
  if (found === null) return { kind: 'fault', text, reason: 'is no date that can be read' }
  const [, year = '', month = '', day = '', clock = '00:00:00'] = found
  const milliseconds = Date.parse(`${year}-${month}-${day}T${clock}Z`)
  const date = `${year}-${month}-${day}`
  if (Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(date)) {
    return { kind: 'fault', text, reason: 'is a date that does not exist' }
  }
  const code = formats[style]?.code ?? 'General'
  return {
    kind: 'date',
    text: clock === '00:00:00' ? date : `${date}T${clock}`,
    serial: milliseconds / 86_400_000 + (from1904 ? 24_107 : 25_569),
    format: code === 'General' ? 'yyyy-mm-dd' : code,
  }
}

/** Elements of a sheet that are not written again. */
const lostElements = new Map<string, LostPart>([
  ['conditionalFormatting', 'conditional formats'],
  ['dataValidations', 'data validations'],
  ['autoFilter', 'filters'],
  ['tablePart', 'tables'],
  ['drawing', 'pictures'],
  ['picture', 'pictures'],
  ['hyperlink', 'links'],
])

/** Notes what of a sheet is not written again. */
export function noteLook(found: Findings, tag: string): void {
  const lost = lostElements.get(tag)
  if (lost !== undefined) found.lost.add(lost)
}

/** A workbook keeps the comments of a sheet in a part of its own. */
export function noteComments({ lost }: Findings, related: ReadonlyMap<string, Relation>): void {
  for (const { type } of related.values())
    if (/\/(?:comments|threadedComment)$/.test(type)) lost.add('comments')
}

/** The cells of a range such as `B2:C9`; undefined where it is none. */
export function rangeOf(range: string): MergedCells | undefined {
  const corners = /^([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?$/.exec(range)
  if (corners === null) return undefined
  const [, left = '', top = '', right = left, bottom = top] = corners
  return {
    range,
    firstRow: Number(top),
    lastRow: Number(bottom),
    firstColumn: columnAt(left),
    lastColumn: columnAt(right),
  }
}

/** A → 0, AA → 26. */
function columnAt(letters: string): number {
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}
