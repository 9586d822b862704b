/*
 * Runs the tests of every fault and attack that the program must survive, and prints what they came to.
 * Run: npm run resilience [-- --only PART_OF_A_ROW] [--whole]
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
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

const path = (process.env['PATH'] ?? '').split(delimiter)
const isAtHand = (need: string): boolean =>
  need === 'root' ? process.getuid?.() === 0 : path.some((each) => existsSync(join(each, need)))
/** What a test file needs that this machine does not have. */
const missing = ({ needs }: { needs: string[] }): string[] => needs.filter((need) => !isAtHand(need))
const untried: Recorded[] = files
  .filter((file) => missing(file).length > 0)
  .flatMap((file) =>
    file.rows.map((row): Recorded => ({
      row: row as Recorded['row'],
      cases: 0,
      passedCount: 0,
      figure: '',
      notTried: `${file.path} needs ${missing(file).join(' and ')}`,
    })),
  )

/** Runs those test files, and answers whether all of them passed. */
function passed(config: string, chosen: readonly string[], ...flags: readonly string[]): boolean {
  if (chosen.length === 0) return true
  const names = chosen.map((each) => join(root, 'test', each))
  const argv = [
    vitest,
    'run',
    '--config',
    join(root, 'test', config),
    '--reporter',
    'dot',
    ...flags,
    ...names,
  ]
  const env = { ...process.env, REFCHECK_RESILIENCE: figures, ...(values.whole && { REFCHECK_WHOLE: '1' }) }
  return spawnSync(process.execPath, argv, { cwd: root, env, stdio: ['ignore', 2, 2] }).status === 0
}

writeFileSync(figures, '')
const isSystems = (file: string): boolean => file.startsWith('system/')
const paths = files.filter((file) => missing(file).length === 0).map((file) => file.path)
const isWhole = [
  passed(
    'vitest.config.ts',
    paths.filter((each) => !isSystems(each)),
  ),
  passed('system/vitest.config.ts', paths.filter(isSystems), '--no-file-parallelism'),
].every(Boolean)
const recorded = readFileSync(figures, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Recorded)
  .concat(untried)
rmSync(folder, { recursive: true })

const rows = wanted.map(([id, { fault, right }]) => {
  const own = recorded.filter(({ row }) => row === id)
  const cases = own.reduce((sum, each) => sum + each.cases, 0)
  const held = own.reduce((sum, each) => sum + each.passedCount, 0)
  const reasons = own.flatMap(({ notTried }) => (notTried === undefined ? [] : [notTried]))
  const figure = own.filter((each) => each.cases > 0).map((each) => each.figure)
  const isShort = held < cases || (cases === 0 && reasons.length === 0)
  const verdict = isShort
    ? 'FELL SHORT'
    : cases === 0
      ? 'not tried'
      : reasons.length > 0
        ? 'held in part'
        : 'held'
  const remarks = [...figure, ...reasons.map((why) => `not tried: ${why}`)]
  return {
    isShort,
    cells: [fault, right, String(cases), verdict, remarks[0] ?? 'no figure'],
    more: remarks.slice(1),
  }
})
printTable([
  ['fault or attack', 'right', 'cases', 'verdict', 'figure'],
  ...rows.flatMap(({ cells, more }) => [cells, ...more.map((each) => ['', '', '', '', each])]),
])
const short = rows.filter(({ isShort }) => isShort).length
const cases = recorded
  .filter(({ row }) => wanted.some(([id]) => id === row))
  .reduce((sum, each) => sum + each.cases, 0)
console.log(`${rows.length} rows, ${cases} cases, ${short} fell short${isWhole ? '' : '; a test failed'}`)
if (short > 0 || !isWhole) process.exitCode = 1
