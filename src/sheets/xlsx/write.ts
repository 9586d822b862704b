import { Readable } from 'node:stream'

import { ZipFile } from 'yazl'

import { type Cell, columnName, type XlsxColumn } from '../../domain/sheet/cell.ts'
import { escapeXml } from '../../domain/wording/text.ts'
import { builtInId } from './formats.ts'
import { escapeText } from '../book.ts'

/** The earliest time of a zip: what is written depends on the rows alone. */
const moment = { mtime: new Date(1980, 0, 1) }

export interface XlsxBook {
  sheets: readonly XlsxSheet[]
  /** Days count from 1904. */
  from1904?: boolean | undefined
}

/** A workbook, written as its rows come. */
export async function* xlsxBytes({ sheets, from1904 = false }: XlsxBook): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const styles = new Styles()
  const output = zip.outputStream as Readable
  const add = (name: string, text: string): void => {
    zip.addBuffer(Buffer.from(text), name, moment)
  }
  add('[Content_Types].xml', contentTypes(sheets))
  add('_rels/.rels', relationships([['rId1', 'officeDocument', 'xl/workbook.xml']]))
  add('xl/workbook.xml', workbook(sheets, from1904))
  add(
    'xl/_rels/workbook.xml.rels',
    relationships([
      ...sheets.map((_, at): Related => [`rId${at + 1}`, 'worksheet', `worksheets/sheet${at + 1}.xml`]),
      [`rId${sheets.length + 1}`, 'styles', 'styles.xml'],
    ]),
  )
  for (const [at, sheet] of sheets.entries()) {
    const number = at + 1
    const stream = Readable.from(sheetXml(sheet, styles))
    stream.on('error', (error) => output.destroy(error))
    zip.addReadStream(stream, `xl/worksheets/sheet${number}.xml`, moment)
    if (!hasNotes(sheet.columns)) continue
    add(`xl/comments${number}.xml`, commentsXml(sheet.columns))
    add(`xl/drawings/vmlDrawing${number}.vml`, drawingXml(sheet.columns))
    add(
      `xl/worksheets/_rels/sheet${number}.xml.rels`,
      relationships([
        ['rId1', 'comments', `../comments${number}.xml`],
        ['rId2', 'vmlDrawing', `../drawings/vmlDrawing${number}.vml`],
      ]),
    )
  }
  // Formats are known once the last row has gone.
  zip.addReadStreamLazy('xl/styles.xml', moment, (callback) =>
    callback(null, Readable.from([Buffer.from(styles.xml())])),
  )
  zip.end()
  yield* output as AsyncIterable<Uint8Array>
}

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const office = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const schemas = 'http://schemas.openxmlformats.org'
const main = `${schemas}/spreadsheetml/2006/main`
const relations = `${schemas}/officeDocument/2006/relationships`

function contentTypes(sheets: readonly XlsxSheet[]): string {
  const parts = sheets.flatMap(({ columns }, at) => {
    const number = String(at + 1)
    const sheet = `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${office}.worksheet+xml"/>`
    if (!hasNotes(columns)) return [sheet]
    return [sheet, `<Override PartName="/xl/comments${number}.xml" ContentType="${office}.comments+xml"/>`]
  })
  return (
    `${xml}<Types xmlns="${schemas}/package/2006/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>' +
    '<Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${office}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${office}.styles+xml"/>${parts.join('')}</Types>`
  )
}

type Related = [id: string, kind: string, target: string]

function relationships(related: readonly Related[]): string {
  const each = related.map(
    ([id, kind, target]) =>
      `<Relationship Id="${id}" Type="${relations}/${kind}" Target="${escapeXml(target)}"/>`,
  )
  return `${xml}<Relationships xmlns="${schemas}/package/2006/relationships">${each.join('')}</Relationships>`
}

function workbook(sheets: readonly XlsxSheet[], from1904: boolean): string {
  const each = sheets.map(
    ({ name }, at) => `<sheet name="${escapeText(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
  )
  return (
    `${xml}<workbook xmlns="${main}" xmlns:r="${relations}">` +
    `${from1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${each.join('')}</sheets></workbook>`
  )
}

export interface XlsxSheet {
  name: string
  columns: readonly XlsxColumn[]
  rows: AsyncIterable<readonly Cell[]> | Iterable<readonly Cell[]>
}

const head = `${xml}<worksheet xmlns="${main}" xmlns:r="${relations}">`

const rowsAtOnce = 200

/** A sheet as XML, its header frozen. Texts are written inline, so that none has to be held in memory. */
async function* sheetXml({ columns, rows }: XlsxSheet, styles: Styles): AsyncGenerator<Buffer> {
  let text = `${head}${view}${widths(columns)}<sheetData>${headerRow(columns)}`
  let number = 1
  for await (const each of rows) {
    number += 1
    text += row(number, each, styles)
    if (number % rowsAtOnce !== 0) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(
    `${text}</sheetData>${validations(columns)}${textNumbers(columns)}${hasNotes(columns) ? '<legacyDrawing r:id="rId2"/>' : ''}</worksheet>`,
  )
}

function hasNotes(columns: readonly XlsxColumn[]): boolean {
  return columns.some(({ note = '' }) => note !== '')
}

const view =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
  '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>'

function widths(columns: readonly XlsxColumn[]): string {
  const cols = columns.map(({ header, width, hidden, text = true }, at) => {
    const index = String(at + 1)
    const wide = String(width ?? Math.min(40, Math.max(14, header.length + 3)))
    const style = text ? ` style="${Styles.text}"` : ''
    const shown = hidden === true ? ' hidden="1"' : ''
    return `<col min="${index}" max="${index}" width="${wide}"${style}${shown} customWidth="1"/>`
  })
  return cols.length === 0 ? '' : `<cols>${cols.join('')}</cols>`
}

function headerRow(columns: readonly XlsxColumn[]): string {
  const cells = columns.map(({ header, required }, at) =>
    inline(`${columnName(at)}1`, header, String(required === true ? Styles.required : Styles.header)),
  )
  return `<row r="1">${cells.join('')}</row>`
}

function row(number: number, cells: readonly Cell[], styles: Styles): string {
  const written = cells.map((cell, at) => cellXml(`${columnName(at)}${number}`, cell, styles))
  return `<row r="${number}">${written.join('')}</row>`
}

function cellXml(name: string, cell: Cell, styles: Styles): string {
  if (cell === '') return ''
  const styled = (format: string): string => String(styles.of(format))
  if (typeof cell === 'string') return inline(name, cell, styled('@'))
  switch (cell.kind) {
    case 'number':
      return `<c r="${name}" s="${styled(cell.format)}"><v>${cell.value}</v></c>`
    case 'date':
      return `<c r="${name}" s="${styled(cell.format)}"><v>${cell.serial}</v></c>`
    case 'boolean':
      return `<c r="${name}" s="${styled(booleanFormat)}" t="b"><v>${cell.value ? '1' : '0'}</v></c>`
    case 'fault':
      if (cell.format !== undefined) return inline(name, cell.text, styled(cell.format))
      // What had no value may not come back as a text that has one.
      return `<c r="${name}" s="${styled('General')}" t="e"><v>${escapeText(cell.text.startsWith('#') ? cell.text : '#VALUE!')}</v></c>`
    case 'json':
    case 'marked':
    case 'bytes':
      return inline(name, cell.text, styled('@'))
  }
}

/** LibreOffice would show 1 or 0 and save that; this is its own format of booleans. */
const booleanFormat = '"TRUE";"TRUE";"FALSE"'

function inline(name: string, text: string, style: string): string {
  return `<c r="${name}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeText(text)}</t></is></c>`
}

const lastFillable = 10_000

/** Excel marks digits in a text cell as a mistake without this entry. */
function textNumbers(columns: readonly XlsxColumn[]): string {
  if (columns.length === 0) return ''
  const range = `A1:${columnName(columns.length - 1)}${lastFillable}`
  return `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>`
}

function validations(columns: readonly XlsxColumn[]): string {
  const lists = columns.flatMap(({ choices = [] }, at) => {
    if (choices.length === 0) return []
    const range = `${columnName(at)}2:${columnName(at)}${lastFillable}`
    const list = escapeText(`"${choices.join(',')}"`)
    return `<dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="${range}"><formula1>${list}</formula1></dataValidation>`
  })
  return lists.length === 0
    ? ''
    : `<dataValidations count="${lists.length}">${lists.join('')}</dataValidations>`
}

/** Notes of a sheet's header cells. */
function commentsXml(columns: readonly XlsxColumn[]): string {
  const comments = columns.flatMap(({ note = '' }, at) =>
    note === ''
      ? []
      : `<comment ref="${columnName(at)}1" authorId="0"><text><t xml:space="preserve">${escapeText(note)}</t></text></comment>`,
  )
  return `${xml}<comments xmlns="${main}"><authors><author>refcheck</author></authors><commentList>${comments.join('')}</commentList></comments>`
}

/** Where spreadsheets draw them: Excel drops notes that have no shape. */
function drawingXml(columns: readonly XlsxColumn[]): string {
  const shapes = columns.flatMap(({ note = '' }, at) => (note === '' ? [] : shape(at, note)))
  return (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" ' +
    'xmlns:x="urn:schemas-microsoft-com:office:excel">' +
    '<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="1"/></o:shapelayout>' +
    '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">' +
    '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>' +
    `${shapes.join('')}</xml>`
  )
}

/** Three columns wide and as high as the text, which is not fitted by itself. */
function shape(column: number, note: string): string {
  const lines = note.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 36)), 0)
  const anchor = [column + 1, 15, 0, 2, column + 4, 15, Math.min(24, lines + 1), 2].join(', ')
  return (
    `<v:shape id="_x0000_s${1025 + column}" type="#_x0000_t202" style="position:absolute;visibility:hidden" ` +
    'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:textbox/>' +
    `<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>${anchor}</x:Anchor>` +
    `<x:AutoFill>False</x:AutoFill><x:Row>0</x:Row><x:Column>${column}</x:Column></x:ClientData></v:shape>`
  )
}

/** Styles of a workbook being written; a format is given a style when it is first asked for. */
class Styles {
  static readonly plain = 0
  static readonly text = 1
  static readonly header = 2
  static readonly required = 3
  readonly #formats: string[] = []
  readonly #indexes = new Map<string, number>()

  of(format: string): number {
    if (format === 'General') return Styles.plain
    if (format === '@') return Styles.text
    const known = this.#indexes.get(format)
    if (known !== undefined) return known
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
      `${xml}<styleSheet xmlns="${main}">`,
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
