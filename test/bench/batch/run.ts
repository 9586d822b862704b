/*
 * How many rows a second `batch run` orders with the quota out of the way, beside a bare loop in the same run that
 * POSTs each row on a fresh connection and flushes a line for it; both against one sandbox process. The program's
 * time is that of its whole process, the loop's is that of the loop alone, so of few rows the start takes a large part.
 * Run: npm run build && node test/bench/batch/run.ts [ROWS ROUNDS]
 */
import { execFileSync } from 'node:child_process'

import { peopleFile } from '../../harness/batch-file.ts'
import { type Figure, inPairs, median, medianRatio, tell } from '../measuring.ts'
import { home, milliseconds, sandboxProcess } from '../program.ts'

const [askedRows, askedRounds] = process.argv.slice(2).map(Number)
const bare = new URL('bare.ts', import.meta.url).pathname

const here = home()
const sandbox = await sandboxProcess(here)
const env = { ...here.env, ...sandbox.env }
let files = 0

/** People nobody ordered before. */
function people(rows: number): string {
  files += 1
  const emails = Array.from({ length: rows }, (_, at) => `person${at}.of${files}@example.com`)
  return peopleFile(here.folder, emails, `people-${files}.csv`)
}

function batchRun(file: string, ...flags: string[]): number {
  const argv = [here.program, 'batch', 'run', file, '--package', '102', '--yes', ...flags]
  return milliseconds(process.execPath, argv, env, here.folder)
}

function loop(rows: number): number {
  const argv = [bare, people(rows)]
  return Number(execFileSync(process.execPath, argv, { env, cwd: here.folder, encoding: 'utf8' }))
}

async function measured(rows: number, rounds: number, wholeAtLeast?: number): Promise<Figure[]> {
  const starts: number[] = []
  const pairs = await inPairs(
    rounds,
    () => {
      const file = people(rows)
      starts.push(batchRun(file, '--dry-run'))
      return batchRun(file)
    },
    () => loop(rows),
  )
  const start = median(starts)
  const perSecond = (at: 0 | 1): number => Math.round((rows / median(pairs.map((pair) => pair[at]))) * 1000)
  return [
    {
      what: `rows a second of ${rows}, whole process, to the bare loop`,
      value: 1 / medianRatio(pairs),
      atLeast: wholeAtLeast,
      note: `${perSecond(0)}/s to ${perSecond(1)}/s`,
    },
    {
      what: `of ${rows}, once the file is read and checked`,
      value: 1 / medianRatio(pairs.map(([own, peer]) => [own - start, peer])),
      atLeast: 0.6,
      note: `which takes ${Math.round(start)} ms (--dry-run)`,
    },
  ]
}

try {
  tell(
    askedRows === undefined
      ? [...(await measured(1000, 5)), ...(await measured(3000, 3, 0.6))]
      : await measured(askedRows, askedRounds ?? 5),
  )
} finally {
  await sandbox.stop()
  here.remove()
}
