import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { startProgram } from '../harness/process.ts'
import { sampleOf } from '../harness/share.ts'
import { temporaryFolder, type World, world } from '../harness/world.ts'

const faultRow = recordForFaultTable('planted', {
  mustNotHappen: 'written outside, foreign code run or hung',
})

/** The uid of another account than that of the tests. */
const foreignUid = 54_321
/** Maximum duration of a step: a program that waits for the other end of a pipe is killed. */
const maxStepMs = 20_000

interface Step {
  argv: string[]
  stdin?: string
}

/** Returns command lines that together write all kinds of files that the program writes. */
function createSteps({ env }: World): Step[] {
  const login = ['auth', 'login', '--profile', 'work', '--with-key', '--insecure-storage']
  const serviceFlags = [
    '--base-url',
    env['REFCHECK_BASE_URL'] ?? '',
    '--email',
    env['REFCHECK_USER_EMAIL'] ?? '',
  ]
  return [
    { argv: [...login, ...serviceFlags], stdin: env['REFCHECK_API_KEY'] ?? '' },
    { argv: ['config', 'set', 'package', '102'] },
    { argv: ['batch', 'validate', 'people.csv', '--errors', 'errors.csv'] },
    { argv: ['batch', 'run', 'people.csv', '--package', '102', '--yes', '--results', 'results.csv'] },
    { argv: ['schema', 'template', '102', '--output', 'template.csv'] },
    { argv: ['report', 'sync', '--output', 'reports'] },
    { argv: ['store', 'backup', 'backup.sqlite'] },
  ]
}

async function runStep(here: World, { argv, stdin }: Step): Promise<{ isHung: boolean; stderr: string }> {
  const { REFCHECK_API_KEY: _, ...env } = here.env
  const run = startProgram(argv, stdin === undefined ? here.env : env, { cwd: here.folder, stdin })
  const timer = setTimeout(() => run.child.kill('SIGKILL'), maxStepMs)
  const end = await run.ended
  clearTimeout(timer)
  return { isHung: end === 'SIGKILL', stderr: run.stderr() }
}

/** Returns the relative paths of all files and folders below a folder. */
const pathsBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()

/** Objects with which an attacker may replace a file or folder. The folder `victim` must not change. */
const plants: Record<
  string,
  { fits: 'file' | 'folder' | 'both'; plant: (path: string, victim: string) => void }
> = {
  'a link to a file': { fits: 'file', plant: (path, victim) => symlinkSync(join(victim, 'file'), path) },
  // A link of the user's own account is allowed, because users move their settings so.
  'another account’s link to a folder': {
    fits: 'folder',
    plant(path, victim) {
      symlinkSync(join(victim, 'folder'), path)
      lchownSync(path, foreignUid, foreignUid)
    },
  },
  'a FIFO': { fits: 'both', plant: (path) => void execFileSync('mkfifo', [path]) },
  'a file of another account': {
    fits: 'file',
    plant(path) {
      writeFileSync(path, 'theirs', { mode: 0o666 })
      chownSync(path, foreignUid, foreignUid)
    },
  },
  'a folder of another account': {
    fits: 'folder',
    plant(path) {
      mkdirSync(path)
      chmodSync(path, 0o777)
      chownSync(path, foreignUid, foreignUid)
    },
  },
}

/** Runs a step with a planted object at `path`. Returns the failure, or undefined. */
async function findFailure(
  here: World,
  step: Step,
  path: string,
  victim: string,
): Promise<string | undefined> {
  const { isHung, stderr } = await runStep(here, step)
  if (isHung) return 'hung'
  const found = lstatSync(path, { throwIfNoEntry: false })
  const isTheirs = found?.uid === foreignUid
  const isTouched =
    readFileSync(join(victim, 'file'), 'utf8') !== 'theirs' ||
    readdirSync(join(victim, 'folder')).length > 0 ||
    (isTheirs && found.isDirectory() && readdirSync(path).length > 0) ||
    (isTheirs && found.isFile() && readFileSync(path, 'utf8') !== 'theirs')
  if (isTouched) return 'touched'
  return /internal error|^ +at /m.test(stderr) ? stderr : undefined
}

test('planted objects at paths that the program writes are neither followed nor waited for', async () => {
  if (process.getuid?.() !== 0) return faultRow.markNotTried('only root can give files to another account')
  const here = await world()
  writePeopleFile(here.folder, createEmails(2))
  const otherFolder = temporaryFolder()
  const [before, after, victim] = ['before', 'after', 'victim'].map((name) => join(otherFolder, name)) as [
    string,
    string,
    string,
  ]
  /** Replaces a folder by a copy of another one. */
  const replaceFolder = (from: string, to: string): void => {
    rmSync(to, { recursive: true, force: true })
    cpSync(from, to, { recursive: true })
  }
  const failures: string[] = []
  let cases = 0
  for (const step of createSteps(here)) {
    const existing = new Set(pathsBelow(here.folder))
    replaceFolder(here.folder, before)
    expect((await runStep(here, step)).stderr).not.toMatch(/^Error/m)
    replaceFolder(here.folder, after)
    const created = pathsBelow(after).filter((path) => !existing.has(path) && !path.endsWith('.pdf'))
    const all = created.flatMap((path) => {
      const kind = lstatSync(join(after, path)).isDirectory() ? 'folder' : 'file'
      const fitting = Object.entries(plants).filter(([, { fits }]) => fits === kind || fits === 'both')
      return fitting.map(([name, { plant }]) => ({ path, name, plant }))
    })
    for (const { path, name, plant } of sampleOf(all, 6)) {
      cases += 1
      replaceFolder(before, here.folder)
      rmSync(victim, { recursive: true, force: true })
      mkdirSync(join(victim, 'folder'), { recursive: true })
      writeFileSync(join(victim, 'file'), 'theirs')
      const target = join(here.folder, path)
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
      plant(target, victim)
      const failure = await findFailure(here, step, target, victim)
      if (failure !== undefined)
        failures.push(`${step.argv.slice(0, 2).join(' ')}: ${name} as ${path}: ${failure}`)
    }
    replaceFolder(after, here.folder)
  }
  faultRow.countCases(cases, cases - failures.length)
  expect(failures).toEqual([])
}, 300_000)
