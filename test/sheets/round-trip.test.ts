import fc from 'fast-check'
import { expect, test } from 'vitest'

import { type Cell, type Dialect, plainDialect } from '../../src/domain/sheet/cell.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { collect, collectBytes, openBytes, textOfCell } from './table.ts'

/** Random texts of cells. Characters and texts that are difficult to write or to read are more frequent. */
const cellText = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom(
        '"',
        "'",
        '=',
        '+',
        '-',
        '@',
        ',',
        ';',
        '|',
        '\t',
        '\n',
        '\r',
        ' ',
        'a',
        '1',
        'é',
      ),
      maxLength: 8,
    }),
    fc.constantFrom(
      '+61412345678',
      '0412 345 678',
      '6.14E+10',
      '=1+1',
      "'=1+1",
      "''",
      '@cmd',
      '-5',
      '_x000D_',
      '"',
      'sep=;',
      '007',
      'TRUE',
      '\u200B',
      'Zoë',
      '李小龍',
      '🙂',
    ),
  )
  .map((text) => text.replaceAll('\0', ''))
const headers = fc.uniqueArray(
  fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 })
    .map((text) => text.replaceAll(/["\s'[{<=%]/g, '_')),
  { minLength: 2, maxLength: 6 },
)
const tables = headers.chain((columns) =>
  fc.tuple(
    fc.constant(columns),
    fc.array(fc.array(cellText, { minLength: columns.length, maxLength: columns.length }), {
      minLength: 1,
      maxLength: 8,
    }),
  ),
)

const dialects = fc.record({
  format: fc.constantFrom('csv' as const, 'xlsx' as const),
  encoding: fc.constantFrom('utf-8' as const, 'utf-16le' as const, 'utf-16be' as const),
  bom: fc.boolean(),
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  lineEnd: fc.constantFrom('\r\n' as const, '\n' as const, '\r' as const),
  quote: fc.constantFrom('needed' as const, 'all' as const),
})

async function* toAnnotatedRows(rows: string[][]) {
  for (const cells of rows) yield { row: { cells: cells as Cell[] }, added: [] }
}

test('any table that is written in any dialect is read back with the same cells', async () => {
  await fc.assert(
    fc.asyncProperty(tables, dialects, async ([columns, rows], randomDialect) => {
      // The separator of a small table cannot always be detected, so that the first line (`sep=`) names it.
      const dialect: Dialect = {
        ...plainDialect,
        ...randomDialect,
        separatorLine: randomDialect.format === 'csv',
      }
      const bytes = await collectBytes(
        annotatedBytes({ sheet: { columns }, addedColumns: [], rows: toAnnotatedRows(rows) }, dialect),
      )
      const sheet = await openBytes(bytes, randomDialect.format === 'csv' ? 'any.csv' : 'any.xlsx')
      const readRows = await collect(sheet.rows())
      expect(sheet.columns).toEqual(columns)
      // A cell with a tab may be written with an apostrophe before it, so that its row is not blank when it is read.
      const isFilled = ([, cells]: [number, string[]]): boolean => cells.some((text) => text.trim() !== '')
      expect(
        readRows.map(({ row, cells }): [number, string[]] => [row, cells.map(textOfCell)]).filter(isFilled),
      ).toEqual(rows.map((cells, index): [number, string[]] => [index + 1, cells]).filter(isFilled))
      const { delimiter, lineEnd, encoding } = randomDialect
      expect(randomDialect.format === 'csv' ? sheet.dialect : randomDialect).toMatchObject({
        delimiter,
        lineEnd,
        encoding,
      })
    }),
    { numRuns: 400 },
  )
})

const people = [
  ['Priya', 'Shah', 'priya@example.com', '+61412345678'],
  ['Zoë', 'O’Neil; “Zo”', 'zoe@example.com', '+49 30 123456'],
]
const peopleColumns = ['first_name', 'last_name', 'email', 'phone']

test('the separator of an ordinary table is detected in each dialect', async () => {
  await fc.assert(
    fc.asyncProperty(dialects, async (randomDialect) => {
      const dialect: Dialect = { ...plainDialect, ...randomDialect }
      const bytes = await collectBytes(
        annotatedBytes(
          { sheet: { columns: peopleColumns }, addedColumns: [], rows: toAnnotatedRows(people) },
          dialect,
        ),
      )
      const sheet = await openBytes(bytes, 'people')
      expect(sheet.columns).toEqual(peopleColumns)
      expect((await collect(sheet.rows())).map(({ cells }) => cells.map(textOfCell))).toEqual(people)
    }),
  )
})
