import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { writePeopleFile } from '../harness/batch-file.ts'
import { orderArguments } from '../harness/people.ts'
import { type Session, session } from '../harness/session.ts'
import { writeEvents, createUnknownRow } from '../harness/unknown-row.ts'

const minute = 60_000

const countPosts = ({ listCalls }: Session): number =>
  listCalls().filter((call) => call.startsWith('POST')).length

test('a plan shows a person with an unknown outcome neither as ordered nor as a row to send', async () => {
  const here = await session()
  await createUnknownRow(here)
  // The same rows in reverse order are another batch.
  const [header, first, second] = readFileSync(join(here.folder, 'people.csv'), 'utf8').split('\n')
  here.write('again.csv', `${[header, second, first].join('\n')}\n`)
  expect(await here.type('batch validate again.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch validate again.csv --package 102
    again.csv: 2 rows, 2 valid

      1 row ordered before, not sent
        Ana Row1 (line 3): ordered 2026-11-20 12:00 +00:00
      1 row that may have been ordered before, not sent
        Ana Row2 (line 2): sent 2026-11-20 12:00 +00:00 (unknown)
    exit 0
  `)
  expect(await here.type('batch run again.csv --package 102 --dry-run')).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --package 102 --dry-run
    2> Dry run: nothing was sent.
    again.csv: 2 rows
      0 orders to send
      1 row ordered before, not sent
        Ana Row1 (line 3): ordered 2026-11-20 12:00 +00:00
      1 row that may have been ordered before, not sent
        Ana Row2 (line 2): sent 2026-11-20 12:00 +00:00 (unknown)
    2> Error: 1 row is the same as an order whose outcome is unknown
    2> Settle that first: refcheck batch reconcile BATCH_1
    exit 8
  `)
})

test('if an event names a request that fits only the unknown row, the row is accepted', async () => {
  const here = await session()
  const id = await createUnknownRow(here)
  writeEvents(here)
  expect(await here.type(`batch reconcile ${id} --events events.ndjson`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --events events.ndjson
    Ana Row2 was accepted: request REQUEST_2
    exit 0
  `)
  expect(await here.type(`batch status ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1
    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    requests  2 RECEIVED
    exit 0
  `)
  expect(here.cat('people.results.csv')).toMatchInlineSnapshot(`
    $ cat people.results.csv
    first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Ana,Row1,a1@example.com,+61400000001,accepted,REQUEST_1,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,1,x5931154f64741b42466b02baab621880,xb092fe445001552b4d6d8e97740ee606,xac32bfb8ae31c22dd56f91ef1db8fc06
    Ana,Row2,a2+cut-after@example.com,+61400000002,accepted,REQUEST_2,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,2,x541523fdb3c8524810ab068adffc5435,x86502853b3ec9f1ea087a1b23a08ade8,x6b9e6d39ff534b7a83962f01b1f2c29a
  `)
})

test('reconciling by events has a JSON result, with the number of calls', async () => {
  const here = await session()
  const id = await createUnknownRow(here)
  writeEvents(here)
  expect(await here.type(`batch reconcile ${id} --events events.ndjson --json`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --events events.ndjson --json
    {
      "settled": [
        {
          "batch_id": "BATCH_1",
          "row": 2,
          "email": "a2+cut-after@example.com",
          "request_id": "REQUEST_2",
          "status": "RECEIVED"
        }
      ],
      "ambiguous": [],
      "open": [],
      "reads": 1,
      "unread": 0,
      "second_orders": []
    }
    exit 0
  `)
})

test('if no event names a request for the row, the row stays unknown', async () => {
  const here = await session()
  const id = await createUnknownRow(here, '+cut-before')
  writeEvents(here)
  expect(await here.type(`batch reconcile ${id} --events events.ndjson`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --events events.ndjson
    Ana Row2 (a2+cut-before@example.com): no request for this person was found (a missing event proves nothing)
    2> Error: 1 order is still not settled: no proof was found
    2> Ask the provider whether they have a request for this person, and record the answer.
    2> They have it: refcheck batch reconcile BATCH_1 --row 2 --request-id UUID
    2> They do not have it, order it now (a new order): refcheck batch reconcile BATCH_1 --row 2 --confirm-email EMAIL
    2> Nobody knows, never send it (the same order stays refused): refcheck batch reconcile BATCH_1 --row 2 --drop
    exit 8
  `)
  expect(await here.type(`batch reconcile ${id} --events events.ndjson --json`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --events events.ndjson --json
    {
      "settled": [],
      "ambiguous": [],
      "open": [
        {
          "batch_id": "BATCH_1",
          "row": 2,
          "email": "a2+cut-before@example.com"
        }
      ],
      "reads": 0,
      "unread": 0,
      "second_orders": [],
      "error": {
        "code": "outcome_unknown",
        "message": "1 order is still not settled: no proof was found",
        "hint": "Ask the provider whether they have a request for this person, and record the answer.\\nThey have it: refcheck batch reconcile BATCH_1 --row 2 --request-id UUID\\nThey do not have it, order it now (a new order): refcheck batch reconcile BATCH_1 --row 2 --confirm-email EMAIL\\nNobody knows, never send it (the same order stays refused): refcheck batch reconcile BATCH_1 --row 2 --drop",
        "batch_id": "BATCH_1",
        "row": 2
      }
    }
    2> Error: 1 order is still not settled: no proof was found
    exit 8
  `)
})

test('two requests that fit a row are shown, and a person has to decide', async () => {
  const here = await session()
  const id = await createUnknownRow(here)
  const twin = '--first-name Ana --last-name Row2 --email a2+cut-after@example.com --phone +61400000002'
  await here.type(`request create --package 102 ${twin} --yes`, { env: { REFCHECK_STORE: ':memory:' } })
  expect(here.listOrderedEmails()).toHaveLength(3)
  writeEvents(here)
  expect(await here.type(`batch reconcile ${id} --events events.ndjson`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --events events.ndjson
    Ana Row2: no request matches for certain; a person has to decide
      request REQUEST_2, created 2026-11-20 12:00 +00:00, fits
      request REQUEST_3, created 2026-11-20 12:00 +00:00, fits
    2> Error: 1 order is still not settled: no proof was found
    2> Ask the provider whether they have a request for this person, and record the answer.
    2> They have it: refcheck batch reconcile BATCH_1 --row 2 --request-id UUID
    2> They do not have it, order it now (a new order): refcheck batch reconcile BATCH_1 --row 2 --confirm-email EMAIL
    2> Nobody knows, never send it (the same order stays refused): refcheck batch reconcile BATCH_1 --row 2 --drop
    exit 8
  `)
  expect(await here.type(`batch reconcile ${id} --events events.ndjson --json`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --events events.ndjson --json
    {
      "settled": [],
      "ambiguous": [
        {
          "batch_id": "BATCH_1",
          "row": 2,
          "email": "a2+cut-after@example.com",
          "request_ids": [
            "REQUEST_2",
            "REQUEST_3"
          ],
          "requests": [
            {
              "request_id": "REQUEST_2",
              "created_at": "2026-11-20T12:00:00.000Z",
              "differs": []
            },
            {
              "request_id": "REQUEST_3",
              "created_at": "2026-11-20T12:00:00.000Z",
              "differs": []
            }
          ]
        }
      ],
      "open": [],
      "reads": 2,
      "unread": 0,
      "second_orders": [],
      "error": {
        "code": "outcome_unknown",
        "message": "1 order is still not settled: no proof was found",
        "hint": "Ask the provider whether they have a request for this person, and record the answer.\\nThey have it: refcheck batch reconcile BATCH_1 --row 2 --request-id UUID\\nThey do not have it, order it now (a new order): refcheck batch reconcile BATCH_1 --row 2 --confirm-email EMAIL\\nNobody knows, never send it (the same order stays refused): refcheck batch reconcile BATCH_1 --row 2 --drop",
        "batch_id": "BATCH_1",
        "row": 2
      }
    }
    2> Error: 1 order is still not settled: no proof was found
    exit 8
  `)
})

test('an order of request create is reconciled as a batch of one row', async () => {
  const here = await session()
  const person = '--first-name Ana --last-name Example --email ana+500-after@example.com --phone +61412345678'
  expect(await here.type(`request create --package 102 ${person} --yes`)).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Ana --last-name Example --email ana+500-after@example.com --phone +61412345678 --yes
    2> Error: package 102 may or may not have been ordered for "ana+500-after@example.com": the service failed (500): internal server error
    2> It may have been ordered, so it is not sent again. Settle it with: refcheck batch reconcile BATCH_1
    exit 8
  `)
  writeEvents(here)
  expect(await here.type('batch reconcile --events events.ndjson')).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --events events.ndjson
    Ana Example was accepted: request REQUEST_1
    exit 0
  `)
})

test('a file with a line that is no event is refused with the number of the line', async () => {
  const here = await session()
  await createUnknownRow(here)
  here.write('wrong.ndjson', '{"event":"request.updated"}\n')
  expect(await here.type('batch reconcile --events wrong.ndjson')).toMatchInlineSnapshot(`
    $ refcheck batch reconcile --events wrong.ndjson
    2> Error: wrong.ndjson: line 1 is not an event with a request_id
    2> Nothing was changed. Give one JSON object per line: the event, or a capture with the event in "body".
    exit 2
  `)
})

test('an unknown row is sent again only 15 minutes after the attempt, and with the recipient’s e-mail', async () => {
  const here = await session()
  const id = await createUnknownRow(here, '+500-before')
  const again = `batch reconcile ${id} --row 2 --confirm-email`
  expect(await here.type(`${again} a2+500-before@example.com`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 2 --confirm-email a2+500-before@example.com
    2> Error: the order of Ana Row2 (line 3) was sent less than 15 minutes ago: its event may still arrive
    2> Nothing was sent. Run this again in 15 min.
    exit 2
  `)
  await here.clock.advance(16 * minute)
  expect(await here.type(`${again} a1@example.com`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 2 --confirm-email a1@example.com
    2> Error: this is not the e-mail of Ana Row2 (line 3)
    2> Nothing was done. See the e-mail with: refcheck batch rows BATCH_1 --state unknown
    exit 2
  `)
  expect(countPosts(here)).toBe(2)
  // The tag makes this attempt fail as well, so the row is unknown again: it is sent exactly once more.
  expect(await here.type(`${again} A2+500-before@example.com`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 2 --confirm-email A2+500-before@example.com
    2> Ana Row2 unknown: the service failed (500): internal server error
    Ana Row2 (line 3): the outcome is still unknown

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    1  unknown
    2  rows

    results  HOME/people.results.csv
    2> Error: 1 row may or may not have been ordered
    2> Settle it with: refcheck batch reconcile BATCH_1
    exit 8
  `)
  expect(countPosts(here)).toBe(3)
})

test('a dropped row is never sent', async () => {
  const here = await session()
  const id = await createUnknownRow(here, '+cut-before')
  await here.clock.advance(16 * minute)
  const drop = `batch reconcile ${id} --row 2 --drop --confirm-email a2+cut-before@example.com`
  expect(await here.type(`${drop} --reason 'they have no such request'`)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 2 --drop --confirm-email a2+cut-before@example.com --reason 'they have no such request'
    Ana Row2 (line 3) will not be sent again.

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    1  dropped
    2  rows

    results  HOME/people.results.csv
    exit 0
  `)
  expect(await here.type(`batch rows ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1
    ROW  LINE  STATE     EMAIL                      OUTCOME
    1    2     accepted  a1@example.com             REQUEST_1
    2    3     dropped   a2+cut-before@example.com  dropped by a person’s decision
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
})

test('on a terminal a second order of a row needs the recipient’s e-mail, after a warning', async () => {
  const here = await session()
  const id = await createUnknownRow(here, '+cut-before')
  await here.clock.advance(16 * minute)
  const answers = [
    { ask: /have a request for Ana Row2/, choose: /order it/ },
    { ask: /e-mail of Ana Row2/, type: 'somebody@else.example' },
  ]
  expect(await here.type(`batch reconcile ${id} --row 2`, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 2
    ? Does the provider have a request for Ana Row2 (a2+cut-before@example.com), 102 Identity check only, sent 2026-11-20 12:00 +00:00?: They do not have it: order it
    2> Warning: Ana Row2 (line 3) may have been ordered already. Sending again may order, and charge for, a second check on the same person.
    ? Type the e-mail of Ana Row2 (line 3) to order again: somebody@else.example
    2> Error: this is not the e-mail of Ana Row2 (line 3)
    2> Nothing was done. See the e-mail with: refcheck batch rows BATCH_1 --state unknown
    exit 2
  `)
  expect(here.listOrderedEmails()).toEqual(['a1@example.com'])
})

test('batch reconcile itself sends an order of request create again, once the recipient’s e-mail is given', async () => {
  const here = await session()
  here.sandbox.inject({ on: 'POST *', fault: { kind: 'cut', when: 'before' } })
  expect((await here.type(orderArguments('Ana'))).code).toBe(8)
  const [order] = (await here.type('request list --json')).json() as { batch_id: string }[]
  await here.clock.advance(16 * minute)
  const again = `batch reconcile ${order?.batch_id} --row 1 --confirm-email ana@example.com`
  expect(await here.type(again)).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 1 --confirm-email ana@example.com
    Ana Example is ordered: request REQUEST_1

    batch  BATCH_1
    request create, 102 Identity check only

    1  accepted
    1  row
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(['ana@example.com'])
})

test('a decision about an accepted row, or a row that does not exist, is refused', async () => {
  const here = await session()
  writePeopleFile(here.folder, ['a1@example.com'])
  const outcome = await here.type('batch run people.csv --package 102 --yes --json')
  const { batch_id } = outcome.json() as { batch_id: string }
  const createDecisionLine = (row: number) =>
    `batch reconcile ${batch_id} --row ${row} --confirm-email a1@example.com`
  expect(await here.all([createDecisionLine(1), createDecisionLine(9)])).toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 1 --confirm-email a1@example.com
    2> Error: Ana Row1 (line 2) is accepted, not unknown: there is nothing to decide
    2> List the unknown rows with: refcheck batch rows BATCH_1 --state unknown
    exit 2

    $ refcheck batch reconcile BATCH_1 --row 9 --confirm-email a1@example.com
    2> Error: row 9 is not in batch BATCH_1
    2> List the unknown rows with: refcheck batch rows BATCH_1 --state unknown
    exit 2
  `)
})
