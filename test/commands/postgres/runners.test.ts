import { expect, test } from 'vitest'

import { emails, peopleFile } from '../../harness/batch-file.ts'
import { asked } from '../../harness/postgres.ts'
import { machines } from './machines.ts'
import { faultRow } from '../../harness/faults/fault-row.ts'

faultRow('machines', 'ordered twice')

const run = 'batch run people.csv --package 102 --yes --json'

test('three machines share a file: everybody is ordered once, and each machine sees all of it through', async () => {
  const here = await machines(30)
  const ended = await Promise.all(['alpha', 'beta', 'gamma'].map((machine) => here.on(machine, run)))
  expect(ended.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual([
    [0, ''],
    [0, ''],
    [0, ''],
  ])
  expect(here.ordered().sort()).toEqual(emails(30).sort())
  for (const { json } of ended) expect(json()).toMatchObject({ counts: { accepted: 30, total: 30 } })
  const shares = await asked(here.storeUrl, 'SELECT count(DISTINCT log_id)::int AS n FROM refcheck.attempts')
  expect(shares).toEqual([{ n: 3 }])
})

test('one order whose outcome is unknown makes every machine ask the service first, and costs one row', async () => {
  const here = await machines(12)
  let cut = 0
  here.intercept(async (request, ask) => {
    const isCreate = request.method === 'POST' && new URL(request.url).pathname === '/v1/requests'
    const answer = await ask(request)
    if (!isCreate || here.ordered().length !== 5 || cut > 0) return answer
    cut += 1
    return new Response('gone', { status: 502 })
  })
  const ended = await Promise.all(['alpha', 'beta'].map((machine) => here.on(machine, run)))
  expect(cut).toBe(1)
  expect(ended.map(({ code }) => code)).toEqual([8, 8])
  expect(here.ordered().sort()).toEqual(emails(12).sort())
  const entries = here.sandbox.log.entries().flatMap((each) => (each.kind === 'call' ? [each] : []))
  const after = entries.slice(entries.findIndex(({ path }) => path === '/v1/requests') + 5)
  expect(after.filter(({ path }) => path === '/v1/ping').length).toBeGreaterThanOrEqual(2)
})

test('the same people in two files on two machines at once are ordered once', async () => {
  const here = await machines(8)
  peopleFile(here.folder, emails(9), 'more.csv')
  const [one, other] = await Promise.all([
    here.on('alpha', run),
    here.on('beta', run.replace('people.csv', 'more.csv')),
  ])
  expect([one.code, other.code].every((code) => [0, 2, 10].includes(code))).toBe(true)
  expect(here.ordered().sort()).toEqual(emails(9).sort())
})
