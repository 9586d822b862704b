import { expect, test } from 'vitest'

import { cellValue } from '../../src/domain/batch/cell-value.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import { collect, collectBytes, openBytes } from './table.ts'
import { createWorkbook } from './workbook.ts'

/** Opens a workbook whose only value has a built-in number format. */
async function openWithFormat(id: number, value: number) {
  const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs><xf numFmtId="0"/><xf numFmtId="${String(id)}"/></cellXfs></styleSheet>`
  const rows = `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c r="A2" s="1"><v>${String(value)}</v></c></row>`
  return openBytes(await createWorkbook(rows, '', { 'xl/styles.xml': styles }), 'w.xlsx')
}

const fieldSchema = (type: string, description = '') => ({ type, required: false, description })

/** Returns the value that a field reads from this workbook, or `refused`. */
async function readFieldValue(id: number, value: number, type: string, description = ''): Promise<unknown> {
  const [row] = await collect((await openWithFormat(id, value)).rows())
  const { value: fieldValue, problem } = cellValue(fieldSchema(type, description), row?.cells[0] ?? '')
  return problem === undefined ? fieldValue : 'refused'
}

test.each([14, 15, 22, 30, 31])(
  'a date in built-in format %i, which shows a whole day, is read',
  async (id) => {
    expect(await readFieldValue(id, 32_993, 'string', 'Date (YYYY-MM-DD)')).toBe('1990-04-30')
  },
)

test.each([16, 17, 27, 28, 29, 34, 35, 36, 50, 51, 52, 57, 58])(
  'a date in built-in format %i, which shows no whole day or depends on the language, is refused',
  async (id) => {
    expect(await readFieldValue(id, 32_993, 'string', 'Date (YYYY-MM-DD)')).toBe('refused')
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
])('in built-in format %i the number %d gives %s', async (id, value, expected) => {
  expect(await readFieldValue(id, value, 'number')).toBe(expected)
})

test('a cell in a built-in format is equal after the workbook is written and read again', async () => {
  for (let id = 0; id <= 81; id += 1) {
    if ((id >= 23 && id <= 26) || id === 49) continue
    const sheet = await openWithFormat(id, 32_993.5)
    const rows = await collect(sheet.rows())
    const annotated = (async function* () {
      for (const row of rows) yield { row, added: [] }
    })()
    const bytes = await collectBytes(
      annotatedBytes({ sheet, addedColumns: [], rows: annotated }, sheet.dialect),
    )
    const rewrittenRows = await collect((await openBytes(bytes, 'w.xlsx')).rows())
    expect([id, rewrittenRows[0]?.cells]).toEqual([id, rows[0]?.cells])
  }
})
