import { expect, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { type RunningProgram, startProgram } from '../harness/process.ts'
import { worldWithLargeQuota } from '../harness/world.ts'

const faultRow = recordForFaultTable('two-runners', {
  mustNotHappen: 'moments at which a stop led to a person ordered twice or lost',
})

const peopleCount = 3
/** Longer than the time that may pass between the commit of an attempt and its POST (`maxPauseMs` of outcome.ts). */
const pauseMs = 6_000
const argv = ['batch', 'run', 'people.csv', '--package', '102', '--yes', '--json']

/** The time at which two runners are stopped, in ms after their start or after the first order reached the service. */
interface Moment {
  after: 'start' | 'order'
  ms: number
}

const moments: readonly Moment[] = [
  ...[0, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600].map((ms): Moment => ({ after: 'start', ms })),
  ...[0, 1, 5, 20, 60, 150, 300, 450, 600, 800].map((ms): Moment => ({ after: 'order', ms })),
]
/** Moments that are tested at the same time, because the runners are stopped most of the time. */
const parallelCount = 6
/** Maximum time until the runners have ended after the stopped ones continue, on a busy machine too. */
const maxRunMs = 110_000

async function startWorld() {
  const here = await worldWithLargeQuota()
  const ordered = Promise.withResolvers<void>()
  here.intercept((request, ask) => {
    if (request.method === 'POST') ordered.resolve()
    return ask(request)
  })
  writePeopleFile(here.folder, createEmails(peopleCount))
  return { ...here, ordered: ordered.promise }
}

/** Returns a text about the runs that do not end in time, with their error output; undefined if all end. */
async function findUnended(runs: readonly RunningProgram[]): Promise<string | undefined> {
  const timeLimit = new AbortController()
  const limit = systemClock.sleep(maxRunMs, timeLimit.signal).catch(() => undefined)
  await Promise.race([Promise.all(runs.map(({ ended }) => ended)), limit])
  timeLimit.abort()
  const unended = runs.filter(({ child }) => child.exitCode === null && child.signalCode === null)
  return unended.length === 0
    ? undefined
    : unended.map((run) => `${run.child.pid} is not over: ${run.stderr()}`).join('; ')
}

/**
 * Stops two runners of one file at a moment and starts a third one. Both continue after all waits of the third one have
 * timed out. Returns what is wrong afterwards; undefined if each person was ordered once or has an
 * unknown outcome.
 */
async function findFailureAt({ after, ms }: Moment): Promise<string | undefined> {
  const { sandbox, folder, env, ordered } = await startWorld()
  const run = () => startProgram(argv, env, { cwd: folder })
  const stoppedRunners = [run(), run()]
  if (after === 'order') await Promise.race([ordered, Promise.all(stoppedRunners.map(({ ended }) => ended))])
  await systemClock.sleep(ms)
  for (const { child } of stoppedRunners) child.kill('SIGSTOP')
  // The third runner may wait for the stopped ones.
  const thirdRunner = run()
  await systemClock.sleep(pauseMs)
  for (const { child } of stoppedRunners) child.kill('SIGCONT')
  const moment = `${ms} ms after the ${after}`
  const unended = await findUnended([...stoppedRunners, thirdRunner])
  if (unended !== undefined) return `${moment}: ${unended}`
  const lastRunner = run()
  await lastRunner.ended
  const list = startProgram(['request', 'list', '--json'], env, { cwd: folder })
  await list.ended
  if (list.stdout() === '') return `${moment}: nothing is listed: ${list.stderr()}`
  const rows = JSON.parse(list.stdout()) as { request_id: string | null; state: string; email: string }[]
  const knownIds = new Set(rows.map(({ request_id }) => request_id))
  const unknown = new Set(rows.flatMap(({ state, email }) => (state === 'unknown' ? [email] : [])))
  const requests = sandbox.requests()
  const orderedPeople = new Set(requests.map(({ recipient }) => recipient.email))
  const lost = requests.filter((each) => !knownIds.has(each.request_id) && !unknown.has(each.recipient.email))
  if (
    requests.length === orderedPeople.size &&
    lost.length === 0 &&
    orderedPeople.size + unknown.size >= peopleCount
  )
    return undefined
  return `${moment}: ${requests.length} orders of ${orderedPeople.size} people, ${lost.length} lost, ${unknown.size} unknown: ${lastRunner.stdout()}`
}

test('two runners that are stopped for longer than every time limit and then continue order no person twice', async () => {
  const failures: string[] = []
  for (let start = 0; start < moments.length; start += parallelCount) {
    const results = await Promise.all(moments.slice(start, start + parallelCount).map(findFailureAt))
    failures.push(...results.flatMap((each) => each ?? []))
  }
  faultRow.countCases(moments.length, moments.length - failures.length)
  faultRow.addNote(`two runners stopped for ${pauseMs / 1000} s, a third next to them`)
  expect(failures).toEqual([])
}, 600_000)
