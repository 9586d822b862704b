import { expect, test } from 'vitest'

import { refusalOf, rowsOf, table } from './table.ts'
import { excelParts, header, row, workbook, zipped } from './workbook.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('bombs', 'taken in')

const sheet = `<sheetData>${row('<c r="A2"><v>1</v></c>')}</sheetData>`

/** A zip whose bytes are tampered with: one text for another of the same length, wherever it stands. */
function tampered(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1')
}

/** Sets a field of the central directory entry of a part. */
function central(bytes: Buffer, part: string, offset: number, value: number): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt16LE(value, changed.lastIndexOf(Buffer.from(part)) - 46 + offset)
  return changed
}

test.each([
  ['two parts of one name', 'xl/worksheets/sheet2.xml', 'xl/worksheets/sheet1.xml', 'two parts are called'],
  [
    'a name that leads out',
    'xl/worksheets/sheet2.xml',
    '../worksheets/sheet2.xml',
    'it is a damaged workbook',
  ],
  [
    'a name from the root',
    'xl/worksheets/sheet2.xml',
    '/l/worksheets/sheet2.xml',
    'it is a damaged workbook',
  ],
  [
    'a name with backslashes',
    'xl/worksheets/sheet2.xml',
    '..\\worksheets\\sheet2.ml',
    'it is a damaged workbook',
  ],
])('%s is refused', async (_, from, to, words) => {
  const bytes = await zipped(excelParts(sheet, { 'xl/worksheets/sheet2.xml': '<worksheet/>' }))
  expect(await refusalOf(tampered(bytes, from, to), 'h.xlsx')).toContain(words)
})

test('parts under a password are refused as what they are', async () => {
  const bytes = await zipped(excelParts(sheet))
  expect(await refusalOf(central(bytes, 'xl/worksheets/sheet1.xml', 8, 1), 'h.xlsx')).toBe(
    'h.xlsx: it is encrypted',
  )
})

test('a way of packing that no workbook uses is refused', async () => {
  const bytes = await zipped(excelParts(sheet))
  expect(await refusalOf(central(bytes, 'xl/worksheets/sheet1.xml', 10, 14), 'h.xlsx')).toContain(
    'it is a damaged workbook (unsupported compression method: 14)',
  )
})

test('a billion laughs are refused at their document type', async () => {
  const laughs = Array.from(
    { length: 10 },
    (_, at) => `<!ENTITY l${String(at + 1)} "${`&l${String(at)};`.repeat(10)}">`,
  ).join('')
  const strings = `<?xml version="1.0"?><!DOCTYPE sst [<!ENTITY l0 "ha">${laughs}]><sst><si><t>&l10;</t></si></sst>`
  expect(
    await refusalOf(await zipped({ ...excelParts(sheet), 'xl/sharedStrings.xml': strings }), 'h.xlsx'),
  ).toContain('its part xl/sharedStrings.xml is not sound XML (a document type has no place in a workbook)')
})

test('an undeclared entity is refused', async () => {
  expect(
    await refusalOf(await workbook(row('<c r="A2" t="inlineStr"><is><t>&x;</t></is></c>')), 'h.xlsx'),
  ).toContain('is not sound XML')
})

test.each(['../../../../etc/passwd', 'file:///etc/passwd', 'http://127.0.0.1/sheet1.xml'])(
  'a sheet that is said to be at %s is not looked for there',
  async (target) => {
    const parts = excelParts(sheet)
    parts['xl/_rels/workbook.xml.rels'] = String(parts['xl/_rels/workbook.xml.rels']).replace(
      'worksheets/sheet1.xml',
      target,
    )
    expect(await refusalOf(await zipped(parts), 'h.xlsx')).toMatch(
      /^h\.xlsx: it is a damaged workbook \(.* is missing\)$/,
    )
  },
)

test('what counts are given does not matter', async () => {
  const parts = excelParts(sheet)
  parts['xl/sharedStrings.xml'] = String(parts['xl/sharedStrings.xml']).replace(
    '<sst ',
    '<sst count="4000000000" uniqueCount="4000000000" ',
  )
  expect(await table(await zipped(parts), 'h.xlsx')).toEqual([
    ['first_name', 'phone'],
    ['1', ''],
  ])
})

test.each([
  ['A0', 'A0'],
  ['XFE2', 'XFE2'],
  ['ÄÖ2', 'ÄÖ2'],
  ['2A', '2A'],
])('a cell called %s is refused', async (name) => {
  expect(await refusalOf(await workbook(row(`<c r="${name}"><v>1</v></c>`)), 'h.xlsx')).toContain(
    `it is a damaged workbook (cell ${name} in row 2)`,
  )
})

test.each(['1e999', 'NaN', '0x10', 'Infinity', '1,5', '--1'])('the number %s is none', async (value) => {
  const [first] = await rowsOf(await workbook(row(`<c r="A2"><v>${value}</v></c>`)), 'h.xlsx')
  expect(first?.cells[0]).toMatchObject({ kind: 'fault', reason: 'is no number' })
})

test('four million nested elements are refused before they are held', async () => {
  const deep = '<a>'.repeat(4_000_000)
  const before = process.memoryUsage().rss
  const startedAt = performance.now()
  expect(await refusalOf(await workbook(row('<c r="A2"><v>1</v></c>'), deep), 'h.xlsx')).toBe(
    'h.xlsx: its part xl/worksheets/sheet1.xml is not sound XML (elements are nested deeper than 64 levels)',
  )
  const mebibytes = Math.max(0, process.memoryUsage().rss - before) / 1024 / 1024
  const seconds = (performance.now() - startedAt) / 1000
  process.stdout.write(`4,000,000 nested elements: ${seconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB\n`)
  expect(seconds).toBeLessThan(5)
  expect(mebibytes).toBeLessThan(300)
})

test('only a header, and styled cells to the last row, is a table without rows', async () => {
  const styled = '<row r="1048576"><c r="A1048576" s="4"/><c r="XFD1048576" s="4"/></row>'
  expect(await table(await workbook(header + styled), 'h.xlsx')).toEqual([['first_name', 'phone']])
})

test('a number of more digits than a number keeps is refused, not rounded', async () => {
  const cells = '<c r="A2"><v>12345678901234567891</v></c><c r="B2"><v>62794050392621210</v></c>'
  const [first] = await rowsOf(await workbook(row(cells)), 'h.xlsx')
  expect(first?.cells).toMatchObject([
    { kind: 'fault', reason: 'has more digits than a number keeps' },
    { kind: 'number', text: '62794050392621210' },
  ])
})
