import { execFileSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

function modificationTime(path: string): number {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/**
 * Builds once before the tests if a source changed after the last build, since test processes run the built
 * program.
 */
export default function buildIfStale(): void {
  const newest = Math.max(
    ...[...globSync('src/**/*.{ts,cjs}', { cwd: root }), 'package-lock.json'].map(modificationTime),
  )
  if (modificationTime('dist/help/topics/refcheck.txt') > newest) return
  for (const step of ['bundle.ts', 'library.ts', 'help-pages.ts', 'reference.ts']) {
    execFileSync(process.execPath, [join(root, 'src', 'build', step)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
}
