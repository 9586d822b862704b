import fc from 'fast-check'
import { expect, test } from 'vitest'

import { type Cell, type Dialect, plainDialect, type SheetRow } from '../../src/domain/sheet/cell.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import type { Sheet } from '../../src/sheets/sheet.ts'
import { all, bytesOf, openBytes, plain, table } from './table.ts'
import { excelParts, row, workbook, zipped } from './workbook.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('formulas', 'changed by a round trip')

const ours = ['row', 'request_id', 'error']

/** A file written back with our columns, whose cells `say` what for each row. */
async function writtenBack(sheet: Sheet, say: (row: SheetRow) => Cell[], added = ours): Promise<Buffer> {
  const rows = (async function* () {
    for await (const each of sheet.rows()) yield { row: each, added: say(each) }
  })()
  const read = await all(rows)
  const again = (async function* () {
    yield* read
  })()
  return bytesOf(annotatedBytes({ sheet, addedColumns: added, rows: again }, sheet.dialect))
}

const say = ({ row: number }: SheetRow): Cell[] => [
  { kind: 'json', text: String(number), value: number },
  'f2b1',
  '=1+1',
]

test.each([
  ['a CSV of Excel', 'p.csv', '\uFEFFNachname;Telefon\r\nO’Neil;+61412345678\r\n"a;b";0412\r\n'],
  ['one with everything quoted', 'p.csv', '"name","phone"\n"Ann","+61412345678"\n'],
  ['one that says its separator', 'p.csv', 'sep=|\r\nname|phone\r\nAnn|+61412345678\r\n'],
  ['tabs', 'p.tsv', 'name\tphone\rAnn\t+61412345678\r'],
])('%s keeps its form, and ours is at the end', async (_, name, text) => {
  const sheet = await openBytes(text, name)
  const lines = (await writtenBack(sheet, () => [])).toString()
  const { lineEnd, delimiter, quote } = sheet.dialect
  const cell = (words: string): string => (quote === 'all' ? `"${words}"` : words)
  const end = ours.map((each) => `${delimiter}${cell(each)}`).join('')
  const before = text.split(lineEnd).find((line) => !line.includes('sep='))
  expect(lines).toContain(`${String(before)}${end}`)
  expect((await writtenBack(sheet, () => [], [])).toString()).toBe(text)
})

test('UTF-16 stays UTF-16; Windows-1252 goes on as UTF-8 with a mark, because it cannot say every name', async () => {
  const wide = Buffer.from('\uFEFFname\tphone\r\n李\t+61412345678\r\n', 'utf16le')
  expect(await writtenBack(await openBytes(wide, 'p.txt'), () => [], [])).toEqual(wide)
  const latin = Buffer.from('name;phone\r\nZo\xEB;+61412345678\r\n', 'latin1')
  const western = await openBytes(latin, 'p.csv', { encoding: 'windows-1252' })
  expect((await writtenBack(western, () => [], [])).toString()).toBe(
    '\uFEFFname;phone\r\nZoë;+61412345678\r\n',
  )
})

test('what we wrote earlier makes way for what we write now', async () => {
  const files: [string, string | Buffer][] = [
    ['p.csv', 'name,phone\nAnn,+61412345678\n'],
    [
      'p.xlsx',
      await workbook(
        row(
          '<c r="A2" t="inlineStr"><is><t>Ann</t></is></c><c r="B2" t="inlineStr"><is><t>+61412345678</t></is></c>',
        ),
      ),
    ],
    ['p.json', '[{"name": "Ann", "phone": "+61412345678"}]'],
    ['p.jsonl', '{"name": "Ann", "phone": "+61412345678"}\n'],
  ]
  for (const [name, content] of files) {
    const once = await writtenBack(await openBytes(content, name), say)
    const twice = await writtenBack(await openBytes(once, name), () => ['9', 'new', ''])
    const [header = [], ...rows] = await table(twice, name)
    expect([name, header.slice(-3, header.length), rows.map((cells) => cells.slice(2, 4))]).toEqual([
      name,
      name.startsWith('p.json') ? ['row', 'request_id', 'error'] : ours,
      [['9', 'new']],
    ])
    expect(header).toHaveLength(5)
    expect(await writtenBack(await openBytes(twice, name), () => ['9', 'new', ''])).toEqual(twice)
  }
})

test('JSON keeps the digits, order and spelling of what is not ours', async () => {
  const own =
    '{"2": 12345678901234567890, "1": 1.0, "__proto__": {"row": [1, "}"]}, "a\\u0062": "\\u00e9\\"}"}'
  const sheet = await openBytes(`[${own}]`, 'p.json')
  const once = (await writtenBack(sheet, say)).toString()
  expect(once).toBe(`[\n${own.slice(0, -1)}, "row": 1, "request_id": "f2b1", "error": "=1+1"}\n]\n`)
  const twice = (await writtenBack(await openBytes(once, 'p.json'), say)).toString()
  expect(twice).toBe(once)
  const wide = Buffer.from(`\uFEFF${own}\n`, 'utf16le')
  expect(await writtenBack(await openBytes(wide, 'p.jsonl'), () => [], [])).toEqual(wide)
})

test('a file of lines whose only row holds one list is a row, not a wrapped list', async () => {
  const text = '{"people":[{"name":"Ann"}]}'
  const back = async (name: string): Promise<string> =>
    (await writtenBack(await openBytes(text, name), () => ['1', 'f2b1', ''])).toString()
  expect(await back('p.jsonl')).toBe(
    `${text.slice(0, -1)}, "row": "1", "request_id": "f2b1", "error": null}\n`,
  )
  expect(await back('p.json')).toContain('{"name":"Ann",')
})

const json = fc.array(
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

test('any JSON that is written back, once or again, says what it said', async () => {
  await fc.assert(
    fc.asyncProperty(json, fc.boolean(), async (objects, lines) => {
      const text = lines
        ? objects.map((each) => JSON.stringify(each)).join('\n')
        : JSON.stringify(objects, null, 2)
      const name = lines ? 'p.jsonl' : 'p.json'
      const blank = (object: object): boolean =>
        Object.values(object).every((value) => value === null || value === '')
      const filled = objects.filter((each) => !blank(each))
      const once = await writtenBack(await openBytes(text, name), say)
      const again =
        filled.length === 0 ? once : await writtenBack(await openBytes(once, name), () => ['', '', 'late'])
      for (const [bytes, expected] of [
        [once, { request_id: 'f2b1', error: '=1+1' }],
        [again, filled.length === 0 ? {} : { row: null, request_id: null, error: 'late' }],
      ] as const) {
        const read = parsed(bytes.toString(), lines)
        expect(read).toHaveLength(filled.length)
        for (const [at, object] of read.entries()) {
          expect(object).toMatchObject(expected)
          const own = Object.entries(object).filter(([key]) => !ours.includes(key))
          expect(JSON.stringify(own)).toBe(
            JSON.stringify(Object.entries(filled[at] ?? {}).filter(([key]) => !ours.includes(key))),
          )
        }
      }
    }),
    { numRuns: 300 },
  )
})

function parsed(text: string, lines: boolean): Record<string, unknown>[] {
  const whole = lines ? `[${text.trim().split('\n').join(',')}]` : text
  return JSON.parse(whole) as Record<string, unknown>[]
}

const typed = fc.oneof(
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

test('typed cells of a workbook come back with their type, value and format', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(typed, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      async (cells, from1904) => {
        const columns = cells.map((_, at) => `c${String(at)}`)
        const rows = (async function* () {
          yield { row: { cells: ['x', ...cells] }, added: [] }
        })()
        const dialect: Dialect = { ...plainDialect, format: 'xlsx', from1904 }
        const sheet = { columns: ['x', ...columns] }
        const bytes = await bytesOf(annotatedBytes({ sheet, addedColumns: [], rows }, dialect))
        const [read] = await all((await openBytes(bytes, 'p.xlsx')).rows())
        const withoutText = (cell: Cell): Cell =>
          typeof cell !== 'string' && cell.kind === 'date' ? { ...cell, text: '' } : cell
        expect(read?.cells.slice(1).map(withoutText)).toEqual(cells)
      },
    ),
    { numRuns: 300 },
  )
})

test('a date in words of ISO keeps its day in a workbook that counts from 1904', async () => {
  const parts = excelParts(`<sheetData>${row('<c r="A2" s="1" t="d"><v>1990-07-05</v></c>')}</sheetData>`)
  parts['xl/workbook.xml'] = String(parts['xl/workbook.xml']).replace(
    '<workbookPr/>',
    '<workbookPr date1904="1"/>',
  )
  const sheet = await openBytes(await zipped(parts), 'w.xlsx')
  const [, cells] = await table(await writtenBack(sheet, () => [], []), 'w.xlsx')
  expect(cells).toEqual(['1990-07-05', ''])
})

test.each([
  '<c r="A2"><f>B2+1</f></c>',
  '<c r="A2" t="s"><v>99</v></c>',
  '<c r="A2" s="1"><v>60</v></c>',
  '<c r="A2" t="e"><v>#REF!</v></c>',
])('what had no value has none when it is read again: %s', async (cell) => {
  const sheet = await openBytes(await workbook(row(cell)), 'w.xlsx')
  const again = await openBytes(await writtenBack(sheet, () => ['1', '', '']), 'w.xlsx')
  const [first] = await all(again.rows())
  expect(first?.cells[0]).toMatchObject({
    kind: 'fault',
    reason: expect.stringContaining('is the error #') as string,
  })
})

test('a formula with its value saved is written back as that value', async () => {
  const sheet = await openBytes(
    await workbook(row('<c r="A2" t="str"><f>B2&amp;"x"</f><v>=1+1</v></c>')),
    'w.xlsx',
  )
  const bytes = await writtenBack(sheet, () => [], [])
  expect((await table(bytes, 'w.xlsx')).at(1)?.map(plain)).toEqual(['=1+1', ''])
})
