import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const tests = join(import.meta.dirname, '..')

interface Recording {
  /** From the folder of tests. */
  path: string
  rows: string[]
  /** Programs of the system that it cannot do without; `root` for what only root may do. */
  needs: string[]
}

/** What stands in a test that needs something. */
const means: readonly (readonly [need: string, sign: RegExp])[] = [
  ['strace', /faults\/strace\.ts/],
  ['qpdf', /'qpdf'/],
  ['soffice', /\boffice\.ts/],
  ['unshare', /faults\/read-only-root\.ts/],
  ['setpriv', /faults\/read-only-root\.ts/],
  ['root', /faults\/(?:small-disk|read-only-root)\.ts|'mount'/],
]

/** Test files that record a figure, and the rows that they are of. */
export function recordingFiles(): Recording[] {
  return globSync('**/*.test.ts', { cwd: tests }).flatMap((path) => {
    const text = readFileSync(join(tests, path), 'utf8')
    const rows = [...text.matchAll(/\bfaultRow\(\s*'([a-z-]+)'/g)].map(([, row = '']) => row)
    const needs = means.filter(([, sign]) => sign.test(text)).map(([need]) => need)
    return rows.length === 0 ? [] : [{ path: path.replaceAll('\\', '/'), rows, needs }]
  })
}
