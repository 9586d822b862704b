import { expect, test } from 'vitest'

import { collect, openBytes, readRefusal, readRows, readTable } from './table.ts'
import { excelParts, header, headerAndRow, createWorkbook, zipParts } from './workbook.ts'

const readDataCells = async (cells: string) =>
  (await readRows(await createWorkbook(headerAndRow(cells)), 'w.xlsx'))[0]?.cells

test('texts are read from shared, rich and inline strings and from formulas, and escapes are decoded', async () => {
  expect(await readDataCells('<c r="A2" t="s"><v>2</v></c><c r="B2" t="s"><v>3</v></c>')).toEqual([
    'Priya ',
    'a\rb _x000D_',
  ])
  expect(
    await readDataCells(
      '<c r="A2" t="inlineStr"><is><t>Zo</t></is></c><c r="B2" t="str"><f>A1&amp;"x"</f><v>+61 4</v></c>',
    ),
  ).toEqual(['Zo', '+61 4'])
})

test('numbers and booleans are read with their type, value and format', async () => {
  expect(await readDataCells('<c r="A2"><v>61400000000</v></c><c r="B2" t="b"><v>1</v></c>')).toEqual([
    { kind: 'number', text: '61400000000', value: 61_400_000_000, format: 'General' },
    { kind: 'boolean', text: 'true', value: true },
  ])
  expect(await readDataCells('<c r="A2" s="5"><v>412345678</v></c><c r="B2"><v>6.14E10</v></c>')).toEqual([
    { kind: 'number', text: '412345678', value: 412_345_678, format: '0000000000' },
    { kind: 'number', text: '61400000000', value: 61_400_000_000, format: 'General' },
  ])
})

test.each([
  ['1', 33_059, '1990-07-05'],
  ['2', 33_059, '1990-07-05'],
  ['1', 61, '1900-03-01'],
  ['1', 59, '1900-02-28'],
  ['1', 1, '1900-01-01'],
  ['3', 33_059.75, '1990-07-05T18:00:00'],
  ['3', 33_059.999_999_99, '1990-07-06'],
])('style %s shows %d as the date %s', async (style, serial, text) => {
  expect(await readDataCells(`<c r="A2" s="${style}"><v>${String(serial)}</v></c>`)).toMatchObject([
    { kind: 'date', text },
    '',
  ])
})

test('29 February 1900, which exists only in Excel, is a fault', async () => {
  expect(await readDataCells('<c r="A2" s="1"><v>60</v></c>')).toMatchObject([
    { kind: 'fault', reason: 'is a date that does not exist' },
    '',
  ])
})

test('a workbook from an old Mac counts days from 1904', async () => {
  const parts = excelParts(`<sheetData>${headerAndRow('<c r="A2" s="1"><v>31597</v></c>')}</sheetData>`)
  parts['xl/workbook.xml'] = String(parts['xl/workbook.xml']).replace(
    '<workbookPr/>',
    '<workbookPr date1904="1"/>',
  )
  expect((await readRows(await zipParts(parts), 'w.xlsx'))[0]?.cells).toMatchObject([
    { text: '1990-07-05' },
    '',
  ])
})

test('the x14:workbookPr that Excel for Mac appends does not change how days are counted', async () => {
  const parts = excelParts(`<sheetData>${headerAndRow('<c r="A2" s="1"><v>31597</v></c>')}</sheetData>`)
  parts['xl/workbook.xml'] = String(parts['xl/workbook.xml'])
    .replace('<workbookPr/>', '<workbookPr date1904="1"/>')
    .replace(
      '</sheets>',
      '</sheets><extLst><ext uri="{79F54976-1DA5-4618-B147-4CDE4B953A38}" xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"><x14:workbookPr defaultImageDpi="32767"/></ext></extLst>',
    )
  expect((await readRows(await zipParts(parts), 'w.xlsx'))[0]?.cells).toMatchObject([
    { text: '1990-07-05' },
    '',
  ])
})

test.each([
  ['<c r="A2" t="e"><v>#REF!</v></c>', 'is the error #REF!'],
  ['<c r="A2"><f>B2+1</f></c>', 'is a formula whose value was not saved'],
  ['<c r="A2"><f>B2+1</f><v></v></c>', 'is a formula whose value was not saved'],
  ['<c r="A2" t="s"><v>99</v></c>', 'refers to a text that the workbook does not have'],
])('the cell %s is a fault: it %s', async (cell, reason) => {
  expect(await readDataCells(cell)).toMatchObject([{ kind: 'fault', reason }, ''])
})

test('a formula with an empty text as its result is an empty cell', async () => {
  expect(await readDataCells('<c r="A2" t="str"><f>""</f><v></v></c><c r="B2"><v>1</v></c>')).toMatchObject([
    '',
    { text: '1' },
  ])
})

test('rows have the numbers of the spreadsheet minus the header, even if rows between them are empty', async () => {
  const rows = `${header}<row r="3"><c r="B3"><v>1</v></c></row><row r="4"><c r="A4" s="4"/></row><row r="1048576"><c r="A1048576"><v>2</v></c></row>`
  expect((await readRows(await createWorkbook(rows), 'w.xlsx')).map(({ row, line }) => [row, line])).toEqual([
    [2, 3],
    [1_048_575, 1_048_576],
  ])
})

test('cells and rows without addresses are read in their order', async () => {
  const rows =
    '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row><row><c><v>1</v></c><c><v>2</v></c></row>'
  expect(await readTable(await createWorkbook(rows), 'w.xlsx')).toEqual([
    ['first_name', 'phone'],
    ['1', '2'],
  ])
})

test('XML with prefixed names, as the Open XML SDK writes it, is read', async () => {
  const xml = `<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData><x:row r="1"><x:c r="A1" t="s"><x:v>0</x:v></x:c></x:row><x:row r="2"><x:c r="A2"><x:v>7</x:v></x:c></x:row></x:sheetData></x:worksheet>`
  expect(
    await readTable(await zipParts({ ...excelParts(''), 'xl/worksheets/sheet1.xml': xml }), 'w.xlsx'),
  ).toEqual([['first_name'], ['7']])
})

test('a workbook with several visible sheets is refused if no sheet is given', async () => {
  const parts = excelParts(`<sheetData>${headerAndRow('<c r="A2"><v>1</v></c>')}</sheetData>`)
  const createTwoSheets = (state: string): Promise<Buffer> =>
    zipParts({
      ...parts,
      'xl/workbook.xml': String(parts['xl/workbook.xml']).replace(
        '</sheets>',
        `<sheet name="Notes" sheetId="2" ${state} r:id="rId1"/></sheets>`,
      ),
    })
  const bytes = await createTwoSheets('')
  expect(await readRefusal(bytes, 'w.xlsx')).toBe('w.xlsx: it has several sheets: "Sheet1", "Notes"')
  expect((await openBytes(bytes, 'w.xlsx', 'Notes')).dialect.sheet).toBe('Notes')
  expect(await readRefusal(bytes, 'w.xlsx', 'Other')).toBe('w.xlsx: it has no sheet named "Other"')
  expect((await openBytes(await createTwoSheets('state="hidden"'), 'w.xlsx')).dialect.sheet).toBe('Sheet1')
})

test('merged cells are refused with their address, and ignored below the data', async () => {
  const rows = headerAndRow('<c r="A2"><v>1</v></c>')
  const mergeXml = (ref: string): string => `<mergeCells count="1"><mergeCell ref="${ref}"/></mergeCells>`
  expect(await readRefusal(await createWorkbook(rows, mergeXml('A2:A3')), 'w.xlsx')).toContain(
    'the cells A2:A3 are merged',
  )
  expect(await readRefusal(await createWorkbook(rows, mergeXml('A9:B9')), 'w.xlsx')).toBe('was read')
})

test.each([
  [
    'a value in a column without a name',
    headerAndRow('<c r="D2"><v>1</v></c>'),
    'cell D2 holds "1", and its column has no name',
  ],
  [
    'a value in a column that is not read',
    headerAndRow('<c r="XFD2"><v>1</v></c>'),
    'cell XFD2 lies beyond the 1000 columns that are read',
  ],
  ['no rows', '', 'the sheet "Sheet1" is empty'],
  [
    'a row number that does not increase',
    `${header}<row r="1"></row>`,
    'it is a damaged workbook (row 1 after row 1)',
  ],
  [
    'a cell with the address of another row',
    headerAndRow('<c r="A7"><v>1</v></c>'),
    'it is a damaged workbook (cell A7 in row 2)',
  ],
  [
    'a header that is an error',
    '<row r="1"><c r="A1" t="e"><v>#N/A</v></c></row>',
    'the header A1 is the error #N/A',
  ],
])('a workbook with %s is refused', async (_, rows, message) => {
  expect(await readRefusal(await createWorkbook(rows), 'w.xlsx')).toBe(`w.xlsx: ${message}`)
})

test('a sheet with only a header is a table without rows', async () => {
  expect(await collect((await openBytes(await createWorkbook(header), 'w.xlsx')).rows())).toEqual([])
})

test('1 in the number format that LibreOffice uses for booleans is read as a boolean', async () => {
  const parts = excelParts(
    `<sheetData>${headerAndRow('<c r="A2" s="2"><v>1</v></c><c r="B2" s="2"><v>2</v></c>')}</sheetData>`,
  )
  const code = '&quot;WAHR&quot;;&quot;WAHR&quot;;&quot;FALSCH&quot;'
  parts['xl/styles.xml'] = String(parts['xl/styles.xml']).replace('[$-409]d\\-mmm\\-yy;@', code)
  expect((await readRows(await zipParts(parts), 'w.xlsx'))[0]?.cells).toMatchObject([
    { kind: 'boolean', value: true },
    { kind: 'number', value: 2 },
  ])
})
