import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const tests = join(import.meta.dirname, '..')

/** A test file that records results for the fault table (rows.ts). */
interface RecordingFile {
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

/** Lists the test files that record results for the fault table (rows.ts), each with its rows of the table. */
export function listRecordingFiles(): RecordingFile[] {
  return globSync('**/*.test.ts', { cwd: tests }).flatMap((path) => {
    const text = readFileSync(join(tests, path), 'utf8')
    const rows = [...text.matchAll(/\brecordForFaultTable\(\s*'([a-z-]+)'/g)].map(([, row = '']) => row)
    const needs = signsOfNeeds.filter(([, sign]) => sign.test(text)).map(([need]) => need)
    return rows.length === 0 ? [] : [{ path: path.replaceAll('\\', '/'), rows, needs }]
  })
}

/**
 * A test file may select by their titles the tests that record a row: `titles: /umask|looser/`. Lists each alternative
 * of these patterns that occurs nowhere else in its file: it selects no test, so the row would count too few results.
 */
export function listUnusedTitleFilters(): string[] {
  return listRecordingFiles().flatMap(({ path }) => {
    const lines = readFileSync(join(tests, path), 'utf8').split('\n')
    const patterns = lines.flatMap((line) => /titles: \/(.+)\/[,\s}]/.exec(line)?.[1] ?? [])
    const otherLines = lines.filter((line) => !line.includes('titles: /'))
    return patterns
      .flatMap((pattern) => (pattern.startsWith('^') ? [] : pattern.split('|')))
      .filter((filter) => !otherLines.some((line) => new RegExp(filter).test(line)))
      .map((filter) => `${path}: ${filter}`)
  })
}
