import { expect, test } from 'vitest'

import { readRefusal, readRows, readTable } from './table.ts'
import { excelParts, header, headerAndRow, createWorkbook, zipParts } from './workbook.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `input-limits` of the fault table (test/resilience/rows.ts).
recordForFaultTable('input-limits', { mustNotHappen: 'taken in' })

const sheet = `<sheetData>${headerAndRow('<c r="A2"><v>1</v></c>')}</sheetData>`

/** Replaces each occurrence of a text in a zip archive with a text of the same length. */
function replaceInArchive(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1')
}

/** Returns the archive with another value in a field of the central directory entry of a part. */
function withCentralField(bytes: Buffer, part: string, offset: number, value: number): Buffer {
  const changedBytes = Buffer.from(bytes)
  changedBytes.writeUInt16LE(value, changedBytes.lastIndexOf(Buffer.from(part)) - 46 + offset)
  return changedBytes
}

test.each([
  [
    'two parts of the same name',
    'xl/worksheets/sheet2.xml',
    'xl/worksheets/sheet1.xml',
    'two parts are called',
  ],
  [
    'a part name that leads out of the archive',
    'xl/worksheets/sheet2.xml',
    '../worksheets/sheet2.xml',
    'it is a damaged workbook',
  ],
  [
    'an absolute part name',
    'xl/worksheets/sheet2.xml',
    '/l/worksheets/sheet2.xml',
    'it is a damaged workbook',
  ],
  [
    'a part name with backslashes',
    'xl/worksheets/sheet2.xml',
    '..\\worksheets\\sheet2.ml',
    'it is a damaged workbook',
  ],
])('a workbook with %s is refused', async (_, from, to, message) => {
  const bytes = await zipParts(excelParts(sheet, { 'xl/worksheets/sheet2.xml': '<worksheet/>' }))
  expect(await readRefusal(replaceInArchive(bytes, from, to), 'h.xlsx')).toContain(message)
})

test('a workbook with an encrypted part is refused as encrypted', async () => {
  const bytes = await zipParts(excelParts(sheet))
  expect(await readRefusal(withCentralField(bytes, 'xl/worksheets/sheet1.xml', 8, 1), 'h.xlsx')).toBe(
    'h.xlsx: it is encrypted',
  )
})

test('a part with an unsupported compression method is refused', async () => {
  const bytes = await zipParts(excelParts(sheet))
  expect(await readRefusal(withCentralField(bytes, 'xl/worksheets/sheet1.xml', 10, 14), 'h.xlsx')).toContain(
    'it is a damaged workbook (unsupported compression method: 14)',
  )
})

test('nested entities ("billion laughs") are refused because of the document type declaration', async () => {
  const nestedEntities = Array.from(
    { length: 10 },
    (_, index) => `<!ENTITY l${String(index + 1)} "${`&l${String(index)};`.repeat(10)}">`,
  ).join('')
  const strings = `<?xml version="1.0"?><!DOCTYPE sst [<!ENTITY l0 "ha">${nestedEntities}]><sst><si><t>&l10;</t></si></sst>`
  expect(
    await readRefusal(await zipParts({ ...excelParts(sheet), 'xl/sharedStrings.xml': strings }), 'h.xlsx'),
  ).toContain('its part xl/sharedStrings.xml is not sound XML (a document type has no place in a workbook)')
})

test('an undeclared entity is refused', async () => {
  expect(
    await readRefusal(
      await createWorkbook(headerAndRow('<c r="A2" t="inlineStr"><is><t>&x;</t></is></c>')),
      'h.xlsx',
    ),
  ).toContain('is not sound XML')
})

test.each(['../../../../etc/passwd', 'file:///etc/passwd', 'http://127.0.0.1/sheet1.xml'])(
  'the path %s of a sheet is only searched inside the archive',
  async (target) => {
    const parts = excelParts(sheet)
    parts['xl/_rels/workbook.xml.rels'] = String(parts['xl/_rels/workbook.xml.rels']).replace(
      'worksheets/sheet1.xml',
      target,
    )
    expect(await readRefusal(await zipParts(parts), 'h.xlsx')).toMatch(
      /^h\.xlsx: it is a damaged workbook \(.* is missing\)$/,
    )
  },
)

test('wrong counts of shared strings are ignored', async () => {
  const parts = excelParts(sheet)
  parts['xl/sharedStrings.xml'] = String(parts['xl/sharedStrings.xml']).replace(
    '<sst ',
    '<sst count="4000000000" uniqueCount="4000000000" ',
  )
  expect(await readTable(await zipParts(parts), 'h.xlsx')).toEqual([
    ['first_name', 'phone'],
    ['1', ''],
  ])
})

test.each([
  ['A0', 'A0'],
  ['XFE2', 'XFE2'],
  ['ÄÖ2', 'ÄÖ2'],
  ['2A', '2A'],
])('a cell with the address %s is refused', async (name) => {
  expect(
    await readRefusal(await createWorkbook(headerAndRow(`<c r="${name}"><v>1</v></c>`)), 'h.xlsx'),
  ).toContain(`it is a damaged workbook (cell ${name} in row 2)`)
})

test.each(['1e999', 'NaN', '0x10', 'Infinity', '1,5', '--1'])(
  'a cell with the invalid number %s is a fault',
  async (value) => {
    const [first] = await readRows(
      await createWorkbook(headerAndRow(`<c r="A2"><v>${value}</v></c>`)),
      'h.xlsx',
    )
    expect(first?.cells[0]).toMatchObject({ kind: 'fault', reason: 'is no number' })
  },
)

test('four million nested elements are refused within 5 s and 300 MiB', async () => {
  const openElements = '<a>'.repeat(4_000_000)
  const before = process.memoryUsage().rss
  const startedAt = performance.now()
  expect(
    await readRefusal(await createWorkbook(headerAndRow('<c r="A2"><v>1</v></c>'), openElements), 'h.xlsx'),
  ).toBe(
    'h.xlsx: its part xl/worksheets/sheet1.xml is not sound XML (elements are nested deeper than 64 levels)',
  )
  const mebibytes = Math.max(0, process.memoryUsage().rss - before) / 1024 / 1024
  const seconds = (performance.now() - startedAt) / 1000
  process.stdout.write(`4,000,000 nested elements: ${seconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB\n`)
  expect(seconds).toBeLessThan(5)
  expect(mebibytes).toBeLessThan(300)
})

test('a sheet with a header and empty styled cells down to the last row is a table without rows', async () => {
  const styledRow = '<row r="1048576"><c r="A1048576" s="4"/><c r="XFD1048576" s="4"/></row>'
  expect(await readTable(await createWorkbook(header + styledRow), 'h.xlsx')).toEqual([
    ['first_name', 'phone'],
  ])
})

test('a number with more digits than a double can represent is a fault, and is not rounded', async () => {
  const cells = '<c r="A2"><v>12345678901234567891</v></c><c r="B2"><v>62794050392621210</v></c>'
  const [first] = await readRows(await createWorkbook(headerAndRow(cells)), 'h.xlsx')
  expect(first?.cells).toMatchObject([
    { kind: 'fault', reason: 'has more digits than a number keeps' },
    { kind: 'number', text: '62794050392621210' },
  ])
})
