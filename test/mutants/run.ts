/*
 * Breaks ordering, matching, age, settling and the runner in every small way, and tells which of that no test notices.
 * Run: npm run mutants [-- --share 0.05] [--seed 1] [--only PART_OF_A_PATH] [--rules | --quick] [--tests PART_OF_A_PATH]
 *   [--store PostgreSQL]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { seeded } from '../harness/seeded-random.ts'
import { instrumented } from './mutate.ts'
import type { Plan, Told } from './plan.ts'
import { changedBy, plants } from './planted.ts'
import { type Planted, report } from './report.ts'
import { type Backend, derivedModules, root, targets, testStages } from './targets.ts'

export interface Mutant {
  path: string
  line: number
  /** The whole line as it is. */
  whole: string
  /** The part that was changed, and what became of it. */
  from: string
  to: string
  /** What killed it: a test's name; undefined where nothing did. */
  killedBy: string | undefined
}

/** A worker that says nothing for so long hangs, and so does the mutant. */
const longestSilenceMs = 60_000
/** Before its first word it may build the program, on a machine with others at work. */
const longestStartMs = 240_000
/** Tests of the rooms above the rules that a mutant is tried with at most: short ones, and so many that go deep. */
const leastShort = 8
/** More short ones as long as they take no more than this together. */
const shortMs = 10_000
const mostDeep = 14
/** A longer test is passed over: on a machine with others at work it would time out by itself. */
const longestTestMs = 5_000

/** Memory is a disk too, whose fsync costs nothing. */
const quickDisk = existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}

const { values } = parseArgs({
  options: {
    share: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    rules: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    tests: { type: 'string', default: '' },
    store: { type: 'string', default: 'SQLite' },
  },
})
const store: Backend = values.store === 'PostgreSQL' ? 'PostgreSQL' : 'SQLite'
const folder = mkdtempSync(join(tmpdir(), 'refcheck-mutants-'))
const sources: Plan['sources'] = []
const mutants: Mutant[] = []
for (const path of [...targets(store), ...derivedModules(store)]) {
  const source = readFileSync(join(root, path), 'utf8')
  const { text, changes } = instrumented(source, path, mutants.length)
  sources.push({ path: join(root, path), text })
  for (const { start, end, text: to } of changes) {
    const line = source.slice(0, start).split('\n').length
    const from = source.slice(start, end)
    const whole = source.split('\n')[line - 1] ?? ''
    mutants.push({ path, line, whole, from, to, killedBy: undefined })
  }
}
const rng = seeded(Number(values.seed))
const targeted = new Set(targets(store))
const chosen = mutants.flatMap(({ path }, at) =>
  targeted.has(path) && path.includes(values.only) && rng() < Number(values.share) ? [at] : [],
)
const alive = new Set(chosen)
console.log(`${chosen.length} of ${mutants.length} mutants, seed ${values.seed}`)

/** Has a worker run tests, again where one hung, until all are through. */
async function work(
  files: readonly string[],
  plan: Pick<Plan, 'chosen' | 'looksOnly'> & Partial<Pick<Plan, 'sources' | 'store'>>,
): Promise<Told[]> {
  const results = join(folder, 'results')
  const heartbeat = join(folder, 'heartbeat')
  writeFileSync(results, '')
  let left = plan.chosen === undefined ? undefined : Number.POSITIVE_INFINITY
  for (let isThrough = false; !isThrough;) {
    writeFileSync(heartbeat, '')
    const whole: Plan = { store, sources, results, heartbeat, alive: [...alive], ...plan }
    writeFileSync(join(folder, 'plan.json'), JSON.stringify(whole))
    isThrough = await round(files, heartbeat, results)
    for (const each of tellings(results)) if ('killed' in each) kill(each.killed, each.test)
    if (!isThrough || left === undefined || plan.looksOnly) continue
    // A worker that ended early has left some untried.
    const untried = untriedOf(plan.chosen ?? {}, tellings(results))
    isThrough = untried === 0 || untried >= left
    left = untried
    if (isThrough && untried > 0) console.log(`${untried} times a test did not come to its mutant`)
  }
  return tellings(results)
}

/** How many of what was planned nobody tried. */
function untriedOf(planned: Readonly<Record<string, readonly number[]>>, told: readonly Told[]): number {
  const tried = new Set(told.flatMap((each) => ('survived' in each ? [`${each.survived} ${each.test}`] : [])))
  return Object.entries(planned)
    .flatMap(([test, numbers]) => numbers.map((each) => ({ test, each })))
    .filter(({ test, each }) => alive.has(each) && !tried.has(`${each} ${test}`)).length
}

function kill(mutant: number, by: string): void {
  const found = mutants[mutant]
  if (found !== undefined) found.killedBy = by
  alive.delete(mutant)
}

const tellings = (path: string): Told[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Told]))

/** Whether the tests came to their end. */
async function round(files: readonly string[], heartbeat: string, results: string): Promise<boolean> {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const log = openSync(join(folder, 'log'), 'a')
  const before = readFileSync(join(folder, 'log'), 'utf8').length
  const argv = [vitest, 'run', '--config', join(import.meta.dirname, 'vitest.config.ts'), ...files]
  const child = spawn(process.execPath, argv, {
    cwd: root,
    env: { ...process.env, ...quickDisk, CI: '1', MUTANTS_PLAN: join(folder, 'plan.json') },
    stdio: ['ignore', log, log],
    detached: true,
  })
  const end = once(child, 'close').then(() => 'ended' as const)
  const size = (): number => statSync(results).size
  let seen = { size: size(), at: Date.now() }
  while ((await Promise.race([end, setTimeout(500)])) !== 'ended') {
    if (size() !== seen.size) seen = { size: size(), at: Date.now() }
    const mostMs = readFileSync(heartbeat, 'utf8') === '' ? longestStartMs : longestSilenceMs
    if (Date.now() - seen.at < mostMs) continue
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await end
    return blame(heartbeat, 'it hangs')
  }
  const last = tellings(results).at(-1)
  if (last !== undefined && 'ends' in last && last.ends) return false
  return /Worker .*(exited|error)/.test(readFileSync(join(folder, 'log'), 'utf8').slice(before))
    ? blame(heartbeat, 'it ends the process')
    : true
}

/** Whatever the worker was at is what ended it. */
function blame(heartbeat: string, why: string): false {
  const told = readFileSync(heartbeat, 'utf8')
  if (told === '') throw new Error(`without a mutant: ${why}`)
  kill((JSON.parse(told) as { mutant: number }).mutant, why)
  return false
}

const planted = plants
  .filter(({ store: of = store }) => of === store || values.store === 'SQLite')
  .filter(({ what, edits }) =>
    [what, ...edits.map(({ path }) => path)].some((each) => each.includes(values.only)),
  )
  .map((plant) => ({ plant, changed: changedBy(plant) }))

try {
  const [rules = [], rooms = [], sessions = []] = testStages(store).map((stage) =>
    stage.filter((path) => path.includes(values.tests)),
  )
  if (alive.size > 0 && rules.length > 0) broken(await work(rules, { chosen: undefined, looksOnly: false }))
  console.log(`${chosen.length - alive.size} killed by the tests of the rules`)
  // Rooms before sessions: they take a tenth of the time.
  for (const files of values.rules ? [] : values.quick ? [rooms] : [rooms, sessions]) {
    if (alive.size === 0 || files.length === 0) continue
    const looked = await work(files, { chosen: undefined, looksOnly: true })
    broken(looked)
    await work(files, { chosen: forRooms(looked), looksOnly: false })
    console.log(`${chosen.length - alive.size} killed so far`)
  }
  const tried = chosen.flatMap((at) => mutants[at] ?? [])
  process.exitCode = report(tried, values.rules || values.quick ? [] : await planting(planted))
} finally {
  rmSync(folder, { recursive: true })
}

/** Each bug that is planted by hand, in a worker of its own. */
async function planting(all: typeof planted): Promise<Planted[]> {
  const found: Planted[] = []
  for (const { plant, changed } of all) {
    const { what, tests, store: of = 'SQLite' } = plant
    const told = await work(tests, { sources: changed, store: of, chosen: {}, looksOnly: true })
    found.push({ what, killedBy: told.flatMap((each) => ('broken' in each ? [each.test] : []))[0] })
  }
  return found
}

/** A test that fails on the program as it is tries nothing. */
function broken(told: readonly Told[]): void {
  for (const each of told)
    if ('broken' in each) console.log(`passed over, for it fails by itself: ${each.test}`)
}

/** For each mutant tests that come across it: the shortest, and those that come across the most of its file. */
function forRooms(looked: readonly Told[]): Record<string, number[]> {
  const tests = looked
    .filter((each) => 'touched' in each)
    .filter(({ test, ms }) => ms < longestTestMs || test.startsWith('test/mutants'))
  const atLoad = [...new Set(tests.flatMap((each) => each.atLoad))]
  const meeting = new Map<number, { test: string; ms: number; share: number }[]>()
  for (const { test, ms, touched } of tests) {
    const perFile = new Map<string, number>()
    for (const mutant of touched) {
      const { path = '' } = mutants[mutant] ?? {}
      perFile.set(path, (perFile.get(path) ?? 0) + 1)
    }
    const files = new Set(perFile.keys())
    for (const mutant of new Set([...touched, ...atLoad.filter((each) => isUsed(each, files))])) {
      if (!alive.has(mutant)) continue
      const { path = '' } = mutants[mutant] ?? {}
      const share = perFile.get(path) ?? perFile.get(path.replace('-statements', '')) ?? 0
      meeting.set(mutant, [...(meeting.get(mutant) ?? []), { test, ms, share }])
    }
  }
  const found: Record<string, number[]> = {}
  for (const [mutant, all] of meeting) {
    let ms = 0
    const shortest = all
      .toSorted((one, other) => one.ms - other.ms)
      .filter((each, at) => at < leastShort || (ms += each.ms) < shortMs)
    const deepest = all
      .toSorted((one, other) => other.share - one.share || one.ms - other.ms)
      .slice(0, mostDeep)
    const namesakes = all.filter((each) => each.test.includes(`/${namesake(mutants[mutant]?.path ?? '')}`))
    for (const test of new Set([...shortest, ...deepest, ...namesakes].map((each) => each.test))) {
      ;(found[test] ??= []).push(mutant)
    }
  }
  return found
}

/** The tests of a file of rules or statements. */
function namesake(path: string): string {
  return `${basename(path, '.ts').replace('-statements', '')}.test.ts`
}

/** Whether a test that came across these files uses what a mutant changes in the constants of one. */
function isUsed(mutant: number, files: ReadonlySet<string | undefined>): boolean {
  const path = mutants[mutant]?.path
  return (
    files.has(path) || files.has(path?.replace('-statements', '')) || path?.endsWith('states.ts') === true
  )
}
