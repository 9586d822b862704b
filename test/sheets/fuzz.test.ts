import fc from 'fast-check'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'

import { type Cell, type Dialect, plainDialect } from '../../src/domain/sheet/cell.ts'
import { InvalidInputError } from '../../src/errors/kinds.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { collect, collectBytes, openBytes, textOfCell } from './table.ts'
import { type Parts, excelParts, zipParts } from './workbook.ts'

/* Each of 1,000 random tables is written in a random format. The file is read with equal cells, or it is refused. */
const namesByEncoding: Record<string, string[]> = {
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
const encodingNames = fc.constantFrom(...Object.keys(namesByEncoding))
const specialTexts = fc.constantFrom(
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

const randomRowsIn = (name: string) =>
  fc.array(
    fc.array(fc.oneof(fc.constantFrom(...(namesByEncoding[name] ?? [])), specialTexts), {
      minLength: 3,
      maxLength: 3,
    }),
    {
      minLength: 2,
      maxLength: 6,
    },
  )
const columns = ['name', 'phone', 'note']
const removeBlankRows = (rows: string[][]): string[][] =>
  rows.filter((row) => row.some((text) => text.trim() !== ''))

async function* toAnnotatedRows(rows: string[][]) {
  for (const cells of rows) yield { row: { cells: cells as Cell[] }, added: [] }
}

/** Reads a file. Returns `refused` after an InvalidInputError, and otherwise expects the given rows. */
async function readAndCompare(
  bytes: Uint8Array,
  name: string,
  rows: string[][],
  options = {},
): Promise<'equal' | 'refused'> {
  let table: string[][]
  try {
    const sheet = await openBytes(bytes, name, options)
    const sheetRows = await collect(sheet.rows())
    if (
      sheetRows.some(({ cells }) => cells.some((cell) => typeof cell === 'object' && cell.kind === 'bytes'))
    )
      return 'refused'
    table = [[...sheet.columns], ...sheetRows.map(({ cells }) => cells.map(textOfCell))]
  } catch (error) {
    if (error instanceof InvalidInputError) return 'refused'
    throw error
  }
  expect(table).toEqual([columns, ...removeBlankRows(rows)])
  return 'equal'
}

const csvDialect = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  lineEnd: fc.constantFrom('\r\n' as const, '\n' as const),
  quote: fc.constantFrom('needed' as const, 'all' as const),
})

test('500 random CSV files are read with equal cells or refused, and more than half are read', async () => {
  const outcomes = { equal: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      encodingNames.chain((name) => fc.tuple(fc.constant(name), randomRowsIn(name))),
      csvDialect,
      fc.boolean(),
      async ([name, rows], randomDialect, isEncodingGiven) => {
        const dialect: Dialect = { ...plainDialect, ...randomDialect }
        const text = await collectBytes(
          annotatedBytes({ sheet: { columns }, addedColumns: [], rows: toAnnotatedRows(rows) }, dialect),
        )
        const bytes = iconv.encode(text.toString(), name, { addBOM: name === 'utf-16le' })
        const outcome = await readAndCompare(
          bytes,
          'people.csv',
          rows,
          isEncodingGiven ? { encoding: name } : {},
        )
        outcomes[outcome] += 1
      },
    ),
    { numRuns: 500 },
  )
  process.stdout.write(
    `500 CSV files: ${String(outcomes.equal)} read equal, ${String(outcomes.refused)} refused\n`,
  )
  expect(outcomes.equal).toBeGreaterThan(250)
})

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const xlsxLayouts = fc.record({
  prefix: fc.constantFrom('', 'x:'),
  hasSharedStrings: fc.boolean(),
  hasRichText: fc.boolean(),
  hasAddresses: fc.boolean(),
  hasHiddenRows: fc.boolean(),
  hasExtension: fc.boolean(),
})

type Layout = typeof xlsxLayouts extends fc.Arbitrary<infer T> ? T : never

/** Returns the parts of a workbook in one of the layouts that programs write: prefixes, shared strings, addresses. */
function xlsxParts(rows: string[][], { prefix: p, ...layout }: Layout): Parts {
  const texts: string[] = []
  const textXml = (text: string): string => {
    const t = (value: string): string => `<${p}t xml:space="preserve">${escapeXml(value)}</${p}t>`
    const [first = '', ...others] = Array.from(text)
    return layout.hasRichText && others.length > 0
      ? `<${p}r>${t(first)}</${p}r><${p}r>${t(others.join(''))}</${p}r>`
      : t(text)
  }
  const cellXml = (text: string, column: number, row: number): string => {
    const address = layout.hasAddresses ? ` r="${String.fromCodePoint(65 + column)}${String(row)}"` : ''
    if (text === '') return `<${p}c${address}/>`
    if (!layout.hasSharedStrings)
      return `<${p}c${address} t="inlineStr"><${p}is>${textXml(text)}</${p}is></${p}c>`
    texts.push(text)
    return `<${p}c${address} t="s"><${p}v>${String(texts.length - 1)}</${p}v></${p}c>`
  }
  const namespaceAttribute = `xmlns${p === '' ? '' : ':x'}="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
  const lines = [columns, ...rows].map(
    (row, index) =>
      `<${p}row${layout.hasAddresses ? ` r="${String(index + 1)}"` : ''}${layout.hasHiddenRows && index > 0 ? ' hidden="1"' : ''}>${row.map((text, column) => cellXml(text, column, index + 1)).join('')}</${p}row>`,
  )
  const extensionXml = layout.hasExtension
    ? `<${p}extLst><${p}ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"><x14:sheetData><x14:row r="1"><x14:c r="A1"><x14:v>0</x14:v></x14:c></x14:row></x14:sheetData></${p}ext></${p}extLst>`
    : ''
  const sheet = `<${p}worksheet ${namespaceAttribute}><${p}sheetData>${lines.join('')}</${p}sheetData>${extensionXml}</${p}worksheet>`
  const strings = `<${p}sst ${namespaceAttribute}>${texts.map((text) => `<${p}si>${textXml(text)}</${p}si>`).join('')}</${p}sst>`
  return { ...excelParts(''), 'xl/worksheets/sheet1.xml': sheet, 'xl/sharedStrings.xml': strings }
}

const odsNamespaces = ['office', 'table', 'text', 'style']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ')

function odsParts(rows: string[][], hasRepeatedRow: boolean): Parts {
  const textXml = (value: string): string =>
    value
      .split('\n')
      .map((line) => `<text:p>${escapeXml(line).replaceAll(/^ | $/g, '<text:s/>')}</text:p>`)
      .join('')
  const cellXml = (value: string): string =>
    value === ''
      ? '<table:table-cell/>'
      : `<table:table-cell office:value-type="string">${textXml(value)}</table:table-cell>`
  const lines = [columns, ...rows].map(
    (row) => `<table:table-row>${row.map(cellXml).join('')}</table:table-row>`,
  )
  const repeatedRow = hasRepeatedRow
    ? '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    : ''
  return {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content ${odsNamespaces}><office:body><office:spreadsheet><table:table table:name="S">${lines.join('')}${repeatedRow}</table:table></office:spreadsheet></office:body></office:document-content>`,
  }
}

test('500 random workbooks are read with equal cells', async () => {
  const outcomes = { equal: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      randomRowsIn('utf-8'),
      xlsxLayouts,
      fc.constantFrom('xlsx', 'xlsx', 'ods', 'ours'),
      async (rows, layout, format) => {
        const ownChunks = annotatedBytes(
          { sheet: { columns }, addedColumns: [], rows: toAnnotatedRows(rows) },
          { ...plainDialect, format: 'xlsx' },
        )
        const bytes =
          format === 'ours'
            ? await collectBytes(ownChunks)
            : await zipParts(
                format === 'ods' ? odsParts(rows, layout.hasHiddenRows) : xlsxParts(rows, layout),
              )
        outcomes[await readAndCompare(bytes, `people.${format}`, rows)] += 1
      },
    ),
    { numRuns: 500 },
  )
  process.stdout.write(
    `500 workbooks: ${String(outcomes.equal)} read equal, ${String(outcomes.refused)} refused\n`,
  )
  expect(outcomes.refused).toBe(0)
})
