/*
 * How many rows a second `batch run` orders with the quota out of the way, compared with a bare loop in the same run
 * that POSTs each row on a fresh connection and flushes as often; both against one sandbox process. The program's
 * time is that of its whole process, the loop's is that of the loop alone, so with few rows the start of the process
 * is a large part of it. With the folder of another build of this program, an earlier one say, the two are compared
 * as well.
 *
 * Run: npm run build && node test/bench/batch/run.ts [ROWS [ROUNDS [FOLDER]]]
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { peopleFile } from '../../harness/batch-file.ts'
import { type Figure, inPairs, median, medianRatio, printFigures } from '../measuring.ts'
import { home, milliseconds, sandboxProcess } from '../program.ts'

const [rows = 1000, rounds = 11] = process.argv.slice(2, 4).map(Number)
const otherBuild = process.argv[4]
const bare = new URL('bare.ts', import.meta.url).pathname

const here = home()
const sandbox = await sandboxProcess(here)
const env = { ...here.env, ...sandbox.env }
let files = 0

/** People without an earlier order. */
function people(): string {
  files += 1
  const emails = Array.from({ length: rows }, (_, at) => `person${at}.of${files}@example.com`)
  return peopleFile(here.folder, emails, `people-${files}.csv`)
}

function batchRun(file: string, ...flags: string[]): number {
  return run(['batch', 'run', file, '--package', '102', '--yes', ...flags])
}

function run(
  argv: readonly string[],
  more: Record<string, string> = {},
  program: string = here.program,
): number {
  return milliseconds(process.execPath, [program, ...argv], { ...env, ...more }, here.folder)
}

/** Settings and a store of their own. */
function apart(name: string) {
  const other = join(here.folder, name)
  const folders = { REFCHECK_CONFIG_DIR: join(other, 'config'), REFCHECK_DATA_DIR: join(other, 'data') }
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folders
}

/** Rows a second to those of another build. */
async function toOtherBuild(build: string): Promise<Figure> {
  const program = join(resolve(build), 'bin', 'run.js')
  const folders = apart('other')
  const pairs = await inPairs(
    rounds,
    () => batchRun(people()),
    () => run(['batch', 'run', people(), '--package', '102', '--yes'], folders, program),
  )
  return { what: `rows a second, to the build in ${build}`, value: 1 / medianRatio(pairs), atLeast: 0.9 }
}

/**
 * Creates a store without an attempt log: files are at the paths of the log's folders, and `store check
 * --without-list` accepts that.
 */
function unlisted(): Record<string, string> {
  const folders = apart('unlisted')
  writeFileSync(join(folders.REFCHECK_CONFIG_DIR, 'attempts'), '')
  writeFileSync(join(folders.REFCHECK_DATA_DIR, 'ledger.sqlite.attempts'), '')
  run(['store', 'check', '--without-list'], folders)
  return folders
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
  const without = unlisted()
  const byList = await inPairs(
    rounds,
    () => batchRun(people()),
    () => run(['batch', 'run', people(), '--package', '102', '--yes'], without),
  )
  const perSecond = (at: 0 | 1): number => Math.round((rows / median(pairs.map((pair) => pair[at]))) * 1000)
  printFigures([
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
    {
      what: `rows a second with the list of attempts outside the store, to the same without it`,
      value: 1 / medianRatio(byList),
      atLeast: 0.9,
    },
    ...(otherBuild === undefined ? [] : [await toOtherBuild(otherBuild)]),
  ])
} finally {
  await sandbox.stop()
  here.remove()
}
