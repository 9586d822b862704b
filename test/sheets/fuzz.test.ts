import fc from 'fast-check'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'

import { type Cell, type Dialect, plainDialect } from '../../src/domain/sheet/cell.ts'
import { InvalidInputError } from '../../src/errors/kinds.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { all, bytesOf, openBytes, plain } from './table.ts'
import { type Parts, excelParts, zipped } from './workbook.ts'

/* 1,000 files of random people in random clothes: each reads equal, or is refused. */
const alphabets: Record<string, string[]> = {
  'windows-1252': ['José', 'Zoë', 'Müller', 'O’Neil', 'François'],
  'windows-1250': ['Dvořák', 'Łukasz', 'Erdős', 'Žižka'],
  'windows-1254': ['Işıl', 'Şahin', 'Doğan'],
  'windows-1257': ['Bērziņš', 'Šležas', 'Jānis'],
  macintosh: ['José', 'Jürgen', 'Nuñez'],
  cp850: ['José', 'Jürgen', 'Muñoz'],
  shift_jis: ['鈴木', '田中', 'ソニー'],
  gb18030: ['李明', '王小红'],
  'utf-8': ['Łukasz', '李 小龍', 'Zoë', '🙂', 'علی'],
  'utf-16le': ['Łukasz', '李', 'Zoë'],
}
const encoding = fc.constantFrom(...Object.keys(alphabets))
const hard = fc.constantFrom(
  '+61412345678',
  '0412 345 678',
  '007',
  'a, b',
  'c; d',
  'e|f',
  '"g" h',
  '=1+1',
  "'x",
  '',
  ' i ',
  'two\nlines',
  '-5',
  '#1',
)

const peopleIn = (name: string) =>
  fc.array(
    fc.array(fc.oneof(fc.constantFrom(...(alphabets[name] ?? [])), hard), { minLength: 3, maxLength: 3 }),
    {
      minLength: 2,
      maxLength: 6,
    },
  )
const columns = ['name', 'phone', 'note']
const filled = (rows: string[][]): string[][] => rows.filter((row) => row.some((text) => text.trim() !== ''))

async function* given(rows: string[][]) {
  for (const cells of rows) yield { row: { cells: cells as Cell[] }, added: [] }
}

/** Reads equal, or is refused by an error of ours; what it was. */
async function equalOrRefused(
  bytes: Uint8Array,
  name: string,
  rows: string[][],
  how = {},
): Promise<'equal' | 'refused'> {
  let read: string[][]
  try {
    const sheet = await openBytes(bytes, name, how)
    const found = await all(sheet.rows())
    if (found.some(({ cells }) => cells.some((cell) => typeof cell === 'object' && cell.kind === 'bytes')))
      return 'refused'
    read = [[...sheet.columns], ...found.map(({ cells }) => cells.map(plain))]
  } catch (error) {
    if (error instanceof InvalidInputError) return 'refused'
    throw error
  }
  expect(read).toEqual([columns, ...filled(rows)])
  return 'equal'
}

const csvDialect = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  lineEnd: fc.constantFrom('\r\n' as const, '\n' as const),
  quote: fc.constantFrom('needed' as const, 'all' as const),
})

test('500 CSV files of any dialect and encoding read equal where the encoding is named, and are never read otherwise', async () => {
  const ends = { equal: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      encoding.chain((name) => fc.tuple(fc.constant(name), peopleIn(name))),
      csvDialect,
      fc.boolean(),
      async ([name, rows], chosen, isNamed) => {
        const dialect: Dialect = { ...plainDialect, ...chosen }
        const text = await bytesOf(
          annotatedBytes({ sheet: { columns }, addedColumns: [], rows: given(rows) }, dialect),
        )
        const bytes = iconv.encode(text.toString(), name, { addBOM: name === 'utf-16le' })
        const end = await equalOrRefused(bytes, 'people.csv', rows, isNamed ? { encoding: name } : {})
        ends[end] += 1
      },
    ),
    { numRuns: 500 },
  )
  process.stdout.write(`500 CSV files: ${String(ends.equal)} read equal, ${String(ends.refused)} refused\n`)
  expect(ends.equal).toBeGreaterThan(250)
})

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const xlsxWays = fc.record({
  prefix: fc.constantFrom('', 'x:'),
  shared: fc.boolean(),
  rich: fc.boolean(),
  named: fc.boolean(),
  hidden: fc.boolean(),
  extension: fc.boolean(),
})

type Ways = typeof xlsxWays extends fc.Arbitrary<infer T> ? T : never

/** The same table as programs lay it out: prefixed or not, shared or in place, rich, with or without addresses. */
function xlsxParts(rows: string[][], { prefix: p, shared, rich, named, hidden, extension }: Ways): Parts {
  const texts: string[] = []
  const inner = (text: string): string => {
    const t = (part: string): string => `<${p}t xml:space="preserve">${escaped(part)}</${p}t>`
    const [first = '', ...others] = Array.from(text)
    return rich && others.length > 0
      ? `<${p}r>${t(first)}</${p}r><${p}r>${t(others.join(''))}</${p}r>`
      : t(text)
  }
  const cell = (text: string, column: number, row: number): string => {
    const address = named ? ` r="${String.fromCodePoint(65 + column)}${String(row)}"` : ''
    if (text === '') return `<${p}c${address}/>`
    if (!shared) return `<${p}c${address} t="inlineStr"><${p}is>${inner(text)}</${p}is></${p}c>`
    texts.push(text)
    return `<${p}c${address} t="s"><${p}v>${String(texts.length - 1)}</${p}v></${p}c>`
  }
  const space = `xmlns${p === '' ? '' : ':x'}="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
  const lines = [columns, ...rows].map(
    (row, at) =>
      `<${p}row${named ? ` r="${String(at + 1)}"` : ''}${hidden && at > 0 ? ' hidden="1"' : ''}>${row.map((text, column) => cell(text, column, at + 1)).join('')}</${p}row>`,
  )
  const ext = extension
    ? `<${p}extLst><${p}ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"><x14:sheetData><x14:row r="1"><x14:c r="A1"><x14:v>0</x14:v></x14:c></x14:row></x14:sheetData></${p}ext></${p}extLst>`
    : ''
  const sheet = `<${p}worksheet ${space}><${p}sheetData>${lines.join('')}</${p}sheetData>${ext}</${p}worksheet>`
  const strings = `<${p}sst ${space}>${texts.map((text) => `<${p}si>${inner(text)}</${p}si>`).join('')}</${p}sst>`
  return { ...excelParts(''), 'xl/worksheets/sheet1.xml': sheet, 'xl/sharedStrings.xml': strings }
}

const odsSpaces = ['office', 'table', 'text', 'style']
  .map((each) => `xmlns:${each}="urn:oasis:names:tc:opendocument:xmlns:${each}:1.0"`)
  .join(' ')

function odsParts(rows: string[][], repeats: boolean): Parts {
  const text = (value: string): string =>
    value
      .split('\n')
      .map((line) => `<text:p>${escaped(line).replaceAll(/^ | $/g, '<text:s/>')}</text:p>`)
      .join('')
  const cell = (value: string): string =>
    value === ''
      ? '<table:table-cell/>'
      : `<table:table-cell office:value-type="string">${text(value)}</table:table-cell>`
  const lines = [columns, ...rows].map(
    (row) => `<table:table-row>${row.map(cell).join('')}</table:table-row>`,
  )
  const tail = repeats
    ? '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    : ''
  return {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${odsSpaces}><office:body><office:spreadsheet><table:table table:name="S">${lines.join('')}${tail}</table:table></office:spreadsheet></office:body></office:document-content>`,
  }
}

test('500 workbooks of any layout read equal', async () => {
  const ends = { equal: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      peopleIn('utf-8'),
      xlsxWays,
      fc.constantFrom('xlsx', 'xlsx', 'ods', 'ours'),
      async (rows, ways, format) => {
        const ours = annotatedBytes(
          { sheet: { columns }, addedColumns: [], rows: given(rows) },
          { ...plainDialect, format: 'xlsx' },
        )
        const bytes =
          format === 'ours'
            ? await bytesOf(ours)
            : await zipped(format === 'ods' ? odsParts(rows, ways.hidden) : xlsxParts(rows, ways))
        ends[await equalOrRefused(bytes, `people.${format}`, rows)] += 1
      },
    ),
    { numRuns: 500 },
  )
  process.stdout.write(`500 workbooks: ${String(ends.equal)} read equal, ${String(ends.refused)} refused\n`)
  expect(ends.refused).toBe(0)
})
