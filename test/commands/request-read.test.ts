import { expect, test } from 'vitest'

import { ManualClock } from '../harness/manual-clock.ts'
import { createRequestFor } from '../harness/orders.ts'
import { fullInformation } from '../harness/people.ts'
import { session } from '../harness/session.ts'

const missingId = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'
const minute = 60_000

test('request get shows a request before its checks are created, and after all are completed', async () => {
  const here = await session()
  const id = await createRequestFor(here, 'Priya', fullInformation)
  expect(await here.type(`request get ${id}`)).toMatchInlineSnapshot(`
    $ refcheck request get REQUEST_1
    Priya Example  RECEIVED
      request    REQUEST_1
      package    101 Standard employment screen
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                                     STATUS    REPORT           ID
    Reference check                           RECEIVED  no referees yet  -
    National police check (Verity Checks)     RECEIVED  not yet          -
    Credit history check (Ledgerline Bureau)  RECEIVED  not yet          -
    exit 0
  `)
  await here.clock.advance(60 * minute)
  expect(await here.type(`request get ${id}`)).toMatchInlineSnapshot(`
    $ refcheck request get REQUEST_1
    Priya Example  COMPLETED
      request    REQUEST_1
      package    101 Standard employment screen
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                                            STATUS     REPORT  ID
    Reference check                                  COMPLETED  -       CHECK_1
    └ Quinn Referee <quinn.referee.1@example.com>    COMPLETED  ready   referee 911340
    └ Jordan Referee <jordan.referee.2@example.com>  COMPLETED  ready   referee 911341
    National police check (Verity Checks)            COMPLETED  ready   CHECK_2
    Credit history check (Ledgerline Bureau)         COMPLETED  ready   CHECK_3
    exit 0
  `)
})

test('request get prints an object for one id, and an array in the given order for several, with errors for missing ones', async () => {
  const here = await session()
  const first = await createRequestFor(here, 'Priya')
  const second = await createRequestFor(here, 'Mei')
  expect(await here.type(`request get ${first} --json`)).toMatchInlineSnapshot(`
    $ refcheck request get REQUEST_1 --json
    {
      "request_id": "REQUEST_1",
      "package_id": 102,
      "status": "RECEIVED",
      "created_at": "2026-11-20T12:00:00.000Z",
      "requester": {
        "email": "olive.owner@example.com"
      },
      "recipient": {
        "first_name": "Priya",
        "last_name": "Example",
        "email": "priya@example.com",
        "phone": "+61412345678"
      },
      "checks": [
        {
          "id": null,
          "type": "background",
          "status": "RECEIVED",
          "partner_name": "Facet Identity",
          "check_name": "Identity check",
          "report_pdf_url": null
        }
      ],
      "package_name": "Identity check only"
    }
    exit 0
  `)
  const requests = (await here.type(`request get ${second} ${first} --json`)).json()
  expect(requests).toMatchObject([{ request_id: second }, { request_id: first }])
  expect(await here.type(`request get ${first} ${missingId}`)).toMatchInlineSnapshot(`
    $ refcheck request get REQUEST_1 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
    Priya Example  RECEIVED
      request    REQUEST_1
      package    102 Identity check only
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                            STATUS    REPORT   ID
    Identity check (Facet Identity)  RECEIVED  not yet  -
    2> Error: request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 was not found
    2> Check the id. It may belong to another organisation, or be hidden from this user.
    exit 5
  `)
})

test('request get fails for an unknown id, and for texts that are not ids', async () => {
  const { all, listCalls } = await session()
  expect(await all([`request get ${missingId}`, 'request get abc', 'request get ../users']))
    .toMatchInlineSnapshot(`
      $ refcheck request get 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55
      2> Error: request 3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55 was not found
      2> Check the id. It may belong to another organisation, or be hidden from this user.
      exit 5

      $ refcheck request get abc
      2> Error: REQUEST_ID: "abc" is not a request id
      2> Give at least the first 4 characters of the id. List the requests with: refcheck request list
      exit 2

      $ refcheck request get ../users
      2> Error: REQUEST_ID: "../users" is not a request id
      2> Give at least the first 4 characters of the id. List the requests with: refcheck request list
      exit 2
    `)
  expect(listCalls()).toHaveLength(1)
})

test('request wait ends when the request is COMPLETED and reports each status once; a second wait reads each request once', async () => {
  const here = await session()
  const ids = [await createRequestFor(here, 'Priya'), await createRequestFor(here, 'Mei')]
  expect(await here.type(`request wait ${ids[0]}`)).toMatchInlineSnapshot(`
    $ refcheck request wait REQUEST_1
    2> REQUEST_1                             RECEIVED
    2> The next read is in 20 s, to stay within the quota.
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_1                             COMPLETED
    Priya Example  COMPLETED
      request    REQUEST_1
      package    102 Identity check only
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                            STATUS     REPORT  ID
    Identity check (Facet Identity)  COMPLETED  ready   CHECK_1
    exit 0
  `)
  expect(await here.type(`request wait ${ids.join(' ')} --quiet`)).toMatchInlineSnapshot(`
    $ refcheck request wait REQUEST_1 REQUEST_2 --quiet
    Priya Example  COMPLETED
      request    REQUEST_1
      package    102 Identity check only
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                            STATUS     REPORT  ID
    Identity check (Facet Identity)  COMPLETED  ready   CHECK_1

    Mei Example  COMPLETED
      request    REQUEST_2
      package    102 Identity check only
      recipient  mei@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                            STATUS     REPORT  ID
    Identity check (Facet Identity)  COMPLETED  ready   CHECK_2
    exit 0
  `)
  const before = here.listCalls().length
  expect((await here.type(`request wait ${ids.join(' ')}`)).code).toBe(0)
  expect(here.listCalls().length - before).toBe(2)
})

test('request wait makes at most 60 reads a minute, so that none is refused', async () => {
  const here = await session()
  const ids = []
  for (let count = 0; count < 12; count += 1) ids.push(await createRequestFor(here, `P${count}`))
  // Starts in a new minute of the quota, because a wait does not know how many calls earlier commands made.
  await here.clock.advance(minute)
  expect((await here.type(`request wait ${ids.join(' ')}`)).code).toBe(0)
  expect(here.listCalls().filter((call) => call.endsWith(' 429'))).toEqual([])
})

test('request wait exits with 10 and prints the request if it ends without the awaited status', async () => {
  const here = await session()
  here.sandbox.inject({ scenario: 'declined' })
  const id = await createRequestFor(here)
  expect(await here.type(`request wait ${id}`)).toMatchInlineSnapshot(`
    $ refcheck request wait REQUEST_1
    2> REQUEST_1                             RECEIVED
    2> The next read is in 12 s, to stay within the quota.
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_1                             CANCELLED
    Priya Example  CANCELLED
      request    REQUEST_1
      package    102 Identity check only
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                            STATUS     REPORT  ID
    Identity check (Facet Identity)  CANCELLED  none    CHECK_1
    2> Error: Priya Example was CANCELLED
    2> This status does not change any more. Show the checks with: refcheck request get REQUEST_1
    exit 10
  `)
  const partial = await here.type(`request wait ${id} --for partial --json`)
  expect([partial.code, partial.json()]).toMatchObject([
    10,
    { request_id: id, status: 'CANCELLED', error: { code: 'incomplete' } },
  ])
})

test('request wait exits with 11 at its --timeout, and prints the last status and the command to continue', async () => {
  const here = await session()
  const id = await createRequestFor(here)
  expect(await here.type(`request wait ${id} --timeout 30s`)).toMatchInlineSnapshot(`
    $ refcheck request wait REQUEST_1 --timeout 30s
    2> REQUEST_1                             RECEIVED
    Priya Example  RECEIVED
      request    REQUEST_1
      package    102 Identity check only
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                            STATUS    REPORT   ID
    Identity check (Facet Identity)  RECEIVED  not yet  -
    2> Error: timed out: Priya Example is RECEIVED
    2> Continue with: refcheck request wait REQUEST_1 --timeout 30s
    exit 11
  `)
  const json = (await here.type(`request wait ${id} --timeout 30s --json`)).json()
  expect(json).toMatchObject({ request_id: id, error: { code: 'timed_out' } })
})

test('request wait --for partial ends at PARTIAL or a later status, and --for report ends when the PDFs are ready', async () => {
  const here = await session()
  const id = await createRequestFor(here, 'Priya', fullInformation)
  expect(await here.type(`request wait ${id} --for partial`)).toMatchInlineSnapshot(`
    $ refcheck request wait REQUEST_1 --for partial
    2> REQUEST_1                             RECEIVED
    2> The next read is in 12 s, to stay within the quota.
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_1                             PARTIAL
    Priya Example  PARTIAL
      request    REQUEST_1
      package    101 Standard employment screen
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                                            STATUS       REPORT   ID
    Reference check                                  COMPLETED    -        CHECK_1
    └ Quinn Referee <quinn.referee.1@example.com>    COMPLETED    ready    referee 911340
    └ Jordan Referee <jordan.referee.2@example.com>  COMPLETED    ready    referee 911341
    National police check (Verity Checks)            IN_PROGRESS  not yet  CHECK_2
    Credit history check (Ledgerline Bureau)         IN_PROGRESS  not yet  CHECK_3
    exit 0
  `)
  expect(await here.type(`request wait ${id} --for report`)).toMatchInlineSnapshot(`
    $ refcheck request wait REQUEST_1 --for report
    2> REQUEST_1                             PARTIAL
    2> REQUEST_1                             COMPLETED
    Priya Example  COMPLETED
      request    REQUEST_1
      package    101 Standard employment screen
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                                            STATUS     REPORT  ID
    Reference check                                  COMPLETED  -       CHECK_1
    └ Quinn Referee <quinn.referee.1@example.com>    COMPLETED  ready   referee 911340
    └ Jordan Referee <jordan.referee.2@example.com>  COMPLETED  ready   referee 911341
    National police check (Verity Checks)            COMPLETED  ready   CHECK_2
    Credit history check (Ledgerline Bureau)         COMPLETED  ready   CHECK_3
    exit 0
  `)
  expect((await here.type(`request wait ${id} --for partial`)).code).toBe(0)
})

test('request wait continues after an outage', async () => {
  const here = await session()
  const id = await createRequestFor(here)
  const fault = { kind: 'status', status: 503, when: 'before' } as const
  here.sandbox.inject({ on: 'GET /v1/requests/:id', after: 1, times: 6, fault })
  expect(await here.type(`request wait ${id}`)).toMatchInlineSnapshot(`
    $ refcheck request wait REQUEST_1
    2> REQUEST_1                             RECEIVED
    2> answer 503; try 2 of 4 in 0.5 s
    2> answer 503; try 3 of 4 in 1.0 s
    2> answer 503; try 4 of 4 in 1.3 s
    2> the service failed (503): internal server error; retrying in 30 s
    2> answer 503; try 2 of 4 in 0.4 s
    2> answer 503; try 3 of 4 in 0.7 s
    2> REQUEST_1                             IN_PROGRESS
    2> REQUEST_1                             COMPLETED
    Priya Example  COMPLETED
      request    REQUEST_1
      package    102 Identity check only
      recipient  priya@example.com, +61412345678
      created    2026-11-20 12:00 +00:00 by olive.owner@example.com

    CHECK                            STATUS     REPORT  ID
    Identity check (Facet Identity)  COMPLETED  ready   CHECK_1
    exit 0
  `)
})

test('Ctrl-C ends a wait', async () => {
  const clock = new ManualClock()
  const here = await session({ clock })
  const id = await createRequestFor(here)
  const stop = new AbortController()
  const waiting = here.type(`request wait ${id}`, { signal: stop.signal })
  await clock.waitUntilSleeping()
  stop.abort()
  expect(await waiting).toMatchInlineSnapshot(`
    $ refcheck request wait REQUEST_1
    2> REQUEST_1                             RECEIVED
    2> Interrupted
    2> Continue with: refcheck request wait REQUEST_1
    ^C
    exit 130
  `)
})
