import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { annotatedBytes } from '../../../src/sheets/rewrite.ts'
import { collect, collectBytes, openBytes, textOfCell } from '../../sheets/table.ts'
import { formattedWorkbooks } from './formatted.ts'
import { startPrograms } from './programs.ts'
import { writtenFiles } from './written.ts'

/* The programs of this machine write the files again, because the stored vectors may be from older versions. */
let programs: Awaited<ReturnType<typeof startPrograms>>
beforeAll(async () => {
  programs = await startPrograms(mkdtempSync(join(tmpdir(), 'refcheck-modules-')))
}, 120_000)
afterAll(() => programs.close())

// exceljs and SheetJS are not in Debian.
const systemFiles = writtenFiles.filter(({ file }) => !/^(?:exceljs|sheetjs)/.test(file))

test.each(systemFiles)('$file is read as a user sees it ($program)', async ({ file, how, table, write }) => {
  const sheet = await openBytes(await write(programs), file, how ?? {})
  const rows = await collect(sheet.rows())
  expect([sheet.columns, ...rows.map(({ cells }) => cells.map(textOfCell))]).toEqual(table)
})

/** A script that prints the widths, hidden columns and date formats that openpyxl reads in the first sheet. */
const inspectionScript = (path: string): string => `import json, openpyxl, sys
ws = openpyxl.load_workbook(${JSON.stringify(path)}).worksheets[0]
cells = [cell for row in ws.iter_rows(max_col=5) for cell in row if row[0].row > 1]
json.dump({
    "widths": {name: ws.column_dimensions[name].width for name in "ABCD"},
    "hidden": [name for name in "ABCDE" if ws.column_dimensions[name].hidden],
    "dates": {cell.coordinate: [str(cell.value), cell.number_format] for cell in cells if cell.is_date},
}, open(sys.argv[1], "w"))`

test('the results of a workbook have its widths, hidden columns and dates, as openpyxl reads them', async () => {
  const [formatted] = formattedWorkbooks
  if (formatted === undefined) throw new Error('there is no formatted workbook')
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-results-'))
  const ask = async (bytes: Uint8Array, name: string): Promise<Record<string, unknown>> => {
    writeFileSync(join(folder, name), bytes)
    return JSON.parse(
      (await programs.python(inspectionScript(join(folder, name)), 'seen.json')).toString(),
    ) as Record<string, unknown>
  }
  const original = await formatted.write(programs)
  const sheet = await openBytes(original, formatted.file, formatted.how ?? {})
  const annotated = (async function* () {
    for await (const row of sheet.rows()) yield { row, added: ['accepted'] }
  })()
  const results = await collectBytes(
    annotatedBytes({ sheet, addedColumns: ['refcheck_state'], rows: annotated }, sheet.dialect),
  )
  expect(await ask(results, 'results.xlsx')).toEqual(await ask(original, 'own.xlsx'))
})
