import fc from 'fast-check'
import { expect, test } from 'vitest'

import { type Cell, type Dialect, plainDialect } from '../../src/domain/sheet/cell.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { all, bytesOf, openBytes, plain } from './table.ts'

/** Whatever a person or a program may have put in a cell, the hard parts more often than by chance. */
const cell = fc
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
const header = fc.uniqueArray(
  fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 })
    .map((text) => text.replaceAll(/["\s'[{<=%]/g, '_')),
  { minLength: 2, maxLength: 6 },
)
const tables = header.chain((columns) =>
  fc.tuple(
    fc.constant(columns),
    fc.array(fc.array(cell, { minLength: columns.length, maxLength: columns.length }), {
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

async function* given(rows: string[][]) {
  for (const cells of rows) yield { row: { cells: cells as Cell[] }, added: [] }
}

test('any table written in any dialect is read back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(tables, dialects, async ([columns, rows], chosen) => {
      // Which separator it is cannot always be detected in a small table; the line that names it always can.
      const dialect: Dialect = { ...plainDialect, ...chosen, separatorLine: chosen.format === 'csv' }
      const bytes = await bytesOf(
        annotatedBytes({ sheet: { columns }, addedColumns: [], rows: given(rows) }, dialect),
      )
      const sheet = await openBytes(bytes, chosen.format === 'csv' ? 'any.csv' : 'any.xlsx')
      const read = await all(sheet.rows())
      expect(sheet.columns).toEqual(columns)
      // A tab may be written with an apostrophe before it, and then its row is not all white space to a reader.
      const isFilled = ([, cells]: [number, string[]]): boolean => cells.some((each) => each.trim() !== '')
      expect(
        read.map(({ row, cells }): [number, string[]] => [row, cells.map(plain)]).filter(isFilled),
      ).toEqual(rows.map((cells, at): [number, string[]] => [at + 1, cells]).filter(isFilled))
      const { delimiter, lineEnd, encoding } = chosen
      expect(chosen.format === 'csv' ? sheet.dialect : chosen).toMatchObject({ delimiter, lineEnd, encoding })
    }),
    { numRuns: 400 },
  )
})

const people = [
  ['Priya', 'Shah', 'priya@example.com', '+61412345678'],
  ['Zoë', 'O’Neil; “Zo”', 'zoe@example.com', '+49 30 123456'],
]
const names = ['first_name', 'last_name', 'email', 'phone']

test('the separator of an ordinary table is found by itself, in whichever way it is written', async () => {
  await fc.assert(
    fc.asyncProperty(dialects, async (chosen) => {
      const dialect: Dialect = { ...plainDialect, ...chosen }
      const bytes = await bytesOf(
        annotatedBytes({ sheet: { columns: names }, addedColumns: [], rows: given(people) }, dialect),
      )
      const sheet = await openBytes(bytes, 'people')
      expect(sheet.columns).toEqual(names)
      expect((await all(sheet.rows())).map(({ cells }) => cells.map(plain))).toEqual(people)
    }),
  )
})
