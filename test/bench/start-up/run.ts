/*
 * How soon the built program answers, as whole processes beside bare node, interleaved in one run.
 * Run: node test/bench/start-up/run.ts
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const program = join(import.meta.dirname, '..', '..', '..', 'bin', 'run.js')
const rounds = 15

const folder = mkdtempSync(join(tmpdir(), 'refcheck-bench-'))
// The compile cache is kept where the store is, once that folder is there.
mkdirSync(join(folder, 'data'), { mode: 0o700 })
const env = {
  PATH: process.env['PATH'] ?? '',
  REFCHECK_CONFIG_DIR: join(folder, 'config'),
  REFCHECK_DATA_DIR: join(folder, 'data'),
}

const cases: [what: string, command: string, argv: string[], goal: string][] = [
  ['bare node', process.execPath, ['-e', '0'], ''],
  ['--version', process.execPath, [program, '--version'], '1.1'],
  ['--help', process.execPath, [program, '--help'], '1.1'],
  ['packages list --help', process.execPath, [program, 'packages', 'list', '--help'], '1.1'],
  ['config list', process.execPath, [program, 'config', 'list'], '2.0'],
  ['batch list', process.execPath, [program, 'batch', 'list'], '3.0'],
  ['curl --version', 'curl', ['--version'], ''],
  ['python3 -c pass', 'python3', ['-c', 'pass'], ''],
]

function milliseconds(command: string, argv: readonly string[]): number | undefined {
  const startedAt = performance.now()
  const { error } = spawnSync(command, argv, { env, stdio: 'ignore' })
  return error === undefined ? performance.now() - startedAt : undefined
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

try {
  const times = new Map<string, number[]>(cases.map(([what]) => [what, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [what, command, argv] of cases) {
      const took = milliseconds(command, argv)
      // The first round fills the cache.
      if (round > 0 && took !== undefined) times.get(what)?.push(took)
    }
  }
  const floor = median(times.get('bare node') ?? [])
  console.table(
    cases.map(([what, , , goal]) => {
      const ms = median(times.get(what) ?? [])
      return { what, ms: ms.toFixed(0), 'to bare node': (ms / floor).toFixed(2), goal }
    }),
  )
} finally {
  rmSync(folder, { recursive: true })
}
