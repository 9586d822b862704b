import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const tests = join(import.meta.dirname, '..')

/** Test files that record a figure, from the folder of tests, and the rows that they are of. */
export function recordingFiles(): { path: string; rows: string[] }[] {
  return globSync('**/*.test.ts', { cwd: tests }).flatMap((path) => {
    const text = readFileSync(join(tests, path), 'utf8')
    const rows = [...text.matchAll(/\bfaultRow\(\s*'([a-z-]+)'/g)].map(([, row = '']) => row)
    return rows.length === 0 ? [] : [{ path: path.replaceAll('\\', '/'), rows }]
  })
}
