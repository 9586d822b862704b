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
import { basename, dirname, join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { faultRow } from '../harness/faults/fault-row.ts'
import { emails, peopleFile } from '../harness/batch-file.ts'
import { start } from '../harness/process.ts'
import { type World, world } from '../harness/world.ts'

const fault = faultRow('planted', 'written outside, foreign code run or hung')

/** Of no account that these tests run as. */
const stranger = 54_321
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

/** What an attacker may put in the place of a file or folder; `victim` is what must stay as it is. */
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
      lchownSync(path, stranger, stranger)
    },
  },
  'a FIFO': { fits: 'both', plant: (path) => void execFileSync('mkfifo', [path]) },
  'a file of another account': {
    fits: 'file',
    plant(path) {
      writeFileSync(path, 'theirs', { mode: 0o666 })
      chownSync(path, stranger, stranger)
    },
  },
  'a folder of another account': {
    fits: 'folder',
    plant(path) {
      mkdirSync(path)
      chmodSync(path, 0o777)
      chownSync(path, stranger, stranger)
    },
  },
}

test('whatever is planted where the program writes is neither followed nor waited for', async () => {
  if (process.getuid?.() !== 0) return fault.notTried('only root can give files to another account')
  const here = await world()
  for (const { request_id } of here.sandbox.requests()) here.sandbox.advanceRequest(request_id)
  peopleFile(here.folder, emails(2))
  const saved = join(dirname(here.folder), `${basename(here.folder)}-before`)
  onTestFinished(() => rmSync(saved, { recursive: true, force: true }))
  const wrong: string[] = []
  let cases = 0
  for (const step of steps(here)) {
    const before = new Set(below(here.folder))
    rmSync(saved, { recursive: true, force: true })
    cpSync(here.folder, saved, { recursive: true })
    expect((await ran(here, step)).stderr).not.toMatch(/^Error/m)
    const made = below(here.folder).filter((path) => !before.has(path) && !/\.pdf$/.test(path))
    const state = `${saved}-after`
    cpSync(here.folder, state, { recursive: true })
    for (const path of made) {
      const kind = lstatSync(join(state, path)).isDirectory() ? 'folder' : 'file'
      for (const [name, { fits, plant }] of Object.entries(plants)) {
        if (fits !== kind && fits !== 'both') continue
        cases += 1
        rmSync(here.folder, { recursive: true })
        cpSync(saved, here.folder, { recursive: true })
        const victim = `${saved}-victim`
        mkdirSync(join(victim, 'folder'), { recursive: true })
        writeFileSync(join(victim, 'file'), 'theirs')
        mkdirSync(dirname(join(here.folder, path)), { recursive: true, mode: 0o700 })
        plant(join(here.folder, path), victim)
        const { hung, stderr } = await ran(here, step)
        const left = lstatSync(join(here.folder, path), { throwIfNoEntry: false })
        const isTouched =
          readFileSync(join(victim, 'file'), 'utf8') !== 'theirs' ||
          readdirSync(join(victim, 'folder')).length > 0 ||
          (name.endsWith('another account') &&
            left?.uid === stranger &&
            kind === 'folder' &&
            readdirSync(join(here.folder, path)).length > 0) ||
          (name === 'a file of another account' &&
            left?.uid === stranger &&
            readFileSync(join(here.folder, path), 'utf8') !== 'theirs')
        const isOdd = /internal error|^ +at /m.test(stderr)
        if (hung || isTouched || isOdd)
          wrong.push(
            `${step.argv.slice(0, 2).join(' ')}: ${name} as ${path}${hung ? ', hung' : ''}${isTouched ? ', touched' : ''}${isOdd ? `, ${stderr}` : ''}`,
          )
        rmSync(victim, { recursive: true })
      }
    }
    rmSync(here.folder, { recursive: true })
    cpSync(state, here.folder, { recursive: true })
    rmSync(state, { recursive: true })
  }
  fault.cases(cases, cases - wrong.length)
  expect(wrong).toEqual([])
}, 300_000)
