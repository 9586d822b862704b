import { expect, test } from 'vitest'

import { refusalOf, rowsOf, table } from './table.ts'
import { excelParts, row, workbook, zipped } from './workbook.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('workbooks', 'taken in')

const ole = (word: string): Buffer =>
  Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(504),
    Buffer.from(word, 'utf16le'),
    Buffer.alloc(400),
  ])

test.each([
  ['an encrypted workbook', 'p.xlsx', ole('EncryptedPackage'), 'p.xlsx: it is encrypted'],
  ['an old one', 'p.xls', ole('Workbook'), 'p.xls: it is an old Excel file (.xls), or encrypted'],
  ['a web page called .xls', 'p.xls', '<html><table><tr><td>1</table>', 'p.xls: it is a web page or XML'],
  ['a PDF', 'p.csv', '%PDF-1.7\n', 'p.csv: it is a PDF'],
  ['gzip', 'p.csv', Buffer.of(0x1f, 0x8b, 8, 0), 'p.csv: it is packed with gzip'],
  ['nothing', 'p.csv', '', 'p.csv: it is empty'],
  ['white space', 'p.csv', '\n \n', 'p.csv: it is empty'],
  ['half a zip', 'p.xlsx', 'PK\u0003\u0004abcdef', 'p.xlsx: it is a damaged workbook'],
])('%s is refused by what it is', async (_, name, bytes, words) => {
  expect(await refusalOf(bytes, name)).toContain(words)
})

test.each([
  ['Index/Document.iwa', 'it is a Numbers file'],
  ['letter.txt', 'it is a zip archive, not a workbook'],
])('a zip that holds %s: %s', async (part, words) => {
  expect(await refusalOf(await zipped({ [part]: 'x' }), 'p.xlsx')).toBe(`p.xlsx: ${words}`)
})

/** Runs it and says what it took; the figures are the table's of faults. */
async function measured(what: string, work: () => Promise<string>): Promise<string> {
  const started = performance.now()
  const before = process.memoryUsage().rss
  const words = await work()
  const seconds = (performance.now() - started) / 1000
  const mebibytes = Math.max(0, process.memoryUsage().rss - before) / 1024 / 1024
  process.stdout.write(`${what}: ${seconds.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB\n`)
  return words
}

test('a bomb is refused before it goes off', async () => {
  const parts = excelParts('')
  parts['xl/worksheets/sheet1.xml'] = Buffer.alloc(260 * 1024 * 1024, ' ')
  const bytes = await zipped(parts)
  expect(await measured('260 MiB sheet', () => refusalOf(bytes, 'bomb.xlsx'))).toBe(
    'bomb.xlsx: its part xl/worksheets/sheet1.xml is 260 MiB unpacked, too large for a list of people',
  )
})

test('texts that unpack to far more than a list has are refused', async () => {
  const parts = excelParts('', {
    'xl/sharedStrings.xml': Buffer.alloc(80 * 1024 * 1024, '<si><t>a</t></si>'),
  })
  const bytes = await zipped(parts)
  expect(await measured('80 MiB of texts', () => refusalOf(bytes, 'bomb.xlsx'))).toContain('80 MiB unpacked')
})

test('an archive that lies about a size is found out as soon as it gives more', async () => {
  const bytes = await workbook(row('<c r="A2"><v>1</v></c>'))
  const part = Buffer.from('xl/worksheets/sheet1.xml')
  const central = bytes.lastIndexOf(part) - 46
  bytes.writeUInt32LE(20, central + 24)
  expect(await refusalOf(bytes, 'lie.xlsx')).toContain(
    'it is a damaged workbook (too many bytes in the stream',
  )
})

test('a flipped bit is found out by the checksum', async () => {
  const bytes = await workbook(row('<c r="A2"><v>1</v></c>'))
  const central = bytes.lastIndexOf(Buffer.from('xl/worksheets/sheet1.xml')) - 46
  bytes.writeUInt32LE((bytes.readUInt32LE(central + 16) ^ 1) >>> 0, central + 16)
  expect(await refusalOf(bytes, 'flip.xlsx')).toContain('the checksum of xl/worksheets/sheet1.xml is wrong')
})

test('too many parts', async () => {
  const parts = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`part${String(at)}`, '']))
  expect(await refusalOf(await zipped(parts), 'many.xlsx')).toContain(
    'it has 1001 parts, too many for a workbook',
  )
})

test('entities do not grow: a document type is refused', async () => {
  const xml = '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet><sheetData/></worksheet>'
  expect(
    await refusalOf(await zipped({ ...excelParts(''), 'xl/worksheets/sheet1.xml': xml }), 'e.xlsx'),
  ).toContain('is not sound XML (a document type has no place in a workbook)')
})

test('XML that ends early is refused', async () => {
  expect(
    await refusalOf(
      await zipped({ ...excelParts(''), 'xl/worksheets/sheet1.xml': '<worksheet><sheetData>' }),
      'e.xlsx',
    ),
  ).toContain('its part xl/worksheets/sheet1.xml is not sound XML')
})

test('the far corner of a sheet costs nothing', async () => {
  const far = `${row('<c r="A2"><v>1</v></c>')}<row r="1048576"><c r="XFD1048576"/></row>`
  expect(
    await measured('A1:XFD1048576', async () =>
      String((await rowsOf(await workbook(far), 'far.xlsx')).length),
    ),
  ).toBe('1')
})

test.each([
  ['more cells than the header', 'a,b\n1,2,3\n', 'line 2 has 3 cells, and the header has 2'],
  ['fewer', 'a,b\n1,2\n1\n', 'line 3 has 1 cell, and the header has 2'],
  [
    'a quote never closed',
    'a,b\n1,2\n"1,2\n3,4\n',
    'the row that starts on line 3 has an opening quote without a closing one',
  ],
  ['text after a quote', 'a,b\n"1"x,2\n', 'line 2 has text after a closing quote'],
  ['a quote inside', 'a,b\n5" pipe,2\n', 'line 2 has a quote in the middle of a cell'],
  ['a value under no name', 'a,b,\n1,2,3\n', 'line 2 has 3 cells, and the header has 2'],
  ['a value under no name within', 'a,,b\n1,2,3\n', 'line 2, column 2 holds "2", and its column has no name'],
  ['no way to tell', 'a,b;c\n1,2;3\n', 'the separator could be "," or ";"'],
])('%s is refused', async (_, text, words) => {
  expect(await refusalOf(text, 'p.csv')).toBe(`p.csv: ${words}`)
})

test('an endless quote is not followed to the end of the file', async () => {
  const text = `a,b\n"${'x,y\n'.repeat(1_000_000)}`
  expect(await measured('open quote, 4 MB', () => refusalOf(text, 'p.csv'))).toBe(
    'p.csv: a row that starts on line 2 or later is longer than 1 MiB',
  )
})

test.each([
  ['NUL', Buffer.from('a,b\n1,\0\n'), 'byte 6 is NUL, which no text holds'],
  ['UTF-16 without a mark', Buffer.from('a,b\n1,2\n', 'utf16le'), 'byte 1 is NUL'],
  [
    'damaged UTF-8',
    Buffer.concat([Buffer.from('a,é\n1,'), Buffer.of(0xe9, 0x0a)]),
    'byte 7 (0xE9) is not UTF-8',
  ],
  [
    'damaged UTF-8 after a mark',
    Buffer.concat([Buffer.from('\uFEFFa,b\n1,'), Buffer.of(0xe9, 0x0a)]),
    'byte 9 (0xE9) is not UTF-8',
  ],
  [
    'UTF-8 after what was not',
    Buffer.concat([Buffer.of(0x61, 0xe9, 0x0a), Buffer.from('é')]),
    'byte 1 (0xE9) is not UTF-8',
  ],
  [
    'half a UTF-16 unit',
    Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('a\n1', 'utf16le'), Buffer.of(0x31)]),
    'it is not UTF-16LE throughout',
  ],
])('%s is refused by its place', async (_, bytes, words) => {
  expect(await refusalOf(bytes, 'p.csv')).toContain(`p.csv: ${words}`)
})

test.each([
  ['an array that ends early', '[{"a":1},', 'the array has no end'],
  ['an object that ends early', '[{"a":1', 'the object that starts on line 1 has no end'],
  ['something after it', '[{"a":1}] x', 'line 1 has "x" where nothing more is expected'],
  ['a number', '[1]', 'line 1 has "1" where an object or ] is expected'],
  ['a comma too many', '[{"a":1},]', 'line 1 has "]" where an object is expected'],
  ['a comma between lines', '{"a":1},\n{"a":2}', 'line 1 has "," where an object is expected'],
  ['nobody', '[]', 'it contains no rows'],
])('JSON: %s is refused', async (_, text, words) => {
  expect(await refusalOf(text, 'p.json')).toBe(`p.json: ${words}`)
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
])('%s under another name is named', async (_, name, bytes, words) => {
  expect(await refusalOf(bytes, name)).toBe(`${name}: ${words}, whatever its name says`)
})

test('a title above the header is recognised, and the line below it offered', async () => {
  const titled = 'Candidates\n\nname,phone\nAnn,1\n'
  await expect(rowsOf(titled, 'p.csv')).rejects.toMatchObject({
    message: 'p.csv: line 1, "Candidates", looks like a title, not like the header',
    hint: 'If line 3 names the columns (name, phone), add: --header-row 3',
    flag: 'header-row',
    answers: [
      { value: '3', label: 'line 3: name, phone' },
      { value: '1', label: 'line 1: Candidates' },
    ],
  })
  expect((await rowsOf(titled, 'p.csv', { headerRow: 3 })).map((each) => [each.row, each.line])).toEqual([
    [1, 4],
  ])
  await expect(rowsOf(titled, 'p.csv', { headerRow: 2 })).rejects.toThrow(
    '--header-row 2: line 2 of p.csv holds nothing',
  )
  const cells =
    '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c></row><row r="4"><c r="A4"><v>1</v></c><c r="B4"><v>2</v></c></row>'
  await expect(rowsOf(await workbook(cells), 'p.xlsx')).rejects.toMatchObject({
    hint: 'If line 3 names the columns (first_name, phone), add: --header-row 3',
  })
  expect(await table(await workbook(cells), 'p.xlsx', { headerRow: 3 })).toEqual([
    ['first_name', 'phone'],
    ['1', '2'],
  ])
})

test('spaces between separators and quotes are no part of the cells', async () => {
  const spaced = '"name", "note"\n"Ann", "a, b"\n"Bo" , " c"\n'
  expect(await table(spaced, 'p.csv')).toEqual([
    ['name', 'note'],
    ['Ann', 'a, b'],
    ['Bo', ' c'],
  ])
  expect(await table('a,b\n1, 2\n', 'p.csv')).toEqual([
    ['a', 'b'],
    ['1', ' 2'],
  ])
})

test('rows of white space are none, in text and in a workbook', async () => {
  expect(await table('a,b\n1,2\n \n , \t\n3,4\n', 'p.csv')).toEqual([
    ['a', 'b'],
    ['1', '2'],
    ['3', '4'],
  ])
  const blank = '<c r="A2" t="inlineStr"><is><t xml:space="preserve">  </t></is></c>'
  expect(await table(await workbook(row(blank)), 'p.xlsx')).toEqual([['first_name', 'phone']])
})
