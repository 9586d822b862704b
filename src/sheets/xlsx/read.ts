import { type Cell, type MergedCells, isBooleanWord } from '../../domain/sheet/cell.ts'
import { isUnseen as isTooPale, type LostPart, white } from '../../domain/sheet/appearance.ts'
import {
  type SheetProperties,
  zeroAsFault,
  beyondColumns,
  type Book,
  type BookRow,
  type BookSheet,
  hasContent,
  noFindings,
  type Attributes,
  isTrue,
  unescapeText,
  sheetNamespaces,
  xmlChunks,
  type Archive,
  damagedError,
  fault,
  isFalse,
  momentOf,
  newRow,
} from '../book.ts'
import {
  type CommonTexts,
  type Relation,
  relations,
  sharedStrings,
  type SheetPart,
  workbookParts,
} from './parts.ts'
import { type CellFormat, dateText, type Palette, textColour, cellFormats, RuleFormats } from './formats.ts'
import { limits } from '../sheet.ts'

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
    return fault(
      `=${formula}`,
      'is a formula that was never computed; open the file in a spreadsheet and save it',
    )
  }
  if (formula !== undefined && text === '' && type !== 'str') {
    return fault(`=${formula}`, 'is a formula whose value was not saved')
  }
  if (!raw.hasValue) return ''
  if (raw.values > 1) return fault(text, 'has more than one value')
  switch (type) {
    case 's':
      return visibleText(sharedText(text, context), raw, context)
    case 'inlineStr':
    case 'str':
      return visibleText(unescapeText(text), raw, context)
    case 'b':
      return booleanOf(text)
    case 'e':
      return fault(text, `is the error ${text}`)
    case 'd':
      return isoDate(text, raw.style, context)
    case 'n':
      return text === '' ? '' : numberCell(text, raw.style, context)
    default:
      return fault(text, `is of the type ${type.slice(0, 40)}, which is not known`)
  }
}

function booleanOf(text: string): Cell {
  const value = isTrue(text)
  if (value || isFalse(text)) return { kind: 'boolean', text: String(value), value }
  return text === '' ? '' : fault(text, 'is neither TRUE nor FALSE')
}

/** A text, unless its number format hides or changes it: `;;;`, `"Mr "@`. */
function visibleText(cell: Cell, { style }: RawCell, { formats }: CellContext): Cell {
  const format = formats[style]
  if (format === undefined || format.plain || typeof cell !== 'string' || cell === '') return cell
  const reason = `is shown otherwise by its number format, ${format.code.slice(0, 40)}; format the column as text and look at it again`
  return { kind: 'fault', text: cell, reason, format: format.code }
}

function sharedText(text: string, { strings }: CellContext): Cell {
  const string = /^\d{1,10}$/.test(text) ? strings.texts[Number(text)] : undefined
  return string ?? fault(text, 'refers to a text that the workbook does not have')
}

/** Whether a person sees the text struck through, all of it or a part. */
export function isStruck({ type, style, text, struck }: RawCell, { formats, strings }: CellContext): boolean {
  if (struck || formats[style]?.struck === true) return true
  return strings.struck.size > 0 && type === 's' && strings.struck.has(Number(text))
}

/** Whether a person cannot see it, all of it or a part: it has the colour of its background. */
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

function numberCell(text: string, style: number, { formats, from1904 }: CellContext): Cell {
  const value = text.length < 400 && decimal.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) return fault(text, 'is no number')
  if (losesDigits(text, value)) return fault(text, 'has more digits than a number keeps')
  const { code, date } = formats[style] ?? { code: 'General', date: false }
  if (isBoolean(value, code)) return { kind: 'boolean', text: String(value === 1), value: value === 1 }
  if (!date) return { kind: 'number', text: String(value), value, format: code }
  const iso = dateText(value, from1904)
  if (iso === undefined) return fault(text, 'is a date that does not exist')
  return { kind: 'date', text: iso, serial: value, format: code }
}

/** LibreOffice saves a boolean as a number that is shown as `"TRUE"` or `"FALSE"`, in its own language. */
function isBoolean(value: number, code: string): boolean {
  if (value !== 0 && value !== 1) return false
  const [, yes = '', no = ''] = /^"(\p{L}{1,20})";"\1";"(\p{L}{1,20})"$/u.exec(code) ?? []
  return isBooleanWord(yes, true) && isBooleanWord(no, false)
}

function isoDate(text: string, style: number, { formats, from1904 }: CellContext): Cell {
  const found = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2})(?:\.0+)?Z?)?$/.exec(text)
  if (found === null) return fault(text, 'is no date that can be read')
  const [, day = '', clock] = found
  const moment = momentOf(day, clock)
  if (moment === undefined) return fault(text, 'is a date that does not exist')
  const code = formats[style]?.code ?? 'General'
  return {
    kind: 'date',
    text: moment.text,
    serial: moment.ms / 86_400_000 + (from1904 ? 24_107 : 25_569),
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
export function noteLook(found: SheetProperties, tag: string): void {
  const lost = lostElements.get(tag)
  if (lost !== undefined) found.lost.add(lost)
}

/** A workbook keeps the comments of a sheet in a part of its own. */
export function noteComments({ lost }: SheetProperties, related: ReadonlyMap<string, Relation>): void {
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

/** A workbook of Office Open XML. Nothing of its sheets is read yet. */
export async function xlsxBook(archive: Archive, name: string): Promise<Book> {
  const { sheets, from1904, uncomputed, ...parts } = await workbookParts(archive, name)
  const context = {
    ...(await cellFormats(archive, parts, name)),
    strings: await sharedStrings(archive, parts.strings, name),
    from1904,
    uncomputed,
  }
  const sheetOf = ({ name: title, hidden, part }: SheetPart): BookSheet => {
    const found = noFindings()
    return {
      name: title,
      hidden,
      found,
      rows: () => sheetRows(archive, { part, name, context, found }),
    }
  }
  return { format: 'xlsx', from1904, sheets: sheets.map(sheetOf) }
}

interface SheetEntry {
  part: string
  name: string
  context: CellContext
  found: SheetProperties
}

/** The rows of a sheet that hold anything, in order, as they are inflated. */
async function* sheetRows(
  archive: Archive,
  { part, name, context, found }: SheetEntry,
): AsyncGenerator<BookRow[]> {
  const walk = new Walk(name, context, found, await relations(archive, part, name))
  for await (const _ of xmlChunks(archive, part, name, walk, limits.sheetBytes)) {
    yield walk.rows.splice(0)
  }
}

/** Lower rows, in points, and narrower columns, in characters, show nothing that a person can read. */
const leastHeight = 2
const leastWidth = 0.3

class Walk {
  readonly spaces = sheetNamespaces
  readonly rows: BookRow[] = []
  readonly #found: SheetProperties
  readonly #name: string
  readonly #context: CellContext
  #row = newRow(0)
  #column = -1
  #raw: RawCell | undefined
  /** Where texts go now. */
  #into: 'text' | 'formula' | 'ranges' | undefined
  #aloud = 0

  constructor(
    name: string,
    context: CellContext,
    found: SheetProperties,
    related: ReadonlyMap<string, Relation>,
  ) {
    this.#name = name
    this.#context = context
    this.#found = Object.assign(found, noFindings())
    noteComments(found, related)
  }

  readonly open = (tag: string, attributes: Attributes): void => {
    if (this.#later !== undefined && tag !== 'xm:sqref') {
      if (hidesValues(tag, attributes)) this.#later.hidesValues = true
      return this.#later.formats.open(tag === 'x14:dxf' ? 'dxf' : tag, attributes)
    }
    switch (tag) {
      case 'row':
        return this.#openRow(attributes)
      case 'c':
        return this.#openCell(attributes)
      case 'is':
        if (this.#raw !== undefined) this.#raw.values += 1
        return
      case 'v':
        if (this.#raw !== undefined) this.#raw.values += 1
        return this.#openText()
      case 't':
        return this.#openText()
      case 'f':
        if (this.#raw !== undefined) {
          this.#raw.formula = ''
          this.#into = 'formula'
        }
        return
      case 'rPh':
        this.#aloud += 1
        return
      case 'strike':
        if (this.#raw !== undefined && attributes['val'] !== '0') this.#raw.struck = true
        return
      case 'color':
        if (this.#raw !== undefined) (this.#raw.colours ??= []).push(attributes)
        return
      case 'col':
        return this.#openColumns(attributes)
      case 'sheetView':
        this.#hidesZeros = isFalse(attributes['showZeros'])
        this.#showsFormulas = isTrue(attributes['showFormulas'])
        return
      case 'mergeCell':
        return this.#merge(attributes['ref'] ?? '')
      case 'conditionalFormatting':
        this.#ruled = attributes['sqref'] ?? ''
        return noteLook(this.#found, tag)
      case 'cfRule':
        return this.#openRule(attributes)
      case 'dataBar':
      case 'iconSet':
        if (hidesValues(tag, attributes)) this.#noteRule(this.#ruled)
        return
      case 'x14:conditionalFormatting':
        this.#later = { formats: new RuleFormats(), hidesValues: false, ranges: '' }
        return noteLook(this.#found, 'conditionalFormatting')
      case 'xm:sqref':
        this.#into = 'ranges'
        return
      default:
        noteLook(this.#found, tag)
    }
  }

  readonly text = (piece: string): void => {
    if (this.#into === 'ranges' && this.#later !== undefined) this.#later.ranges += piece
    if (this.#raw === undefined || this.#into === undefined) return
    if (this.#into === 'text') this.#raw.text += piece
    else this.#raw.formula = (this.#raw.formula ?? '') + piece
  }

  readonly close = (tag: string): void => {
    switch (tag) {
      case 'v':
      case 't':
      case 'f':
      case 'xm:sqref':
        this.#into = undefined
        return
      case 'x14:conditionalFormatting':
        return this.#closeLater()
      case 'rPh':
        this.#aloud -= 1
        return
      case 'c':
        return this.#closeCell()
      case 'row':
        if (this.#row.cells.length > 0 && hasContent(this.#row.cells, this.#row.number, this.#name))
          this.rows.push(this.#row)
    }
  }

  #openRow({ r: text, hidden, ht, customHeight }: Attributes): void {
    if (isTrue(customHeight)) this.#found.lost.add('row heights')
    const number = text === undefined ? this.#row.number + 1 : Number(text)
    if (!Number.isInteger(number) || number <= this.#row.number || number > 1_048_576) {
      throw this.#damaged(`row ${String(text).slice(0, 20)} after row ${this.#row.number}`)
    }
    this.#row = newRow(number, isTrue(hidden) || (ht !== undefined && Number(ht) < leastHeight))
    this.#column = -1
  }

  #openCell({ r, t = 'n', s = '0' }: Attributes): void {
    const column = r === undefined ? this.#column + 1 : this.#columnOf(r)
    if (column <= this.#column) throw this.#damaged(`cell ${String(r)} out of its place`)
    this.#column = column
    const nothing = { text: '', hasValue: false, values: 0, formula: undefined, struck: false }
    this.#raw = { type: t, style: Number(s), ...nothing }
  }

  #openText(): void {
    if (this.#raw === undefined || this.#aloud > 0) return
    this.#raw.hasValue = true
    this.#into = 'text'
  }

  #columnOf(name: string): number {
    let column = 0
    let at = 0
    for (; at < 3; at += 1) {
      const code = name.charCodeAt(at)
      if (code < 65 || code > 90 || Number.isNaN(code)) break
      column = column * 26 + code - 64
    }
    if (at === 0 || column > 16_384 || Number(name.slice(at)) !== this.#row.number) {
      throw this.#damaged(`cell ${name.slice(0, 20)} in row ${this.#row.number}`)
    }
    return column - 1
  }

  #closeCell(): void {
    const raw = this.#raw
    this.#raw = undefined
    if (raw === undefined) return
    const cell = this.#asShown(cellOf(raw, this.#context), raw)
    if (cell === '') return
    if (raw.formula !== undefined) this.#found.lost.add('formulas')
    const isAdorned = this.#context.formats[raw.style]?.adorned === true
    if (isAdorned || (raw.type === 's' && this.#context.strings.rich)) this.#row.hasOwnStyle = true
    if (this.#column >= limits.columns) throw beyondColumns(this.#name, this.#column, this.#row.number)
    this.#row.cells[this.#column] = cell
    if (isStruck(raw, this.#context)) this.#row.struck.push(this.#column)
    if (isUnseen(raw, this.#context)) this.#row.unseen.push(this.#column)
  }

  /** A sheet may show no zeros, and formulas instead of their values. */
  #asShown(cell: Cell, { formula }: RawCell): Cell {
    if (this.#showsFormulas && formula !== undefined) {
      return fault(`=${formula}`, 'is a formula, and the sheet shows formulas')
    }
    return this.#hidesZeros ? zeroAsFault(cell) : cell
  }

  #hidesZeros = false
  #showsFormulas = false

  #columnElements = 0

  #openColumns({ min, max, hidden, width: written }: Attributes): void {
    this.#columnElements += 1
    if (this.#columnElements > limits.columnElements) {
      throw this.#damaged(`more than ${limits.columnElements} column elements`)
    }
    const width = written === undefined ? undefined : Number(written)
    const isHidden = isTrue(hidden) || (width !== undefined && width < leastWidth)
    for (let at = Number(min); at <= Math.min(Number(max), limits.columns); at += 1) {
      if (isHidden) this.#found.hiddenColumns.add(at - 1)
      if (width !== undefined && width > 0 && width <= 255) this.#found.widths.set(at - 1, width)
    }
  }

  #merge(range: string): void {
    const { merged } = this.#found
    if (merged.length === limits.merged) throw this.#damaged('too many merged cells')
    const cells = rangeOf(range)
    if (cells === undefined || !range.includes(':')) return
    this.#found.lost.add('merged cells')
    merged.push(cells)
  }

  /** Ranges of the rules that are being read, with spaces between. */
  #ruled = ''

  /** A rule of Excel 2010 and later, which comes with its format, and its ranges after that. */
  #later: { formats: RuleFormats; hidesValues: boolean; ranges: string } | undefined

  #closeLater(): void {
    const later = this.#later
    this.#later = undefined
    if (later === undefined) return
    if (later.hidesValues || later.formats.striking(this.#context.palette).size > 0) {
      this.#noteRule(later.ranges)
    }
  }

  #openRule({ dxfId = '' }: Attributes): void {
    if (/^\d{1,6}$/.test(dxfId) && this.#context.striking.has(Number(dxfId))) this.#noteRule(this.#ruled)
  }

  #noteRule(ranges: string): void {
    const { struckByRule } = this.#found
    for (const range of ranges.trim().split(/\s+/)) {
      const cells = rangeOf(range)
      if (cells !== undefined && struckByRule.length < limits.merged) struckByRule.push(cells)
    }
  }

  #damaged(what: string) {
    return damagedError(this.#name, new Error(what))
  }
}

/** Bars and icons may be shown instead of the values. */
function hidesValues(tag: string, { showValue }: Attributes): boolean {
  return /^(?:x14:)?(?:dataBar|iconSet)$/.test(tag) && isFalse(showValue)
}
