import { Readable } from 'node:stream'

import { ZipFile } from 'yazl'

import { escapeXml } from '../../domain/wording/escape-xml.ts'
import { escaped } from './escapes.ts'
import { commentsXml, drawingXml } from './notes.ts'
import { hasNotes, sheetXml, type XlsxSheet } from './sheet-xml.ts'
import { Styles } from './styles.ts'

/** The earliest a zip can say: what is written depends on the rows alone. */
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
      ...sheets.map((_, at): Related => [
        `rId${String(at + 1)}`,
        'worksheet',
        `worksheets/sheet${String(at + 1)}.xml`,
      ]),
      [`rId${String(sheets.length + 1)}`, 'styles', 'styles.xml'],
    ]),
  )
  for (const [at, sheet] of sheets.entries()) addSheet(zip, { sheet, number: at + 1, styles, output, add })
  // Formats are known once the last row has gone.
  zip.addReadStreamLazy('xl/styles.xml', moment, (callback) =>
    callback(null, Readable.from([Buffer.from(styles.xml())])),
  )
  zip.end()
  yield* output as AsyncIterable<Uint8Array>
}

interface Added {
  sheet: XlsxSheet
  number: number
  styles: Styles
  output: Readable
  add: (name: string, text: string) => void
}

function addSheet(zip: ZipFile, { sheet, number, styles, output, add }: Added): void {
  const stream = Readable.from(sheetXml(sheet, styles))
  stream.on('error', (error) => output.destroy(error))
  zip.addReadStream(stream, `xl/worksheets/sheet${String(number)}.xml`, moment)
  if (!hasNotes(sheet.columns)) return
  add(`xl/comments${String(number)}.xml`, commentsXml(sheet.columns))
  add(`xl/drawings/vmlDrawing${String(number)}.vml`, drawingXml(sheet.columns))
  add(
    `xl/worksheets/_rels/sheet${String(number)}.xml.rels`,
    relationships([
      ['rId1', 'comments', `../comments${String(number)}.xml`],
      ['rId2', 'vmlDrawing', `../drawings/vmlDrawing${String(number)}.vml`],
    ]),
  )
}

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const office = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const schemas = 'http://schemas.openxmlformats.org'

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
      `<Relationship Id="${id}" Type="${schemas}/officeDocument/2006/relationships/${kind}" Target="${escapeXml(target)}"/>`,
  )
  return `${xml}<Relationships xmlns="${schemas}/package/2006/relationships">${each.join('')}</Relationships>`
}

function workbook(sheets: readonly XlsxSheet[], from1904: boolean): string {
  const each = sheets.map(
    ({ name }, at) =>
      `<sheet name="${escaped(name)}" sheetId="${String(at + 1)}" r:id="rId${String(at + 1)}"/>`,
  )
  return (
    `${xml}<workbook xmlns="${schemas}/spreadsheetml/2006/main" xmlns:r="${schemas}/officeDocument/2006/relationships">` +
    `${from1904 ? '<workbookPr date1904="1"/>' : ''}<sheets>${each.join('')}</sheets></workbook>`
  )
}
