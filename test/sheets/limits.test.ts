import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { fileSource } from '../../src/sheets/sheet.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { temporaryFolder } from '../harness/world.ts'
import { readRefusal, readRows, readTable } from './table.ts'
import { formatAttributes, partsWithManySheets, odsParts, partsWithSheet } from './large-workbooks.ts'
import { excelParts, header, headerAndRow, createWorkbook, zipParts } from './workbook.ts'

// The tests of this file are the row `tables` of the fault table (test/resilience/rows.ts).
recordForFaultTable('tables', { mustNotHappen: 'taken in' })

const sheetData = `<sheetData>${headerAndRow('<c r="A2"><v>1</v></c>')}</sheetData>`
const sheetPart = 'xl/worksheets/sheet1.xml'

test('a workbook of 256 sheets is read, and one of 257 is refused', async () => {
  const manySheets = partsWithManySheets(256)
  expect(await readTable(await zipParts(manySheets), 'p.xlsx', 'S1')).toEqual([['first_name', 'phone']])
  const refusal = 'it has more than 256 sheets, the limit'
  expect(await readRefusal(await zipParts(partsWithManySheets(257)), 'p.xlsx')).toBe(`p.xlsx: ${refusal}`)
  const tables = Array.from({ length: 257 }, (_, index) => `<table:table table:name="s${index}"/>`).join('')
  expect(await readRefusal(await zipParts(odsParts(tables)), 'p.ods')).toBe(`p.ods: ${refusal}`)
})

test.each([
  ['attributes', (index: number) => `a${index}="1"`],
  ['namespaces', (index: number) => `xmlns:n${index}="urn:n"`],
])('an element of 256 %s is read, and one of 257 is refused', async (_, formatAttribute) => {
  const element = (count: number): string => `<x ${formatAttributes(count, formatAttribute)}/>`
  expect(
    await readTable(await zipParts(partsWithSheet(`${element(256)}${sheetData}`)), 'p.xlsx'),
  ).toHaveLength(2)
  const refusalFor = (part: string): string =>
    `its part ${part} has an element with more than 256 attributes, the limit`
  const sheet = await zipParts(partsWithSheet(`${element(257)}${sheetData}`))
  expect(await readRefusal(sheet, 'p.xlsx')).toBe(`p.xlsx: ${refusalFor(sheetPart)}`)
  const content = await zipParts(odsParts(element(257)))
  expect(await readRefusal(content, 'p.ods')).toBe(`p.ods: ${refusalFor('content.xml')}`)
})

test.each([
  ['a text', (text: string) => `<x>${text}</x>`],
  ['a comment', (text: string) => `<!--${text}-->`],
  ['the value of an attribute', (text: string) => `<x a="${text}"/>`],
  ['a name', (text: string) => `<${text}/>`],
  ['a processing instruction', (text: string) => `<?x ${text}?>`],
  ['a CDATA section', (text: string) => `<![CDATA[${text}]]>`],
])('%s of more than 1 MiB is refused', async (_, createXml) => {
  const bytes = await zipParts(partsWithSheet(`${sheetData}${createXml('x'.repeat(2_000_000))}`))
  expect(await readRefusal(bytes, 'p.xlsx')).toBe(
    `p.xlsx: its part ${sheetPart} has a text with more than 1048576 characters, the limit`,
  )
})

test('more than 100,000 relations of a part are refused', async () => {
  const parts = excelParts(sheetData)
  const relation = '<Relationship Id="a" Type="t" Target="x"/>'
  const relations = Array.from({ length: 100_001 }, (_, index) =>
    relation.replace('"a"', `"a${index}"`),
  ).join('')
  parts['xl/_rels/workbook.xml.rels'] = `<Relationships>${relations}</Relationships>`
  expect(await readRefusal(await zipParts(parts), 'p.xlsx')).toBe(
    'p.xlsx: its part xl/_rels/workbook.xml.rels has more than 100000 relations, the limit',
  )
})

test('more than a million shared strings are refused', async () => {
  const texts = Buffer.alloc(10 * 1_000_001, '<si></si> ')
  const strings = Buffer.concat([Buffer.from('<sst>'), texts, Buffer.from('</sst>')])
  expect(
    await readRefusal(await createWorkbook(header, '', { 'xl/sharedStrings.xml': strings }), 'p.xlsx'),
  ).toBe('p.xlsx: its part xl/sharedStrings.xml has more than 1000000 texts, the limit')
})

test('more column elements than a sheet can have columns are refused', async () => {
  const columns = '<col min="1" max="1000" width="9"/>'.repeat(16_385)
  expect(await readRefusal(await zipParts(partsWithSheet(`${columns}${sheetData}`)), 'p.xlsx')).toBe(
    'p.xlsx: it is a damaged workbook (more than 16384 column elements)',
  )
})

test('more than 48 MiB before the first rows of the sheets are refused', async () => {
  const tables = Array.from({ length: 200 }, (_, index) => `<table:table table:name="s${index}"/>`).join('')
  const bytes = await zipParts(odsParts(`${tables}${'<a/>'.repeat(250_000)}`))
  expect(await readRefusal(bytes, 'p.ods')).toBe(
    'p.ods: its sheets hold more than 48 MiB before their first rows, the limit',
  )
})

const createLine = (index: number): string => `Ann ${index},+614${String(index).padStart(8, '0')}`
const createCsv = (count: number): string =>
  `first_name,phone\n${Array.from({ length: count }, (_, index) => `${createLine(index)}\n`).join('')}`

test('100,000 rows and further blank rows are read, and 100,001 rows are refused', async () => {
  expect(await readRows(`${createCsv(100_000)}\n,\n\n`, 'p.csv')).toHaveLength(100_000)
  const refusal = 'it has more than 100000 rows, the limit'
  expect(await readRefusal(createCsv(100_001), 'p.csv')).toBe(`p.csv: ${refusal}`)
  const objects = Array.from({ length: 100_001 }, () => '{"phone":"1"}')
  expect(await readRefusal(objects.join('\n'), 'p.jsonl')).toBe(`p.jsonl: ${refusal}`)
  expect(await readRefusal(`[${objects.join(',')}]`, 'p.json')).toBe(`p.json: ${refusal}`)
  const cell = (text: string): string =>
    `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`
  const repeatedRow = `<table:table-row table:number-rows-repeated="100001">${cell('1')}</table:table-row>`
  const rows = `<table:table-row>${cell('phone')}</table:table-row>${repeatedRow}`
  const bytes = await zipParts(odsParts(`<table:table table:name="s">${rows}</table:table>`))
  expect(await readRefusal(bytes, 'p.ods')).toBe(`p.ods: ${refusal}`)
})

test('more lines than a spreadsheet can have are refused, even if they are blank', async () => {
  expect(await readRefusal(`a,b\n1,2\n${',\n'.repeat(1_048_576)}`, 'p.csv')).toBe(
    'p.csv: it has more than 1048576 lines, the limit',
  )
})

test('a row of separators is read only up to 1 MiB', async () => {
  expect(await readRefusal(`a,b\n1,2\n${','.repeat(5_000_000)}`, 'p.csv')).toBe(
    'p.csv: a row that starts on line 3 or later is longer than 1 MiB',
  )
})

test('blank cells after the last column of the header count against the limit of cells', async () => {
  expect(await readRefusal(`a,b\n1,2\n${`${','.repeat(1_000_000)}\n`.repeat(10)}`, 'p.csv')).toBe(
    'p.csv: its first 11 lines hold more than 8388608 cells, the limit',
  )
})

test('a shared string of spaces counts against the limit of characters for each cell that has it', async () => {
  const strings = `<sst><si><t>first_name</t></si><si><t>phone</t></si><si><t xml:space="preserve">${' '.repeat(30_000)}</t></si></sst>`
  const rows = Array.from(
    { length: 2300 },
    (_, index) => `<row r="${index + 2}"><c r="A${index + 2}" t="s"><v>2</v></c></row>`,
  )
  const bytes = await createWorkbook(`${header}${rows.join('')}`, '', { 'xl/sharedStrings.xml': strings })
  expect(await readRefusal(bytes, 'p.xlsx')).toBe(
    'p.xlsx: its first 2237 rows hold more than 67108864 characters, the limit',
  )
})

const contentRefusal = (reason: string): string => `its part content.xml is not sound XML (${reason})`

test.each([
  ['without a value', '', contentRefusal('it holds more than 67108864 repeated spaces')],
  [
    'with a value',
    'office:value-type="float" office:value="1"',
    contentRefusal('it holds more than 67108864 repeated spaces'),
  ],
  ['with a repeat count', 'table:number-columns-repeated="900"', 'row 2 is longer than 1 MiB'],
])('the repeated spaces of OpenDocument cells %s count against the limit', async (_, attribute, refusal) => {
  const cell = (textXml: string, attributes = ''): string =>
    `<table:table-cell ${attributes}><text:p>${textXml}</text:p></table:table-cell>`
  const rows = [
    cell('phone'),
    ...Array.from({ length: 70 }, () => cell('<text:s text:c="32767"/>'.repeat(31), attribute)),
  ]
  const rowsXml = rows.map((cellXml) => `<table:table-row>${cellXml}</table:table-row>`).join('')
  const bytes = await zipParts(odsParts(`<table:table table:name="s">${rowsXml}</table:table>`))
  expect(await readRefusal(bytes, 'p.ods')).toBe(`p.ods: ${refusal}`)
})

test('a shared string counts against the limit of characters for each cell that has it', async () => {
  const strings = `<sst><si><t>first_name</t></si><si><t>phone</t></si><si><t>${'x'.repeat(30_000)}</t></si></sst>`
  const rows = Array.from(
    { length: 2300 },
    (_, index) => `<row r="${index + 2}"><c r="A${index + 2}" t="s"><v>2</v></c></row>`,
  )
  const bytes = await createWorkbook(`${header}${rows.join('')}`, '', { 'xl/sharedStrings.xml': strings })
  expect(await readRefusal(bytes, 'p.xlsx')).toBe(
    'p.xlsx: its first 2237 rows hold more than 67108864 characters, the limit',
  )
})

test('a file of more than 64 MiB is refused', async () => {
  const path = join(temporaryFolder(), 'p.csv')
  writeFileSync(path, 'first_name\nZoë\n')
  truncateSync(path, 64 * 1024 * 1024)
  await fileSource(path, 'p.csv')
  truncateSync(path, 64 * 1024 * 1024 + 1)
  await expect(fileSource(path, 'p.csv')).rejects.toThrow('p.csv: it is larger than 64 MiB, the limit')
})
