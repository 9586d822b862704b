import fc from 'fast-check'
import { expect, test } from 'vitest'

import { type Cell, type Dialect, plainDialect, type SheetRow } from '../../src/domain/sheet/cell.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import type { Sheet } from '../../src/sheets/sheet.ts'
import { collect, collectBytes, openBytes, textOfCell, readTable } from './table.ts'
import { excelParts, headerAndRow, createWorkbook, zipParts } from './workbook.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `formulas` of the fault table (test/resilience/rows.ts).
recordForFaultTable('formulas', { mustNotHappen: 'changed by a round trip' })

const ownColumns = ['row', 'request_id', 'error']

/** Writes a sheet back with added columns, whose cells `createCells` returns for each row. */
async function writeBack(
  sheet: Sheet,
  createCells: (row: SheetRow) => Cell[],
  addedColumns = ownColumns,
): Promise<Buffer> {
  const rows = (async function* () {
    for await (const row of sheet.rows()) yield { row, added: createCells(row) }
  })()
  const annotatedRows = await collect(rows)
  const replayedRows = (async function* () {
    yield* annotatedRows
  })()
  return collectBytes(annotatedBytes({ sheet, addedColumns, rows: replayedRows }, sheet.dialect))
}

const createOwnCells = ({ row: number }: SheetRow): Cell[] => [
  { kind: 'json', text: String(number), value: number },
  'f2b1',
  '=1+1',
]

test.each([
  ['a CSV of Excel', 'p.csv', '\uFEFFNachname;Telefon\r\nO’Neil;+61412345678\r\n"a;b";0412\r\n'],
  ['a CSV with all cells quoted', 'p.csv', '"name","phone"\n"Ann","+61412345678"\n'],
  ['a CSV with a separator line', 'p.csv', 'sep=|\r\nname|phone\r\nAnn|+61412345678\r\n'],
  ['a file separated by tabs', 'p.tsv', 'name\tphone\rAnn\t+61412345678\r'],
])('%s is written back in its dialect, with the added columns at the end', async (_, name, text) => {
  const sheet = await openBytes(text, name)
  const lines = (await writeBack(sheet, () => [])).toString()
  const { lineEnd, delimiter, quote } = sheet.dialect
  const quoteCell = (value: string): string => (quote === 'all' ? `"${value}"` : value)
  const addedHeader = ownColumns.map((column) => `${delimiter}${quoteCell(column)}`).join('')
  const headerLine = text.split(lineEnd).find((line) => !line.includes('sep='))
  expect(lines).toContain(`${String(headerLine)}${addedHeader}`)
  expect((await writeBack(sheet, () => [], [])).toString()).toBe(text)
})

test('UTF-16 is written back as UTF-16, and Windows-1252 as UTF-8 with a byte order mark, because it cannot encode all names', async () => {
  const utf16Bytes = Buffer.from('\uFEFFname\tphone\r\n李\t+61412345678\r\n', 'utf16le')
  expect(await writeBack(await openBytes(utf16Bytes, 'p.txt'), () => [], [])).toEqual(utf16Bytes)
  const latinBytes = Buffer.from('name;phone\r\nZo\xEB;+61412345678\r\n', 'latin1')
  const latinSheet = await openBytes(latinBytes, 'p.csv', { encoding: 'windows-1252' })
  expect((await writeBack(latinSheet, () => [], [])).toString()).toBe(
    '\uFEFFname;phone\r\nZoë;+61412345678\r\n',
  )
})

test('columns that were added before are replaced', async () => {
  const files: [string, string | Buffer][] = [
    ['p.csv', 'name,phone\nAnn,+61412345678\n'],
    [
      'p.xlsx',
      await createWorkbook(
        headerAndRow(
          '<c r="A2" t="inlineStr"><is><t>Ann</t></is></c><c r="B2" t="inlineStr"><is><t>+61412345678</t></is></c>',
        ),
      ),
    ],
    ['p.json', '[{"name": "Ann", "phone": "+61412345678"}]'],
    ['p.jsonl', '{"name": "Ann", "phone": "+61412345678"}\n'],
  ]
  for (const [name, content] of files) {
    const writtenOnce = await writeBack(await openBytes(content, name), createOwnCells)
    const writtenTwice = await writeBack(await openBytes(writtenOnce, name), () => ['9', 'new', ''])
    const [header = [], ...rows] = await readTable(writtenTwice, name)
    expect([name, header.slice(-3, header.length), rows.map((cells) => cells.slice(2, 4))]).toEqual([
      name,
      name.startsWith('p.json') ? ['row', 'request_id', 'error'] : ownColumns,
      [['9', 'new']],
    ])
    expect(header).toHaveLength(5)
    expect(await writeBack(await openBytes(writtenTwice, name), () => ['9', 'new', ''])).toEqual(writtenTwice)
  }
})

test('JSON is written back with the digits, order and escapes of the original', async () => {
  const original =
    '{"2": 12345678901234567890, "1": 1.0, "__proto__": {"row": [1, "}"]}, "a\\u0062": "\\u00e9\\"}"}'
  const sheet = await openBytes(`[${original}]`, 'p.json')
  const writtenOnce = (await writeBack(sheet, createOwnCells)).toString()
  expect(writtenOnce).toBe(
    `[\n${original.slice(0, -1)}, "row": 1, "request_id": "f2b1", "error": "=1+1"}\n]\n`,
  )
  const writtenTwice = (await writeBack(await openBytes(writtenOnce, 'p.json'), createOwnCells)).toString()
  expect(writtenTwice).toBe(writtenOnce)
  const utf16Bytes = Buffer.from(`\uFEFF${original}\n`, 'utf16le')
  expect(await writeBack(await openBytes(utf16Bytes, 'p.jsonl'), () => [], [])).toEqual(utf16Bytes)
})

test('an object with a single list is a row in JSON Lines, and a wrapper of rows in JSON', async () => {
  const text = '{"people":[{"name":"Ann"}]}'
  const rewrite = async (name: string): Promise<string> =>
    (await writeBack(await openBytes(text, name), () => ['1', 'f2b1', ''])).toString()
  expect(await rewrite('p.jsonl')).toBe(
    `${text.slice(0, -1)}, "row": "1", "request_id": "f2b1", "error": null}\n`,
  )
  expect(await rewrite('p.json')).toContain('{"name":"Ann",')
})

const jsonObjects = fc.array(
  fc.dictionary(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }),
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom('=1+1', '+61412345678', '}', '"', '\\', ',"row": 1'),
      fc.jsonValue({ maxDepth: 2 }),
    ),
    { minKeys: 1, maxKeys: 5 },
  ),
  { minLength: 1, maxLength: 6 },
)

test('any JSON has its original values after it is written back once or twice', async () => {
  await fc.assert(
    fc.asyncProperty(jsonObjects, fc.boolean(), async (objects, isJsonLines) => {
      const text = isJsonLines
        ? objects.map((object) => JSON.stringify(object)).join('\n')
        : JSON.stringify(objects, null, 2)
      const name = isJsonLines ? 'p.jsonl' : 'p.json'
      const isBlank = (object: object): boolean =>
        Object.values(object).every((value) => value === null || value === '')
      const filledObjects = objects.filter((object) => !isBlank(object))
      const writtenOnce = await writeBack(await openBytes(text, name), createOwnCells)
      const writtenTwice =
        filledObjects.length === 0
          ? writtenOnce
          : await writeBack(await openBytes(writtenOnce, name), () => ['', '', 'late'])
      for (const [bytes, expected] of [
        [writtenOnce, { request_id: 'f2b1', error: '=1+1' }],
        [writtenTwice, filledObjects.length === 0 ? {} : { row: null, request_id: null, error: 'late' }],
      ] as const) {
        const readObjects = parseJson(bytes.toString(), isJsonLines)
        expect(readObjects).toHaveLength(filledObjects.length)
        for (const [index, object] of readObjects.entries()) {
          expect(object).toMatchObject(expected)
          const originalEntries = Object.entries(object).filter(([key]) => !ownColumns.includes(key))
          expect(JSON.stringify(originalEntries)).toBe(
            JSON.stringify(
              Object.entries(filledObjects[index] ?? {}).filter(([key]) => !ownColumns.includes(key)),
            ),
          )
        }
      }
    }),
    { numRuns: 300 },
  )
})

function parseJson(text: string, isJsonLines: boolean): Record<string, unknown>[] {
  const array = isJsonLines ? `[${text.trim().split('\n').join(',')}]` : text
  return JSON.parse(array) as Record<string, unknown>[]
}

const typedCells = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): Cell => {
    const plainValue = value === 0 ? 0 : value
    return { kind: 'number', text: String(plainValue), value: plainValue, format: 'General' }
  }),
  fc
    .constantFrom('0', '0.00', '#,##0', '0000000000', '"#"0', '@')
    .map((format): Cell => ({ kind: 'number', text: '412345678', value: 412_345_678, format })),
  fc
    .integer({ min: 61, max: 80_000 })
    .map((serial): Cell => ({ kind: 'date', text: '', serial, format: 'dd\\.mm\\.yyyy' })),
  fc.boolean().map((value): Cell => ({ kind: 'boolean', text: String(value), value })),
  fc.string({ unit: 'binary', maxLength: 8 }),
)

test('typed cells of a workbook are written and read back with their type, value and format', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(typedCells, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      async (cells, from1904) => {
        const columns = cells.map((_, index) => `c${String(index)}`)
        const rows = (async function* () {
          yield { row: { cells: ['x', ...cells] }, added: [] }
        })()
        const dialect: Dialect = { ...plainDialect, format: 'xlsx', from1904 }
        const sheet = { columns: ['x', ...columns] }
        const bytes = await collectBytes(annotatedBytes({ sheet, addedColumns: [], rows }, dialect))
        const [readRow] = await collect((await openBytes(bytes, 'p.xlsx')).rows())
        const removeDateText = (cell: Cell): Cell =>
          typeof cell !== 'string' && cell.kind === 'date' ? { ...cell, text: '' } : cell
        expect(readRow?.cells.slice(1).map(removeDateText)).toEqual(cells)
      },
    ),
    { numRuns: 300 },
  )
})

test('an ISO date is written back as the same day in a workbook that counts days from 1904', async () => {
  const parts = excelParts(
    `<sheetData>${headerAndRow('<c r="A2" s="1" t="d"><v>1990-07-05</v></c>')}</sheetData>`,
  )
  parts['xl/workbook.xml'] = String(parts['xl/workbook.xml']).replace(
    '<workbookPr/>',
    '<workbookPr date1904="1"/>',
  )
  const sheet = await openBytes(await zipParts(parts), 'w.xlsx')
  const [, cells] = await readTable(await writeBack(sheet, () => [], []), 'w.xlsx')
  expect(cells).toEqual(['1990-07-05', ''])
})

test.each([
  '<c r="A2"><f>B2+1</f></c>',
  '<c r="A2" t="s"><v>99</v></c>',
  '<c r="A2" s="1"><v>60</v></c>',
  '<c r="A2" t="e"><v>#REF!</v></c>',
])('a cell without a value is a fault after it is written and read again: %s', async (cell) => {
  const sheet = await openBytes(await createWorkbook(headerAndRow(cell)), 'w.xlsx')
  const rewritten = await openBytes(await writeBack(sheet, () => ['1', '', '']), 'w.xlsx')
  const [first] = await collect(rewritten.rows())
  expect(first?.cells[0]).toMatchObject({
    kind: 'fault',
    reason: expect.stringContaining('is the error #') as string,
  })
})

test('a formula with a saved value is written back as this value', async () => {
  const sheet = await openBytes(
    await createWorkbook(headerAndRow('<c r="A2" t="str"><f>B2&amp;"x"</f><v>=1+1</v></c>')),
    'w.xlsx',
  )
  const bytes = await writeBack(sheet, () => [], [])
  expect((await readTable(bytes, 'w.xlsx')).at(1)?.map(textOfCell)).toEqual(['=1+1', ''])
})
