import { excelParts, header, type Parts } from './workbook.ts'

const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

/** Returns the parts of a workbook with many sheets, which all refer to the same part. */
export function partsWithManySheets(count: number): Parts {
  const parts = excelParts(`<sheetData>${header}</sheetData>`)
  const sheets = Array.from(
    { length: count },
    (_, index) => `<sheet name="S${index + 1}" sheetId="${index + 1}" r:id="rId1"/>`,
  )
  parts['xl/workbook.xml'] = String(parts['xl/workbook.xml']).replace(
    /<sheet .*\/>(?=<\/sheets>)/,
    sheets.join(''),
  )
  return parts
}

/** Returns the parts of a workbook whose only sheet has the given content. */
export function partsWithSheet(content: string): Parts {
  return { ...excelParts(''), 'xl/worksheets/sheet1.xml': `<worksheet ${namespace}>${content}</worksheet>` }
}

const odsNamespaces = ['office', 'table', 'text', 'style'].map(
  (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
)

/** Returns the parts of an OpenDocument spreadsheet with the given content. */
export function odsParts(content: string): Parts {
  return {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${odsNamespaces.join(' ')}><office:body><office:spreadsheet>${content}</office:spreadsheet></office:body></office:document-content>`,
  }
}

/** Returns the given number of attributes, separated by spaces. */
export function formatAttributes(count: number, format: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => format(index)).join(' ')
}
