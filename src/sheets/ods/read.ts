import type { Cell } from '../../domain/sheet/cell.ts'
import {
  zeroAsFault,
  beyondColumns,
  type Book,
  type BookRow,
  type BookSheet,
  type SheetProperties,
  hasContent,
  noFindings,
  type Archive,
  type Attributes,
  readXml,
  requireFewSheets,
  xmlChunks,
  newRow,
  cellRange,
} from '../book.ts'
import { limits, refusal } from '../sheet.ts'
import { cellOf, Paragraphs, type RawCell, spaces, type Styles, stylesOf } from './cells.ts'

/** A workbook of OpenDocument (ISO/IEC 26300), as LibreOffice saves it. Nothing of its sheets is read yet. */
export async function odsBook(archive: Archive, name: string): Promise<Book> {
  await requireSpreadsheet(archive, name)
  const styles = await stylesOf(archive, name)
  const hidesZeros = await hidesZerosIn(archive, name)
  const sheets: BookSheet[] = []
  for (const [number, { title, hidden }] of (await tablesOf(archive, styles, name)).entries()) {
    const found = noFindings()
    const rows = (): ReturnType<BookSheet['rows']> =>
      sheetRows(archive, { number, name, styles, hidesZeros, found })
    sheets.push({ name: title, hidden, found, rows })
  }
  return { format: 'ods', from1904: false, sheets }
}

async function requireSpreadsheet(archive: Archive, name: string): Promise<void> {
  const kind = archive.has('mimetype') ? await textOf(archive, 'mimetype') : ''
  const isOther = kind !== '' && !kind.startsWith('application/vnd.oasis.opendocument.spreadsheet')
  if (isOther) {
    throw refusal(
      name,
      'it is an OpenDocument file, but not a spreadsheet',
      'Export the table as ODS, XLSX or CSV.',
    )
  }
  if (!archive.has('META-INF/manifest.xml')) return
  const manifest = await textOf(archive, 'META-INF/manifest.xml')
  if (/encryption-data|encrypted-key/.test(manifest)) {
    throw refusal(name, 'it is encrypted', 'Save it without a password, then run this again.')
  }
}

async function textOf(archive: Archive, part: string): Promise<string> {
  const bytes: Buffer[] = []
  for await (const chunk of archive.read(part, limits.smallPartBytes)) bytes.push(chunk)
  return Buffer.concat(bytes).toString().trim()
}

interface Table {
  title: string
  hidden: boolean
}

async function tablesOf(archive: Archive, styles: Styles, name: string): Promise<Table[]> {
  const tables: Table[] = []
  let depth = 0
  await readXml(archive, 'content.xml', name, {
    spaces,
    largest: limits.sheetBytes,
    open(tag, attributes) {
      if (tag !== 'table:table') return
      depth += 1
      if (depth > 1) return
      const { 'table:name': title = '', 'table:style-name': style = '' } = attributes
      tables.push({ title, hidden: styles.hiddenTables.has(style) })
      requireFewSheets(tables.length, name)
    },
    close(tag) {
      if (tag === 'table:table') depth -= 1
    },
  })
  return tables
}

/** A setting of the document, or of one view of it, that LibreOffice keeps. */
async function hidesZerosIn(archive: Archive, name: string): Promise<boolean> {
  if (!archive.has('settings.xml')) return false
  let isAsked = false
  let hides = false
  await readXml(archive, 'settings.xml', name, {
    spaces,
    largest: limits.smallPartBytes,
    open(tag, attributes) {
      isAsked = tag === 'config:config-item' && attributes['config:name'] === 'ShowZeroValues'
    },
    text(piece) {
      if (isAsked && piece.trim() === 'false') hides = true
    },
  })
  return hides
}

interface SheetEntry {
  /** Which table of the document, from 0. */
  number: number
  name: string
  styles: Styles
  hidesZeros: boolean
  found: SheetProperties
}

const rowsAtMost = 1_048_576
const rowsAtOnce = 1000

/** The rows of a sheet that hold anything, in order, equal ones that are written once included. */
async function* sheetRows(archive: Archive, entry: SheetEntry): AsyncGenerator<BookRow[]> {
  const walk = new Walk(entry)
  for await (const _ of xmlChunks(archive, 'content.xml', entry.name, walk, limits.sheetBytes)) {
    if (walk.rows.length === 0) yield []
    for (const { row, times } of walk.rows.splice(0)) {
      for (let done = 0; done < times; done += rowsAtOnce) {
        const some = Math.min(rowsAtOnce, times - done)
        yield Array.from({ length: some }, (_each, at) => ({
          ...row,
          number: row.number + done + at,
          cells: [...row.cells],
        }))
      }
    }
  }
}

/** Elements in a cell that are no part of its text. */
const besides = new Set([
  'office:annotation',
  'text:ruby-text',
  'text:note',
  'table:shapes',
  'office:event-listeners',
])

class Walk {
  readonly spaces = spaces
  readonly rows: { row: BookRow; times: number }[] = []
  readonly #entry: SheetEntry
  #table = -1
  /** Tables within tables are drawn in cells. */
  #depth = 0
  /** How deep in what is no part of a text. */
  #skippedDepth = 0
  #number = 1
  #times = 1
  #row = newRow(1)
  #column = 0
  /** Styles for the cells of each column that name none of their own, as far as one of them strikes through. */
  readonly #columnStyles: string[] = []
  #rowStyle: string | undefined
  #raw: RawCell | undefined
  readonly #text = new Paragraphs()

  constructor(entry: SheetEntry) {
    this.#entry = entry
    Object.assign(entry.found, noFindings())
  }

  /** Groups of rows and columns that are being read, each within the one before: whether it is folded away. */
  readonly #groups: boolean[] = []

  readonly open = (tag: string, attributes: Attributes): void => {
    if (tag === 'table:table') {
      this.#depth += 1
      if (this.#depth === 1) this.#table += 1
      return
    }
    if (this.#table !== this.#entry.number || this.#depth !== 1) return
    if (this.#skippedDepth > 0 || besides.has(tag) || tag.startsWith('draw:')) {
      if (tag === 'office:annotation') this.#entry.found.lost.add('comments')
      if (tag.startsWith('draw:') && this.#skippedDepth === 0) this.#entry.found.lost.add('pictures')
      this.#skippedDepth += 1
      return
    }
    switch (tag) {
      case 'table:table-column-group':
      case 'table:table-row-group':
        this.#groups.push(attributes['table:display'] === 'false')
        return
      case 'table:table-column':
        return this.#openColumn(attributes)
      case 'table:table-row':
        return this.#openRow(attributes)
      case 'table:table-cell':
      case 'table:covered-table-cell':
        this.#text.clear()
        this.#raw = { attributes, text: undefined, struck: false, parts: [], isFormatted: false }
        return
      default:
        if (this.#raw === undefined) return
        if (this.#entry.styles.struck.has(attributes['text:style-name'] ?? '')) this.#raw.struck = true
        if (tag === 'text:span') notePart(this.#raw, attributes['text:style-name'])
        if (tag === 'text:a') this.#entry.found.lost.add('links')
        this.#text.open(tag, attributes)
    }
  }

  readonly text = (piece: string): void => {
    if (this.#raw !== undefined && this.#skippedDepth === 0 && this.#depth === 1) this.#text.add(piece)
  }

  readonly close = (tag: string): void => {
    if (tag === 'table:table') {
      this.#depth -= 1
      return
    }
    if (this.#table !== this.#entry.number || this.#depth !== 1) return
    if (this.#skippedDepth > 0) {
      this.#skippedDepth -= 1
      return
    }
    if (tag === 'table:table-cell' || tag === 'table:covered-table-cell') this.#closeCell()
    else if (tag === 'table:table-row') this.#closeRow()
    else if (tag === 'table:table-column-group' || tag === 'table:table-row-group') this.#groups.pop()
    else this.#text.close(tag)
  }

  #isHidden(attributes: Attributes): boolean {
    const visibility = attributes['table:visibility']
    return visibility === 'collapse' || visibility === 'filter' || this.#groups.includes(true)
  }

  #openColumn(attributes: Attributes): void {
    const times = repeated(attributes['table:number-columns-repeated'])
    const isHidden = this.#isHidden(attributes)
    const width = this.#entry.styles.widths.get(attributes['table:style-name'] ?? '')
    const style = attributes['table:default-cell-style-name'] ?? ''
    for (let done = 0; done < times && this.#columnStyles.length < limits.columns; done += 1) {
      if (isHidden) this.#entry.found.hiddenColumns.add(this.#columnStyles.length)
      if (width !== undefined) this.#entry.found.widths.set(this.#columnStyles.length, width)
      this.#columnStyles.push(style)
    }
  }

  #openRow(attributes: Attributes): void {
    this.#times = repeated(attributes['table:number-rows-repeated'])
    this.#row = newRow(this.#number, this.#isHidden(attributes))
    this.#rowStyle = attributes['table:default-cell-style-name']
    this.#column = 0
  }

  #closeRow(): void {
    this.#number += this.#times
    if (this.#row.cells.length === 0 || !hasContent(this.#row.cells, this.#row.number, this.#entry.name))
      return
    if (this.#number > rowsAtMost + 1) {
      throw refusal(this.#entry.name, 'it has more rows than a spreadsheet can', 'Save it again.')
    }
    this.rows.push({ row: this.#row, times: this.#times })
  }

  #closeCell(): void {
    const raw = this.#raw
    this.#raw = undefined
    if (raw === undefined) return
    raw.text = this.#text.taken()
    raw.isFormatted = this.#entry.styles.formatted.has(this.#styleAt(this.#column, raw.attributes))
    const cell = this.#entry.hidesZeros ? zeroAsFault(cellOf(raw)) : cellOf(raw)
    const times = repeated(raw.attributes['table:number-columns-repeated'])
    this.#merge(raw.attributes)
    if (cell !== '') {
      this.#put(cell, raw, times)
      this.#noteLook(cell, raw)
    }
    this.#column += times
  }

  #styleAt(column: number, attributes: Attributes): string {
    return attributes['table:style-name'] ?? this.#rowStyle ?? this.#columnStyles[column] ?? ''
  }

  #put(cell: Cell, { attributes, struck, parts }: RawCell, times: number): void {
    const { styles } = this.#entry
    for (let at = this.#column; at < this.#column + times; at += 1) {
      if (at >= limits.columns) throw beyondColumns(this.#entry.name, at, this.#row.number)
      this.#row.cells[at] = cell
      const style = this.#styleAt(at, attributes)
      if (struck || styles.struck.has(style)) this.#row.struck.push(at)
      if (styles.unseen.has(style) || parts.some((part) => styles.hides(part, style))) {
        this.#row.unseen.push(at)
      }
      if (styles.struckByRule.has(style)) this.#noteRule(at)
    }
  }

  /** By column: the index of its range. */
  readonly #ruled = new Map<number, number>()

  /** One range for each column, down to the last cell that a condition may strike through. */
  #noteRule(column: number): void {
    const { struckByRule } = this.#entry.found
    const lastRow = this.#row.number + this.#times - 1
    const at = this.#ruled.get(column) ?? struckByRule.length
    this.#ruled.set(column, at)
    const firstRow = struckByRule[at]?.firstRow ?? this.#row.number
    struckByRule[at] = cellRange({ firstRow, lastRow, firstColumn: column, lastColumn: column })
  }

  #noteLook(cell: Cell, { attributes, text }: RawCell): void {
    const { found, styles } = this.#entry
    if (attributes['table:formula'] !== undefined) found.lost.add('formulas')
    if (attributes['table:content-validation-name'] !== undefined) found.lost.add('data validations')
    if (styles.adorned.has(attributes['table:style-name'] ?? '')) this.#row.hasOwnStyle = true
    if (typeof cell !== 'string' && cell.kind === 'date' && text !== undefined && text !== cell.text) {
      found.lost.add('date formats')
    }
  }

  #merge(attributes: Attributes): void {
    const columns = repeated(attributes['table:number-columns-spanned'])
    const rows = repeated(attributes['table:number-rows-spanned'])
    if (columns === 1 && rows === 1) return
    const { merged, lost } = this.#entry.found
    lost.add('merged cells')
    if (merged.length === limits.merged) throw new Error('it has too many merged cells')
    const [firstRow, firstColumn] = [this.#row.number, this.#column]
    const [lastRow, lastColumn] = [firstRow + rows - 1, firstColumn + columns - 1]
    merged.push(cellRange({ firstRow, lastRow, firstColumn, lastColumn }))
  }
}

function notePart({ parts }: RawCell, style: string | undefined): void {
  if (style !== undefined && parts.length < maxParts && !parts.includes(style)) parts.push(style)
}

/** Of one cell, in styles of their own; one with more is a picture of it. */
const maxParts = 20

function repeated(text: string | undefined): number {
  if (text === undefined) return 1
  const times = /^\d{1,8}$/.test(text) ? Number(text) : 0
  if (times === 0) throw new Error(`"${text.slice(0, 20)}" is no number of repetitions`)
  return times
}
