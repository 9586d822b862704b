/*
 * Measures the time to install the package, compared with the time to install the libraries that are in its bundle, in
 * alternation and with a filled npm cache. Packages that are not in the cache need a registry.
 * Run: npm run build && node test/bench/install/run.ts [ROUNDS]
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { measureInPairs, median, medianRatio, printFigures } from '../measuring.ts'

const [rounds = 3] = process.argv.slice(2).map(Number)
const root = join(import.meta.dirname, '..', '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))

const readJson = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'))

/** Returns the libraries of package.json whose code is in the bundle, and the optional dependencies. */
function findLibraries(): Record<string, string> {
  const { devDependencies, optionalDependencies } = readJson('package.json') as Record<
    'devDependencies' | 'optionalDependencies',
    Record<string, string>
  >
  const bundledNames = new Set(
    Object.values(readJson('dist/contents.json') as Record<string, string[]>).flat(),
  )
  const bundled = Object.entries(devDependencies).filter(([name]) => bundledNames.has(name))
  return { ...Object.fromEntries(bundled), ...optionalDependencies }
}

/** Installs into an empty project, and returns the duration in ms. */
function install(name: string, dependencies: Record<string, string>): number {
  const project = join(folder, name)
  rmSync(project, { recursive: true, force: true })
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name, private: true, dependencies }))
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=silent']
  const startedAt = performance.now()
  const { status } = spawnSync('npm', ['install', ...options], { cwd: project, stdio: 'ignore' })
  if (status !== 0) throw new Error(`npm install ended with ${status}: is there a registry?`)
  return performance.now() - startedAt
}

const countPackages = (name: string): number =>
  globSync('node_modules/{*,@*/*}/package.json', { cwd: join(folder, name) }).length

try {
  execFileSync('npm', ['pack', '--ignore-scripts', '--loglevel=silent', `--pack-destination=${folder}`], {
    cwd: root,
    stdio: 'ignore',
  })
  const [tarball = ''] = globSync(join(folder, '*.tgz'))
  const libraries = findLibraries()
  const pairs = await measureInPairs(
    rounds,
    () => install('bundled', { refcheck: `file:${tarball}` }),
    () => install('libraries', libraries),
  )
  printFigures([
    {
      label: 'npm install of the package, to that of its libraries',
      value: medianRatio(pairs),
      atMost: 0.3,
      note: `${median(pairs.map(([ours]) => ours)).toFixed(0)} ms; ${Object.keys(libraries).length} libraries`,
    },
    {
      label: 'packages that it installs',
      value: countPackages('bundled'),
      atMost: 3,
      note: `libraries: ${countPackages('libraries')}`,
    },
    { label: 'what npm pack makes', value: statSync(tarball).size / 1e6, unit: ' MB', atMost: 3 },
  ])
} finally {
  rmSync(folder, { recursive: true })
}
