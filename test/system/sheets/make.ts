/*
 * Writes the vectors of test/vectors/sheets/written again: each file by its program, and next to it a JSON file with the
 * values that a user sees in it. Run: node test/system/sheets/make.ts MODULES [FILE…]. MODULES is a folder in which
 * exceljs and xlsx are installed; without FILE all files are written.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { startPrograms } from './programs.ts'
import { writtenFiles } from './written.ts'

const folder = join(import.meta.dirname, '../../vectors/sheets/written')
const [modules = '.', ...names] = process.argv.slice(2)
const programs = await startPrograms(modules)
try {
  for (const { write, file, ...rest } of writtenFiles) {
    if (names.length > 0 && !names.includes(file)) continue
    writeFileSync(join(folder, file), await write(programs))
    writeFileSync(join(folder, `${file}.json`), `${JSON.stringify({ file, ...rest }, null, 2)}\n`)
    console.log(file)
  }
} finally {
  programs.close()
}
