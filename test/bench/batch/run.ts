/*
 * Measures how many rows a second `batch run` orders with a quota that is never exceeded, compared with a bare loop that
 * POSTs each row on a new connection and flushes as often. Both use one sandbox process, in the same run. The duration
 * of the program is that of its whole process, and the duration of the loop excludes the start of its process, so with
 * few rows the start of the program is a large part. If FOLDER is another build of this program, for example an
 * earlier one, the two builds are compared too.
 *
 * Run: npm run build && node test/bench/batch/run.ts [ROWS [ROUNDS [FOLDER]]]
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { writePeopleFile } from '../../harness/batch-file.ts'
import { type Figure, measureInPairs, median, medianRatio, printFigures } from '../measuring.ts'
import { createHome, measureProcess, startSandboxProcess } from '../program.ts'

const [rowCount = 1000, rounds = 11] = process.argv.slice(2, 4).map(Number)
const otherBuild = process.argv[4]
const bareLoopProgram = new URL('bare.ts', import.meta.url).pathname

const home = createHome()
const sandbox = await startSandboxProcess(home)
const env = { ...home.env, ...sandbox.env }
let fileCount = 0

/** Writes a file of people without an earlier order, and returns its path. */
function writeNewPeopleFile(): string {
  fileCount += 1
  const emails = Array.from({ length: rowCount }, (_, index) => `person${index}.of${fileCount}@example.com`)
  return writePeopleFile(home.folder, emails, `people-${fileCount}.csv`)
}

function measureBatchRun(file: string, ...flags: string[]): number {
  return measureCommand(['batch', 'run', file, '--package', '102', '--yes', ...flags])
}

function measureCommand(
  argv: readonly string[],
  otherEnv: Record<string, string> = {},
  program: string = home.program,
): number {
  return measureProcess(process.execPath, [program, ...argv], { ...env, ...otherEnv }, home.folder)
}

/** Creates folders for separate settings and a separate store, and returns the variables that select them. */
function createSeparateFolders(name: string) {
  const parent = join(home.folder, name)
  const folders = { REFCHECK_CONFIG_DIR: join(parent, 'config'), REFCHECK_DATA_DIR: join(parent, 'data') }
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folders
}

/** Measures the ratio of the rows a second to those of another build. */
async function compareWithBuild(build: string): Promise<Figure> {
  const program = join(resolve(build), 'bin', 'run.js')
  const folders = createSeparateFolders('other')
  const pairs = await measureInPairs(
    rounds,
    () => measureBatchRun(writeNewPeopleFile()),
    () =>
      measureCommand(['batch', 'run', writeNewPeopleFile(), '--package', '102', '--yes'], folders, program),
  )
  return { label: `rows a second, to the build in ${build}`, value: 1 / medianRatio(pairs), atLeast: 0.9 }
}

/**
 * Creates a store without an attempt log: files are at the paths of the log's folders, and `store check
 * --without-list` accepts that.
 */
function createStoreWithoutLog(): Record<string, string> {
  const folders = createSeparateFolders('unlisted')
  writeFileSync(join(folders.REFCHECK_CONFIG_DIR, 'attempts'), '')
  writeFileSync(join(folders.REFCHECK_DATA_DIR, 'ledger.sqlite.attempts'), '')
  measureCommand(['store', 'check', '--without-list'], folders)
  return folders
}

function measureBareLoop(): number {
  const argv = [bareLoopProgram, writeNewPeopleFile()]
  return Number(execFileSync(process.execPath, argv, { env, cwd: home.folder, encoding: 'utf8' }))
}

try {
  const startTimes: number[] = []
  const pairs = await measureInPairs(
    rounds,
    () => {
      const file = writeNewPeopleFile()
      startTimes.push(measureBatchRun(file, '--dry-run'))
      return measureBatchRun(file)
    },
    measureBareLoop,
  )
  const startMs = median(startTimes)
  const envWithoutLog = createStoreWithoutLog()
  const pairsWithoutLog = await measureInPairs(
    rounds,
    () => measureBatchRun(writeNewPeopleFile()),
    () => measureCommand(['batch', 'run', writeNewPeopleFile(), '--package', '102', '--yes'], envWithoutLog),
  )
  const perSecond = (index: 0 | 1): number =>
    Math.round((rowCount / median(pairs.map((pair) => pair[index]))) * 1000)
  printFigures([
    {
      label: `rows a second of ${rowCount}, to the bare loop`,
      value: 1 / medianRatio(pairs.map(([ours, peer]) => [ours - startMs, peer])),
      atLeast: 0.6,
      note: `without the start and the check of the file, ${Math.round(startMs)} ms (--dry-run)`,
    },
    {
      label: `the same of the whole process`,
      value: 1 / medianRatio(pairs),
      note: `${perSecond(0)}/s to ${perSecond(1)}/s`,
    },
    {
      label: `rows a second with the attempt log, to the same without it`,
      value: 1 / medianRatio(pairsWithoutLog),
      atLeast: 0.9,
    },
    ...(otherBuild === undefined ? [] : [await compareWithBuild(otherBuild)]),
  ])
} finally {
  await sandbox.stop()
  home.remove()
}
