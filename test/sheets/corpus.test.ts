import { expect, test } from 'vitest'

import { excelText } from '../vectors/sheets/excel-text.ts'
import { exportsAsText } from '../vectors/sheets/exports.ts'
import { excelWorkbooks } from '../vectors/sheets/excel-workbooks.ts'
import { json } from '../vectors/sheets/json.ts'
import { otherWorkbooks } from '../vectors/sheets/other-workbooks.ts'
import { splitIntoChunks, parseJsonRow, readRefusal, readTable } from './table.ts'
import { openSheet } from '../../src/sheets/open.ts'
import type { SheetSource } from '../../src/sheets/sheet.ts'
import { collect, textOfCell } from './table.ts'

const vectors = [...excelText, ...exportsAsText, ...json, ...excelWorkbooks, ...otherWorkbooks]
const readableVectors = vectors.flatMap((vector) => (vector.table === undefined ? [] : [vector]))
const refusedVectors = vectors.flatMap((vector) => (vector.refusal === undefined ? [] : [vector]))

test.each(readableVectors)(
  '$file is read exactly ($description)',
  async ({ bytes, table: expected, ...options }) => {
    expect(await readTable(await bytes(), options.file, options)).toEqual(expected)
  },
)

test.each(refusedVectors)('$file is refused ($description)', async ({ bytes, refusal, ...options }) => {
  expect(await readRefusal(await bytes(), options.file, options)).toBe(`${options.file}: ${refusal}`)
})

test.each(readableVectors)(
  '$file gives the same table if stdin delivers it byte by byte',
  async ({ bytes, table: expected, ...options }) => {
    const allBytes = Buffer.from(await bytes())
    const source: SheetSource = {
      name: 'stdin',
      chunks: () => splitIntoChunks(allBytes, 1),
      readAll: () => Promise.resolve(allBytes),
    }
    const sheet = await openSheet(source, { ...options, readJson: parseJsonRow })
    const rows = await collect(sheet.rows())
    expect([sheet.columns, ...rows.map(({ cells }) => cells.map(textOfCell))]).toEqual(expected)
  },
)

test('each file occurs once in the corpus', () => {
  const names = vectors.map(({ file }) => file)
  expect(new Set(names).size).toBe(names.length)
  process.stdout.write(
    `corpus: ${String(readableVectors.length)} read exactly, ${String(refusedVectors.length)} refused\n`,
  )
})
