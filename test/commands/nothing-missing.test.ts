import { expect, test } from 'vitest'

import { sessionWithOrders, createRequestFor } from '../harness/orders.ts'
import { orderArguments } from '../harness/people.ts'
import { session } from '../harness/session.ts'

const missingId = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

const smallQuota = { quota: [{ calls: 4, seconds: 60 }] }
const largeClientQuota = { env: { REFCHECK_QUOTA: '1000/60' } }

test('request get beyond the quota prints each given id, with an error for each id that was not read', async () => {
  const here = await session(smallQuota)
  const id = await createRequestFor(here, 'Priya')
  // Three of the four calls went to the packages, the schema and the order.
  const read = await here.type(
    `request get ${id} ${id} ${id} ${missingId} --json --timeout 1s`,
    largeClientQuota,
  )
  const items = read.json() as { request_id: string; status?: string; error?: { code: string } }[]
  expect(items.map(({ status, error }) => status ?? error?.code)).toMatchInlineSnapshot(`
    [
      "RECEIVED",
      "throttled",
      "throttled",
      "throttled",
    ]
  `)
  expect(items.map(({ request_id }) => request_id)).toEqual([id, id, id, missingId])
  expect(read.code).toBe(6)
  expect(read.stderr).toMatchInlineSnapshot(`
    "Error: the quota is used up for the next 60 s
    Run it again in 60 s, or wait automatically with a longer --timeout.
    "
  `)
})

test('request get without --json prints the requests that were read, and a line for each other id', async () => {
  const here = await session(smallQuota)
  const id = await createRequestFor(here, 'Priya')
  expect(await here.type(`request get ${id} ${id} ${id} ${missingId} --timeout 1s`, largeClientQuota))
    .toMatchInlineSnapshot(`
      $ REFCHECK_QUOTA=1000/60 refcheck request get REQUEST_1 REQUEST_1 REQUEST_1 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --timeout 1s
      Priya Example  RECEIVED
        request    REQUEST_1
        package    102 Identity check only
        recipient  priya@example.com, +61412345678
        created    2026-11-20 12:00 +00:00 by olive.owner@example.com

      CHECK                            STATUS    REPORT   ID
      Identity check (Facet Identity)  RECEIVED  not yet  -

      not read  REQUEST_1: the quota is used up for the next 60 s
      not read  REQUEST_1: the quota is used up for the next 60 s
      not read  3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55: the quota is used up for the next 60 s
      2> Error: the quota is used up for the next 60 s
      2> Run it again in 60 s, or wait automatically with a longer --timeout.
      exit 6
    `)
})

test('request get of several missing ids prints an array of errors', async () => {
  const { type } = await session()
  expect(await type(`request get ${missingId} ${missingId} --json`)).toMatchInlineSnapshot(`
    $ refcheck request get 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 --json
    [
      {
        "request_id": "3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55",
        "error": {
          "code": "not_found",
          "message": "request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 was not found",
          "hint": "Check the id. It may belong to another organisation, or be hidden from this user.",
          "status": 404
        }
      },
      {
        "request_id": "3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55",
        "error": {
          "code": "not_found",
          "message": "request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 was not found",
          "hint": "Check the id. It may belong to another organisation, or be hidden from this user.",
          "status": 404
        }
      }
    ]
    2> Error: request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 was not found
    2> Check the id. It may belong to another organisation, or be hidden from this user.
    exit 5
  `)
})

test('request wait with an existing and a missing id waits for the existing request, and reports both', async () => {
  const here = await session()
  const id = await createRequestFor(here, 'Priya')
  const waited = await here.type(`request wait ${id} ${missingId} --json`)
  expect(waited.json()).toMatchObject([
    { request_id: id, status: 'COMPLETED' },
    { request_id: missingId, error: { code: 'not_found', status: 404 } },
  ])
  expect(waited.code).toBe(5)
})

test('request wait that times out also reports the requests that were never read', async () => {
  const here = await session(smallQuota)
  const ids = [
    await createRequestFor(here, 'Priya'),
    missingId.replace('3', '4'),
    missingId.replace('3', '5'),
    missingId,
  ]
  const waited = await here.type(`request wait ${ids.join(' ')} --json --timeout 10s`)
  const items = waited.json() as { request_id: string; status?: string; error?: { code: string } }[]
  expect(items.map(({ request_id }) => request_id)).toEqual(ids)
  expect(items.map(({ status, error }) => status ?? error?.code)).toMatchInlineSnapshot(`
    [
      "RECEIVED",
      "not_found",
      "timed_out",
      "timed_out",
    ]
  `)
  expect(waited.code).toBe(5)
})

test('report download reports an error for each request that is not found', async () => {
  const here = await sessionWithOrders(['Priya'])
  const outcome = await here.type(
    `report download --request ${here.ids[0]} --request ${missingId} --output reports --json`,
  )
  expect(outcome.json()).toMatchObject([
    { check_id: expect.any(String), path: expect.any(String) },
    { request_id: missingId, check_id: null, referee_id: null, error: { code: 'not_found' } },
  ])
  expect(outcome.code).toBe(10)
  const result = await here.type(
    `report download --request ${missingId} --request ${missingId.replace('3', '4')} --json`,
  )
  expect(result.json()).toMatchObject([{ error: { code: 'not_found' } }, { error: { code: 'not_found' } }])
  expect(result.code).toBe(5)
})

test('sandbox conformance reports the case at which the quota is used up as not judged', async () => {
  const here = await session({ quota: [{ calls: 12, seconds: 60 }] })
  const conformance = await here.type('sandbox conformance --only packages --json --timeout 1s')
  const answer = conformance.json() as {
    counts: Record<string, number>
    cases: { verdict: string; reason: string | null }[]
    error: { code: string }
  }
  expect(conformance.code).toBe(6)
  expect(answer.counts['cases']).toBe(answer.cases.length)
  expect(answer.counts['holds']).toBeGreaterThan(0)
  expect(answer.cases.at(-1)).toMatchObject({
    verdict: 'not_judged',
    reason: expect.stringMatching(/^the quota is used up/),
  })
  expect(answer.error.code).toBe('throttled')
})

test('the JSON of a batch has the conflict of each duplicate and held row', async () => {
  const here = await session()
  const createPeopleCsv = (last: string) =>
    `first_name,last_name,email,phone\nMei,${last},mei@example.com,+819012345678\n`
  here.write('one.csv', createPeopleCsv('Ito'))
  here.write('two.csv', `${createPeopleCsv('Ito')}Mei,Ito,mei@example.com,+819012345678\n`)
  const first = await here.type('batch run one.csv --package 102 --yes --json')
  const { batch_id: id } = first.json() as { batch_id: string }
  const again = await here.type('batch run two.csv --package 102 --yes --json')
  expect(again.json()).toMatchObject({
    stopped: [
      {
        row: 1,
        state: 'duplicate',
        email: 'mei@example.com',
        matches: { batch_id: id, row: 1, state: 'accepted' },
      },
      { row: 2, state: 'duplicate' },
    ],
  })
  // A duplicate of an accepted order counts as ordered (src/docs/cli.md, "Exit codes").
  expect(again.code).toBe(0)
  here.write('three.csv', createPeopleCsv('Itou'))
  const held = await here.type('batch run three.csv --package 102 --yes --json')
  const { batch_id: other } = held.json() as { batch_id: string }
  const stopped = [{ row: 1, state: 'held', matches: { batch_id: id } }]
  expect(held.json()).toMatchObject({ stopped })
  expect((await here.type(`batch status ${other} --json`)).json()).toMatchObject({ stopped })
})

test('the reason in an ERROR event is shown wherever the request is shown', async () => {
  const here = await session()
  const outcome = await here.type([
    'request',
    'create',
    '--package',
    '102',
    '--first-name',
    'Ana',
    '--last-name',
    'Costa',
    '--email',
    'ana+error@example.com',
    '--phone',
    '+351912000003',
    '--yes',
    '--json',
  ])
  const { request_id: id } = outcome.json() as { request_id: string }
  await here.clock.advance(3_600_000)
  const event = JSON.stringify({
    event: 'request.updated',
    request_id: id,
    status: 'ERROR',
    error_reason: 'no such partner',
  })
  here.write('event.json', event)
  const signature = (await here.type('webhook sign event.json')).stdout.trim()
  here.write('log.ndjson', `${JSON.stringify({ body: event, signature })}\n`)
  expect(await here.type('webhook events import log.ndjson')).toMatchObject({ code: 0 })
  expect(await here.type(`request get ${id}`)).toMatchInlineSnapshot(`
    $ refcheck request get REQUEST_1
    Ana Costa  ERROR
      request    REQUEST_1
      package    102 Identity check only
      recipient  ana+error@example.com, +351912000003
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com
      reason     no such partner

    CHECK                            STATUS  REPORT  ID
    Identity check (Facet Identity)  ERROR   none    -
    exit 0
  `)
  expect((await here.type(`request get ${id} --json`)).json()).toMatchObject({
    error_reason: 'no such partner',
  })
  expect((await here.type(`request wait ${id} --json`)).json()).toMatchObject({
    error_reason: 'no such partner',
  })
  const [listed] = (await here.type('request list --json')).json() as { batch_id: string }[]
  expect(listed).toMatchObject({ status: 'ERROR', error_reason: 'no such partner' })
  expect((await here.type(`batch rows ${listed?.batch_id} --json`)).json()).toMatchObject([
    { status: 'ERROR', error_reason: 'no such partner' },
  ])
  expect((await here.type('webhook events list --json')).json()).toMatchObject([
    { error_reason: 'no such partner' },
  ])
  expect((await here.type('webhook events show 1')).stdout).toContain('\nreason: no such partner\n')
})

test('the JSON error of an order with an unknown outcome has its batch and row', async () => {
  const here = await session()
  here.sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'cut', when: 'after' }, times: 1 })
  const order = await here.type(orderArguments('Priya', ['--yes', '--json']))
  const [unknown] = (await here.type('request list --status unknown --json')).json() as { batch_id: string }[]
  expect(order.json()).toMatchObject({
    error: { code: 'outcome_unknown', batch_id: unknown?.batch_id, row: 1 },
  })
})
