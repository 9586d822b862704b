import { excelParts, header, type Parts } from './workbook.ts'

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

/** A workbook whose sheets are all the same part. */
export function manySheets(count: number): Parts {
  const parts = excelParts(`<sheetData>${header}</sheetData>`)
  const sheets = Array.from(
    { length: count },
    (_, at) => `<sheet name="S${at + 1}" sheetId="${at + 1}" r:id="rId1"/>`,
  )
  parts['xl/workbook.xml'] = String(parts['xl/workbook.xml']).replace(
    /<sheet .*\/>(?=<\/sheets>)/,
    sheets.join(''),
  )
  return parts
}

/** A workbook whose only sheet holds that. */
export function withSheet(inside: string): Parts {
  return { ...excelParts(''), 'xl/worksheets/sheet1.xml': `<worksheet ${main}>${inside}</worksheet>` }
}

const spaces = ['office', 'table', 'text', 'style'].map(
  (each) => `xmlns:${each}="urn:oasis:names:tc:opendocument:xmlns:${each}:1.0"`,
)

/** A spreadsheet of OpenDocument that holds that. */
export function odsDocument(inside: string): Parts {
  return {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${spaces.join(' ')}><office:body><office:spreadsheet>${inside}</office:spreadsheet></office:body></office:document-content>`,
  }
}

export function attributes(count: number, each: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => each(at)).join(' ')
}
