import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { Written } from '../system/sheets/written.ts'
import { all, openBytes, plain } from './table.ts'

/* Files that other programs wrote (test/system/sheets/make.ts), and beside each what a person sees in it there. */
const folder = join(import.meta.dirname, '../vectors/sheets/written')
const seen = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Omit<Written, 'write'>)

test.each(seen)('$file is read cell by cell as it is seen ($program)', async ({ file, how, ...expected }) => {
  const sheet = await openBytes(readFileSync(join(folder, file)), file, how ?? {})
  const rows = await all(sheet.rows())
  expect([sheet.columns, ...rows.map(({ cells }) => cells.map(plain))]).toEqual(expected.table)
  const faults = rows.flatMap(({ line, cells }) =>
    cells.flatMap((cell, at) =>
      typeof cell === 'object' && cell.kind === 'fault'
        ? [[`${String(line)},${String(at)}`, cell.reason]]
        : [],
    ),
  )
  expect(Object.fromEntries(faults)).toEqual(expected.faults ?? {})
  expect(rows.flatMap(({ line, hidden }) => (hidden === true ? [line] : []))).toEqual(expected.hidden ?? [])
  expect(rows.flatMap(({ line, struck }) => (struck === undefined ? [] : [line]))).toEqual(
    expected.struck ?? [],
  )
  expect([...sheet.hiddenColumns]).toEqual(expected.hiddenColumns ?? [])
  expect(sheet.merged().map(({ range }) => range)).toEqual(expected.merged ?? [])
})

test('every file has what is seen in it beside it', () => {
  const files = readdirSync(folder).filter((file) => !file.endsWith('.json'))
  expect(seen.map(({ file }) => file).sort()).toEqual(files.sort())
  process.stdout.write(`files of other programs: ${String(files.length)}\n`)
})
