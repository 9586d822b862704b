import { expect, test } from 'vitest'

import { excelText } from '../vectors/sheets/excel-text.ts'
import { exportsAsText } from '../vectors/sheets/exports.ts'
import { excelWorkbooks } from '../vectors/sheets/excel-workbooks.ts'
import { json } from '../vectors/sheets/json.ts'
import { otherWorkbooks } from '../vectors/sheets/other-workbooks.ts'
import { inChunks, plainJson, refusalOf, table } from './table.ts'
import { openSheet } from '../../src/sheets/open.ts'
import type { SheetSource } from '../../src/sheets/sheet.ts'
import { all, plain } from './table.ts'

const vectors = [...excelText, ...exportsAsText, ...json, ...excelWorkbooks, ...otherWorkbooks]
const read = vectors.flatMap((vector) => (vector.table === undefined ? [] : [vector]))
const refused = vectors.flatMap((vector) => (vector.refusal === undefined ? [] : [vector]))

test.each(read)('$file is read exactly ($habit)', async ({ bytes, table: expected, ...how }) => {
  expect(await table(await bytes(), how.file, how)).toEqual(expected)
})

test.each(refused)('$file is refused ($habit)', async ({ bytes, refusal, ...how }) => {
  expect(await refusalOf(await bytes(), how.file, how)).toBe(`${how.file}: ${refusal}`)
})

test.each(read)(
  '$file says the same from stdin, byte by byte',
  async ({ bytes, table: expected, ...how }) => {
    const whole = Buffer.from(await bytes())
    const source: SheetSource = {
      name: 'stdin',
      chunks: () => inChunks(whole, 1),
      readAll: () => Promise.resolve(whole),
    }
    const opened = await openSheet(source, { ...how, readJson: plainJson })
    const rows = await all(opened.rows())
    expect([opened.columns, ...rows.map(({ cells }) => cells.map(plain))]).toEqual(expected)
  },
)

test('the corpus holds every file once', () => {
  const names = vectors.map(({ file }) => file)
  expect(new Set(names).size).toBe(names.length)
  process.stdout.write(`corpus: ${String(read.length)} read exactly, ${String(refused.length)} refused\n`)
})
