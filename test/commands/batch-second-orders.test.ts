import { describe, expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { storeEvent } from '../harness/change-store.ts'
import { type Session, session } from '../harness/session.ts'

async function readBatchId(type: Session['type']): Promise<string> {
  const [batch] = (await type('batch list --json')).json() as { batch_id: string }[]
  return batch?.batch_id ?? ''
}

/** Version 0.1.0 of refcheck never reported an order that a proxy had repeated. */
test('a POST that a proxy repeated is reported as a possible second order, with both ids, until acknowledged', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  let posts = 0
  here.intercept(async (request, ask) => {
    if (request.method !== 'POST') return ask(request)
    posts += 1
    if (posts === 1) await ask(request.clone())
    return ask(request)
  })
  expect((await here.type('batch run people.csv --package 102 --yes')).code).toBe(0)
  const requestIds = here.sandbox.requests().map(({ request_id }) => request_id)
  expect(requestIds).toHaveLength(3)
  const lines = requestIds.map((request_id) =>
    JSON.stringify({ event: 'request.updated', request_id, status: 'IN_PROGRESS' }),
  )
  here.write('events.ndjson', `${lines.join('\n')}\n`)
  expect(await here.type('batch reconcile --events events.ndjson')).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --events events.ndjson
    possible second order: request REQUEST_1, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_2 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_1
    exit 0
  `)
  const calls = here.listCalls().length
  expect(await here.type('batch reconcile --json')).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --json
    {
      "settled": [],
      "ambiguous": [],
      "open": [],
      "reads": 0,
      "unread": 0,
      "second_orders": [
        {
          "request_id": "REQUEST_1",
          "created_at": "2026-11-20T12:00:00.000Z",
          "package_id": 102,
          "order": {
            "request_id": "REQUEST_2",
            "batch_id": "BATCH_1",
            "row": 1,
            "package_id": 102
          }
        }
      ]
    }
    exit 0
  `)
  expect(here.listCalls()).toHaveLength(calls)
  expect(await here.type(`batch reconcile --acknowledge ${requestIds[0]}`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --acknowledge REQUEST_1
    Nothing to settle.
    exit 0
  `)
  expect((await here.type(`batch reconcile --acknowledge ${requestIds[2]}`)).code).toBe(5)
})

/** Sends one of two rows, whose POST a proxy repeats, and stores the event of the repeated request. */
async function createRepeatedOrder() {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  let posts = 0
  here.intercept(async (request, ask) => {
    if (request.method !== 'POST') return ask(request)
    posts += 1
    if (posts === 1) await ask(request.clone())
    return ask(request)
  })
  await here.type('batch run people.csv --package 102 --yes --max 1')
  const [repeatedId] = here.sandbox.requests().map(({ request_id }) => request_id)
  await storeEvent(here, repeatedId ?? '')
  return { here, repeatedId }
}

test('a run reports a possible second order once, from the events in the store', async () => {
  const { here } = await createRepeatedOrder()
  expect(await here.type('batch run people.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 1 of 2 accepted, 1 row is left to send.
    2> Warning: possible second order: request REQUEST_1, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_2 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_1
    ✔ All 2 people in people.csv are ordered
       1 now: Ana Row2
       1 before

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
})

test('a run reads the requests that stored events name once, before its first order', async () => {
  const { here, repeatedId } = await createRepeatedOrder()
  const calls: string[] = []
  here.intercept((request, ask) => {
    calls.push(`${request.method} ${request.url.split('/v1/')[1]}`)
    return ask(request)
  })
  await here.type('batch run people.csv --package 102 --yes')
  const readCall = `GET requests/${repeatedId}`
  expect(calls.filter((call) => call === readCall)).toHaveLength(1)
  expect(calls.indexOf(readCall)).toBeLessThan(calls.findIndex((call) => call.startsWith('POST')))
})

describe.each(['SQLite', 'PostgreSQL'] as const)('with a %s store, a request of another program', (store) => {
  const person = '--first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001'

  /** Calls `prepare`, orders for Ana Row1 with another program, and writes the event of that request to a file. */
  async function orderElsewhere(prepare?: (here: Session) => Promise<void>) {
    const here = await session({ store })
    writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
    await prepare?.(here)
    const otherStore = { env: { REFCHECK_STORE: ':memory:' } }
    expect((await here.type(`request create --package 102 ${person} --yes`, otherStore)).code).toBe(0)
    const request_id = here.sandbox.requests().at(-1)?.request_id ?? ''
    here.write(
      'events.ndjson',
      `${JSON.stringify({ event: 'request.updated', request_id, status: 'PARTIAL' })}\n`,
    )
    return { ...here, request_id }
  }

  test('holds a row for the same person and names the request; after the release the request is reported as a possible second order', async () => {
    const { type, all, request_id, listOrderedEmails } = await orderElsewhere()
    expect((await type('batch reconcile --events events.ndjson')).stdout).toBe('Nothing to settle.\n')
    expect(await all(['batch plan people.csv --package 102', 'batch run people.csv --package 102 --yes']))
      .toMatchInlineSnapshot(`
        $ refcheck batch plan people.csv --package 102
        2> people.csv: 2 rows
        2>   1 order of 102 Identity check only
        2>   1 row held, not sent until you release it
        2>     request REQUEST_1, which was not ordered with this store, is for this person
        2>       Ana Row1 (line 2)
        2> Sending takes under a minute
        {
          "refcheck_plan": 1,
          "file": "HOME/people.csv",
          "sha256": "aeae3fbec0ba4af8170400c1022bd05faf1317f099cec7f79b53e32bf288d21c",
          "base_url": "http://127.0.0.1:PORT",
          "package_id": 102,
          "reading": {
            "sheet": null,
            "map": {},
            "ignore": [],
            "default_country": null,
            "header_row": null,
            "encoding": null,
            "hidden": null,
            "accept_lines": []
          },
          "shared": [],
          "counts": {
            "total": 2,
            "pending": 1,
            "sending": 0,
            "accepted": 0,
            "rejected": 0,
            "unknown": 0,
            "dropped": 0,
            "held": 1,
            "invalid": 0,
            "duplicate": 0,
            "cancelled": 0
          },
          "duplicates": [],
          "changes": [],
          "unlikely": [],
          "ordered_before": [],
          "held": [
            {
              "row": 1,
              "reason": "unmatched_request",
              "request_id": "REQUEST_1"
            }
          ],
          "seconds": 0
        }
        exit 0

        $ refcheck batch run people.csv --package 102 --yes
        2>
        2> people.csv: 2 rows
        2>   1 order of 102 Identity check only
        2>   1 row held, not sent until you release it
        2>     request REQUEST_1, which was not ordered with this store, is for this person
        2>       Ana Row1 (line 2)
        2> Sending takes under a minute
        2>
        1 of 2 people in people.csv is ordered; 1 held

        batch  BATCH_1
        people.csv, 102 Identity check only

        1  accepted
        1  held
        2  rows

        results  HOME/people.results.csv
        2> Error: 1 of 2 rows was accepted (1 held)
        2> See why it is held: refcheck batch rows BATCH_1 --state held
        2> Order Ana Row1 (line 2) as well: refcheck batch release BATCH_1 --row 1
        2> That request is the order of Ana Row1 (line 2): refcheck batch reconcile BATCH_1 --row 1 --request-id REQUEST_1
        exit 10
      `)
    expect(listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com'])
    const id = await readBatchId(type)
    expect(
      await all([
        `batch rows ${id} --state held`,
        `batch rows ${id} --state held --json`,
        `batch release ${id} --row 1`,
        `batch resume ${id} --yes`,
        'batch reconcile',
      ]),
    ).toMatchInlineSnapshot(`
      $ refcheck batch rows BATCH_1 --state held
      ROW  LINE  STATE  EMAIL           OUTCOME
      1    2     held   a1@example.com  held: request REQUEST_1, which was not ordered with this store, is for this person
      2> Order Ana Row1 (line 2) as well: refcheck batch release BATCH_1 --row 1
      2> That request is the order of Ana Row1 (line 2): refcheck batch reconcile BATCH_1 --row 1 --request-id REQUEST_1
      exit 0

      $ refcheck batch rows BATCH_1 --state held --json
      [
        {
          "row": 1,
          "line": 2,
          "state": "held",
          "request_id": "REQUEST_1",
          "status": null,
          "attempts": 0,
          "email": "a1@example.com",
          "error": "held: request REQUEST_1, which was not ordered with this store, is for this person",
          "matches": {
            "state": "accepted",
            "batch_id": null,
            "row": null,
            "request_id": "REQUEST_1"
          },
          "error_reason": null
        }
      ]
      exit 0

      $ refcheck batch release BATCH_1 --row 1
      2> Released 1 row: Ana Row1 (line 2). Order with: refcheck batch resume BATCH_1
      batch  BATCH_1
      people.csv, 102 Identity check only

      1  accepted
      1  pending
      2  rows

      results  HOME/people.results.csv
      exit 0

      $ refcheck batch resume BATCH_1 --yes
      2> Warning: possible second order: request REQUEST_1, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_3 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_1
      ✔ All 2 people in people.csv are ordered
         1 now: Ana Row1
         1 before

      batch  BATCH_1
      people.csv, 102 Identity check only

      2  accepted
      2  rows

      results  HOME/people.results.csv

      Next: refcheck request wait --batch BATCH_1
      exit 0

      $ refcheck batch reconcile
      possible second order: request REQUEST_1, created 2026-11-20 12:00 +00:00, is for the same person and package as request REQUEST_3 (row 1 of batch BATCH_1), and was not ordered with this store. Ask the provider, then acknowledge it with: refcheck batch reconcile --acknowledge REQUEST_1
      exit 0
    `)
    expect(listOrderedEmails()).toEqual(['a1@example.com', 'a2@example.com', 'a1@example.com'])
    await type(`batch reconcile --acknowledge ${request_id}`)
    expect((await type('batch reconcile')).stdout).toBe('Nothing to settle.\n')
  })

  test('holds a single order of its person and of a similar person; flags order them nevertheless', async () => {
    const { all, listOrderedEmails } = await orderElsewhere()
    const similar = person.replace('Ana', 'Anna').replace('a1@', 'anna@')
    expect(
      await all([
        'batch reconcile --events events.ndjson',
        `request create --package 102 ${person} --yes`,
        `request create --package 102 ${person} --yes --json`,
        `request create --package 102 ${similar} --yes`,
      ]),
    ).toMatchInlineSnapshot(`
      $ refcheck batch reconcile --events events.ndjson
      Nothing to settle.
      exit 0

      $ refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --yes
      2> Error: request REQUEST_1, which was not ordered with this store, is for this person: package 102, on 2026-11-20 12:00 +00:00
      2> Nothing was sent. See who ordered it: refcheck request get REQUEST_1
      2> To order it all the same, add --allow-duplicate.
      exit 2

      $ refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --yes --json
      {
        "error": {
          "code": "duplicate",
          "message": "request REQUEST_1, which was not ordered with this store, is for this person: package 102, on 2026-11-20 12:00 +00:00",
          "hint": "Nothing was sent. See who ordered it: refcheck request get REQUEST_1\\nTo order it all the same, add --allow-duplicate.",
          "request_id": "REQUEST_1",
          "match": "exact"
        }
      }
      2> Error: request REQUEST_1, which was not ordered with this store, is for this person: package 102, on 2026-11-20 12:00 +00:00
      exit 2

      $ refcheck request create --package 102 --first-name Anna --last-name Row1 --email anna@example.com --phone +61400000001 --yes
      2> Error: request REQUEST_1, which was not ordered with this store, is for somebody with the same phone: package 102, on 2026-11-20 12:00 +00:00
      2> Nothing was sent. See who ordered it: refcheck request get REQUEST_1
      2> To order it all the same, add --allow-similar.
      exit 2
    `)
    expect(listOrderedEmails()).toEqual(['a1@example.com'])
    expect(
      await all([
        `request create --package 102 ${person} --yes --allow-duplicate`,
        `request create --package 102 ${similar} --yes --allow-similar`,
      ]),
    ).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --yes --allow-duplicate
      created  REQUEST_2                             RECEIVED
      2> Follow it with: refcheck request wait REQUEST_2
      exit 0

      $ refcheck request create --package 102 --first-name Anna --last-name Row1 --email anna@example.com --phone +61400000001 --yes --allow-similar
      created  REQUEST_3                             RECEIVED
      2> Follow it with: refcheck request wait REQUEST_3
      exit 0
    `)
    expect(listOrderedEmails()).toHaveLength(3)
  })

  test('that is read after the batch was added holds a row of its person when the row is about to be sent', async () => {
    const { type, all, listOrderedEmails } = await orderElsewhere(async (here) => {
      const [header, first, second] = here.read('people.csv').split('\n')
      here.write('people.csv', [header, second, first, ''].join('\n'))
      await here.type('batch run people.csv --package 102 --yes --max 1')
    })
    const id = await readBatchId(type)
    expect(await all(['batch reconcile --events events.ndjson', `batch resume ${id} --yes`]))
      .toMatchInlineSnapshot(`
        $ refcheck batch reconcile --events events.ndjson
        Nothing to settle.
        exit 0

        $ refcheck batch resume BATCH_1 --yes
        2> Ana Row1 held: request REQUEST_2, which was not ordered with this store, is for this person
        1 of 2 people in people.csv is ordered; 1 held

        batch  BATCH_1
        people.csv, 102 Identity check only

        1  accepted
        1  held
        2  rows

        results  HOME/people.results.csv
        2> Error: 1 of 2 rows was accepted (1 held)
        2> See why it is held: refcheck batch rows BATCH_1 --state held
        2> Order Ana Row1 (line 3) as well: refcheck batch release BATCH_1 --row 2
        2> That request is the order of Ana Row1 (line 3): refcheck batch reconcile BATCH_1 --row 2 --request-id REQUEST_2
        exit 10
      `)
    expect(listOrderedEmails()).toEqual(['a2@example.com', 'a1@example.com'])
  })
})
