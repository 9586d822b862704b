import { expect, test } from 'vitest'

import { ManualClock } from '../harness/manual-clock.ts'
import { fullInformation, orderOf } from '../harness/people.ts'
import { type World, world } from '../harness/world.ts'

const nowhere = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const minute = 60_000

async function ordered({ run }: World, first = 'Priya', more: readonly string[] = []): Promise<string> {
  const outcome = await run(orderOf(first, ['--yes', '--json', ...more]))
  expect(outcome.code).toBe(0)
  return (outcome.json() as { request_id: string }).request_id
}

/** A world whose time passes only in sleeps. */
async function timeless() {
  const clock = new ManualClock({ auto: true })
  const here = await world({ clock })
  return { ...here, clock, type: (argv: string[]) => here.run(argv, { clock }) }
}

test('request get shows the request, its checks and referees', async () => {
  const clock = new ManualClock()
  const here = await world({ clock })
  const argv = orderOf('Priya', ['--yes', '--json', ...fullInformation]).map((each) =>
    each === '102' ? '101' : each,
  )
  const id = ((await here.run(argv, { clock })).json() as { request_id: string }).request_id
  await clock.advance(60 * minute)
  const { code, stdout } = await here.run(['request', 'get', id], { clock })
  expect(code).toBe(0)
  expect(stdout.replace(uuid, 'ID').replace(/referee \d+/g, 'referee N')).toMatchInlineSnapshot(`
    "Priya Example  COMPLETED
      request    ID
      package    101
      recipient  priya@example.com, +61412345678
      created    2026-11-20T12:00:00.000Z by olive.owner@example.com

    CHECK                  STATUS     REPORT  ID
    Reference check        COMPLETED  -       ID
    └ Remy Referee         COMPLETED  ready   referee N
    └ Morgan Referee       COMPLETED  ready   referee N
    National police check  COMPLETED  ready   ID
    Credit history check   COMPLETED  ready   ID
    "
  `)
})

test('before any check is created, that is said', async () => {
  const clock = new ManualClock()
  const here = await world({ clock })
  const id = await ordered(here)
  const { stdout } = await here.run(['request', 'get', id], { clock })
  expect(stdout).toContain('RECEIVED')
})

test('one id gives an object, several an array, in the order asked for', async () => {
  const here = await world()
  const first = await ordered(here, 'Priya')
  const second = await ordered(here, 'Mei')
  expect((await here.run(['request', 'get', first, '--json'])).json()).toMatchObject({ request_id: first })
  const both = (await here.run(['request', 'get', second, first, '--json'])).json()
  expect((both as { request_id: string }[]).map(({ request_id }) => request_id)).toEqual([second, first])
})

test('one that is missing among several: the others are answered, exit 5', async () => {
  const here = await world()
  const id = await ordered(here)
  const { code, stdout, stderr } = await here.run(['request', 'get', id, nowhere])
  expect(code).toBe(5)
  expect(stdout).toContain(id)
  expect(stderr).toContain(nowhere)
})

test.each([
  ['one that is not there', nowhere, 5],
  ['no UUID', 'abc', 2],
  ['a path', '../users', 2],
])('request get: %s', async (_name, id, exit) => {
  const { run } = await world()
  const { code, stdout, stderr } = await run(['request', 'get', id])
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
  expect(stderr).toMatch(/^Error: .+\n.+\n$/)
})

test('request wait ends when the request is COMPLETED, telling each status once', async () => {
  const here = await timeless()
  const id = await ordered(here)
  const { code, stderr } = await here.type(['request', 'wait', id])
  expect(code).toBe(0)
  const statuses = stderr
    .trim()
    .split('\n')
    .map((line) => line.replace(id, 'ID'))
  expect(statuses[0]).toBe('ID  RECEIVED')
  expect(statuses.at(-1)).toBe('ID  COMPLETED')
  expect(new Set(statuses).size).toBe(statuses.length)
})

test('a finished request is not read again', async () => {
  const here = await timeless()
  const ids = [await ordered(here, 'Priya'), await ordered(here, 'Mei')]
  expect((await here.type(['request', 'wait', ...ids, '--json'])).code).toBe(0)
  const before = here.sandbox.log.entries().length
  expect((await here.type(['request', 'wait', ...ids])).code).toBe(0)
  expect(here.sandbox.log.entries().length - before).toBe(2)
})

test('the quota is kept: never more than 60 reads a minute, none refused', async () => {
  const here = await timeless()
  const ids = []
  for (let count = 0; count < 12; count += 1) ids.push(await ordered(here, `P${count}`))
  // A minute of its own: what other commands have used is not known to a wait.
  await here.clock.advance(minute)
  const { code } = await here.type(['request', 'wait', ...ids])
  expect(code).toBe(0)
  const refused = here.sandbox.log.entries().filter((entry) => entry.kind === 'call' && entry.status === 429)
  expect(refused).toEqual([])
})

test.each([
  ['terminal', [], 'CANCELLED'],
  ['partial', ['--for', 'partial'], 'CANCELLED'],
])(
  'a request that ends without what was waited for: exit 10 with the answer (%s)',
  async (_name, flags, status) => {
    const here = await timeless()
    here.sandbox.inject({ scenario: 'declined' })
    const id = await ordered(here)
    const outcome = await here.type(['request', 'wait', id, '--json', ...flags])
    expect(outcome.code).toBe(10)
    expect(outcome.json()).toMatchObject({ request_id: id, status, error: { code: 'incomplete' } })
  },
)

test('--timeout: exit 11 with the answer so far, and how to go on', async () => {
  const here = await timeless()
  const id = await ordered(here)
  const outcome = await here.type(['request', 'wait', id, '--timeout', '30s', '--json'])
  expect(outcome.code).toBe(11)
  expect(outcome.json()).toMatchObject({
    request_id: id,
    error: { code: 'timed_out', hint: `Go on with: refcheck request wait ${id}` },
  })
})

test('--for partial holds once the status is PARTIAL or past it; --for report when the PDFs are there', async () => {
  const here = await timeless()
  const argv = orderOf('Priya', ['--yes', '--json', ...fullInformation]).map((each) =>
    each === '102' ? '101' : each,
  )
  const id = ((await here.type(argv)).json() as { request_id: string }).request_id
  const partial = await here.type(['request', 'wait', id, '--for', 'partial', '--json'])
  expect(['PARTIAL', 'COMPLETED']).toContain((partial.json() as { status: string }).status)
  const report = await here.type(['request', 'wait', id, '--for', 'report', '--json'])
  expect(report.json()).toMatchObject({ status: 'COMPLETED' })
  expect((await here.type(['request', 'wait', id, '--for', 'partial'])).code).toBe(0)
})

test('an outage in the middle of a wait is waited out', async () => {
  const here = await timeless()
  const id = await ordered(here)
  here.sandbox.inject({
    on: 'GET /v1/requests/:id',
    after: 1,
    times: 6,
    fault: { kind: 'status', status: 503, when: 'before' },
  })
  const { code, stderr } = await here.type(['request', 'wait', id])
  expect(code).toBe(0)
  expect(stderr).toContain('trying again in 30 s')
})

test('Ctrl-C during a wait: 130, and nothing on stdout', async () => {
  const clock = new ManualClock()
  const here = await world({ clock })
  const id = await ordered(here)
  const controller = new AbortController()
  const waiting = here.run(['request', 'wait', id], { clock, signal: controller.signal })
  await clock.untilSleeping()
  controller.abort()
  expect(await waiting).toMatchObject({ code: 130, stdout: '' })
})

test('request list, empty and with an order', async () => {
  const here = await world()
  expect((await here.run(['request', 'list'])).stdout).toMatch(/^No requests\./)
  const id = await ordered(here)
  const { code, stdout } = await here.run([
    'request',
    'list',
    '--csv',
    '--columns',
    'request_id,status,email',
  ])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `request_id,status,email\n${id},RECEIVED,priya@example.com\n`,
  })
})

test('request list filters, and --refresh reads what is not finished', async () => {
  const here = await timeless()
  const id = await ordered(here, 'Priya')
  await ordered(here, 'Mei')
  const ids = async (...flags: string[]): Promise<unknown[]> =>
    ((await here.type(['request', 'list', '--json', ...flags])).json() as { request_id: string }[]).map(
      (each) => each.request_id,
    )
  expect(await ids('--email', 'PRIYA@example.com')).toEqual([id])
  expect(await ids('--status', 'completed')).toEqual([])
  expect(await ids('--since', '1d')).toHaveLength(2)
  expect(await ids('--since', '2999-01-01')).toEqual([])
  await here.type(['request', 'wait', id])
  expect(await ids('--status', 'completed', '--refresh')).toHaveLength(2)
})

test('--status that no request has is refused, and told which there are', async () => {
  const { run } = await world()
  const { code, stderr } = await run(['request', 'list', '--status', 'complete'])
  expect(code).toBe(2)
  expect(stderr).toBe(
    'Error: --status: there is no status "complete"\n' +
      'Statuses: received, in_progress, partial, completed, error, cancelled, unknown, sending\n',
  )
})

test.each(['2026-02-30', 'yesterday', '2026-13-01', '1e3'])('--since %s is refused', async (since) => {
  const { run } = await world()
  const { code, stderr } = await run(['request', 'list', '--since', since])
  expect(code).toBe(2)
  expect(stderr).toContain(`--since: "${since}" is not a date`)
})
