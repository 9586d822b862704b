/*
 * What installing the package costs compared with installing the libraries that its bundle holds: in
 * alternation, with a filled npm cache. Needs a registry for what the cache lacks.
 * Run: npm run build && node test/bench/install/run.ts [ROUNDS]
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { inPairs, median, medianRatio, printFigures } from '../measuring.ts'

const [rounds = 3] = process.argv.slice(2).map(Number)
const root = join(import.meta.dirname, '..', '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))

const json = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'))

/** The libraries of package.json whose code is in the bundle, and what is installed next to it. */
function unbundled(): Record<string, string> {
  const { devDependencies, optionalDependencies } = json('package.json') as Record<
    'devDependencies' | 'optionalDependencies',
    Record<string, string>
  >
  const inside = new Set(Object.values(json('dist/contents.json') as Record<string, string[]>).flat())
  const bundled = Object.entries(devDependencies).filter(([name]) => inside.has(name))
  return { ...Object.fromEntries(bundled), ...optionalDependencies }
}

/** Milliseconds to install into a project that has nothing yet. */
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
  const [file = ''] = globSync(join(folder, '*.tgz'))
  const libraries = unbundled()
  const pairs = await inPairs(
    rounds,
    () => install('bundled', { refcheck: `file:${file}` }),
    () => install('libraries', libraries),
  )
  printFigures([
    {
      what: 'npm install of the package, to that of its libraries',
      value: medianRatio(pairs),
      atMost: 0.3,
      note: `${median(pairs.map(([own]) => own)).toFixed(0)} ms; ${Object.keys(libraries).length} libraries`,
    },
    {
      what: 'packages that it installs',
      value: countPackages('bundled'),
      atMost: 3,
      note: `libraries: ${countPackages('libraries')}`,
    },
    { what: 'what npm pack makes', value: statSync(file).size / 1e6, unit: ' MB', atMost: 3 },
  ])
} finally {
  rmSync(folder, { recursive: true })
}
