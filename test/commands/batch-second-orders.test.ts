import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { describe, expect, test } from 'vitest'

import { emails, peopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

/** 0.1.0 never told of an order that a proxy had repeated. */
test('a POST that a proxy repeated is reported as a possible second order, with both ids, until acknowledged', async () => {
  const here = await session()
  peopleFile(here.folder, emails(2))
  let posts = 0
  here.intercept(async (request, ask) => {
    if (request.method !== 'POST') return ask(request)
    posts += 1
    if (posts === 1) await ask(request.clone())
    return ask(request)
  })
  expect((await here.type('batch run people.csv --package 102 --yes')).code).toBe(0)
  const requests = here.sandbox.requests().map(({ request_id }) => request_id)
  expect(requests).toHaveLength(3)
  const lines = requests.map((request_id) =>
    JSON.stringify({ event: 'request.updated', request_id, status: 'IN_PROGRESS' }),
  )
  here.write('events.ndjson', `${lines.join('\n')}\n`)
  expect(await here.type('batch reconcile --events events.ndjson')).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --events events.ndjson
    possible second order: request REQUEST_1, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_2 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_1
    exit 0
  `)
  const calls = here.calls().length
  expect(await here.type('batch reconcile --json')).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --json
    {
      "settled": [],
      "ambiguous": [],
      "open": [],
      "reads": 0,
      "second_orders": [
        {
          "request_id": "REQUEST_1",
          "created_at": "2026-11-20T12:00:00.000Z",
          "order": {
            "request_id": "REQUEST_2",
            "batch_id": "BATCH_1",
            "row": 1
          }
        }
      ]
    }
    exit 0
  `)
  expect(here.calls()).toHaveLength(calls)
  expect(await here.type(`batch reconcile --acknowledge ${requests[0]}`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --acknowledge REQUEST_1
    Nothing to settle.
    exit 0
  `)
  expect((await here.type(`batch reconcile --acknowledge ${requests[2]}`)).code).toBe(5)
})

/** A store that has received the event of an order which a proxy repeated, after one row of two went out. */
async function receivedAfterOne() {
  const here = await session()
  peopleFile(here.folder, emails(2))
  let posts = 0
  here.intercept(async (request, ask) => {
    if (request.method !== 'POST') return ask(request)
    posts += 1
    if (posts === 1) await ask(request.clone())
    return ask(request)
  })
  await here.type('batch run people.csv --package 102 --yes --max 1')
  const [twin] = here.sandbox.requests().map(({ request_id }) => request_id)
  const event = { event: 'request.updated', request_id: twin, status: 'IN_PROGRESS' }
  const database = new DatabaseSync(join(here.folder, 'data', 'ledger.sqlite'))
  database
    .prepare(
      "INSERT INTO events (identity, received_at, body, signature, request_id, status, event, forward) VALUES ('x', 0, ?, '', ?, ?, ?, 'none')",
    )
    .run(Buffer.from(JSON.stringify(event)), event.request_id ?? '', event.status, event.event)
  database.close()
  return { here, twin }
}

test('a run tells of it too, once, from events that were received', async () => {
  const { here } = await receivedAfterOne()
  expect(await here.type('batch run people.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 1 of 2 accepted, 1 row is left to send.
    2> Warning: possible second order: request REQUEST_1, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_2 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_1
    batch  BATCH_1
    people.csv, package 102

    2  accepted
    2  rows

    results  HOME/people.results.csv
    exit 0
  `)
})

test('a run reads them when it starts, before its first order, and not again at its end', async () => {
  const { here, twin } = await receivedAfterOne()
  const calls: string[] = []
  here.intercept((request, ask) => {
    calls.push(`${request.method} ${request.url.split('/v1/')[1]}`)
    return ask(request)
  })
  await here.type('batch run people.csv --package 102 --yes')
  const read = `GET requests/${twin}`
  expect(calls.filter((call) => call === read)).toHaveLength(1)
  expect(calls.indexOf(read)).toBeLessThan(calls.findIndex((call) => call.startsWith('POST')))
})

describe.each(['SQLite', 'PostgreSQL'] as const)('a request that was made without a %s store', (store) => {
  test('and read before its person was ordered here is reported once they are, until acknowledged', async () => {
    const here = await session({ store })
    peopleFile(here.folder, ['a1@example.com'])
    const person = '--first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001'
    const elsewhere = { env: { REFCHECK_STORE: ':memory:' } }
    expect((await here.type(`request create --package 102 ${person} --yes`, elsewhere)).code).toBe(0)
    const [request_id] = here.sandbox.requests().map((each) => each.request_id)
    here.write(
      'events.ndjson',
      `${JSON.stringify({ event: 'request.updated', request_id, status: 'PARTIAL' })}\n`,
    )
    expect((await here.type('batch reconcile --events events.ndjson')).stdout).toBe('Nothing to settle.\n')
    expect((await here.type('batch run people.csv --package 102 --yes')).code).toBe(0)
    expect(await here.type('batch reconcile')).toMatchInlineSnapshot(`
      $ refcheck batch reconcile
      possible second order: request REQUEST_1, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_2 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_1
      exit 0
    `)
    await here.type(`batch reconcile --acknowledge ${request_id}`)
    expect((await here.type('batch reconcile')).stdout).toBe('Nothing to settle.\n')
  })
})
