import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { WrittenFile } from '../system/sheets/written.ts'
import { cellValue } from '../../src/domain/batch/cell-value.ts'
import { annotatedBytes } from '../../src/sheets/rewrite.ts'
import type { SheetRow } from '../../src/domain/sheet/cell.ts'
import { collect, collectBytes, openBytes, textOfCell } from './table.ts'

/* Files that other programs wrote (test/system/sheets/make.ts). A JSON file next to each describes what it displays. */
const folder = join(import.meta.dirname, '../vectors/sheets/written')
const descriptions = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Omit<WrittenFile, 'write'>)

test.each(descriptions)(
  'each cell of $file is read as $program displays it',
  async ({ file, how, ...expected }) => {
    const sheet = await openBytes(readFileSync(join(folder, file)), file, how ?? {})
    const rows = await collect(sheet.rows())
    expect([sheet.columns, ...rows.map(({ cells }) => cells.map(textOfCell))]).toEqual(expected.table)
    const faults = rows.flatMap(({ line, cells }) =>
      cells.flatMap((cell, index) =>
        typeof cell === 'object' && cell.kind === 'fault'
          ? [[`${String(line)},${String(index)}`, cell.reason]]
          : [],
      ),
    )
    expect(Object.fromEntries(faults)).toEqual(expected.faults ?? {})
    const dateField = { type: 'string', required: true, description: 'Date of birth (YYYY-MM-DD)' }
    const refusedDates = rows.flatMap(({ line, cells }) =>
      cells.flatMap((cell, index) =>
        typeof cell === 'object' && cell.kind === 'date' && cellValue(dateField, cell).problem !== undefined
          ? [`${String(line)},${String(index)}`]
          : [],
      ),
    )
    expect(refusedDates.filter((position) => expected.dayless?.includes(position) ?? false)).toEqual(
      expected.dayless ?? [],
    )
    const numberField = { type: 'number', required: true, description: '' }
    const refusedNumbers = rows.flatMap(({ line, cells }) =>
      cells.flatMap((cell, index) =>
        typeof cell === 'object' &&
        cell.kind === 'number' &&
        cellValue(numberField, cell).problem !== undefined
          ? [`${String(line)},${String(index)}`]
          : [],
      ),
    )
    expect(expected.otherwise ?? refusedNumbers).toEqual(refusedNumbers)
    expect(rows.flatMap(({ line, isHidden }) => (isHidden === true ? [line] : []))).toEqual(
      expected.hidden ?? [],
    )
    expect(rows.flatMap(({ line, struckColumns }) => (struckColumns === undefined ? [] : [line]))).toEqual(
      expected.struck ?? [],
    )
    expect([...sheet.hiddenColumns]).toEqual(expected.hiddenColumns ?? [])
    expect(sheet.merged().map(({ range }) => range)).toEqual(expected.merged ?? [])
  },
)

/** Returns the formats and values of the dates in each row, by column. */
const readDateFormats = (rows: readonly SheetRow[]) =>
  rows.map(({ cells }) => ({
    formats: cells.flatMap((cell, index) =>
      typeof cell === 'object' && cell.kind === 'date' ? [[index, cell.format, cell.serial, cell.text]] : [],
    ),
  }))

const workbooks = descriptions.filter(({ file }) => /\.(?:xlsx|ods)$/.test(file))

test.each(workbooks)(
  '$file of $program is written back with its widths, hidden columns and formats of dates',
  async ({ file, how, appearance }) => {
    const sheet = await openBytes(readFileSync(join(folder, file)), file, how ?? {})
    const rows = await collect(sheet.rows())
    const annotated = (async function* () {
      for (const row of rows) yield { row, added: ['accepted'] }
    })()
    const bytes = await collectBytes(
      annotatedBytes({ sheet, addedColumns: ['refcheck_state'], rows: annotated }, sheet.dialect),
    )
    const rewritten = await openBytes(bytes, 'results.xlsx')
    const rewrittenRows = await collect(rewritten.rows())
    expect(rewritten.columns).toEqual([...sheet.columns, 'refcheck_state'])
    expect(readDateFormats(rewrittenRows)).toEqual(readDateFormats(rows))
    const { widths, lost, otherSheets } = sheet.appearance()
    expect(Object.fromEntries(rewritten.appearance().widths)).toMatchObject(Object.fromEntries(widths))
    expect([...rewritten.hiddenColumns]).toEqual([...sheet.hiddenColumns])
    if (appearance === undefined) return
    const dates = rows.flatMap(({ line, cells }) =>
      cells.flatMap((cell, index) =>
        typeof cell === 'object' && cell.kind === 'date'
          ? [[`${String(line)},${String(index)}`, cell.format]]
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

test('each file has a description', () => {
  const files = readdirSync(folder).filter((file) => !file.endsWith('.json'))
  expect(descriptions.map(({ file }) => file).sort()).toEqual(files.sort())
  process.stdout.write(`files of other programs: ${String(files.length)}\n`)
})
