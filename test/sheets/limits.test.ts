import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { fileSource } from '../../src/sheets/sheet.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { temporaryFolder } from '../harness/world.ts'
import { refusalOf, rowsOf, table } from './table.ts'
import { attributes, manySheets, odsDocument, withSheet } from './large-workbooks.ts'
import { excelParts, header, row, workbook, zipped } from './workbook.ts'

recordForFaultTable('tables', 'taken in')

const sheetData = `<sheetData>${row('<c r="A2"><v>1</v></c>')}</sheetData>`
const sheetPart = 'xl/worksheets/sheet1.xml'

test('a workbook of 256 sheets is read, one of 257 refused', async () => {
  const many = manySheets(256)
  expect(await table(await zipped(many), 'p.xlsx', 'S1')).toEqual([['first_name', 'phone']])
  const refused = 'it has more than 256 sheets, the limit'
  expect(await refusalOf(await zipped(manySheets(257)), 'p.xlsx')).toBe(`p.xlsx: ${refused}`)
  const tables = Array.from({ length: 257 }, (_, at) => `<table:table table:name="s${at}"/>`).join('')
  expect(await refusalOf(await zipped(odsDocument(tables)), 'p.ods')).toBe(`p.ods: ${refused}`)
})

test.each([
  ['attributes', (at: number) => `a${at}="1"`],
  ['namespaces', (at: number) => `xmlns:n${at}="urn:n"`],
])('an element of 256 %s is read, one of 257 refused', async (_, each) => {
  const element = (count: number): string => `<x ${attributes(count, each)}/>`
  expect(await table(await zipped(withSheet(`${element(256)}${sheetData}`)), 'p.xlsx')).toHaveLength(2)
  const refused = (part: string): string =>
    `its part ${part} has an element with more than 256 attributes, the limit`
  const sheet = await zipped(withSheet(`${element(257)}${sheetData}`))
  expect(await refusalOf(sheet, 'p.xlsx')).toBe(`p.xlsx: ${refused(sheetPart)}`)
  const content = await zipped(odsDocument(element(257)))
  expect(await refusalOf(content, 'p.ods')).toBe(`p.ods: ${refused('content.xml')}`)
})

test.each([
  ['a text', (text: string) => `<x>${text}</x>`],
  ['a comment', (text: string) => `<!--${text}-->`],
  ['the value of an attribute', (text: string) => `<x a="${text}"/>`],
  ['a name', (text: string) => `<${text}/>`],
  ['an instruction to a program', (text: string) => `<?x ${text}?>`],
  ['a section of characters', (text: string) => `<![CDATA[${text}]]>`],
])('%s of more than a MiB is not collected', async (_, within) => {
  const bytes = await zipped(withSheet(`${sheetData}${within('x'.repeat(2_000_000))}`))
  expect(await refusalOf(bytes, 'p.xlsx')).toBe(
    `p.xlsx: its part ${sheetPart} has a text with more than 1048576 characters, the limit`,
  )
})

test('more than 100,000 relations of a part are refused', async () => {
  const parts = excelParts(sheetData)
  const relation = '<Relationship Id="a" Type="t" Target="x"/>'
  const all = Array.from({ length: 100_001 }, (_, at) => relation.replace('"a"', `"a${at}"`)).join('')
  parts['xl/_rels/workbook.xml.rels'] = `<Relationships>${all}</Relationships>`
  expect(await refusalOf(await zipped(parts), 'p.xlsx')).toBe(
    'p.xlsx: its part xl/_rels/workbook.xml.rels has more than 100000 relations, the limit',
  )
})

test('more than a million texts that cells share are refused', async () => {
  const texts = Buffer.alloc(10 * 1_000_001, '<si></si> ')
  const strings = Buffer.concat([Buffer.from('<sst>'), texts, Buffer.from('</sst>')])
  expect(await refusalOf(await workbook(header, '', { 'xl/sharedStrings.xml': strings }), 'p.xlsx')).toBe(
    'p.xlsx: its part xl/sharedStrings.xml has more than 1000000 texts, the limit',
  )
})

test('more descriptions of columns than a sheet has columns are refused', async () => {
  const columns = '<col min="1" max="1000" width="9"/>'.repeat(16_385)
  expect(await refusalOf(await zipped(withSheet(`${columns}${sheetData}`)), 'p.xlsx')).toBe(
    'p.xlsx: it is a damaged workbook (more than 16384 column elements)',
  )
})

test('what stands before the first rows of many sheets is not read for each of them', async () => {
  const tables = Array.from({ length: 200 }, (_, at) => `<table:table table:name="s${at}"/>`).join('')
  const bytes = await zipped(odsDocument(`${tables}${'<a/>'.repeat(250_000)}`))
  expect(await refusalOf(bytes, 'p.ods')).toBe(
    'p.ods: its sheets hold more than 48 MiB before their first rows, the limit',
  )
})

const line = (at: number): string => `Ann ${at},+614${String(at).padStart(8, '0')}`
const csv = (count: number): string =>
  `first_name,phone\n${Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('')}`

test('100,000 rows are read, and not one more, blank ones left out', async () => {
  expect(await rowsOf(`${csv(100_000)}\n,\n\n`, 'p.csv')).toHaveLength(100_000)
  const refused = 'it has more than 100000 rows, the limit'
  expect(await refusalOf(csv(100_001), 'p.csv')).toBe(`p.csv: ${refused}`)
  const objects = Array.from({ length: 100_001 }, () => '{"phone":"1"}')
  expect(await refusalOf(objects.join('\n'), 'p.jsonl')).toBe(`p.jsonl: ${refused}`)
  expect(await refusalOf(`[${objects.join(',')}]`, 'p.json')).toBe(`p.json: ${refused}`)
  const cell = (text: string): string =>
    `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`
  const repeated = `<table:table-row table:number-rows-repeated="100001">${cell('1')}</table:table-row>`
  const rows = `<table:table-row>${cell('phone')}</table:table-row>${repeated}`
  const bytes = await zipped(odsDocument(`<table:table table:name="s">${rows}</table:table>`))
  expect(await refusalOf(bytes, 'p.ods')).toBe(`p.ods: ${refused}`)
})

test('more lines than a spreadsheet has are refused, though they are blank', async () => {
  expect(await refusalOf(`a,b\n1,2\n${',\n'.repeat(1_048_576)}`, 'p.csv')).toBe(
    'p.csv: it has more than 1048576 lines, the limit',
  )
})

test('a row of separators that has no end is not followed to the end of the file', async () => {
  expect(await refusalOf(`a,b\n1,2\n${','.repeat(5_000_000)}`, 'p.csv')).toBe(
    'p.csv: a row that starts on line 3 or later is longer than 1 MiB',
  )
})

test('cells past the header count, though they are blank', async () => {
  expect(await refusalOf(`a,b\n1,2\n${`${','.repeat(1_000_000)}\n`.repeat(10)}`, 'p.csv')).toBe(
    'p.csv: its first 11 lines hold more than 8388608 cells, the limit',
  )
})

test('a long text of spaces that very many cells share counts in each of them', async () => {
  const strings = `<sst><si><t>first_name</t></si><si><t>phone</t></si><si><t xml:space="preserve">${' '.repeat(30_000)}</t></si></sst>`
  const rows = Array.from(
    { length: 2300 },
    (_, at) => `<row r="${at + 2}"><c r="A${at + 2}" t="s"><v>2</v></c></row>`,
  )
  const bytes = await workbook(`${header}${rows.join('')}`, '', { 'xl/sharedStrings.xml': strings })
  expect(await refusalOf(bytes, 'p.xlsx')).toBe(
    'p.xlsx: its first 2237 rows hold more than 67108864 characters, the limit',
  )
})

const content = (words: string): string => `its part content.xml is not sound XML (${words})`

test.each([
  ['no value', '', content('it holds more than 67108864 repeated spaces')],
  [
    'a value',
    'office:value-type="float" office:value="1"',
    content('it holds more than 67108864 repeated spaces'),
  ],
  ['more than one cell', 'table:number-columns-repeated="900"', 'row 2 is longer than 1 MiB'],
])('spaces of OpenDocument that are written as a count are counted: %s', async (_, attribute, words) => {
  const cell = (inside: string, more = ''): string =>
    `<table:table-cell ${more}><text:p>${inside}</text:p></table:table-cell>`
  const rows = [
    cell('phone'),
    ...Array.from({ length: 70 }, () => cell('<text:s text:c="32767"/>'.repeat(31), attribute)),
  ]
  const inside = rows.map((each) => `<table:table-row>${each}</table:table-row>`).join('')
  const bytes = await zipped(odsDocument(`<table:table table:name="s">${inside}</table:table>`))
  expect(await refusalOf(bytes, 'p.ods')).toBe(`p.ods: ${words}`)
})

test('a text that very many cells share counts in each of them', async () => {
  const strings = `<sst><si><t>first_name</t></si><si><t>phone</t></si><si><t>${'x'.repeat(30_000)}</t></si></sst>`
  const rows = Array.from(
    { length: 2300 },
    (_, at) => `<row r="${at + 2}"><c r="A${at + 2}" t="s"><v>2</v></c></row>`,
  )
  const bytes = await workbook(`${header}${rows.join('')}`, '', { 'xl/sharedStrings.xml': strings })
  expect(await refusalOf(bytes, 'p.xlsx')).toBe(
    'p.xlsx: its first 2237 rows hold more than 67108864 characters, the limit',
  )
})

test('a file of more than 64 MiB is not opened', async () => {
  const path = join(temporaryFolder(), 'p.csv')
  writeFileSync(path, 'first_name\nZoë\n')
  truncateSync(path, 64 * 1024 * 1024)
  await fileSource(path, 'p.csv')
  truncateSync(path, 64 * 1024 * 1024 + 1)
  await expect(fileSource(path, 'p.csv')).rejects.toThrow('p.csv: it is larger than 64 MiB, the limit')
})
