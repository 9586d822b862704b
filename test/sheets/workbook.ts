import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'

import { ZipFile } from 'yazl'

export interface Parts {
  [part: string]: string | Buffer
}

const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Returns the parts of a workbook as Excel writes it. `sheetXml` is `sheetData` and the elements after it. */
export function excelParts(sheetXml: string, otherParts: Parts = {}): Parts {
  return {
    '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${relationships}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<workbook ${namespace} xmlns:r="${relationships}"><workbookPr/><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${relationships}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${relationships}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="${relationships}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet ${namespace}><dimension ref="A1:XFD1048576"/>${sheetXml}</worksheet>`,
    'xl/styles.xml': `<styleSheet ${namespace}><numFmts count="2"><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yy;@"/><numFmt numFmtId="165" formatCode="0000000000"/></numFmts><cellStyleXfs count="1"><xf numFmtId="14"/></cellStyleXfs><cellXfs count="6"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="49"/><xf numFmtId="165"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst ${namespace}><si><t>first_name</t></si><si><t>phone</t></si><si><r><rPr><b/></rPr><t>Pri</t></r><r><t xml:space="preserve">ya </t></r><rPh sb="0" eb="1"><t>ignored</t></rPh></si><si><t>a_x000D_b _x005F_x000D_</t></si></sst>`,
    ...otherParts,
  }
}

export async function zipParts(parts: Parts): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, content] of Object.entries(parts)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return buffer(zip.outputStream as Readable)
}

/** Returns a workbook of one sheet. `rows` is the content of `sheetData`, and `after` the elements after it. */
export function createWorkbook(rows: string, after = '', otherParts: Parts = {}): Promise<Buffer> {
  return zipParts(excelParts(`<sheetData>${rows}</sheetData>${after}`, otherParts))
}

/** Row 1 with the first two shared strings, the headers `first_name` and `phone`. */
export const header = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'

/** Returns the XML of the header and of one data row with the given cells. */
export const headerAndRow = (cells: string): string => `${header}<row r="2">${cells}</row>`
