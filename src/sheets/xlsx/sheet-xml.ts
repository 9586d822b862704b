import { type Cell, columnName, type XlsxColumn } from '../../domain/sheet/cell.ts'
import { escaped } from './escapes.ts'
import { Styles } from './styles.ts'

export interface XlsxRow {
  cells: readonly Cell[]
}

export interface XlsxSheet {
  name: string
  columns: readonly XlsxColumn[]
  rows: AsyncIterable<XlsxRow> | Iterable<XlsxRow>
}

const head =
  '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
  '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ' +
  'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'

const rowsAtOnce = 200

/** A sheet as XML, its header frozen. Texts are written in place, so that nothing has to be remembered. */
export async function* sheetXml({ columns, rows }: XlsxSheet, styles: Styles): AsyncGenerator<Buffer> {
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

export function hasNotes(columns: readonly XlsxColumn[]): boolean {
  return columns.some(({ note = '' }) => note !== '')
}

const view =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
  '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>'

function widths(columns: readonly XlsxColumn[]): string {
  const cols = columns.map(({ header, width, hidden, text = true }, at) => {
    const place = String(at + 1)
    const wide = String(width ?? Math.min(40, Math.max(14, header.length + 3)))
    const style = text ? ` style="${String(Styles.text)}"` : ''
    const shown = hidden === true ? ' hidden="1"' : ''
    return `<col min="${place}" max="${place}" width="${wide}"${style}${shown} customWidth="1"/>`
  })
  return cols.length === 0 ? '' : `<cols>${cols.join('')}</cols>`
}

function headerRow(columns: readonly XlsxColumn[]): string {
  const cells = columns.map(({ header, required }, at) =>
    inline(`${columnName(at)}1`, header, String(required === true ? Styles.required : Styles.header)),
  )
  return `<row r="1">${cells.join('')}</row>`
}

function row(number: number, { cells }: XlsxRow, styles: Styles): string {
  const written = cells.map((cell, at) => cellXml(`${columnName(at)}${String(number)}`, cell, styles))
  return `<row r="${String(number)}">${written.join('')}</row>`
}

function cellXml(name: string, cell: Cell, styles: Styles): string {
  if (cell === '') return ''
  const styled = (format: string): string => String(styles.of(format))
  if (typeof cell === 'string') return inline(name, cell, styled('@'))
  switch (cell.kind) {
    case 'number':
      return `<c r="${name}" s="${styled(cell.format)}"><v>${String(cell.value)}</v></c>`
    case 'date':
      return `<c r="${name}" s="${styled(cell.format)}"><v>${String(cell.serial)}</v></c>`
    case 'boolean':
      return `<c r="${name}" s="${styled(booleanFormat)}" t="b"><v>${cell.value ? '1' : '0'}</v></c>`
    case 'fault':
      if (cell.format !== undefined) return inline(name, cell.text, styled(cell.format))
      // What had no value may not come back as a text that has one.
      return `<c r="${name}" s="${styled('General')}" t="e"><v>${escaped(cell.text.startsWith('#') ? cell.text : '#VALUE!')}</v></c>`
    case 'json':
    case 'marked':
    case 'bytes':
      return inline(name, cell.text, styled('@'))
  }
}

/** LibreOffice would show 1 or 0 and save that; this is its own format of booleans. */
const booleanFormat = '"TRUE";"TRUE";"FALSE"'

function inline(name: string, text: string, style: string): string {
  return `<c r="${name}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
}

const lastFillable = 10_000

/** Excel marks digits in a text cell as a mistake unless told that they are meant. */
function textNumbers(columns: readonly XlsxColumn[]): string {
  if (columns.length === 0) return ''
  const range = `A1:${columnName(columns.length - 1)}${String(lastFillable)}`
  return `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>`
}

function validations(columns: readonly XlsxColumn[]): string {
  const lists = columns.flatMap(({ choices = [] }, at) => {
    if (choices.length === 0) return []
    const range = `${columnName(at)}2:${columnName(at)}${String(lastFillable)}`
    const list = escaped(`"${choices.join(',')}"`)
    return `<dataValidation type="list" allowBlank="1" showErrorMessage="1" sqref="${range}"><formula1>${list}</formula1></dataValidation>`
  })
  return lists.length === 0
    ? ''
    : `<dataValidations count="${String(lists.length)}">${lists.join('')}</dataValidations>`
}
