import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'

import { ZipFile } from 'yazl'

export interface Parts {
  [part: string]: string | Buffer
}

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const related = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** A workbook as Excel lays it out, around the given `sheetData` and what comes after it. */
export function excelParts(sheetXml: string, more: Parts = {}): Parts {
  return {
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${related}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<workbook ${main} xmlns:r="${related}"><workbookPr/><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${related}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${related}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="${related}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet ${main}><dimension ref="A1:XFD1048576"/>${sheetXml}</worksheet>`,
    'xl/styles.xml': `<styleSheet ${main}><numFmts count="2"><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yy;@"/><numFmt numFmtId="165" formatCode="0000000000"/></numFmts><cellStyleXfs count="1"><xf numFmtId="14"/></cellStyleXfs><cellXfs count="6"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="49"/><xf numFmtId="165"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${main}><si><t>first_name</t></si><si><t>phone</t></si><si><r><rPr><b/></rPr><t>Pri</t></r><r><t xml:space="preserve">ya </t></r><rPh sb="0" eb="1"><t>ignored</t></rPh></si><si><t>a_x000D_b _x005F_x000D_</t></si></sst>`,
    ...more,
  }
}

export async function zipped(parts: Parts): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, content] of Object.entries(parts)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return buffer(zip.outputStream as Readable)
}

/** A workbook of one sheet: `rows` is the inside of `sheetData`. */
export function workbook(rows: string, after = '', more: Parts = {}): Promise<Buffer> {
  return zipped(excelParts(`<sheetData>${rows}</sheetData>${after}`, more))
}

export const header = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'

/** One data row, in Excel's row 2. */
export const row = (cells: string): string => `${header}<row r="2">${cells}</row>`
