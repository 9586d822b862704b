import { expect, test } from 'vitest'

import { systemClock } from '../../src/host/clock.ts'
import { emails, peopleFile } from '../harness/batch-file.ts'
import { faultRow } from '../harness/faults/fault-row.ts'
import { start } from '../harness/process.ts'
import { shareOf } from '../harness/share.ts'
import { roomyWorld } from '../harness/world.ts'

const fault = faultRow('two-runners', 'stops with somebody twice or lost')

const people = 3
/** Longer than an attempt may be old when it is sent. */
const pauseMs = 6_000
const argv = ['batch', 'run', 'people.csv', '--package', '102', '--yes', '--json']

/** Milliseconds after the first order has reached the service, at which the two are stopped. */
const moments = [0, 1, 5, 20, 60, 150, 300, 450, 600, 800]

async function place() {
  const here = await roomyWorld()
  const ordered = Promise.withResolvers<void>()
  here.intercept((request, ask) => {
    if (request.method === 'POST') ordered.resolve()
    return ask(request)
  })
  peopleFile(here.folder, emails(people))
  return { ...here, ordered: ordered.promise }
}

/**
 * Two runners of one file are stopped at a moment, and a third is started beside them; when all that waits has run out
 * both go on. What is wrong after it; undefined for nothing.
 */
async function stopped(ms: number): Promise<string | undefined> {
  const { sandbox, folder, env, ordered } = await place()
  const run = () => start(argv, env, { cwd: folder })
  const two = [run(), run()]
  const both = Promise.all(two.map(({ ended }) => ended))
  await Promise.race([ordered, both])
  await systemClock.sleep(ms)
  for (const { child } of two) child.kill('SIGSTOP')
  // It may wait for those that stand still.
  const third = run()
  await systemClock.sleep(pauseMs)
  for (const { child } of two) child.kill('SIGCONT')
  await Promise.all([both, third.ended])
  const last = run()
  await last.ended
  const list = start(['request', 'list', '--json'], env, { cwd: folder })
  await list.ended
  const rows = JSON.parse(list.stdout()) as { request_id: string | null; state: string; email: string }[]
  const known = new Set(rows.map(({ request_id }) => request_id))
  const unknown = new Set(rows.flatMap(({ state, email }) => (state === 'unknown' ? [email] : [])))
  const made = sandbox.requests()
  const reached = new Set(made.map(({ recipient }) => recipient.email))
  const lost = made.filter((each) => !known.has(each.request_id) && !unknown.has(each.recipient.email))
  if (made.length === reached.size && lost.length === 0 && reached.size + unknown.size >= people)
    return undefined
  return `${ms} ms: ${made.length} orders of ${reached.size} people, ${lost.length} lost, ${unknown.size} unknown: ${last.stdout()}`
}

test('two runners that are stopped past every limit and go on order no person twice', async () => {
  const chosen = shareOf(moments, 4)
  const wrong: string[] = []
  for (let at = 0; at < chosen.length; at += 4) {
    const four = await Promise.all(chosen.slice(at, at + 4).map(stopped))
    wrong.push(...four.flatMap((each) => each ?? []))
  }
  fault.cases(chosen.length, chosen.length - wrong.length)
  fault.says(`two runners stopped for ${pauseMs / 1000} s, a third beside them`)
  expect(wrong).toEqual([])
}, 600_000)
