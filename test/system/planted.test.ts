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

import { faultRow } from '../harness/faults/fault-row.ts'
import { emails, peopleFile } from '../harness/batch-file.ts'
import { start } from '../harness/process.ts'
import { shareOf } from '../harness/share.ts'
import { temporaryFolder, type World, world } from '../harness/world.ts'

const fault = faultRow('planted', 'written outside, foreign code run or hung')

/** Of no account that these tests run as. */
const foreignUid = 54_321
/** Ends what waits for the other end of a pipe. */
const hungMs = 20_000

interface Step {
  argv: string[]
  stdin?: string
}

/** Command lines that, between them, write everything that the program writes. */
function steps({ env }: World): Step[] {
  const login = ['auth', 'login', '--profile', 'work', '--with-key', '--insecure-storage']
  const whose = ['--base-url', env['REFCHECK_BASE_URL'] ?? '', '--email', env['REFCHECK_USER_EMAIL'] ?? '']
  return [
    { argv: [...login, ...whose], stdin: env['REFCHECK_API_KEY'] ?? '' },
    { argv: ['config', 'set', 'package', '102'] },
    { argv: ['batch', 'validate', 'people.csv', '--errors', 'errors.csv'] },
    { argv: ['batch', 'run', 'people.csv', '--package', '102', '--yes', '--results', 'results.csv'] },
    { argv: ['schema', 'template', '102', '--output', 'template.csv'] },
    { argv: ['report', 'sync', '--output', 'reports'] },
    { argv: ['store', 'backup', 'backup.sqlite'] },
  ]
}

async function ran(here: World, { argv, stdin }: Step): Promise<{ hung: boolean; stderr: string }> {
  const { REFCHECK_API_KEY: _, ...env } = here.env
  const run = start(argv, stdin === undefined ? here.env : env, { cwd: here.folder, stdin })
  const timer = setTimeout(() => run.child.kill('SIGKILL'), hungMs)
  const end = await run.ended
  clearTimeout(timer)
  return { hung: end === 'SIGKILL', stderr: run.stderr() }
}

/** Everything below a folder, folders too, by path from it. */
const below = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()

/** What an attacker may replace a file or folder with; `victim` is what must stay as it is. */
const plants: Record<
  string,
  { fits: 'file' | 'folder' | 'both'; plant: (path: string, victim: string) => void }
> = {
  'a link to a file': { fits: 'file', plant: (path, victim) => symlinkSync(join(victim, 'file'), path) },
  // One of one's own is how people keep their settings elsewhere.
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

/** What is wrong after a step met something planted at `path`; undefined where nothing is. */
async function met(here: World, step: Step, path: string, victim: string): Promise<string | undefined> {
  const { hung, stderr } = await ran(here, step)
  if (hung) return 'hung'
  const left = lstatSync(path, { throwIfNoEntry: false })
  const isTheirs = left?.uid === foreignUid
  const isTouched =
    readFileSync(join(victim, 'file'), 'utf8') !== 'theirs' ||
    readdirSync(join(victim, 'folder')).length > 0 ||
    (isTheirs && left.isDirectory() && readdirSync(path).length > 0) ||
    (isTheirs && left.isFile() && readFileSync(path, 'utf8') !== 'theirs')
  if (isTouched) return 'touched'
  return /internal error|^ +at /m.test(stderr) ? stderr : undefined
}

test('whatever is planted where the program writes is neither followed nor waited for', async () => {
  if (process.getuid?.() !== 0) return fault.notTried('only root can give files to another account')
  const here = await world()
  peopleFile(here.folder, emails(2))
  const aside = temporaryFolder()
  const [before, after, victim] = ['before', 'after', 'victim'].map((name) => join(aside, name)) as [
    string,
    string,
    string,
  ]
  /** The session's folder as it stood. */
  const put = (from: string, to: string): void => {
    rmSync(to, { recursive: true, force: true })
    cpSync(from, to, { recursive: true })
  }
  const wrong: string[] = []
  let cases = 0
  for (const step of steps(here)) {
    const known = new Set(below(here.folder))
    put(here.folder, before)
    expect((await ran(here, step)).stderr).not.toMatch(/^Error/m)
    put(here.folder, after)
    const made = below(after).filter((path) => !known.has(path) && !path.endsWith('.pdf'))
    const all = made.flatMap((path) => {
      const kind = lstatSync(join(after, path)).isDirectory() ? 'folder' : 'file'
      const fitting = Object.entries(plants).filter(([, { fits }]) => fits === kind || fits === 'both')
      return fitting.map(([name, { plant }]) => ({ path, name, plant }))
    })
    for (const { path, name, plant } of shareOf(all, 6)) {
      cases += 1
      put(before, here.folder)
      rmSync(victim, { recursive: true, force: true })
      mkdirSync(join(victim, 'folder'), { recursive: true })
      writeFileSync(join(victim, 'file'), 'theirs')
      const target = join(here.folder, path)
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
      plant(target, victim)
      const what = await met(here, step, target, victim)
      if (what !== undefined) wrong.push(`${step.argv.slice(0, 2).join(' ')}: ${name} as ${path}: ${what}`)
    }
    put(after, here.folder)
  }
  fault.cases(cases, cases - wrong.length)
  expect(wrong).toEqual([])
}, 300_000)
