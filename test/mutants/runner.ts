import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'

import { type RunnerTestCase, TestRunner } from 'vitest'

import type { Plan, Told } from './plan.ts'
import { root } from './targets.ts'

const plan = JSON.parse(readFileSync(process.env['MUTANTS_PLAN'] ?? '', 'utf8')) as Plan
const alive = new Set(plan.alive)

/** What was tried before a worker was ended. */
const tried = new Set<string>()
for (const line of readFileSync(plan.results, 'utf8').split('\n')) {
  if (line === '') continue
  const told = JSON.parse(line) as Told
  if ('survived' in told) tried.add(`${told.survived} ${told.test}`)
  if ('killed' in told) alive.delete(told.killed)
}

/** Runs each test on the program as it is, then once more on each mutant that it comes across and that is alive. */
export default class MutantRunner extends TestRunner {
  #queue: number[] = []
  #startedAt = 0

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test)
    // What both stores share is tried with the one that the mutants are of.
    if (nameOf(test).includes(plan.store === 'SQLite' ? 'PostgreSQL' : 'SQLite')) test.mode = 'skip'
    else if (!plan.looksOnly) test.repeats = Number.POSITIVE_INFINITY
  }

  override onBeforeTryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options)
    const mutants = globalThis.mutantSwitch
    if (mutants === undefined) throw new Error('the mutants were not loaded')
    if (options.repeats === 0) {
      mutants.become(-1)
      mutants.touched.clear()
      this.#startedAt = cpuMs()
      return
    }
    const [next] = this.#queue
    mutants.become(next ?? -1)
    if (next === undefined) test.context.skip()
    else writeFileSync(plan.heartbeat, JSON.stringify({ test: nameOf(test), mutant: next }))
  }

  override async onAfterRetryTask(
    test: RunnerTestCase,
    options: { retry: number; repeats: number },
  ): Promise<void> {
    await super.onAfterRetryTask(test, options)
    const mutants = globalThis.mutantSwitch
    const { result } = test
    if (mutants === undefined || result === undefined) return
    const name = nameOf(test)
    const hasFailed = result.state === 'fail'
    const message = result.errors?.at(-1)?.message ?? ''
    const tell = (told: Told): void => appendFileSync(plan.results, `${JSON.stringify(told)}\n`)
    if (options.repeats === 0) {
      if (hasFailed) return tell({ test: name, broken: message })
      const touched = [...mutants.touched]
      const ms = cpuMs() - this.#startedAt
      tell({
        test: name,
        ms,
        touched: plan.looksOnly ? touched : [],
        atLoad: plan.looksOnly ? [...mutants.loose] : [],
      })
      const candidates =
        plan.chosen === undefined ? [...touched, ...mutants.atLoad] : (plan.chosen[name] ?? [])
      this.#queue = [...new Set(candidates)].filter(
        (each) => alive.has(each) && !tried.has(`${each} ${name}`),
      )
    } else {
      const mutant = this.#queue.shift() ?? -1
      mutants.become(-1)
      if (hasFailed) alive.delete(mutant)
      // What a test that timed out still does would fall to the next mutant.
      const ends = /timed out in/.test(message)
      tell(hasFailed ? { test: name, killed: mutant, ends } : { test: name, survived: mutant })
      if (ends) process.kill(process.pid, 'SIGKILL')
    }
    result.errors = []
    result.attempts = []
  }
}

/** Of this process: what a test takes however busy the machine is. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function nameOf(test: RunnerTestCase): string {
  const names = [test.name]
  for (let suite = test.suite; suite !== undefined; suite = suite.suite) names.unshift(suite.name)
  return `${relative(root, test.file.filepath)} > ${names.join(' > ')}`
}
