import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { world } from '../../harness/world.ts'
import { type Office, startOffice } from './office.ts'
import {
  collect,
  collectBytes,
  splitIntoChunks,
  openBytes,
  textOfCell,
  parseJsonRow,
  readTable,
} from '../../sheets/table.ts'
import { type Cell, plainDialect } from '../../../src/domain/sheet/cell.ts'
import { openSheet } from '../../../src/sheets/open.ts'
import { annotatedBytes } from '../../../src/sheets/rewrite.ts'
import { bufferedSource } from '../../../src/sheets/sheet.ts'

let office: Office
beforeAll(async () => {
  office = await startOffice()
}, 120_000)
afterAll(() => office.close())

const typedCells: Record<string, string> = {
  first_name: 'Zoë',
  last_name: "O'Neil",
  email: 'zoe@example.com',
  phone: '+61412345678',
  'reference.position_title': '=1+1 is no sum',
  'ncc_acic.date_of_birth': '1990-04-30',
  'ncc_acic.licence_number': '00123',
  'ncc_acic.is_volunteer': 'no',
  'ncc_acic.previous_names': '李 小龍; Li Xiaolong',
  'ncc_acic.residential_address.street': '1 "High" St',
  'ncc_acic.residential_address.postcode': '0800',
  'icrc.years_of_history': '7',
  'icrc.annual_income': '85000.5',
}

test('a template that is filled in and saved with LibreOffice is read exactly', async () => {
  const { run } = await world()
  const { bytes } = await run(['schema', 'template', '101', '--format', 'xlsx'])
  const columns = (await openBytes(bytes, 'template.xlsx', 'Requests')).columns
  const filled = await office.fillIn(
    bytes,
    Object.entries(typedCells).map(([column, text]) => [columns.indexOf(column), 1, text]),
  )
  const sheet = await openSheet(await bufferedSource(splitIntoChunks(filled, filled.length), 'filled.xlsx'), {
    readJson: parseJsonRow,
  })
  expect(sheet.columns).toEqual(columns)
  const rows = await collect(sheet.rows())
  expect(rows.map(({ row }) => row)).toEqual([1])
  expect(rows[0]?.cells.map(textOfCell)).toEqual(columns.map((column) => typedCells[column] ?? ''))
})

test('a template that is filled in and saved with LibreOffice can be run', async () => {
  const { run, folder } = await world()
  const { bytes } = await run(['schema', 'template', '102', '--format', 'xlsx'])
  const filled = await office.fillIn(bytes, [
    [0, 1, 'Zoë'],
    [1, 1, 'Ng'],
    [2, 1, 'zoe@example.com'],
    [3, 1, '+61412345678'],
  ])
  writeFileSync(join(folder, 'filled.xlsx'), filled)
  const { code, stdout, stderr } = await run([
    'batch',
    'run',
    'filled.xlsx',
    '--package',
    '102',
    '--yes',
    '--json',
  ])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const { counts, results_file } = JSON.parse(stdout) as { counts: object; results_file: string }
  expect(counts).toMatchObject({ total: 1, accepted: 1 })
  const [header = [], ...rows] = await readTable(readFileSync(results_file), 'results.xlsx')
  expect(header.slice(0, 4)).toEqual(['first_name', 'last_name', 'email', 'phone'])
  expect(rows.map((cells) => cells.slice(0, 4))).toEqual([['Zoë', 'Ng', 'zoe@example.com', '+61412345678']])
  expect(await countFormulas('results.xlsx', readFileSync(results_file))).toBe(0)
})

test('LibreOffice shows the notes and drop-downs of the template', async () => {
  const { run } = await world()
  const { bytes } = await run(['schema', 'template', '101', '--format', 'xlsx'])
  const document = (await office.convert('template.xlsx', bytes, 'fods')).toString()
  expect(document.match(/<office:annotation/g)).toHaveLength(17)
  expect(document).toContain('Required, a date as YYYY-MM-DD.')
  expect(document).toContain('cell-content-is-in-list(&quot;yes&quot;;&quot;no&quot;)')
})

const createDateCell = (serial: number): Cell => ({
  kind: 'date',
  text: '',
  serial,
  format: 'yyyy\\-mm\\-dd',
})
const createNumberCell = (value: number): Cell => ({ kind: 'number', text: '', value, format: 'General' })

/** A table with values that spreadsheet programs often damage, and the texts that have to be read. */
const people: { columns: string[]; rows: Cell[][]; read: string[][] } = {
  columns: ['first_name', 'phone', 'id', 'born', 'paid', 'income', 'note'],
  rows: [
    [
      'Zoë',
      '+61412345678',
      '007',
      createDateCell(32_993),
      { kind: 'boolean', text: '', value: true },
      createNumberCell(85_000.5),
      '',
    ],
    [
      'Ana',
      '+49 30 123456',
      '0412',
      createDateCell(36_526),
      { kind: 'boolean', text: '', value: false },
      createNumberCell(12),
      'two\nlines, "so"; or|not\tquite',
    ],
    ['Łukasz 李', '0061412345678', '1e5', '', '', '', ' spaces '],
  ],
  read: [
    ['Zoë', '+61412345678', '007', '1990-04-30', 'true', '85000.5', ''],
    ['Ana', '+49 30 123456', '0412', '2000-01-01', 'false', '12', 'two\nlines, "so"; or|not\tquite'],
    ['Łukasz 李', '0061412345678', '1e5', '', '', '', ' spaces '],
  ],
}

function createWorkbook(rows: Cell[][]): Promise<Buffer> {
  const annotatedRows = (async function* () {
    for (const cells of rows) yield { row: { cells }, added: [] }
  })()
  const sheet = { columns: people.columns }
  return collectBytes(
    annotatedBytes({ sheet, addedColumns: [], rows: annotatedRows }, { ...plainDialect, format: 'xlsx' }),
  )
}

test('a workbook that LibreOffice saved is read exactly', async () => {
  for (const filter of ['xlsx:Calc MS Excel 2007 XML', 'xlsx:Calc Office Open XML']) {
    const bytes = await office.convert('people.xlsx', await createWorkbook(people.rows), filter)
    expect(await readTable(bytes, 'people.xlsx')).toEqual([people.columns, ...people.read])
  }
})

test('a workbook that LibreOffice converted to ODS and back is read exactly', async () => {
  // LibreOffice drops a tab within a text when it reads ODS.
  const withoutTab = <T>(cell: T): T | string => (typeof cell === 'string' ? cell.replace('\t', ' ') : cell)
  const rows = people.rows.map((row) => row.map(withoutTab))
  const ods = await office.convert('people.xlsx', await createWorkbook(rows), 'ods')
  const bytes = await office.convert('people.ods', ods, 'xlsx')
  expect(await readTable(bytes, 'people.xlsx')).toEqual([
    people.columns,
    ...people.read.map((row) => row.map(withoutTab)),
  ])
})

test.each([
  ['comma, UTF-8', '44,34,76,1,,0,false,true,false', ',', 'utf-8', 3],
  ['semicolon, UTF-8, all texts quoted', '59,34,76,1,,0,true,true,false', ';', 'utf-8', 3],
  ['tab, UTF-16', '9,34,65535,1,,0,false,true,false', '\t', 'utf-16le', 3],
  ['pipe, UTF-8', '124,34,76,1,,0,false,true,false', '|', 'utf-8', 3],
  // Windows-1252 has no Ł: LibreOffice writes a question mark, so those rows are left out.
  ['comma, Windows-1252', '44,34,1,1,,0,false,true,false', ',', 'windows-1252', 2],
  ['semicolon, Windows-1252', '59,34,1,1,,0,false,true,false', ';', 'windows-1252', 2],
  ['comma, values as stored', '44,34,76,1,,0,false,false,false', ',', 'utf-8', 3],
] as const)(
  'a CSV file that LibreOffice saved is read exactly: %s',
  async (_, options, delimiter, encoding, count) => {
    const bytes = await office.convert(
      'people.xlsx',
      await createWorkbook(people.rows.slice(0, count)),
      `csv:Text - txt - csv (StarCalc):${options}`,
    )
    const sheet = await openBytes(bytes, 'people.csv', { encoding })
    const rows = await collect(sheet.rows())
    expect(sheet.columns).toEqual(people.columns)
    // In CSV a boolean is the text TRUE or FALSE.
    const read = people.read
      .slice(0, count)
      .map((row) => row.map((text) => text.replace(/^(?:true|false)$/, (word) => word.toUpperCase())))
    expect(rows.map(({ cells }) => cells.map(textOfCell))).toEqual(read)
    expect(sheet.dialect).toMatchObject({ delimiter, encoding, lineEnd: '\n' })
  },
)

const attackTexts = [
  '=1+1',
  '=cmd|"/c calc"!A1',
  '+1+1',
  '-1+1',
  '@SUM(1;1)',
  '\t=1+1',
  '\r=1+1',
  '=HYPERLINK("http://127.0.0.1/","x")',
  '＝1+1',
  '{=1+1}',
  '+61412345678',
  "'=1+1",
]

async function countFormulas(name: string, bytes: Uint8Array | string, infilter?: string): Promise<number> {
  const document = (await office.convert(name, bytes, 'fods', infilter)).toString()
  expect(document).toContain('<table:table-row')
  return document.match(/table:formula=/g)?.length ?? 0
}

test.each(['csv', 'xlsx'] as const)('results as %s have no formula in LibreOffice', async (format) => {
  const rows = (async function* () {
    for (const text of attackTexts) yield { row: { cells: [text] }, added: [text, `${text}\n=1+1`] }
  })()
  const results = { sheet: { columns: ['=1+1'] }, addedColumns: ['request_id', 'error'], rows }
  const bytes = await collectBytes(annotatedBytes(results, { ...plainDialect, format }))
  expect(await countFormulas(`results.${format}`, bytes)).toBe(0)
  const rowsReadBack = await readTable(bytes, `results.${format}`)
  expect(rowsReadBack).toEqual([
    ['=1+1', 'request_id', 'error'],
    ...attackTexts.map((text) => [text, text, `${text}\n=1+1`]),
  ])
})

test('LibreOffice finds formulas in the same texts without our escaping', async () => {
  expect(await countFormulas('raw.csv', 'a,b\n=1+1,+1+1\n')).toBeGreaterThan(0)
})
