import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { Written } from '../system/sheets/written.ts'
import { cellValue } from '../../src/domain/batch/cell-value.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import type { SheetRow } from '../../src/domain/sheet/cell.ts'
import { all, bytesOf, openBytes, plain } from './table.ts'

/* Files that other programs wrote (test/system/sheets/make.ts), and next to each what a person sees in it there. */
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
  const day = { type: 'string', required: true, description: 'Date of birth (YYYY-MM-DD)' }
  const dayless = rows.flatMap(({ line, cells }) =>
    cells.flatMap((cell, at) =>
      typeof cell === 'object' && cell.kind === 'date' && cellValue(day, cell).problem !== undefined
        ? [`${String(line)},${String(at)}`]
        : [],
    ),
  )
  expect(dayless.filter((position) => expected.dayless?.includes(position) ?? false)).toEqual(
    expected.dayless ?? [],
  )
  const amount = { type: 'number', required: true, description: '' }
  const otherwise = rows.flatMap(({ line, cells }) =>
    cells.flatMap((cell, at) =>
      typeof cell === 'object' && cell.kind === 'number' && cellValue(amount, cell).problem !== undefined
        ? [`${String(line)},${String(at)}`]
        : [],
    ),
  )
  expect(expected.otherwise ?? otherwise).toEqual(otherwise)
  expect(rows.flatMap(({ line, hidden }) => (hidden === true ? [line] : []))).toEqual(expected.hidden ?? [])
  expect(rows.flatMap(({ line, struck }) => (struck === undefined ? [] : [line]))).toEqual(
    expected.struck ?? [],
  )
  expect([...sheet.hiddenColumns]).toEqual(expected.hiddenColumns ?? [])
  expect(sheet.merged().map(({ range }) => range)).toEqual(expected.merged ?? [])
})

/** What is seen of rows besides their texts, whichever lines they stand on. */
const looks = (rows: readonly SheetRow[]) =>
  rows.map(({ cells }) => ({
    formats: cells.flatMap((cell, at) =>
      typeof cell === 'object' && cell.kind === 'date' ? [[at, cell.format, cell.serial, cell.text]] : [],
    ),
  }))

const books = seen.filter(({ file }) => /\.(?:xlsx|ods)$/.test(file))

test.each(books)(
  '$file keeps its widths, hidden columns and formats of dates where it is written again ($program)',
  async ({ file, how, appearance }) => {
    const sheet = await openBytes(readFileSync(join(folder, file)), file, how ?? {})
    const rows = await all(sheet.rows())
    const annotated = (async function* () {
      for (const row of rows) yield { row, added: ['accepted'] }
    })()
    const bytes = await bytesOf(
      annotatedBytes({ sheet, addedColumns: ['refcheck_state'], rows: annotated }, sheet.dialect),
    )
    const again = await openBytes(bytes, 'results.xlsx')
    const rowsAgain = await all(again.rows())
    expect(again.columns).toEqual([...sheet.columns, 'refcheck_state'])
    expect(looks(rowsAgain)).toEqual(looks(rows))
    const { widths, lost, otherSheets } = sheet.appearance()
    expect(Object.fromEntries(again.appearance().widths)).toMatchObject(Object.fromEntries(widths))
    expect([...again.hiddenColumns]).toEqual([...sheet.hiddenColumns])
    if (appearance === undefined) return
    const dates = rows.flatMap(({ line, cells }) =>
      cells.flatMap((cell, at) =>
        typeof cell === 'object' && cell.kind === 'date'
          ? [[`${String(line)},${String(at)}`, cell.format]]
          : [],
      ),
    )
    expect({
      widths: Object.fromEntries(widths),
      lost: [...lost].sort(),
      otherSheets,
      formats: Object.fromEntries(dates),
    }).toEqual(appearance)
  },
)

test('every file has a description of what is seen in it', () => {
  const files = readdirSync(folder).filter((file) => !file.endsWith('.json'))
  expect(seen.map(({ file }) => file).sort()).toEqual(files.sort())
  process.stdout.write(`files of other programs: ${String(files.length)}\n`)
})
