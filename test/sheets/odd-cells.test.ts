import { expect, test } from 'vitest'

import { plain, refusalOf, rowsOf } from './table.ts'
import { excelParts, header, type Parts, workbook, zipped } from './workbook.ts'

/* Cells that no spreadsheet program writes, or that show something else than they hold. */
const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

async function first(cell: string, more: Parts = {}): Promise<[string, string]> {
  const [row] = await rowsOf(await workbook(`${header}<row r="2">${cell}</row>`, '', more), 'p.xlsx')
  const found = row?.cells[0] ?? ''
  return typeof found === 'string'
    ? ['text', found]
    : [found.kind === 'fault' ? found.reason : found.kind, plain(found)]
}

const formatted = (code: string): Parts => ({
  'xl/styles.xml': `<styleSheet ${main}><numFmts><numFmt numFmtId="170" formatCode="${code.replaceAll('"', '&quot;')}"/></numFmts><cellXfs><xf/><xf numFmtId="170"/></cellXfs></styleSheet>`,
})

test.each([
  ['<c r="A2" t="b"><v>true</v></c>', ['boolean', 'true']],
  ['<c r="A2" t="b"><v>false</v></c>', ['boolean', 'false']],
  ['<c r="A2" t="b"><v>2</v></c>', ['is neither TRUE nor FALSE', '2']],
  ['<c r="A2"><v>5</v><v>6</v></c>', ['has more than one value', '56']],
  ['<c r="A2" t="inlineStr"><v>5</v><is><t>Ana</t></is></c>', ['has more than one value', '5Ana']],
  ['<c r="A2" t="zz"><v>5</v></c>', ['is of the type zz, which is not known', '5']],
  ['<c r="A2" t="d"><v>1990-02-30</v></c>', ['is a date that does not exist', '1990-02-30']],
])('%s is %j', async (cell, expected) => {
  expect(await first(cell)).toEqual(expected)
})

test('a date saved as a text is shown by its format as any other', async () => {
  const rows = `${header}<row r="2"><c r="A2" s="1" t="d"><v>1990-04-30</v></c></row>`
  const [row] = await rowsOf(await workbook(rows, '', formatted('mmmm')), 'p.xlsx')
  expect(row?.cells[0]).toMatchObject({ kind: 'date', text: '1990-04-30', format: 'mmmm' })
})

test('a moment before midnight is not the day after', async () => {
  expect(await first('<c r="A2" s="1"><v>44000.9999999</v></c>', formatted('yyyy-mm-dd'))).toEqual([
    'date',
    '2020-06-18T23:59:59',
  ])
})

test('1 shown as "No" is not TRUE', async () => {
  const cell = '<c r="A2" s="1"><v>1</v></c>'
  expect(await first(cell, formatted('"No";"No";"Yes"'))).toEqual(['number', '1'])
  expect(await first(cell, formatted('"WAHR";"WAHR";"FALSCH"'))).toEqual(['boolean', 'true'])
})

const viewed = (view: string, cell: string): Promise<Buffer> =>
  zipped(
    excelParts(
      `<sheetViews><sheetView ${view} workbookViewId="0"/></sheetViews><sheetData>${header}<row r="2">${cell}</row></sheetData>`,
    ),
  )

test('what a sheet does not show is refused: zeros, and values behind formulas', async () => {
  const of = async (view: string, cell: string) => {
    const [row] = await rowsOf(await viewed(view, cell), 'p.xlsx')
    return row?.cells[0]
  }
  expect(await of('showZeros="0"', '<c r="A2"><v>0</v></c>')).toMatchObject({
    reason: 'is 0, and the sheet shows no zeros',
  })
  expect(await of('showFormulas="1"', '<c r="A2"><f>3+4</f><v>7</v></c>')).toMatchObject({
    reason: 'is a formula, and the sheet shows formulas',
  })
  expect(await of('', '<c r="A2"><v>0</v></c>')).toMatchObject({ kind: 'number', text: '0' })
})

test('a row half a point high is as good as hidden', async () => {
  const rows = `${header}<row r="2" ht="0.5" customHeight="1"><c r="A2"><v>1</v></c></row>`
  expect(await refusalOf(await workbook(rows), 'p.xlsx')).toBe('p.xlsx: the row on line 2 is hidden')
})

const spaces = ['office', 'table', 'text']
  .map((each) => `xmlns:${each}="urn:oasis:names:tc:opendocument:xmlns:${each}:1.0"`)
  .join(' ')

test.each([
  ['office:value-type="float" office:value="1"', 'No', 'number'],
  ['office:value-type="float" office:value="1"', 'WAHR', 'boolean'],
  ['office:value-type="boolean" office:boolean-value="true"', 'No', 'is TRUE shown as "No"'],
  ['office:value-type="boolean" office:boolean-value="false"', 'FAUX', 'boolean'],
])('in ODS %s shown as %s is %s', async (value, shown, expected) => {
  const cell = (inner: string, text: string): string =>
    `<table:table-row><table:table-cell ${inner}><text:p>${text}</text:p></table:table-cell></table:table-row>`
  const rows = cell('office:value-type="string"', 'first_name') + cell(value, shown)
  const bytes = await zipped({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${spaces}><office:body><office:spreadsheet><table:table table:name="S">${rows}</table:table></office:spreadsheet></office:body></office:document-content>`,
  })
  const [row] = await rowsOf(bytes, 'p.ods')
  const found = row?.cells[0] ?? ''
  expect(typeof found === 'string' ? 'text' : found.kind === 'fault' ? found.reason : found.kind).toBe(
    expected,
  )
})
