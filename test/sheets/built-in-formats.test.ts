import { expect, test } from 'vitest'

import { cellValue } from '../../src/domain/batch/cell-value.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { all, bytesOf, openBytes } from './table.ts'
import { workbook } from './workbook.ts'

/** A workbook whose one cell is shown in a built-in format. */
async function opened(id: number, value: number) {
  const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs><xf numFmtId="0"/><xf numFmtId="${String(id)}"/></cellXfs></styleSheet>`
  const rows = `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c r="A2" s="1"><v>${String(value)}</v></c></row>`
  return openBytes(await workbook(rows, '', { 'xl/styles.xml': styles }), 'w.xlsx')
}

const field = (type: string, description = '') => ({ type, required: false, description })

/** What a field takes of it, or `refused`. */
async function taken(id: number, value: number, type: string, description = ''): Promise<unknown> {
  const [row] = await all((await opened(id, value)).rows())
  const { value: read, problem } = cellValue(field(type, description), row?.cells[0] ?? '')
  return problem === undefined ? read : 'refused'
}

test.each([14, 15, 22, 30, 31])('built-in format %i shows a whole day, which is taken', async (id) => {
  expect(await taken(id, 32_993, 'string', 'Date (YYYY-MM-DD)')).toBe('1990-04-30')
})

test.each([16, 17, 27, 28, 29, 34, 35, 36, 50, 51, 52, 57, 58])(
  'built-in format %i shows no whole day, or another in each language, and is refused',
  async (id) => {
    expect(await taken(id, 32_993, 'string', 'Date (YYYY-MM-DD)')).toBe('refused')
  },
)

test.each([
  [0, 85_000.4, 85_000.4],
  [3, 85_000, 85_000],
  [3, 85_000.4, 'refused'],
  [5, 85_000.4, 'refused'],
  [8, 85_000.5, 85_000.5],
  [9, 0.5, 'refused'],
  [12, 0.5, 'refused'],
  [37, 85_000, 85_000],
  [37, 85_000.4, 'refused'],
  [40, 85_000.25, 85_000.25],
  [41, 85_000.4, 'refused'],
  [44, 85_000.25, 85_000.25],
  [44, 85_000.254, 'refused'],
  [48, 12_345, 'refused'],
  [59, 5, 'refused'],
])('a number in built-in format %i: %d is %s', async (id, value, expected) => {
  expect(await taken(id, value, 'number')).toBe(expected)
})

test('each built-in format is the same one where it is written again', async () => {
  for (let id = 0; id <= 81; id += 1) {
    if ((id >= 23 && id <= 26) || id === 49) continue
    const sheet = await opened(id, 32_993.5)
    const rows = await all(sheet.rows())
    const annotated = (async function* () {
      for (const row of rows) yield { row, added: [] }
    })()
    const bytes = await bytesOf(annotatedBytes({ sheet, addedColumns: [], rows: annotated }, sheet.dialect))
    const again = await all((await openBytes(bytes, 'w.xlsx')).rows())
    expect([id, again[0]?.cells]).toEqual([id, rows[0]?.cells])
  }
})
