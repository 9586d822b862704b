/*
 * Checks the packages of other authors, and prints one line for each rule: every package is pinned by its digest,
 * package.json allows or forbids each install script, npm has no advisory and every signature is valid (if the registry
 * answers), and the bill of materials names every shipped package.
 * Run: npm run build && npm run supply-chain [-- --sbom FILE]
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { printTable } from '../bench/measuring.ts'
import { findInstallScripts, compareWithSbom, findUnpinned } from './rules.ts'

const root = join(import.meta.dirname, '..', '..')
const { values } = parseArgs({ options: { sbom: { type: 'string' } } })

type Result = 'held' | 'not tried' | 'BROKEN'
const rows: [rule: string, result: Result, figure: string][] = []

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** `figure` is printed if there are no violations. */
function addRow(rule: string, violations: readonly string[], figure: string): void {
  rows.push([
    rule,
    violations.length === 0 ? 'held' : 'BROKEN',
    violations.length === 0 ? figure : violations.join(', '),
  ])
}

/** Runs npm and adds a row with the last line of its output. A registry that does not answer violates no rule. */
function addRowOfNpm(rule: string, argv: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [...argv, '--audit', '--fetch-retries=0', '--fetch-timeout=20000'],
    // Under `npm run --silent`, npm would print nothing about a failure.
    { cwd: root, encoding: 'utf8', timeout: 120_000, env: { ...process.env, npm_config_loglevel: 'error' } },
  )
  const output = `${stdout}\n${stderr}`
  const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.slice(0, 100) ?? ''
  if (status === 0) rows.push([rule, 'held', lastLine(stdout)])
  else if (
    /endpoint returned an error|npm error network|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|E40[345]/.test(output)
  )
    rows.push([rule, 'not tried', 'the registry does not answer this'])
  else if (status === null) rows.push([rule, 'not tried', 'the registry did not answer in time'])
  else rows.push([rule, 'BROKEN', lastLine(stdout) || lastLine(stderr)])
}

const lock = read('package-lock.json')
const { packages } = JSON.parse(lock) as { packages: Record<string, unknown> }
const count = Object.keys(packages).length - 1
addRow('every package is pinned by its digest', findUnpinned(lock), `${count} packages`)
const { undecided, decided } = findInstallScripts(lock, read('package.json'))
addRow('only what is named runs a script when it is installed', undecided, decided.join(', '))
addRowOfNpm('npm audit', ['audit', '--audit-level=moderate'])
addRowOfNpm('npm audit signatures', ['audit', 'signatures'])

const sbomRun = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
})
if (sbomRun.status === 0) {
  const { missing, shipped } = compareWithSbom(sbomRun.stdout, read('dist/THIRD-PARTY-LICENSES.txt'))
  addRow('the bill of materials (CycloneDX) names all that is shipped', missing, `${shipped} packages`)
  if (values.sbom !== undefined) writeFileSync(values.sbom, sbomRun.stdout)
} else
  addRow('the bill of materials (CycloneDX)', [sbomRun.stderr.trim().split('\n')[0] ?? 'npm sbom failed'], '')

printTable([['rule', '', 'figure'], ...rows])
if (rows.some(([, result]) => result === 'BROKEN')) process.exitCode = 1
