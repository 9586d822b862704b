/*
 * Runs the tests of every fault and attack that the program must survive, and prints what they came to.
 * Run: npm run resilience [-- --only PART_OF_A_ROW] [--whole]
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { printTable } from '../bench/measuring.ts'
import type { Recorded } from '../harness/faults/fault-row.ts'
import { recordingFiles } from './recording.ts'
import { faults } from './rows.ts'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, whole: { type: 'boolean', default: false } },
})
const root = join(import.meta.dirname, '..', '..')
const wanted = Object.entries(faults).filter(([id]) => id.includes(values.only))
const files = recordingFiles().filter(({ rows }) => wanted.some(([id]) => rows.includes(id)))
const folder = mkdtempSync(join(tmpdir(), 'refcheck-resilience-'))
const figures = join(folder, 'figures')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

/** Runs those test files, and answers whether all of them passed. */
function passed(config: string, paths: readonly string[]): boolean {
  if (paths.length === 0) return true
  const names = paths.map((path) => join(root, 'test', path))
  const argv = [vitest, 'run', '--config', join(root, 'test', config), '--reporter', 'dot', ...names]
  const env = { ...process.env, REFCHECK_RESILIENCE: figures, ...(values.whole && { REFCHECK_WHOLE: '1' }) }
  return spawnSync(process.execPath, argv, { cwd: root, env, stdio: ['ignore', 2, 2] }).status === 0
}

writeFileSync(figures, '')
const isSystems = (path: string): boolean => path.startsWith('system/')
const paths = files.map(({ path }) => path)
const isWhole = [
  passed(
    'vitest.config.ts',
    paths.filter((path) => !isSystems(path)),
  ),
  passed('system/vitest.config.ts', paths.filter(isSystems)),
].every(Boolean)
const recorded = readFileSync(figures, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Recorded)
rmSync(folder, { recursive: true })

const rows = wanted.map(([id, { fault, right }]) => {
  const own = recorded.filter(({ row }) => row === id)
  const cases = own.reduce((sum, each) => sum + each.cases, 0)
  const held = own.reduce((sum, each) => sum + each.held, 0)
  const untried = own.flatMap(({ notTried }) => (notTried === undefined ? [] : [notTried]))
  const figure = own.filter((each) => each.cases > 0).map((each) => each.figure)
  const isShort = held < cases || (cases === 0 && untried.length === 0)
  const verdict = isShort ? 'FELL SHORT' : cases === 0 ? 'not tried' : 'held'
  const told = [...figure, ...untried.map((why) => `not tried: ${why}`)]
  return {
    isShort,
    cells: [fault, right, String(cases), verdict, told[0] ?? 'no figure'],
    more: told.slice(1),
  }
})
printTable([
  ['fault or attack', 'right', 'cases', 'verdict', 'figure'],
  ...rows.flatMap(({ cells, more }) => [cells, ...more.map((each) => ['', '', '', '', each])]),
])
const short = rows.filter(({ isShort }) => isShort).length
const cases = recorded.reduce((sum, each) => sum + each.cases, 0)
console.log(`${rows.length} rows, ${cases} cases, ${short} fell short${isWhole ? '' : '; a test failed'}`)
if (short > 0 || !isWhole) process.exitCode = 1
