import { expect, test } from 'vitest'

import { readRefusal, readRows, readTable } from './table.ts'
import { excelParts, headerAndRow, createWorkbook, zipParts } from './workbook.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `workbooks` of the fault table (test/resilience/rows.ts).
recordForFaultTable('workbooks', { mustNotHappen: 'taken in' })

const createOleFile = (word: string): Buffer =>
  Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(504),
    Buffer.from(word, 'utf16le'),
    Buffer.alloc(400),
  ])

test.each([
  ['an encrypted workbook', 'p.xlsx', createOleFile('EncryptedPackage'), 'p.xlsx: it is encrypted'],
  [
    'an old workbook',
    'p.xls',
    createOleFile('Workbook'),
    'p.xls: it is an old Excel file (.xls), or encrypted',
  ],
  ['a web page called .xls', 'p.xls', '<html><table><tr><td>1</table>', 'p.xls: it is a web page or XML'],
  ['a PDF', 'p.csv', '%PDF-1.7\n', 'p.csv: it is a PDF'],
  ['gzip', 'p.csv', Buffer.of(0x1f, 0x8b, 8, 0), 'p.csv: it is packed with gzip'],
  ['an empty file', 'p.csv', '', 'p.csv: it is empty'],
  ['a file of white space', 'p.csv', '\n \n', 'p.csv: it is empty'],
  ['an incomplete zip archive', 'p.xlsx', 'PK\u0003\u0004abcdef', 'p.xlsx: it is a damaged workbook'],
])('%s is refused, and the message names its format', async (_, name, bytes, message) => {
  expect(await readRefusal(bytes, name)).toContain(message)
})

test.each([
  ['Index/Document.iwa', 'it is a Numbers file'],
  ['letter.txt', 'it is a zip archive, not a workbook'],
])('a zip archive with %s is refused: %s', async (part, message) => {
  expect(await readRefusal(await zipParts({ [part]: 'x' }), 'p.xlsx')).toBe(`p.xlsx: ${message}`)
})

/** Runs a function and prints its duration and memory, which the fault table contains. Returns its result. */
async function measure(label: string, run: () => Promise<string>): Promise<string> {
  const startedAt = performance.now()
  const before = process.memoryUsage().rss
  const result = await run()
  const seconds = (performance.now() - startedAt) / 1000
  const mebibytes = Math.max(0, process.memoryUsage().rss - before) / 1024 / 1024
  process.stdout.write(`${label}: ${seconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB\n`)
  return result
}

test('a zip bomb is refused before it is unpacked', async () => {
  const parts = excelParts('')
  parts['xl/worksheets/sheet1.xml'] = Buffer.alloc(260 * 1024 * 1024, ' ')
  const bytes = await zipParts(parts)
  expect(await measure('260 MiB sheet', () => readRefusal(bytes, 'bomb.xlsx'))).toBe(
    'bomb.xlsx: its part xl/worksheets/sheet1.xml is 260 MiB unpacked, too large for a list of people',
  )
})

test('shared strings of 80 MiB are refused', async () => {
  const parts = excelParts('', {
    'xl/sharedStrings.xml': Buffer.alloc(80 * 1024 * 1024, '<si><t>a</t></si>'),
  })
  const bytes = await zipParts(parts)
  expect(await measure('80 MiB of texts', () => readRefusal(bytes, 'bomb.xlsx'))).toContain('80 MiB unpacked')
})

test('a part that is larger than its size in the directory is refused', async () => {
  const bytes = await createWorkbook(headerAndRow('<c r="A2"><v>1</v></c>'))
  const part = Buffer.from('xl/worksheets/sheet1.xml')
  const central = bytes.lastIndexOf(part) - 46
  bytes.writeUInt32LE(20, central + 24)
  expect(await readRefusal(bytes, 'lie.xlsx')).toContain(
    'it is a damaged workbook (too many bytes in the stream',
  )
})

test('a part whose checksum is wrong is refused', async () => {
  const bytes = await createWorkbook(headerAndRow('<c r="A2"><v>1</v></c>'))
  const central = bytes.lastIndexOf(Buffer.from('xl/worksheets/sheet1.xml')) - 46
  bytes.writeUInt32LE((bytes.readUInt32LE(central + 16) ^ 1) >>> 0, central + 16)
  expect(await readRefusal(bytes, 'flip.xlsx')).toContain('the checksum of xl/worksheets/sheet1.xml is wrong')
})

test('a workbook of more than 1000 parts is refused', async () => {
  const parts = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`part${String(index)}`, '']))
  expect(await readRefusal(await zipParts(parts), 'many.xlsx')).toContain(
    'it has 1001 parts, too many for a workbook',
  )
})

test('a document type declaration, which could define entities, is refused', async () => {
  const xml = '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet><sheetData/></worksheet>'
  expect(
    await readRefusal(await zipParts({ ...excelParts(''), 'xl/worksheets/sheet1.xml': xml }), 'e.xlsx'),
  ).toContain('is not sound XML (a document type has no place in a workbook)')
})

test('XML that ends early is refused', async () => {
  expect(
    await readRefusal(
      await zipParts({ ...excelParts(''), 'xl/worksheets/sheet1.xml': '<worksheet><sheetData>' }),
      'e.xlsx',
    ),
  ).toContain('its part xl/worksheets/sheet1.xml is not sound XML')
})

test('an empty cell in the last row and column of a sheet adds no rows', async () => {
  const sheetRows = `${headerAndRow('<c r="A2"><v>1</v></c>')}<row r="1048576"><c r="XFD1048576"/></row>`
  expect(
    await measure('A1:XFD1048576', async () =>
      String((await readRows(await createWorkbook(sheetRows), 'far.xlsx')).length),
    ),
  ).toBe('1')
})

test.each([
  ['more cells than the header', 'a,b\n1,2,3\n', 'line 2 has 3 cells, and the header has 2'],
  ['fewer cells than the header', 'a,b\n1,2\n1\n', 'line 3 has 1 cell, and the header has 2'],
  [
    'an opening quote without a closing one',
    'a,b\n1,2\n"1,2\n3,4\n',
    'the row that starts on line 3 has an opening quote without a closing one',
  ],
  ['text after a closing quote', 'a,b\n"1"x,2\n', 'line 2 has text after a closing quote'],
  ['a quote in the middle of a cell', 'a,b\n5" pipe,2\n', 'line 2 has a quote in the middle of a cell'],
  ['a value after the last named column', 'a,b,\n1,2,3\n', 'line 2 has 3 cells, and the header has 2'],
  [
    'a value in a column without a name',
    'a,,b\n1,2,3\n',
    'line 2, column 2 holds "2", and its column has no name',
  ],
  ['an ambiguous separator', 'a,b;c\n1,2;3\n', 'the separator could be "," or ";"'],
])('a CSV file with %s is refused', async (_, text, message) => {
  expect(await readRefusal(text, 'p.csv')).toBe(`p.csv: ${message}`)
})

test('a row with an open quote is read only up to 1 MiB', async () => {
  const text = `a,b\n"${'x,y\n'.repeat(1_000_000)}`
  expect(await measure('open quote, 4 MB', () => readRefusal(text, 'p.csv'))).toBe(
    'p.csv: a row that starts on line 2 or later is longer than 1 MiB',
  )
})

test.each([
  ['NUL', Buffer.from('a,b\n1,\0\n'), 'byte 6 is NUL, which no text holds'],
  ['UTF-16 without a byte order mark', Buffer.from('a,b\n1,2\n', 'utf16le'), 'byte 1 is NUL'],
  [
    'damaged UTF-8',
    Buffer.concat([Buffer.from('a,é\n1,'), Buffer.of(0xe9, 0x0a)]),
    'byte 7 (0xE9) is not UTF-8',
  ],
  [
    'damaged UTF-8 after a byte order mark',
    Buffer.concat([Buffer.from('\uFEFFa,b\n1,'), Buffer.of(0xe9, 0x0a)]),
    'byte 9 (0xE9) is not UTF-8',
  ],
  [
    'UTF-8 after an invalid byte',
    Buffer.concat([Buffer.of(0x61, 0xe9, 0x0a), Buffer.from('é')]),
    'byte 1 (0xE9) is not UTF-8',
  ],
  [
    'half a UTF-16 unit',
    Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('a\n1', 'utf16le'), Buffer.of(0x31)]),
    'it is not UTF-16LE throughout',
  ],
])('a CSV file with %s is refused', async (_, bytes, message) => {
  expect(await readRefusal(bytes, 'p.csv')).toContain(`p.csv: ${message}`)
})

test.each([
  ['an array that does not end', '[{"a":1},', 'the array has no end'],
  ['an object that does not end', '[{"a":1', 'the object that starts on line 1 has no end'],
  ['a text after the array', '[{"a":1}] x', 'line 1 has "x" where nothing more is expected'],
  ['an item that is a number', '[1]', 'line 1 has "1" where an object or ] is expected'],
  ['a comma after the last item', '[{"a":1},]', 'line 1 has "]" where an object is expected'],
  ['a comma between lines', '{"a":1},\n{"a":2}', 'line 1 has "," where an object is expected'],
  ['an empty array', '[]', 'it contains no rows'],
])('a JSON file with %s is refused', async (_, text, message) => {
  expect(await readRefusal(text, 'p.json')).toBe(`p.json: ${message}`)
})

test.each([
  [
    'a web archive',
    'p.xls',
    'MIME-Version: 1.0\r\nX-Document-Type: Workbook\r\n',
    'it is a web archive (.mht)',
  ],
  ['SYLK', 'p.csv', 'ID;PWXL;N;E\r\nC;Y1;X1;K"name"\r\n', 'it is a SYLK file (.slk)'],
  ['RTF', 'p.csv', '{\\rtf1\\ansi name}', 'it is a text document (RTF)'],
  [
    'Excel 2',
    'p.xls',
    Buffer.of(0x09, 0x00, 0x04, 0x00, 0x02, 0x00, 0x10, 0x00),
    'it is a workbook of Excel 2 to 4',
  ],
  [
    'Excel 4',
    'p.xls',
    Buffer.of(0x09, 0x04, 0x06, 0x00, 0x00, 0x00, 0x10, 0x00),
    'it is a workbook of Excel 2 to 4',
  ],
])('%s with the file name of another format is refused as what it is', async (_, name, bytes, message) => {
  expect(await readRefusal(bytes, name)).toBe(`${name}: ${message}, whatever its name says`)
})

test('a title above the header is recognised, and the line below it is offered as the header', async () => {
  const textWithTitle = 'Candidates\n\nname,phone\nAnn,1\n'
  await expect(readRows(textWithTitle, 'p.csv')).rejects.toMatchObject({
    message: 'p.csv: line 1, "Candidates", looks like a title, not like the header',
    hint: 'If line 3 names the columns (name, phone), add: --header-row 3',
    flag: 'header-row',
    answers: [
      { value: '3', label: 'line 3: name, phone' },
      { value: '1', label: 'line 1: Candidates' },
    ],
  })
  expect(
    (await readRows(textWithTitle, 'p.csv', { headerRow: 3 })).map(({ row, line }) => [row, line]),
  ).toEqual([[1, 4]])
  await expect(readRows(textWithTitle, 'p.csv', { headerRow: 2 })).rejects.toThrow(
    '--header-row 2: line 2 of p.csv holds nothing',
  )
  const cells =
    '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c></row><row r="4"><c r="A4"><v>1</v></c><c r="B4"><v>2</v></c></row>'
  await expect(readRows(await createWorkbook(cells), 'p.xlsx')).rejects.toMatchObject({
    hint: 'If line 3 names the columns (first_name, phone), add: --header-row 3',
  })
  expect(await readTable(await createWorkbook(cells), 'p.xlsx', { headerRow: 3 })).toEqual([
    ['first_name', 'phone'],
    ['1', '2'],
  ])
})

test('spaces between separators and quotes are not part of the cells', async () => {
  const spacedText = '"name", "note"\n"Ann", "a, b"\n"Bo" , " c"\n'
  expect(await readTable(spacedText, 'p.csv')).toEqual([
    ['name', 'note'],
    ['Ann', 'a, b'],
    ['Bo', ' c'],
  ])
  expect(await readTable('a,b\n1, 2\n', 'p.csv')).toEqual([
    ['a', 'b'],
    ['1', ' 2'],
  ])
})

test('rows of white space are ignored in a CSV file and in a workbook', async () => {
  expect(await readTable('a,b\n1,2\n \n , \t\n3,4\n', 'p.csv')).toEqual([
    ['a', 'b'],
    ['1', '2'],
    ['3', '4'],
  ])
  const blank = '<c r="A2" t="inlineStr"><is><t xml:space="preserve">  </t></is></c>'
  expect(await readTable(await createWorkbook(headerAndRow(blank)), 'p.xlsx')).toEqual([
    ['first_name', 'phone'],
  ])
})
