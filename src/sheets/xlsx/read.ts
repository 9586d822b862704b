import type { Cell } from '../../domain/sheet/cell.ts'
import {
  asShownWithoutZeros,
  beyondColumns,
  type Book,
  type BookRow,
  type BookSheet,
  type Findings,
  hasContent,
  noFindings,
} from '../book.ts'
import { limits, refusal } from '../limits.ts'
import type { Archive } from './archive.ts'
import { cellFormats, RuleFormats } from './formats.ts'
import {
  type CellContext,
  cellOf,
  isStruck,
  isUnseen,
  noteComments,
  noteLook,
  rangeOf,
  type RawCell,
} from './cells.ts'
import {
  type Attributes,
  isTrue,
  type Relation,
  relations,
  sharedStrings,
  type SheetPart,
  sheetSpaces,
  workbookParts,
  xmlChunks,
} from './xml.ts'

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
  found: Findings
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

/** Lower rows, in points, and narrower columns, in characters, show nothing that anybody reads. */
const leastHeight = 2
const leastWidth = 0.3

class Walk {
  readonly spaces = sheetSpaces
  readonly rows: BookRow[] = []
  readonly #found: Findings
  readonly #name: string
  readonly #context: CellContext
  #row: BookRow = { number: 0, cells: [], hidden: false, struck: [], unseen: [], adorned: false }
  #column = -1
  #raw: RawCell | undefined
  /** Where texts go now. */
  #into: 'text' | 'formula' | 'ranges' | undefined
  #aloud = 0

  constructor(name: string, context: CellContext, found: Findings, related: ReadonlyMap<string, Relation>) {
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
        this.#hidesZeros = ['0', 'false'].includes(attributes['showZeros'] ?? '')
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
    if (customHeight === '1' || customHeight === 'true') this.#found.lost.add('row heights')
    const number = text === undefined ? this.#row.number + 1 : Number(text)
    if (!Number.isInteger(number) || number <= this.#row.number || number > 1_048_576) {
      throw this.#damaged(`row ${String(text).slice(0, 20)} after row ${String(this.#row.number)}`)
    }
    const isHidden = hidden === '1' || hidden === 'true' || (ht !== undefined && Number(ht) < leastHeight)
    this.#row = { number, cells: [], hidden: isHidden, struck: [], unseen: [], adorned: false }
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
      throw this.#damaged(`cell ${name.slice(0, 20)} in row ${String(this.#row.number)}`)
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
    if (isAdorned || (raw.type === 's' && this.#context.strings.rich)) this.#row.adorned = true
    if (this.#column >= limits.columns) throw beyondColumns(this.#name, this.#column, this.#row.number)
    this.#row.cells[this.#column] = cell
    if (isStruck(raw, this.#context)) this.#row.struck.push(this.#column)
    if (isUnseen(raw, this.#context)) this.#row.unseen.push(this.#column)
  }

  /** A sheet may show no zeros, and formulas in place of their values. */
  #asShown(cell: Cell, { formula }: RawCell): Cell {
    if (this.#showsFormulas && formula !== undefined) {
      return { kind: 'fault', text: `=${formula}`, reason: 'is a formula, and the sheet shows formulas' }
    }
    return this.#hidesZeros ? asShownWithoutZeros(cell) : cell
  }

  #hidesZeros = false
  #showsFormulas = false

  #columnElements = 0

  #openColumns({ min, max, hidden, width: written }: Attributes): void {
    this.#columnElements += 1
    if (this.#columnElements > limits.columnElements) {
      throw this.#damaged(`more than ${String(limits.columnElements)} column elements`)
    }
    const width = written === undefined ? undefined : Number(written)
    const isHidden = hidden === '1' || hidden === 'true' || (width !== undefined && width < leastWidth)
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
    return refusal(
      this.#name,
      `it is a damaged workbook (${what})`,
      'Open it in a spreadsheet program and save it again.',
    )
  }
}

/** Bars and icons may stand in place of the values. */
function hidesValues(tag: string, { showValue }: Attributes): boolean {
  return /^(?:x14:)?(?:dataBar|iconSet)$/.test(tag) && (showValue === '0' || showValue === 'false')
}
