/*
 * Runs the tests of every fault and attack that the program must survive, and prints a table of their results.
 * Run: npm run resilience [-- --only PART_OF_A_ROW] [--whole]
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'

import { printTable } from '../bench/measuring.ts'
import type { RecordedRow } from '../harness/faults/fault-row.ts'
import { listRecordingFiles } from './recording.ts'
import { faults } from './rows.ts'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, whole: { type: 'boolean', default: false } },
})
const root = join(import.meta.dirname, '..', '..')
const selectedFaults = Object.entries(faults).filter(([id]) => id.includes(values.only))
const files = listRecordingFiles().filter(({ rows }) => selectedFaults.some(([id]) => rows.includes(id)))
const folder = mkdtempSync(join(tmpdir(), 'refcheck-resilience-'))
const figuresFile = join(folder, 'figures')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')

const path = (process.env['PATH'] ?? '').split(delimiter)
const isAvailable = (need: string): boolean =>
  need === 'root' ? process.getuid?.() === 0 : path.some((each) => existsSync(join(each, need)))
/** Returns the needs of a test file that this machine does not have. */
const listMissing = ({ needs }: { needs: string[] }): string[] => needs.filter((need) => !isAvailable(need))
const untriedRows: RecordedRow[] = files
  .filter((file) => listMissing(file).length > 0)
  .flatMap((file) =>
    file.rows.map((row): RecordedRow => ({
      row: row as RecordedRow['row'],
      cases: 0,
      passedCount: 0,
      figure: '',
      notTried: `${file.path} needs ${listMissing(file).join(' and ')}`,
    })),
  )

/** Runs test files, and returns whether all of them passed. */
function runTests(config: string, chosen: readonly string[], ...flags: readonly string[]): boolean {
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
  const env = {
    ...process.env,
    REFCHECK_RESILIENCE: figuresFile,
    ...(values.whole && { REFCHECK_WHOLE: '1' }),
  }
  return spawnSync(process.execPath, argv, { cwd: root, env, stdio: ['ignore', 2, 2] }).status === 0
}

writeFileSync(figuresFile, '')
const isSystemTest = (file: string): boolean => file.startsWith('system/')
const paths = files.filter((file) => listMissing(file).length === 0).map((file) => file.path)
const hasPassed = [
  runTests(
    'vitest.config.ts',
    paths.filter((each) => !isSystemTest(each)),
  ),
  runTests('system/vitest.config.ts', paths.filter(isSystemTest), '--no-file-parallelism'),
].every(Boolean)
const recorded = readFileSync(figuresFile, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as RecordedRow)
  .concat(untriedRows)
rmSync(folder, { recursive: true })

const rows = selectedFaults.map(([id, { fault, expectedBehaviour }]) => {
  const results = recorded.filter(({ row }) => row === id)
  const cases = results.reduce((sum, each) => sum + each.cases, 0)
  const passedCount = results.reduce((sum, each) => sum + each.passedCount, 0)
  const reasons = results.flatMap(({ notTried }) => (notTried === undefined ? [] : [notTried]))
  const figure = results.filter((each) => each.cases > 0).map((each) => each.figure)
  const hasFailed = passedCount < cases || (cases === 0 && reasons.length === 0)
  const verdict = hasFailed
    ? 'FELL SHORT'
    : cases === 0
      ? 'not tried'
      : reasons.length > 0
        ? 'held in part'
        : 'held'
  const remarks = [...figure, ...reasons.map((why) => `not tried: ${why}`)]
  return {
    hasFailed,
    cells: [fault, expectedBehaviour, String(cases), verdict, remarks[0] ?? 'no figure'],
    otherRemarks: remarks.slice(1),
  }
})
printTable([
  ['fault or attack', 'right', 'cases', 'verdict', 'figure'],
  ...rows.flatMap(({ cells, otherRemarks }) => [
    cells,
    ...otherRemarks.map((each) => ['', '', '', '', each]),
  ]),
])
const failedRows = rows.filter(({ hasFailed }) => hasFailed).length
const cases = recorded
  .filter(({ row }) => selectedFaults.some(([id]) => id === row))
  .reduce((sum, each) => sum + each.cases, 0)
console.log(
  `${rows.length} rows, ${cases} cases, ${failedRows} fell short${hasPassed ? '' : '; a test failed'}`,
)
if (failedRows > 0 || !hasPassed) process.exitCode = 1
