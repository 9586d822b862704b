import { expect, test } from 'vitest'

import { textOfCell, readRefusal, readRows } from './table.ts'
import { excelParts, header, type Parts, createWorkbook, zipParts } from './workbook.ts'

/* Cells that no spreadsheet program writes, or that are displayed differently from their value. */
const namespace = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

/** Returns the kind of the first data cell, or the reason of its fault, and its text. */
async function readFirstCell(cellXml: string, otherParts: Parts = {}): Promise<[string, string]> {
  const [row] = await readRows(
    await createWorkbook(`${header}<row r="2">${cellXml}</row>`, '', otherParts),
    'p.xlsx',
  )
  const cell = row?.cells[0] ?? ''
  return typeof cell === 'string'
    ? ['text', cell]
    : [cell.kind === 'fault' ? cell.reason : cell.kind, textOfCell(cell)]
}

const stylesWithFormat = (code: string): Parts => ({
  'xl/styles.xml': `<styleSheet ${namespace}><numFmts><numFmt numFmtId="170" formatCode="${code.replaceAll('"', '&quot;')}"/></numFmts><cellXfs><xf/><xf numFmtId="170"/></cellXfs></styleSheet>`,
})

test.each([
  ['<c r="A2" t="b"><v>true</v></c>', ['boolean', 'true']],
  ['<c r="A2" t="b"><v>false</v></c>', ['boolean', 'false']],
  ['<c r="A2" t="b"><v>2</v></c>', ['is neither TRUE nor FALSE', '2']],
  ['<c r="A2"><v>5</v><v>6</v></c>', ['has more than one value', '56']],
  ['<c r="A2" t="inlineStr"><v>5</v><is><t>Ana</t></is></c>', ['has more than one value', '5Ana']],
  ['<c r="A2" t="zz"><v>5</v></c>', ['is of the type zz, which is not known', '5']],
  ['<c r="A2" t="d"><v>1990-02-30</v></c>', ['is a date that does not exist', '1990-02-30']],
])('the cell %s is read as %j', async (cell, expected) => {
  expect(await readFirstCell(cell)).toEqual(expected)
})

test('a date that is saved as a text is read with its number format', async () => {
  const rows = `${header}<row r="2"><c r="A2" s="1" t="d"><v>1990-04-30</v></c></row>`
  const [row] = await readRows(await createWorkbook(rows, '', stylesWithFormat('mmmm')), 'p.xlsx')
  expect(row?.cells[0]).toMatchObject({ kind: 'date', text: '1990-04-30', format: 'mmmm' })
})

test('a time just before midnight is not rounded to the next day', async () => {
  expect(
    await readFirstCell('<c r="A2" s="1"><v>44000.9999999</v></c>', stylesWithFormat('yyyy-mm-dd')),
  ).toEqual(['date', '2020-06-18T23:59:59'])
})

test('1 that is displayed as "No" is not read as TRUE', async () => {
  const cell = '<c r="A2" s="1"><v>1</v></c>'
  expect(await readFirstCell(cell, stylesWithFormat('"No";"No";"Yes"'))).toEqual(['number', '1'])
  expect(await readFirstCell(cell, stylesWithFormat('"WAHR";"WAHR";"FALSCH"'))).toEqual(['boolean', 'true'])
})

const createWorkbookWithView = (view: string, cell: string): Promise<Buffer> =>
  zipParts(
    excelParts(
      `<sheetViews><sheetView ${view} workbookViewId="0"/></sheetViews><sheetData>${header}<row r="2">${cell}</row></sheetData>`,
    ),
  )

test('a zero or a formula result is a fault if the sheet does not display it', async () => {
  const readCell = async (view: string, cell: string) => {
    const [row] = await readRows(await createWorkbookWithView(view, cell), 'p.xlsx')
    return row?.cells[0]
  }
  expect(await readCell('showZeros="0"', '<c r="A2"><v>0</v></c>')).toMatchObject({
    reason: 'is 0, and the sheet shows no zeros',
  })
  expect(await readCell('showFormulas="1"', '<c r="A2"><f>3+4</f><v>7</v></c>')).toMatchObject({
    reason: 'is a formula, and the sheet shows formulas',
  })
  expect(await readCell('', '<c r="A2"><v>0</v></c>')).toMatchObject({ kind: 'number', text: '0' })
})

test('a row that is half a point high is refused as hidden', async () => {
  const rows = `${header}<row r="2" ht="0.5" customHeight="1"><c r="A2"><v>1</v></c></row>`
  expect(await readRefusal(await createWorkbook(rows), 'p.xlsx')).toBe('p.xlsx: the row on line 2 is hidden')
})

const odsNamespaces = ['office', 'table', 'text']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ')

test.each([
  ['office:value-type="float" office:value="1"', 'No', 'number'],
  ['office:value-type="float" office:value="1"', 'WAHR', 'boolean'],
  ['office:value-type="boolean" office:boolean-value="true"', 'No', 'is TRUE shown as "No"'],
  ['office:value-type="boolean" office:boolean-value="false"', 'FAUX', 'boolean'],
])('in ODS, %s that is displayed as %s is read as %s', async (value, displayedText, expected) => {
  const cell = (attributes: string, text: string): string =>
    `<table:table-row><table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell></table:table-row>`
  const rows = cell('office:value-type="string"', 'first_name') + cell(value, displayedText)
  const bytes = await zipParts({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${odsNamespaces}><office:body><office:spreadsheet><table:table table:name="S">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
  })
  const [row] = await readRows(bytes, 'p.ods')
  const read = row?.cells[0] ?? ''
  expect(typeof read === 'string' ? 'text' : read.kind === 'fault' ? read.reason : read.kind).toBe(expected)
})
