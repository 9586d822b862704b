import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { all, openBytes, plain } from '../../sheets/table.ts'
import { startPrograms } from './programs.ts'
import { written } from './written.ts'

/* Written anew by the programs of this machine, not only as they once were kept. */
let programs: Awaited<ReturnType<typeof startPrograms>>
beforeAll(async () => {
  programs = await startPrograms(mkdtempSync(join(tmpdir(), 'refcheck-modules-')))
}, 120_000)
afterAll(() => programs.close())

// exceljs and SheetJS are no packages of the system.
const ofTheSystem = written.filter(({ file }) => !/^(?:exceljs|sheetjs)/.test(file))

test.each(ofTheSystem)('$file, as $program', async ({ file, how, table, write }) => {
  const sheet = await openBytes(await write(programs), file, how ?? {})
  const rows = await all(sheet.rows())
  expect([sheet.columns, ...rows.map(({ cells }) => cells.map(plain))]).toEqual(table)
})
