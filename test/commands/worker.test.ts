import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmptyCounts } from '../../src/domain/batch/batch.ts'
import { systemClock } from '../../src/host/clock.ts'
import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { sessionWithOrders } from '../harness/orders.ts'
import { session, type Step } from '../harness/session.ts'
import { world } from '../harness/world.ts'

const queueLine = 'batch queue people.csv --package 102 --yes'

const anyId = expect.stringMatching(/^[0-9a-f-]{36}$/) as string

/** Returns the log entries of a worker, without the times. */
const logEntries = ({ stdout }: Pick<Step, 'stdout'>): Record<string, unknown>[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => {
      const { time: _, ...entry } = JSON.parse(line) as Record<string, unknown>
      return entry
    })

test('batch queue sends nothing; a worker orders the rows, and its log has no names', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  const answers = [{ ask: /^Queue orders of 102 Identity check only for 2 people/, confirm: true }]
  expect(await type('batch queue people.csv --package 102', { answers })).toMatchInlineSnapshot(`
    $ refcheck batch queue people.csv --package 102
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Queue orders of 102 Identity check only for 2 people (Ana Row1 (a1@example.com), Ana Row2 (a2@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? yes
    2> Nothing was sent yet. A running "refcheck worker" orders the rows.
    batch  BATCH_1
    people.csv, 102 Identity check only

    2  pending
    2  rows

    queued for a worker since 2026-11-20 12:00 +00:00

    results  HOME/people.results.csv
    exit 0
  `)
  expect(listOrderedEmails()).toEqual([])
  expect(await type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    people.csv: 2 of 2 rows left to send, queued
               Queued rows wait for a worker. If none runs, start it: refcheck worker
    Needs you  nothing
    exit 0
  `)
  const events = logEntries(await type('worker --once')).filter(({ event }) => event !== 'refreshed')
  expect(events).toEqual([
    { level: 'info', event: 'started', profiles: ['default'] },
    { level: 'info', event: 'batch-started', profile: 'default', batch_id: anyId, pending: 2 },
    { level: 'info', event: 'row', profile: 'default', batch_id: anyId, row: 1, state: 'accepted' },
    { level: 'info', event: 'row', profile: 'default', batch_id: anyId, row: 2, state: 'accepted' },
    {
      level: 'info',
      event: 'batch-ended',
      profile: 'default',
      batch_id: anyId,
      counts: { ...createEmptyCounts(), total: 2, accepted: 2 },
    },
    { level: 'info', event: 'stopping' },
    { level: 'info', event: 'stopped' },
  ])
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('batch queue names the next step of held rows, and of rows that may have been ordered', async () => {
  const { type, write } = await session()
  const lines = ['Lena,Vogt,l1+cut-after@example.com,+61400000001', 'Lenna,Vogt,l2@example.com,+61400000001']
  write(
    'q.csv',
    ['first_name,last_name,email,phone', ...lines, 'Bo,Low,bo@example.com,+61400000002', ''].join('\n'),
  )
  const queued = await type('batch queue q.csv --package 102 --yes')
  expect(queued.stderr).toMatch(/refcheck batch release \S+ --row 2/)
  expect((await type('status')).stdout).toContain('q.csv: 2 of 3 rows left to send, queued')
  await type('worker --once')
  expect(await type('batch queue q.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch queue q.csv --package 102 --yes
    2> q.csv is batch BATCH_1: 1 row is held.
    2> 1 row may or may not have been ordered. Settle it with: refcheck batch reconcile BATCH_1
    batch  BATCH_1
    q.csv, 102 Identity check only

    1  accepted
    1  unknown
    1  held
    3  rows

    results  HOME/q.results.csv
    exit 0
  `)
})

test('a batch with rows that the user left out ends without a warning', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, ['a1@example.com', 'not an e-mail'])
  await type(`${queueLine} --on-invalid skip`)
  const ended = logEntries(await type('worker --once')).find(({ event }) => event === 'batch-ended')
  const counts = { ...createEmptyCounts(), total: 2, accepted: 1, invalid: 1 }
  expect(ended).toEqual({ level: 'info', event: 'batch-ended', profile: 'default', batch_id: anyId, counts })
  expect(listOrderedEmails()).toEqual(['a1@example.com'])
})

test('a worker that runs again finds nothing to do', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  await type(queueLine)
  await type('worker --once')
  const again = await type('worker --once')
  expect(logEntries(again).map(({ event }) => event)).toEqual(['started', 'refreshed', 'stopping', 'stopped'])
  expect(listOrderedEmails()).toHaveLength(2)
})

test('a batch that a user runs is no longer queued for the worker', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(3))
  await type(queueLine)
  await type('batch run people.csv --package 102 --yes --max 1')
  await type('worker --once')
  expect(listOrderedEmails()).toEqual(createEmails(1))
  await type(queueLine)
  await type('worker --once')
  expect(listOrderedEmails()).toEqual(createEmails(3))
})

test('a batch of another account is not ordered, and a warning is logged', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(1))
  await type(queueLine, { exported: { REFCHECK_ACCOUNT: 'acme' } })
  expect(logEntries(await type('worker --once'))).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      event: 'batch-without-profile',
      reason: 'no profile of this worker has its base URL and account: see --profiles',
    }),
  )
  expect(listOrderedEmails()).toEqual([])
})

test('a batch that halts because orders are refused stays queued, and is ordered later', async () => {
  const { type, folder, sandbox, clock, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  await type(queueLine)
  sandbox.setCredits(0)
  const log = logEntries(await type('worker --once'))
  const ended = log.find(({ event }) => event === 'batch-ended')
  expect(ended).toMatchObject({ level: 'warn', code: 'forbidden', counts: { pending: 2, accepted: 0 } })
  const warnings = log.filter(({ level }) => level === 'warn')
  expect(warnings.map(({ reason }) => typeof reason)).toEqual(warnings.map(() => 'string'))
  sandbox.setCredits(9)
  await clock.advance(60_000)
  await type('worker --once')
  expect(listOrderedEmails()).toEqual([])
  await clock.advance(900_000)
  await type('worker --once')
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('worker --profiles all orders with the key of each profile, and request list --profile shows only its orders', async () => {
  const acme = await session({ isLoggedOut: true })
  const beta = await world({ clock: acme.clock, seed: 'beta' })
  for (const [name, { url, sandbox }] of Object.entries({ acme, beta })) {
    const { userEmail, apiKey } = sandbox.credentials
    const login = `auth login --base-url ${url} --email ${userEmail} --profile ${name} --with-key`
    await acme.type(login, { stdin: apiKey })
    await acme.type(`config set account ${name} --profile ${name}`)
    await acme.type(`store accounts add ${name}`)
    writePeopleFile(acme.folder, createEmails(2))
    expect((await acme.type(`${queueLine} --results ${name}.csv --profile ${name}`)).code).toBe(0)
  }
  const events = logEntries(await acme.type('worker --profiles all --once'))
  expect(events[0]).toEqual({ level: 'info', event: 'started', profiles: ['acme', 'beta'] })
  for (const profile of ['acme', 'beta'])
    expect(events).toContainEqual(expect.objectContaining({ event: 'batch-ended', profile }))
  expect(acme.listOrderedEmails()).toEqual(createEmails(2))
  expect(beta.sandbox.requests().map(({ recipient }) => recipient.email)).toEqual(createEmails(2))
  const listIds = async (line: string): Promise<string[]> =>
    ((await acme.type(line)).json() as { request_id: string }[]).map(({ request_id }) => request_id)
  const ids = (sandbox: typeof beta.sandbox): string[] => sandbox.requests().map((each) => each.request_id)
  expect(await listIds('request list --json')).toHaveLength(4)
  expect(await listIds('request list --profile acme --json')).toEqual(ids(acme.sandbox))
  expect(await listIds('request list --profile beta --json')).toEqual(ids(beta.sandbox))
})

test('a worker that is stopped while an order is in flight records its outcome, and sends no other order', async () => {
  const { type, run, folder, intercept, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(3))
  await type(queueLine)
  const stop = new AbortController()
  intercept(async (request, ask) => {
    const answer = await ask(request)
    if (request.method === 'POST') stop.abort()
    return answer
  })
  const ended = await run(['worker'], { signal: stop.signal })
  expect(ended.code).toBe(0)
  const rows = logEntries(ended).filter(({ event }) => event === 'row')
  expect(rows).toEqual([expect.objectContaining({ row: 1, state: 'accepted' })])
  expect(logEntries(ended).at(-1)).toMatchObject({ event: 'stopped' })
  expect(listOrderedEmails()).toEqual(createEmails(1))
})

test('a worker files reports in the folder of --output', async () => {
  const { type, folder, clock } = await session()
  writePeopleFile(folder, createEmails(1))
  await type(queueLine)
  await type('worker --once')
  await clock.advance(3_600_000)
  const filed = logEntries(await type('worker --once --output reports')).find(
    ({ event }) => event === 'filed',
  )
  expect(filed).toMatchObject({ level: 'info', reports: expect.any(Number) as number })
  expect(filed?.['reports']).toBeGreaterThan(0)
})

test('of two workers with the same --output, the second logs that it waits for the first, and files after it', async () => {
  const { type, sandbox, reports, clock } = await sessionWithOrders(['Priya'])
  sandbox.inject({ on: 'GET /v1/reports/*', fault: { kind: 'hang', when: 'before' } })
  const stop = new AbortController()
  const first = type('worker --output reports', { signal: stop.signal })
  const holder = join(reports, '.refcheck', 'lock.holder')
  while (!existsSync(holder)) await new Promise((resolve) => void setImmediate(resolve))
  const logLine = Promise.withResolvers<void>()
  const second = type('worker --output reports --once', {
    onWrite: (_, written) => {
      if (written.includes('folder-in-use')) logLine.resolve()
    },
  })
  await logLine.promise
  stop.abort()
  expect((await first).code).toBe(0)
  sandbox.clearFaults()
  await clock.waitUntilSleeping()
  await clock.advance(250)
  const events = logEntries(await second).filter(
    ({ event }) => event === 'folder-in-use' || event === 'filed',
  )
  expect(events).toEqual([
    {
      level: 'warn',
      event: 'folder-in-use',
      profile: 'default',
      reason: expect.stringMatching(
        /^another run \(process \d+, since .+\) downloads into the same folder$/,
      ) as string,
    },
    { level: 'info', event: 'filed', profile: 'default', reports: 1 },
  ])
})

test('worker --profiles refuses missing profiles', async () => {
  const { type } = await session()
  expect(await type('worker --profiles all')).toMatchInlineSnapshot(`
    $ refcheck worker --profiles all
    2> Error: --profiles all: there are no profiles
    2> List the profiles with: refcheck auth list
    exit 2
  `)
  expect(await type('worker --profiles acme,other')).toMatchInlineSnapshot(`
    $ refcheck worker --profiles acme,other
    2> Error: --profiles: no profile named "acme"
    2> List the profiles with: refcheck auth list
    exit 2
  `)
})

test('a worker serves health checks and metrics until it is stopped, and then exits with 0', async () => {
  const { run, folder, sandbox } = await world({ clock: systemClock })
  writePeopleFile(folder, createEmails(1))
  await run(['batch', 'queue', 'people.csv', '--package', '102', '--yes'])
  const stop = new AbortController()
  let text = ''
  const logLine = Promise.withResolvers<string>()
  const ended = run(['worker', '--health-port', '0'], {
    signal: stop.signal,
    onWrite: (_, written) => {
      text += written
      const url = /"url":"([^"]*)"/.exec(text)?.[1]
      if (url !== undefined && text.includes('batch-ended')) logLine.resolve(url)
    },
  })
  const url = await logLine.promise
  expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n')
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  writePeopleFile(folder, createEmails(2))
  await run(['store', 'accounts', 'add', 'acme'])
  await run(['batch', 'queue', 'people.csv', '--package', '102', '--yes'], {
    env: { REFCHECK_ACCOUNT: 'acme' },
  })
  const unready = await fetch(`${url}/readyz`)
  expect([unready.status, await unready.text()]).toEqual([
    503,
    'a queued batch has no profile: see --profiles\n',
  ])
  expect((await fetch(`${url}/other`)).status).toBe(404)
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain('refcheck_orders_total{outcome="accepted"} 1\n')
  expect(metrics).toMatch(/refcheck_quota_left\{profile="default",window_seconds="60"\} \d+\n/)
  expect(metrics).not.toContain('@')
  stop.abort()
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
  expect(sandbox.requests()).toHaveLength(1)
  rmSync(join(folder, 'people.csv'))
})
