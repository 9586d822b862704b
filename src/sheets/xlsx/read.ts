import { type Cell, type MergedCells, isBooleanWord } from '../../domain/sheet/cell.ts'
import { isSameColour, type LostPart, white } from '../../domain/sheet/appearance.ts'
import {
  type SheetProperties,
  zeroAsFault,
  beyondColumnsError,
  type Book,
  type BookRow,
  type BookSheet,
  hasContent,
  emptySheetProperties,
  type Attributes,
  isTrue,
  unescapeText,
  sheetNamespaces,
  xmlChunks,
  type Archive,
  damagedError,
  faultCell,
  isFalse,
  parseIsoTime,
  newRow,
} from '../book.ts'
import {
  type SharedStrings,
  type Relation,
  readRelations,
  readSharedStrings,
  type SheetPart,
  findWorkbookParts,
} from './parts.ts'
import {
  type CellFormat,
  dateText,
  type Palette,
  textColour,
  readCellFormats,
  RuleFormats,
} from './formats.ts'
import { limits } from '../sheet.ts'

/** Data of the workbook that cells refer to. */
export interface CellContext {
  strings: SharedStrings
  formats: readonly CellFormat[]
  /** Indexes of the conditional formats that strike a value through, hide it or show it differently. */
  alteringRules: ReadonlySet<number>
  palette: Palette
  /** Whether the workbook counts dates from 1904 instead of 1900. */
  from1904: boolean
  /** See `WorkbookParts`. */
  isUncomputed: boolean
}

/** A cell as it is in the XML. */
export interface RawCell {
  /** The attribute `t`, such as `s` for a shared text. */
  type: string
  /** Index of the cell's format in `CellContext.formats`. */
  style: number
  /** Text of the element `v`, or of the texts in `is`. */
  text: string
  /** Whether the cell has an element from which `text` is read. */
  hasValue: boolean
  /** Number of elements `v` and `is`; a valid cell has one at most. */
  valueCount: number
  /** Text of the formula; undefined if there is none. */
  formula: string | undefined
  /** Whether a span of an inline text is struck through. */
  hasStruckSpan: boolean
  /** Colours of the spans of an inline text. */
  colours?: Attributes[]
}

/** Converts a cell by its type (ECMA-376 part 1, 18.18.11). A formula has the value that was saved with it. */
export function toCell(raw: RawCell, context: CellContext): Cell {
  const { type, text, formula } = raw
  if (formula !== undefined && context.isUncomputed) {
    return faultCell(
      `=${formula}`,
      'is a formula that was never computed; open the file in a spreadsheet and save it',
    )
  }
  if (formula !== undefined && text === '' && type !== 'str') {
    return faultCell(`=${formula}`, 'is a formula whose value was not saved')
  }
  if (!raw.hasValue) return ''
  if (raw.valueCount > 1) return faultCell(text, 'has more than one value')
  switch (type) {
    case 's':
      return visibleText(sharedText(text, context), raw, context)
    case 'inlineStr':
    case 'str':
      return visibleText(unescapeText(text), raw, context)
    case 'b':
      return booleanCell(text)
    case 'e':
      return faultCell(text, `is the error ${text}`)
    case 'd':
      return isoDateCell(text, raw.style, context)
    case 'n':
      return text === '' ? '' : numberCell(text, raw.style, context)
    default:
      return faultCell(text, `is of the type ${type.slice(0, 40)}, which is not known`)
  }
}

function booleanCell(text: string): Cell {
  const value = isTrue(text)
  if (value || isFalse(text)) return { kind: 'boolean', text: String(value), value }
  return text === '' ? '' : faultCell(text, 'is neither TRUE nor FALSE')
}

/** Returns the text of a cell, or a fault if a number format such as `;;;` or `"Mr "@` hides or changes the text. */
function visibleText(cell: Cell, { style }: RawCell, { formats }: CellContext): Cell {
  const format = formats[style]
  if (format === undefined || format.showsTextUnchanged || typeof cell !== 'string' || cell === '')
    return cell
  const reason = `is shown otherwise by its number format, ${format.code.slice(0, 40)}; format the column as text and look at it again`
  return { kind: 'fault', text: cell, reason, format: format.code }
}

function sharedText(text: string, { strings }: CellContext): Cell {
  const string = /^\d{1,10}$/.test(text) ? strings.texts[Number(text)] : undefined
  return string ?? faultCell(text, 'refers to a text that the workbook does not have')
}

/** Whether any of the text is struck through. */
export function isStruck(
  { type, style, text, hasStruckSpan }: RawCell,
  { formats, strings }: CellContext,
): boolean {
  if (hasStruckSpan || formats[style]?.isStruckThrough === true) return true
  return strings.struckTexts.size > 0 && type === 's' && strings.struckTexts.has(Number(text))
}

/** Whether any of the text has the colour of its background. */
export function isInvisible({ type, style, text, colours }: RawCell, context: CellContext): boolean {
  const { formats, strings, palette } = context
  const format = formats[style]
  if (format?.isInvisible === true) return true
  const spanColours =
    colours ?? (strings.spanColours.size > 0 && type === 's' ? strings.spanColours.get(Number(text)) : [])
  const background = format === undefined ? white : format.background
  if (background === undefined || spanColours === undefined) return false
  return spanColours.some((part) => {
    const colour = textColour(part, palette)
    return colour !== undefined && isSameColour(colour, background)
  })
}

const decimal = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/

/** Whether a number loses digits: an integer written in full, which other programs than spreadsheets write. */
function losesDigits(text: string, value: number): boolean {
  if (Number.isSafeInteger(value) || !/^-?\d{16,}$/.test(text)) return false
  return String(value) !== text && BigInt(text) !== BigInt(value)
}

function numberCell(text: string, style: number, { formats, from1904 }: CellContext): Cell {
  const value = text.length < 400 && decimal.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) return faultCell(text, 'is no number')
  if (losesDigits(text, value)) return faultCell(text, 'has more digits than a number keeps')
  const { code, isDate } = formats[style] ?? { code: 'General', isDate: false }
  if (isBoolean(value, code)) return { kind: 'boolean', text: String(value === 1), value: value === 1 }
  if (!isDate) return { kind: 'number', text: String(value), value, format: code }
  const iso = dateText(value, from1904)
  if (iso === undefined) return faultCell(text, 'is a date that does not exist')
  return { kind: 'date', text: iso, serial: value, format: code }
}

/**
 * Whether the cell is a boolean of LibreOffice, which saves it as a number with the format `"TRUE"` or `"FALSE"` in
 * its language.
 */
function isBoolean(value: number, code: string): boolean {
  if (value !== 0 && value !== 1) return false
  const [, trueWord = '', falseWord = ''] = /^"(\p{L}{1,20})";"\1";"(\p{L}{1,20})"$/u.exec(code) ?? []
  return isBooleanWord(trueWord, true) && isBooleanWord(falseWord, false)
}

function isoDateCell(text: string, style: number, { formats, from1904 }: CellContext): Cell {
  const match = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2})(?:\.0+)?Z?)?$/.exec(text)
  if (match === null) return faultCell(text, 'is no date that can be read')
  const [, day = '', timeOfDay] = match
  const moment = parseIsoTime(day, timeOfDay)
  if (moment === undefined) return faultCell(text, 'is a date that does not exist')
  const code = formats[style]?.code ?? 'General'
  return {
    kind: 'date',
    text: moment.text,
    // The second number is the serial number of 1 January 1970.
    serial: moment.ms / 86_400_000 + (from1904 ? 24_107 : 25_569),
    format: code === 'General' ? 'yyyy-mm-dd' : code,
  }
}

/** Elements of a sheet that are lost when the sheet is written again. */
const lostElements = new Map<string, LostPart>([
  ['conditionalFormatting', 'conditional formats'],
  ['dataValidations', 'data validations'],
  ['autoFilter', 'filters'],
  ['tablePart', 'tables'],
  ['drawing', 'pictures'],
  ['picture', 'pictures'],
  ['hyperlink', 'links'],
])

/** Adds the part of an element to the lost parts of a sheet, if the element is not written again. */
export function noteLostPart(properties: SheetProperties, tag: string): void {
  const lost = lostElements.get(tag)
  if (lost !== undefined) properties.lostParts.add(lost)
}

/** Notes comments as lost. A workbook stores the comments of a sheet in a separate part, a relation of the sheet. */
export function noteComments({ lostParts }: SheetProperties, relations: ReadonlyMap<string, Relation>): void {
  for (const { type } of relations.values())
    if (/\/(?:comments|threadedComment)$/.test(type)) lostParts.add('comments')
}

/** Parses a range such as `B2:C9`; undefined if the text is not a range. */
export function parseRange(range: string): MergedCells | undefined {
  const corners = /^([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?$/.exec(range)
  if (corners === null) return undefined
  const [, left = '', top = '', right = left, bottom = top] = corners
  return {
    range,
    firstRow: Number(top),
    lastRow: Number(bottom),
    firstColumn: columnIndex(left),
    lastColumn: columnIndex(right),
  }
}

/** Converts column letters to an index: A → 0, AA → 26. */
function columnIndex(letters: string): number {
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

/** Opens an Office Open XML workbook. The rows of its sheets are not read yet. */
export async function openXlsxBook(archive: Archive, name: string): Promise<Book> {
  const { sheets, from1904, isUncomputed, ...parts } = await findWorkbookParts(archive, name)
  const context = {
    ...(await readCellFormats(archive, parts, name)),
    strings: await readSharedStrings(archive, parts.stringsPart, name),
    from1904,
    isUncomputed,
  }
  const toBookSheet = ({ name: title, isHidden, part }: SheetPart): BookSheet => {
    const properties = emptySheetProperties()
    return {
      name: title,
      isHidden,
      properties,
      rows: () => sheetRows(archive, { part, name, context, properties }),
    }
  }
  return { format: 'xlsx', from1904, sheets: sheets.map(toBookSheet) }
}

interface SheetEntry {
  /** Name of the sheet's part in the archive. */
  part: string
  /** Name of the file, for messages. */
  name: string
  context: CellContext
  /** Filled while the rows are read. */
  properties: SheetProperties
}

/** Yields the rows of a sheet that are not empty, in order, one array per unpacked chunk. */
async function* sheetRows(
  archive: Archive,
  { part, name, context, properties }: SheetEntry,
): AsyncGenerator<BookRow[]> {
  const reader = new SheetReader(name, context, properties, await readRelations(archive, part, name))
  for await (const _ of xmlChunks(archive, part, name, reader, limits.sheetBytes)) {
    yield reader.rows.splice(0)
  }
}

/** Rows lower than this (in points) and columns narrower than this (in characters) show no readable text. */
const minRowHeight = 2
const minColumnWidth = 0.3

class SheetReader {
  readonly namespaces = sheetNamespaces
  readonly rows: BookRow[] = []
  readonly #properties: SheetProperties
  readonly #name: string
  readonly #context: CellContext
  #row = newRow(0)
  #column = -1
  #rawCell: RawCell | undefined
  /** The member of the cell, or of the extended rule, to which the text of the open element is added. */
  #textTarget: 'text' | 'formula' | 'ranges' | undefined
  /** Number of open elements with phonetic text, which is not a part of the value. */
  #phoneticDepth = 0

  constructor(
    name: string,
    context: CellContext,
    properties: SheetProperties,
    relations: ReadonlyMap<string, Relation>,
  ) {
    this.#name = name
    this.#context = context
    this.#properties = Object.assign(properties, emptySheetProperties())
    noteComments(properties, relations)
  }

  readonly open = (tag: string, attributes: Attributes): void => {
    if (this.#extendedRule !== undefined && tag !== 'xm:sqref') {
      if (hidesValues(tag, attributes)) this.#extendedRule.hidesValues = true
      return this.#extendedRule.formats.open(tag === 'x14:dxf' ? 'dxf' : tag, attributes)
    }
    switch (tag) {
      case 'row':
        return this.#openRow(attributes)
      case 'c':
        return this.#openCell(attributes)
      case 'is':
        if (this.#rawCell !== undefined) this.#rawCell.valueCount += 1
        return
      case 'v':
        if (this.#rawCell !== undefined) this.#rawCell.valueCount += 1
        return this.#openText()
      case 't':
        return this.#openText()
      case 'f':
        if (this.#rawCell !== undefined) {
          this.#rawCell.formula = ''
          this.#textTarget = 'formula'
        }
        return
      case 'rPh':
        this.#phoneticDepth += 1
        return
      case 'strike':
        if (this.#rawCell !== undefined && attributes['val'] !== '0') this.#rawCell.hasStruckSpan = true
        return
      case 'color':
        if (this.#rawCell !== undefined) (this.#rawCell.colours ??= []).push(attributes)
        return
      case 'col':
        return this.#openColumns(attributes)
      case 'sheetView':
        this.#hidesZeros = isFalse(attributes['showZeros'])
        this.#showsFormulas = isTrue(attributes['showFormulas'])
        return
      case 'mergeCell':
        return this.#noteMergedCells(attributes['ref'] ?? '')
      case 'conditionalFormatting':
        this.#ruleRanges = attributes['sqref'] ?? ''
        return noteLostPart(this.#properties, tag)
      case 'cfRule':
        return this.#openRule(attributes)
      case 'dataBar':
      case 'iconSet':
        if (hidesValues(tag, attributes)) this.#addStruckRanges(this.#ruleRanges)
        return
      case 'x14:conditionalFormatting':
        this.#extendedRule = { formats: new RuleFormats(), hidesValues: false, ranges: '' }
        return noteLostPart(this.#properties, 'conditionalFormatting')
      case 'xm:sqref':
        this.#textTarget = 'ranges'
        return
      default:
        noteLostPart(this.#properties, tag)
    }
  }

  readonly text = (piece: string): void => {
    if (this.#textTarget === 'ranges' && this.#extendedRule !== undefined) this.#extendedRule.ranges += piece
    if (this.#rawCell === undefined || this.#textTarget === undefined) return
    if (this.#textTarget === 'text') this.#rawCell.text += piece
    else this.#rawCell.formula = (this.#rawCell.formula ?? '') + piece
  }

  readonly close = (tag: string): void => {
    switch (tag) {
      case 'v':
      case 't':
      case 'f':
      case 'xm:sqref':
        this.#textTarget = undefined
        return
      case 'x14:conditionalFormatting':
        return this.#closeExtendedRule()
      case 'rPh':
        this.#phoneticDepth -= 1
        return
      case 'c':
        return this.#closeCell()
      case 'row':
        if (this.#row.cells.length > 0 && hasContent(this.#row.cells, this.#row.number, this.#name))
          this.rows.push(this.#row)
    }
  }

  #openRow({ r: text, hidden, ht, customHeight }: Attributes): void {
    if (isTrue(customHeight)) this.#properties.lostParts.add('row heights')
    const number = text === undefined ? this.#row.number + 1 : Number(text)
    if (!Number.isInteger(number) || number <= this.#row.number || number > 1_048_576) {
      throw this.#damagedError(`row ${String(text).slice(0, 20)} after row ${this.#row.number}`)
    }
    this.#row = newRow(number, isTrue(hidden) || (ht !== undefined && Number(ht) < minRowHeight))
    this.#column = -1
  }

  #openCell({ r, t = 'n', s = '0' }: Attributes): void {
    const column = r === undefined ? this.#column + 1 : this.#columnOf(r)
    if (column <= this.#column) throw this.#damagedError(`cell ${String(r)} out of its place`)
    this.#column = column
    const noContent = { text: '', hasValue: false, valueCount: 0, formula: undefined, hasStruckSpan: false }
    this.#rawCell = { type: t, style: Number(s), ...noContent }
  }

  #openText(): void {
    if (this.#rawCell === undefined || this.#phoneticDepth > 0) return
    this.#rawCell.hasValue = true
    this.#textTarget = 'text'
  }

  #columnOf(name: string): number {
    let column = 0
    let letterCount = 0
    for (; letterCount < 3; letterCount += 1) {
      const code = name.charCodeAt(letterCount)
      if (code < 65 || code > 90 || Number.isNaN(code)) break
      column = column * 26 + code - 64
    }
    if (letterCount === 0 || column > 16_384 || Number(name.slice(letterCount)) !== this.#row.number) {
      throw this.#damagedError(`cell ${name.slice(0, 20)} in row ${this.#row.number}`)
    }
    return column - 1
  }

  #closeCell(): void {
    const raw = this.#rawCell
    this.#rawCell = undefined
    if (raw === undefined) return
    const cell = this.#applySheetView(toCell(raw, this.#context), raw)
    if (cell === '') return
    if (raw.formula !== undefined) this.#properties.lostParts.add('formulas')
    const isDecorated = this.#context.formats[raw.style]?.isDecorated === true
    if (isDecorated || (raw.type === 's' && this.#context.strings.hasRichText)) this.#row.hasOwnStyle = true
    if (this.#column >= limits.columns) throw beyondColumnsError(this.#name, this.#column, this.#row.number)
    this.#row.cells[this.#column] = cell
    if (isStruck(raw, this.#context)) this.#row.struckColumns.push(this.#column)
    if (isInvisible(raw, this.#context)) this.#row.invisibleColumns.push(this.#column)
  }

  /** Returns a fault if the sheet's view hides this zero, or shows this formula instead of its value. */
  #applySheetView(cell: Cell, { formula }: RawCell): Cell {
    if (this.#showsFormulas && formula !== undefined) {
      return faultCell(`=${formula}`, 'is a formula, and the sheet shows formulas')
    }
    return this.#hidesZeros ? zeroAsFault(cell) : cell
  }

  #hidesZeros = false
  #showsFormulas = false

  /** Number of elements that describe columns so far. */
  #columnElementCount = 0

  #openColumns({ min, max, hidden, width: written }: Attributes): void {
    this.#columnElementCount += 1
    if (this.#columnElementCount > limits.columnElements) {
      throw this.#damagedError(`more than ${limits.columnElements} column elements`)
    }
    const width = written === undefined ? undefined : Number(written)
    const isHidden = isTrue(hidden) || (width !== undefined && width < minColumnWidth)
    for (let number = Number(min); number <= Math.min(Number(max), limits.columns); number += 1) {
      if (isHidden) this.#properties.hiddenColumns.add(number - 1)
      if (width !== undefined && width > 0 && width <= 255) this.#properties.widths.set(number - 1, width)
    }
  }

  #noteMergedCells(range: string): void {
    const { merged } = this.#properties
    if (merged.length === limits.mergedRanges) throw this.#damagedError('too many merged cells')
    const cells = parseRange(range)
    if (cells === undefined || !range.includes(':')) return
    this.#properties.lostParts.add('merged cells')
    merged.push(cells)
  }

  /** Ranges of the conditional format being read, separated by spaces. */
  #ruleRanges = ''

  /** A conditional format in the syntax of Excel 2010 and later, where the ranges follow the format. */
  #extendedRule: { formats: RuleFormats; hidesValues: boolean; ranges: string } | undefined

  #closeExtendedRule(): void {
    const rule = this.#extendedRule
    this.#extendedRule = undefined
    if (rule === undefined) return
    if (rule.hidesValues || rule.formats.findAlteringRules(this.#context.palette).size > 0) {
      this.#addStruckRanges(rule.ranges)
    }
  }

  #openRule({ dxfId = '' }: Attributes): void {
    if (/^\d{1,6}$/.test(dxfId) && this.#context.alteringRules.has(Number(dxfId)))
      this.#addStruckRanges(this.#ruleRanges)
  }

  #addStruckRanges(ranges: string): void {
    const { struckByConditionalFormat } = this.#properties
    for (const range of ranges.trim().split(/\s+/)) {
      const cells = parseRange(range)
      if (cells !== undefined && struckByConditionalFormat.length < limits.mergedRanges)
        struckByConditionalFormat.push(cells)
    }
  }

  #damagedError(problem: string) {
    return damagedError(this.#name, new Error(problem))
  }
}

/** Whether the element shows bars or icons instead of the values. */
function hidesValues(tag: string, { showValue }: Attributes): boolean {
  return /^(?:x14:)?(?:dataBar|iconSet)$/.test(tag) && isFalse(showValue)
}
