import { Readable } from 'node:stream'

import { ZipFile } from 'yazl'

import { type Cell, columnName, type XlsxColumn } from '../../domain/sheet/cell.ts'
import { escapeXml } from '../../domain/wording/text.ts'
import { builtInId } from './formats.ts'
import { escapeText } from '../book.ts'

/** Modification time of every part, the earliest of the zip format: the same rows make the same bytes. */
const fixedTime = { mtime: new Date(1980, 0, 1) }

export interface XlsxBook {
  sheets: readonly XlsxSheet[]
  /** Whether serial numbers of dates count from 1904. */
  from1904?: boolean | undefined
}

/** Writes a workbook; its parts are written while the rows are read. */
export async function* xlsxBytes({ sheets, from1904 = false }: XlsxBook): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const styles = new Styles()
  const output = zip.outputStream as Readable
  const addPart = (name: string, text: string): void => {
    zip.addBuffer(Buffer.from(text), name, fixedTime)
  }
  addPart('[Content_Types].xml', contentTypesXml(sheets))
  addPart('_rels/.rels', relationshipsXml([['rId1', 'officeDocument', 'xl/workbook.xml']]))
  addPart('xl/workbook.xml', workbookXml(sheets, from1904))
  addPart(
    'xl/_rels/workbook.xml.rels',
    relationshipsXml([
      ...sheets.map((_, at): RelationshipEntry => [
        `rId${at + 1}`,
        'worksheet',
        `worksheets/sheet${at + 1}.xml`,
      ]),
      [`rId${sheets.length + 1}`, 'styles', 'styles.xml'],
    ]),
  )
  for (const [at, sheet] of sheets.entries()) {
    const number = at + 1
    const stream = Readable.from(sheetXml(sheet, styles))
    stream.on('error', (error) => output.destroy(error))
    zip.addReadStream(stream, `xl/worksheets/sheet${number}.xml`, fixedTime)
    if (!hasNotes(sheet.columns)) continue
    addPart(`xl/comments${number}.xml`, commentsXml(sheet.columns))
    addPart(`xl/drawings/vmlDrawing${number}.vml`, drawingXml(sheet.columns))
    addPart(
      `xl/worksheets/_rels/sheet${number}.xml.rels`,
      relationshipsXml([
        ['rId1', 'comments', `../comments${number}.xml`],
        ['rId2', 'vmlDrawing', `../drawings/vmlDrawing${number}.vml`],
      ]),
    )
  }
  // The styles part is created last, because all formats are known only after the last row.
  zip.addReadStreamLazy('xl/styles.xml', fixedTime, (callback) =>
    callback(null, Readable.from([Buffer.from(styles.xml())])),
  )
  zip.end()
  yield* output as AsyncIterable<Uint8Array>
}

const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const contentTypePrefix = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const schemas = 'http://schemas.openxmlformats.org'
const mainNamespace = `${schemas}/spreadsheetml/2006/main`
const relationNamespace = `${schemas}/officeDocument/2006/relationships`

function contentTypesXml(sheets: readonly XlsxSheet[]): string {
  const parts = sheets.flatMap(({ columns }, at) => {
    const number = String(at + 1)
    const sheet = `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${contentTypePrefix}.worksheet+xml"/>`
    if (!hasNotes(columns)) return [sheet]
    return [
      sheet,
      `<Override PartName="/xl/comments${number}.xml" ContentType="${contentTypePrefix}.comments+xml"/>`,
    ]
  })
  return (
    `${xmlDeclaration}<Types xmlns="${schemas}/package/2006/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>' +
    '<Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${contentTypePrefix}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${contentTypePrefix}.styles+xml"/>${parts.join('')}</Types>`
  )
}

type RelationshipEntry = [id: string, kind: string, target: string]

function relationshipsXml(entries: readonly RelationshipEntry[]): string {
  const elements = entries.map(
    ([id, kind, target]) =>
      `<Relationship Id="${id}" Type="${relationNamespace}/${kind}" Target="${escapeXml(target)}"/>`,
  )
  return `${xmlDeclaration}<Relationships xmlns="${schemas}/package/2006/relationships">${elements.join('')}</Relationships>`
}

function workbookXml(sheets: readonly XlsxSheet[], from1904: boolean): string {
  const sheetElements = sheets.map(
    ({ name }, at) => `<sheet name="${escapeText(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
  )
  return (
    `${xmlDeclaration}<workbook xmlns="${mainNamespace}" xmlns:r="${relationNamespace}">` +
    `${from1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${sheetElements.join('')}</sheets></workbook>`
  )
}

export interface XlsxSheet {
  name: string
  columns: readonly XlsxColumn[]
  rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>
}

const sheetStartXml = `${xmlDeclaration}<worksheet xmlns="${mainNamespace}" xmlns:r="${relationNamespace}">`

const rowsPerChunk = 200

/** Writes a sheet with a frozen header. Texts are written inline, so that no table of shared strings is in memory. */
async function* sheetXml({ columns, rows }: XlsxSheet, styles: Styles): AsyncGenerator<Buffer> {
  let text = `${sheetStartXml}${sheetViewXml}${columnsXml(columns)}<sheetData>${headerRowXml(columns)}`
  let number = 1
  for await (const rowCells of rows) {
    number += 1
    text += rowXml(number, rowCells, styles)
    if (number % rowsPerChunk !== 0) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(
    `${text}</sheetData>${validationsXml(columns)}${ignoredErrorsXml(columns)}${hasNotes(columns) ? '<legacyDrawing r:id="rId2"/>' : ''}</worksheet>`,
  )
}

function hasNotes(columns: readonly XlsxColumn[]): boolean {
  return columns.some(({ note = '' }) => note !== '')
}

const sheetViewXml =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
  '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>'

function columnsXml(columns: readonly XlsxColumn[]): string {
  const cols = columns.map(({ header, width, isHidden, hasTextFormat = true }, at) => {
    const index = String(at + 1)
    const columnWidth = String(width ?? Math.min(40, Math.max(14, header.length + 3)))
    const style = hasTextFormat ? ` style="${Styles.text}"` : ''
    const hiddenAttribute = isHidden === true ? ' hidden="1"' : ''
    return `<col min="${index}" max="${index}" width="${columnWidth}"${style}${hiddenAttribute} customWidth="1"/>`
  })
  return cols.length === 0 ? '' : `<cols>${cols.join('')}</cols>`
}

function headerRowXml(columns: readonly XlsxColumn[]): string {
  const cells = columns.map(({ header, isRequired }, at) =>
    inlineTextXml(
      `${columnName(at)}1`,
      header,
      String(isRequired === true ? Styles.required : Styles.header),
    ),
  )
  return `<row r="1">${cells.join('')}</row>`
}

function rowXml(number: number, cells: readonly Cell[], styles: Styles): string {
  const cellsXml = cells.map((cell, at) => cellXml(`${columnName(at)}${number}`, cell, styles))
  return `<row r="${number}">${cellsXml.join('')}</row>`
}

function cellXml(name: string, cell: Cell, styles: Styles): string {
  if (cell === '') return ''
  const styleOf = (format: string): string => String(styles.indexOf(format))
  if (typeof cell === 'string') return inlineTextXml(name, cell, styleOf('@'))
  switch (cell.kind) {
    case 'number':
      return `<c r="${name}" s="${styleOf(cell.format)}"><v>${cell.value}</v></c>`
    case 'date':
      return `<c r="${name}" s="${styleOf(cell.format)}"><v>${cell.serial}</v></c>`
    case 'boolean':
      return `<c r="${name}" s="${styleOf(booleanFormat)}" t="b"><v>${cell.value ? '1' : '0'}</v></c>`
    case 'fault':
      if (cell.format !== undefined) return inlineTextXml(name, cell.text, styleOf(cell.format))
      // A cell without a value is written as an error, so that it is not read as a text later.
      return `<c r="${name}" s="${styleOf('General')}" t="e"><v>${escapeText(cell.text.startsWith('#') ? cell.text : '#VALUE!')}</v></c>`
    case 'json':
    case 'escaped':
    case 'bytes':
      return inlineTextXml(name, cell.text, styleOf('@'))
  }
}

/** Number format of LibreOffice for booleans; without it LibreOffice would show and save 1 or 0. */
const booleanFormat = '"TRUE";"TRUE";"FALSE"'

function inlineTextXml(name: string, text: string, style: string): string {
  return `<c r="${name}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeText(text)}</t></is></c>`
}

/** The last row in which users can type values with the lists of choices and without error marks. */
const lastFormattedRow = 10_000

/** Keeps Excel from marking digits in text cells as errors. */
function ignoredErrorsXml(columns: readonly XlsxColumn[]): string {
  if (columns.length === 0) return ''
  const range = `A1:${columnName(columns.length - 1)}${lastFormattedRow}`
  return `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>`
}

function validationsXml(columns: readonly XlsxColumn[]): string {
  const lists = columns.flatMap(({ choices = [] }, at) => {
    if (choices.length === 0) return []
    const range = `${columnName(at)}2:${columnName(at)}${lastFormattedRow}`
    const list = escapeText(`"${choices.join(',')}"`)
    return `<dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="${range}"><formula1>${list}</formula1></dataValidation>`
  })
  return lists.length === 0
    ? ''
    : `<dataValidations count="${lists.length}">${lists.join('')}</dataValidations>`
}

/** Writes the notes of the header cells. */
function commentsXml(columns: readonly XlsxColumn[]): string {
  const comments = columns.flatMap(({ note = '' }, at) =>
    note === ''
      ? []
      : `<comment ref="${columnName(at)}1" authorId="0"><text><t xml:space="preserve">${escapeText(note)}</t></text></comment>`,
  )
  return `${xmlDeclaration}<comments xmlns="${mainNamespace}"><authors><author>refcheck</author></authors><commentList>${comments.join('')}</commentList></comments>`
}

/** Writes the shapes of the notes: Excel drops notes without a shape. */
function drawingXml(columns: readonly XlsxColumn[]): string {
  const shapes = columns.flatMap(({ note = '' }, at) => (note === '' ? [] : shapeXml(at, note)))
  return (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" ' +
    'xmlns:x="urn:schemas-microsoft-com:office:excel">' +
    '<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="1"/></o:shapelayout>' +
    '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">' +
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>' +
    `${shapes.join('')}</xml>`
  )
}

/** Writes a shape three columns wide and as high as the text, because programs do not fit it to the text. */
function shapeXml(column: number, note: string): string {
  const lines = note.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 36)), 0)
  const anchor = [column + 1, 15, 0, 2, column + 4, 15, Math.min(24, lines + 1), 2].join(', ')
  return (
    `<v:shape id="_x0000_s${1025 + column}" type="#_x0000_t202" style="position:absolute;visibility:hidden" ` +
    'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:textbox/>' +
    `<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>${anchor}</x:Anchor>` +
    `<x:AutoFill>False</x:AutoFill><x:Row>0</x:Row><x:Column>${column}</x:Column></x:ClientData></v:shape>`
  )
}

/** Collects the cell styles of a workbook; a number format gets a style when it is first used. */
class Styles {
  static readonly plain = 0
  static readonly text = 1
  static readonly header = 2
  static readonly required = 3
  readonly #formats: string[] = []
  readonly #indexes = new Map<string, number>()

  indexOf(format: string): number {
    if (format === 'General') return Styles.plain
    if (format === '@') return Styles.text
    const existing = this.#indexes.get(format)
    if (existing !== undefined) return existing
    const index = 3 + this.#formats.push(format)
    this.#indexes.set(format, index)
    return index
  }

  xml(): string {
    const ids = new Map<string, number>()
    for (const format of this.#formats) {
      if (builtInId(format) === undefined && !ids.has(format)) ids.set(format, 164 + ids.size)
    }
    const idOf = (format: string): number => builtInId(format) ?? ids.get(format) ?? 0
    const formats = [...ids].map(
      ([code, id]) => `<numFmt numFmtId="${id}" formatCode="${escapeText(code)}"/>`,
    )
    const cells = this.#formats.map((format) => cellStyle(idOf(format), 'applyNumberFormat="1"'))
    return [
      `${xmlDeclaration}<styleSheet xmlns="${mainNamespace}">`,
      formats.length === 0 ? '' : `<numFmts count="${formats.length}">${formats.join('')}</numFmts>`,
      '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>',
      '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>',
      '<fills count="3"><fill><patternFill patternType="none"/></fill>',
      '<fill><patternFill patternType="gray125"/></fill>',
      '<fill><patternFill patternType="solid"><fgColor rgb="FFFFF2CC"/></patternFill></fill></fills>',
      '<borders count="1"><border/></borders>',
      '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
      `<cellXfs count="${4 + cells.length}">`,
      cellStyle(0, ''),
      cellStyle(49, 'applyNumberFormat="1"'),
      cellStyle(49, 'applyNumberFormat="1" applyFont="1"', 1),
      cellStyle(49, 'applyNumberFormat="1" applyFont="1" applyFill="1"', 1, 2),
      ...cells,
      '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>',
      '</styleSheet>',
    ].join('')
  }
}

function cellStyle(format: number, applied: string, font = 0, fill = 0): string {
  return `<xf numFmtId="${format}" fontId="${font}" fillId="${fill}" borderId="0" xfId="0" ${applied}/>`
}
