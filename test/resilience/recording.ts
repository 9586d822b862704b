import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const tests = join(import.meta.dirname, '..')

interface Recording {
  /** The path, relative to the folder `test`. */
  path: string
  rows: string[]
  /** Programs of the system that the test needs; `root` if only root can run it. */
  needs: string[]
}

/** For each need, the text by which a test file that has it is recognised. */
const signsOfNeeds: readonly (readonly [need: string, sign: RegExp])[] = [
  ['strace', /faults\/strace\.ts/],
  ['qpdf', /'qpdf'/],
  ['soffice', /\boffice\.ts/],
  ['unshare', /faults\/read-only-root\.ts/],
  ['setpriv', /faults\/read-only-root\.ts/],
  ['root', /faults\/(?:small-disk|read-only-root)\.ts|'mount'/],
]

/** Lists the test files that record results for the fault table, each with its rows of the table. */
export function listRecordingFiles(): Recording[] {
  return globSync('**/*.test.ts', { cwd: tests }).flatMap((path) => {
    const text = readFileSync(join(tests, path), 'utf8')
    const rows = [...text.matchAll(/\brecordForFaultTable\(\s*'([a-z-]+)'/g)].map(([, row = '']) => row)
    const needs = signsOfNeeds.filter(([, sign]) => sign.test(text)).map(([need]) => need)
    return rows.length === 0 ? [] : [{ path: path.replaceAll('\\', '/'), rows, needs }]
  })
}
