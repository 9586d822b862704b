import type { Cell } from '../../domain/sheet/cell.ts'
import {
  zeroAsFault,
  beyondColumnsError,
  type Book,
  type BookRow,
  type BookSheet,
  type SheetProperties,
  hasContent,
  emptySheetProperties,
  type Archive,
  type Attributes,
  readXml,
  requireFewSheets,
  xmlChunks,
  newRow,
  cellRange,
} from '../book.ts'
import { limits, refusal } from '../sheet.ts'
import { cellOf, CellText, type RawCell, namespaces, type Styles, readStyles } from './cells.ts'

/**
 * Opens an OpenDocument workbook (ISO/IEC 26300) as LibreOffice saves it. The rows of its sheets are not read yet.
 */
export async function openOdsBook(archive: Archive, name: string): Promise<Book> {
  await requireSpreadsheet(archive, name)
  const styles = await readStyles(archive, name)
  const hidesZeros = await readHidesZeros(archive, name)
  const sheets: BookSheet[] = []
  for (const [tableIndex, { title, isHidden }] of (await readTables(archive, styles, name)).entries()) {
    const properties = emptySheetProperties()
    const rows = (): ReturnType<BookSheet['rows']> =>
      sheetRows(archive, { tableIndex, name, styles, hidesZeros, properties })
    sheets.push({ name: title, isHidden, properties, rows })
  }
  return { format: 'ods', from1904: false, sheets }
}

async function requireSpreadsheet(archive: Archive, name: string): Promise<void> {
  const mimeType = archive.has('mimetype') ? await textOf(archive, 'mimetype') : ''
  const isOtherDocument =
    mimeType !== '' && !mimeType.startsWith('application/vnd.oasis.opendocument.spreadsheet')
  if (isOtherDocument) {
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
  isHidden: boolean
}

async function readTables(archive: Archive, styles: Styles, name: string): Promise<Table[]> {
  const tables: Table[] = []
  let depth = 0
  await readXml(archive, 'content.xml', name, {
    namespaces,
    maxBytes: limits.sheetBytes,
    open(tag, attributes) {
      if (tag !== 'table:table') return
      depth += 1
      if (depth > 1) return
      const { 'table:name': title = '', 'table:style-name': style = '' } = attributes
      tables.push({ title, isHidden: styles.hiddenTables.has(style) })
      requireFewSheets(tables.length, name)
    },
    close(tag) {
      if (tag === 'table:table') depth -= 1
    },
  })
  return tables
}

/** Whether zeros are hidden: a setting that LibreOffice stores for the document or for each of its views. */
async function readHidesZeros(archive: Archive, name: string): Promise<boolean> {
  if (!archive.has('settings.xml')) return false
  let isZerosSetting = false
  let areHidden = false
  await readXml(archive, 'settings.xml', name, {
    namespaces,
    maxBytes: limits.smallPartBytes,
    open(tag, attributes) {
      isZerosSetting = tag === 'config:config-item' && attributes['config:name'] === 'ShowZeroValues'
    },
    text(piece) {
      if (isZerosSetting && piece.trim() === 'false') areHidden = true
    },
  })
  return areHidden
}

interface SheetEntry {
  /** Index of the table in the document, from 0. */
  tableIndex: number
  /** Name of the file, for messages. */
  name: string
  styles: Styles
  hidesZeros: boolean
  /** Filled while the rows are read. */
  properties: SheetProperties
}

const maxRows = 1_048_576
const rowsPerYield = 1000

/**
 * Yields the rows of a sheet that are not empty, in order. A row that the file writes once with a count is yielded
 * that often.
 */
async function* sheetRows(archive: Archive, entry: SheetEntry): AsyncGenerator<BookRow[]> {
  const reader = new TableReader(entry)
  for await (const _ of xmlChunks(archive, 'content.xml', entry.name, reader, limits.sheetBytes)) {
    if (reader.rows.length === 0) yield []
    for (const { row, repetitions } of reader.rows.splice(0)) {
      for (let yielded = 0; yielded < repetitions; yielded += rowsPerYield) {
        const count = Math.min(rowsPerYield, repetitions - yielded)
        yield Array.from({ length: count }, (_each, at) => ({
          ...row,
          number: row.number + yielded + at,
          cells: [...row.cells],
        }))
      }
    }
  }
}

/** Elements in a cell whose text is not part of the cell's text. */
const skippedElements = new Set([
  'office:annotation',
  'text:ruby-text',
  'text:note',
  'table:shapes',
  'office:event-listeners',
])

class TableReader {
  readonly namespaces = namespaces
  readonly rows: { row: BookRow; repetitions: number }[] = []
  readonly #entry: SheetEntry
  /** Index of the current table in the document. */
  #tableIndex = -1
  /** Nesting of table elements; an inner table is drawn in a cell. */
  #tableDepth = 0
  /** Nesting within an element whose text is skipped. */
  #skippedDepth = 0
  /** Number of the current row, from 1. */
  #rowNumber = 1
  #repetitions = 1
  #row = newRow(1)
  /** Index of the current column. */
  #column = 0
  /** Default style of the cells in each column. */
  readonly #columnStyles: string[] = []
  #rowStyle: string | undefined
  #rawCell: RawCell | undefined
  readonly #text = new CellText()

  constructor(entry: SheetEntry) {
    this.#entry = entry
    Object.assign(entry.properties, emptySheetProperties())
  }

  /** The open groups of rows and columns, outermost first: whether each is collapsed. */
  readonly #isGroupCollapsed: boolean[] = []

  readonly open = (tag: string, attributes: Attributes): void => {
    if (tag === 'table:table') {
      this.#tableDepth += 1
      if (this.#tableDepth === 1) this.#tableIndex += 1
      return
    }
    if (this.#tableIndex !== this.#entry.tableIndex || this.#tableDepth !== 1) return
    if (this.#skippedDepth > 0 || skippedElements.has(tag) || tag.startsWith('draw:')) {
      if (tag === 'office:annotation') this.#entry.properties.lostParts.add('comments')
      if (tag.startsWith('draw:') && this.#skippedDepth === 0)
        this.#entry.properties.lostParts.add('pictures')
      this.#skippedDepth += 1
      return
    }
    switch (tag) {
      case 'table:table-column-group':
      case 'table:table-row-group':
        this.#isGroupCollapsed.push(attributes['table:display'] === 'false')
        return
      case 'table:table-column':
        return this.#openColumn(attributes)
      case 'table:table-row':
        return this.#openRow(attributes)
      case 'table:table-cell':
      case 'table:covered-table-cell':
        this.#text.clear()
        this.#rawCell = {
          attributes,
          text: undefined,
          isStruckThrough: false,
          spanStyles: [],
          hasNumberFormat: false,
        }
        return
      default:
        if (this.#rawCell === undefined) return
        if (this.#entry.styles.struckThrough.has(attributes['text:style-name'] ?? ''))
          this.#rawCell.isStruckThrough = true
        if (tag === 'text:span') addSpanStyle(this.#rawCell, attributes['text:style-name'])
        if (tag === 'text:a') this.#entry.properties.lostParts.add('links')
        this.#text.open(tag, attributes)
    }
  }

  readonly text = (piece: string): void => {
    if (this.#rawCell !== undefined && this.#skippedDepth === 0 && this.#tableDepth === 1)
      this.#text.add(piece)
  }

  readonly close = (tag: string): void => {
    if (tag === 'table:table') {
      this.#tableDepth -= 1
      return
    }
    if (this.#tableIndex !== this.#entry.tableIndex || this.#tableDepth !== 1) return
    if (this.#skippedDepth > 0) {
      this.#skippedDepth -= 1
      return
    }
    if (tag === 'table:table-cell' || tag === 'table:covered-table-cell') this.#closeCell()
    else if (tag === 'table:table-row') this.#closeRow()
    else if (tag === 'table:table-column-group' || tag === 'table:table-row-group')
      this.#isGroupCollapsed.pop()
    else this.#text.close(tag)
  }

  #isHidden(attributes: Attributes): boolean {
    const visibility = attributes['table:visibility']
    return visibility === 'collapse' || visibility === 'filter' || this.#isGroupCollapsed.includes(true)
  }

  #openColumn(attributes: Attributes): void {
    const repetitions = parseRepetitions(attributes['table:number-columns-repeated'])
    const isHidden = this.#isHidden(attributes)
    const width = this.#entry.styles.widths.get(attributes['table:style-name'] ?? '')
    const style = attributes['table:default-cell-style-name'] ?? ''
    for (let done = 0; done < repetitions && this.#columnStyles.length < limits.columns; done += 1) {
      if (isHidden) this.#entry.properties.hiddenColumns.add(this.#columnStyles.length)
      if (width !== undefined) this.#entry.properties.widths.set(this.#columnStyles.length, width)
      this.#columnStyles.push(style)
    }
  }

  #openRow(attributes: Attributes): void {
    this.#repetitions = parseRepetitions(attributes['table:number-rows-repeated'])
    this.#row = newRow(this.#rowNumber, this.#isHidden(attributes))
    this.#rowStyle = attributes['table:default-cell-style-name']
    this.#column = 0
  }

  #closeRow(): void {
    this.#rowNumber += this.#repetitions
    if (this.#row.cells.length === 0 || !hasContent(this.#row.cells, this.#row.number, this.#entry.name))
      return
    if (this.#rowNumber > maxRows + 1) {
      throw refusal(this.#entry.name, 'it has more rows than a spreadsheet can', 'Save it again.')
    }
    this.rows.push({ row: this.#row, repetitions: this.#repetitions })
  }

  #closeCell(): void {
    const raw = this.#rawCell
    this.#rawCell = undefined
    if (raw === undefined) return
    raw.text = this.#text.current()
    raw.hasNumberFormat = this.#entry.styles.withNumberFormat.has(this.#styleAt(this.#column, raw.attributes))
    const cell = this.#entry.hidesZeros ? zeroAsFault(cellOf(raw)) : cellOf(raw)
    const repetitions = parseRepetitions(raw.attributes['table:number-columns-repeated'])
    this.#noteMergedCells(raw.attributes)
    if (cell !== '') {
      this.#putCell(cell, raw, repetitions)
      this.#noteAppearance(cell, raw)
    }
    this.#column += repetitions
  }

  #styleAt(column: number, attributes: Attributes): string {
    return attributes['table:style-name'] ?? this.#rowStyle ?? this.#columnStyles[column] ?? ''
  }

  #putCell(cell: Cell, { attributes, isStruckThrough, spanStyles }: RawCell, repetitions: number): void {
    const { styles } = this.#entry
    for (let column = this.#column; column < this.#column + repetitions; column += 1) {
      if (column >= limits.columns) throw beyondColumnsError(this.#entry.name, column, this.#row.number)
      this.#row.cells[column] = cell
      const style = this.#styleAt(column, attributes)
      if (isStruckThrough || styles.struckThrough.has(style)) this.#row.struckColumns.push(column)
      if (styles.invisible.has(style) || spanStyles.some((span) => styles.isInvisible(span, style))) {
        this.#row.invisibleColumns.push(column)
      }
      if (styles.struckByConditionalFormat.has(style)) this.#addStruckRange(column)
    }
  }

  /** The index of each column's range in `struckByConditionalFormat`, by column. */
  readonly #rangeIndexes = new Map<number, number>()

  /**
   * Extends the column's range, of which there is one per column, to the last cell that a condition may strike
   * through.
   */
  #addStruckRange(column: number): void {
    const { struckByConditionalFormat } = this.#entry.properties
    const lastRow = this.#row.number + this.#repetitions - 1
    const rangeIndex = this.#rangeIndexes.get(column) ?? struckByConditionalFormat.length
    this.#rangeIndexes.set(column, rangeIndex)
    const firstRow = struckByConditionalFormat[rangeIndex]?.firstRow ?? this.#row.number
    struckByConditionalFormat[rangeIndex] = cellRange({
      firstRow,
      lastRow,
      firstColumn: column,
      lastColumn: column,
    })
  }

  #noteAppearance(cell: Cell, { attributes, text }: RawCell): void {
    const { properties, styles } = this.#entry
    if (attributes['table:formula'] !== undefined) properties.lostParts.add('formulas')
    if (attributes['table:content-validation-name'] !== undefined)
      properties.lostParts.add('data validations')
    if (styles.decorated.has(attributes['table:style-name'] ?? '')) this.#row.hasOwnStyle = true
    if (typeof cell !== 'string' && cell.kind === 'date' && text !== undefined && text !== cell.text) {
      properties.lostParts.add('date formats')
    }
  }

  #noteMergedCells(attributes: Attributes): void {
    const columns = parseRepetitions(attributes['table:number-columns-spanned'])
    const rows = parseRepetitions(attributes['table:number-rows-spanned'])
    if (columns === 1 && rows === 1) return
    const { merged, lostParts } = this.#entry.properties
    lostParts.add('merged cells')
    if (merged.length === limits.mergedRanges) throw new Error('it has too many merged cells')
    const [firstRow, firstColumn] = [this.#row.number, this.#column]
    const [lastRow, lastColumn] = [firstRow + rows - 1, firstColumn + columns - 1]
    merged.push(cellRange({ firstRow, lastRow, firstColumn, lastColumn }))
  }
}

function addSpanStyle({ spanStyles }: RawCell, style: string | undefined): void {
  if (style !== undefined && spanStyles.length < maxSpanStyles && !spanStyles.includes(style))
    spanStyles.push(style)
}

/** Limit of span styles in a cell; a cell with more is a picture made of text. */
const maxSpanStyles = 20

function parseRepetitions(text: string | undefined): number {
  if (text === undefined) return 1
  const repetitions = /^\d{1,8}$/.test(text) ? Number(text) : 0
  if (repetitions === 0) throw new Error(`"${text.slice(0, 20)}" is no number of repetitions`)
  return repetitions
}
