/*
 * How many rows a second `batch run` orders with the quota out of the way, beside a bare loop in the same run that
 * POSTs each row on a fresh connection and flushes a line for it; both against one sandbox process. The program's
 * time is that of its whole process, the loop's is that of the loop alone, so of few rows the start takes a large part.
 * Run: npm run build && node test/bench/batch/run.ts [ROWS [ROUNDS]]
 */
import { execFileSync } from 'node:child_process'

import { peopleFile } from '../../harness/batch-file.ts'
import { inPairs, median, medianRatio, tell } from '../measuring.ts'
import { home, milliseconds, sandboxProcess } from '../program.ts'

const [rows = 1000, rounds = 11] = process.argv.slice(2).map(Number)
const bare = new URL('bare.ts', import.meta.url).pathname

const here = home()
const sandbox = await sandboxProcess(here)
const env = { ...here.env, ...sandbox.env }
let files = 0

/** People nobody ordered before. */
function people(): string {
  files += 1
  const emails = Array.from({ length: rows }, (_, at) => `person${at}.of${files}@example.com`)
  return peopleFile(here.folder, emails, `people-${files}.csv`)
}

function batchRun(file: string, ...flags: string[]): number {
  const argv = [here.program, 'batch', 'run', file, '--package', '102', '--yes', ...flags]
  return milliseconds(process.execPath, argv, env, here.folder)
}

function loop(): number {
  const argv = [bare, people()]
  return Number(execFileSync(process.execPath, argv, { env, cwd: here.folder, encoding: 'utf8' }))
}

try {
  const starts: number[] = []
  const pairs = await inPairs(
    rounds,
    () => {
      const file = people()
      starts.push(batchRun(file, '--dry-run'))
      return batchRun(file)
    },
    loop,
  )
  const start = median(starts)
  const perSecond = (at: 0 | 1): number => Math.round((rows / median(pairs.map((pair) => pair[at]))) * 1000)
  tell([
    {
      what: `rows a second of ${rows}, to the bare loop`,
      value: 1 / medianRatio(pairs.map(([own, peer]) => [own - start, peer])),
      atLeast: 0.6,
      note: `without the start and the check of the file, ${Math.round(start)} ms (--dry-run)`,
    },
    {
      what: `the same of the whole process`,
      value: 1 / medianRatio(pairs),
      note: `${perSecond(0)}/s to ${perSecond(1)}/s`,
    },
  ])
} finally {
  await sandbox.stop()
  here.remove()
}
