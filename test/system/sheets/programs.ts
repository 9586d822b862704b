import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { startOffice } from '../libreoffice/office.ts'
import type { Programs } from './written.ts'

const run = promisify(execFile)

/**
 * Starts the programs of Debian: python3-openpyxl, python3-xlsxwriter, python3-pandas, python3-odf,
 * r-cran-openxlsx, libexcel-writer-xlsx-perl, gnumeric, libreoffice-calc. exceljs and SheetJS are in the
 * folder `modules` (`npm install exceljs@4.4.0 xlsx@0.18.5` there).
 */
export async function startPrograms(modules: string): Promise<Programs & { close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'refcheck-programs-'))
  const office = await startOffice()
  let count = 0
  const pathOf = (file: string): string => {
    count += 1
    mkdirSync(join(folder, String(count)))
    return join(folder, String(count), file)
  }
  const runAndRead = async (
    program: string,
    args: (path: string) => string[],
    file: string,
  ): Promise<Buffer> => {
    const path = pathOf(file)
    await run(program, args(path), { cwd: folder, timeout: 100_000 })
    return readFileSync(path)
  }
  return {
    python: (code, file) => runAndRead('/usr/bin/python3', (path) => ['-c', code, path], file),
    r: (code, file) =>
      runAndRead('Rscript', (path) => ['-e', `path <- ${JSON.stringify(path)}; ${code}`], file),
    perl: (code, file) => runAndRead('/usr/bin/perl', (path) => ['-e', code, path], file),
    node: async (code, file) => {
      const path = pathOf(file)
      const script = `const path = ${JSON.stringify(path)}; ${code}`
      await run(process.execPath, ['-e', script], { cwd: modules, timeout: 100_000 })
      return readFileSync(path)
    },
    office: ({ name, bytes }, filter) => office.convert(name, bytes, filter),
    gnumeric: async ({ name, bytes }, file) => {
      const from = pathOf(name)
      writeFileSync(from, bytes)
      return runAndRead('ssconvert', (path) => [from, path], file)
    },
    close() {
      office.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
