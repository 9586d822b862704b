/*
 * What comes from others, one line a rule: that every package is pinned by its digest, that none but those named runs a
 * script when it is installed, that npm knows no advisory and every signature is right (where the registry answers), and
 * that the bill of materials names all that is shipped. Run: npm run build && npm run supply-chain [-- --sbom FILE]
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { printTable } from '../bench/measuring.ts'
import { installScripts, shippedWithout, unpinned } from './rules.ts'

const root = join(import.meta.dirname, '..', '..')
const { values } = parseArgs({ options: { sbom: { type: 'string' } } })

type Held = 'held' | 'not tried' | 'BROKEN'
const rows: [rule: string, held: Held, figure: string][] = []

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function report(rule: string, wrong: readonly string[], figure: string): void {
  rows.push([rule, wrong.length === 0 ? 'held' : 'BROKEN', wrong.length === 0 ? figure : wrong.join(', ')])
}

/** What npm answers; a registry that does not answer this question is no fault of a package. */
function ask(rule: string, argv: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [...argv, '--audit', '--fetch-retries=0', '--fetch-timeout=20000'],
    // `npm run --silent` would leave a failure without a word.
    { cwd: root, encoding: 'utf8', timeout: 120_000, env: { ...process.env, npm_config_loglevel: 'error' } },
  )
  const output = `${stdout}\n${stderr}`
  const last = (text: string): string => text.trim().split('\n').at(-1)?.slice(0, 100) ?? ''
  if (status === 0) rows.push([rule, 'held', last(stdout)])
  else if (
    /endpoint returned an error|npm error network|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|E40[345]/.test(output)
  )
    rows.push([rule, 'not tried', 'the registry does not answer this'])
  else if (status === null) rows.push([rule, 'not tried', 'the registry did not answer in time'])
  else rows.push([rule, 'BROKEN', last(stdout) || last(stderr)])
}

const lock = read('package-lock.json')
const { packages } = JSON.parse(lock) as { packages: Record<string, unknown> }
const count = Object.keys(packages).length - 1
report('every package is pinned by its digest', unpinned(lock), `${count} packages`)
const { undecided, decided } = installScripts(lock, read('package.json'))
report('only what is named runs a script when it is installed', undecided, decided.join(', '))
ask('npm audit', ['audit', '--audit-level=moderate'])
ask('npm audit signatures', ['audit', 'signatures'])

const made = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
})
if (made.status === 0) {
  const { missing, shipped } = shippedWithout(made.stdout, read('dist/THIRD-PARTY-LICENSES.txt'))
  report('the bill of materials (CycloneDX) names all that is shipped', missing, `${shipped} packages`)
  if (values.sbom !== undefined) writeFileSync(values.sbom, made.stdout)
} else
  report('the bill of materials (CycloneDX)', [made.stderr.trim().split('\n')[0] ?? 'npm sbom failed'], '')

printTable([['rule', '', 'figure'], ...rows])
if (rows.some(([, held]) => held === 'BROKEN')) process.exitCode = 1
