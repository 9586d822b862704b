import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102'

test('--max stops after that number of orders, and the same command continues the batch', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(5))
  expect(await type(`${run} --yes --max 2`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --max 2
    2>
    2> people.csv: 5 rows
    2>   5 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2 of 5 people in people.csv are ordered; 3 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    3  pending
    5  rows

    results  HOME/people.results.csv
    2> Resume with: refcheck batch resume BATCH_1
    exit 10
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
  expect(await type(`${run} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 2 of 5 accepted, 3 rows are left to send.
    ✔ All 5 people in people.csv are ordered
       3 now: Ana Row3, Ana Row4, Ana Row5
       2 before

    batch  BATCH_1
    people.csv, 102 Identity check only

    5  accepted
    5  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(5))
})

test('if the user declines the confirmation, nothing is sent; without a terminal --yes is required', async () => {
  const { type, folder, listCalls } = await session()
  writePeopleFile(folder, createEmails(2))
  const answers = [{ ask: /^Order .* for 2 people/, confirm: false }]
  expect(await type(run, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 2 people (Ana Row1 (a1@example.com), Ana Row2 (a2@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? no
    2> Not confirmed; nothing was done
    exit 130
  `)
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> Error: there is no terminal to confirm on
    2> Nothing was done. Run it again with --yes to skip the confirmation.
    exit 2
  `)
  expect(listCalls()).not.toContainEqual(expect.stringContaining('POST'))
})

test('a batch that another user continues reports this', async () => {
  const { type, folder } = await session()
  writePeopleFile(folder, createEmails(3))
  await type(`${run} --yes --max 1`)
  const env = { REFCHECK_USER_EMAIL: 'mia.member@example.com' }
  expect(await type(`${run} --yes --max 1`, { env })).toMatchInlineSnapshot(`
    $ REFCHECK_USER_EMAIL=mia.member@example.com refcheck batch run people.csv --package 102 --yes --max 1
    2> people.csv is batch BATCH_1: 1 of 3 accepted, 2 rows are left to send.
    2> Warning: this batch was begun as olive.owner@example.com, and its other rows are ordered as mia.member@example.com.
    1 of 3 people in people.csv is ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    2  pending
    3  rows

    halted  2026-11-20 12:00 +00:00  user is not an active member of the organisation

    results  HOME/people.results.csv
    2> Error: halted: user is not an active member of the organisation; 1 accepted so far, 2 not sent yet
    2> The user e-mail must belong to an active user of the key’s organisation. An active user can list them with: refcheck users list
    2> Then resume with: refcheck batch resume BATCH_1
    exit 4
  `)
  expect((await type(`${run} --yes`)).stderr).not.toContain('mia.member')
})

test('Ctrl-C finishes the row in flight and reports what is left, and the same command continues the batch', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(5))
  let stop = new AbortController()
  let requestCountAtStop = 2
  const fetch = sandbox.fetch.bind(sandbox)
  sandbox.fetch = (request, connection) => {
    if (request.method === 'POST' && sandbox.requests().length === requestCountAtStop) stop.abort()
    return fetch(request, connection)
  }
  expect(await type(`${run} --yes`, { signal: stop.signal })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 5 rows
    2>   5 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> An order is in flight; waiting for its answer. Press Ctrl-C again to stop at once; its outcome is then unknown. See how to continue with: refcheck status
    3 of 5 people in people.csv are ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted
    2  pending
    5  rows

    results  HOME/people.results.csv
    2> Interrupted; 3 accepted so far, 2 not sent yet
    2> Resume with: refcheck batch resume BATCH_1
    ^C
    exit 130
  `)
  const list = await type('batch list --json')
  expect(list).toMatchInlineSnapshot(`
    $ refcheck batch list --json
    [
      {
        "batch_id": "BATCH_1",
        "name": "people.csv",
        "package_id": 102,
        "added_at": "2026-11-20T12:00:00.000Z",
        "total": 5,
        "accepted": 3,
        "pending": 2,
        "unknown": 0,
        "state": "stopped",
        "held": 0,
        "rejected": 0,
        "invalid": 0,
        "ordered": 3,
        "people": 5,
        "finished": 0
      }
    ]
    exit 0
  `)
  const [batch] = list.json() as { batch_id: string }[]
  ;[stop, requestCountAtStop] = [new AbortController(), 3]
  expect(await type(`batch resume ${batch?.batch_id} --yes`, { signal: stop.signal })).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_1 --yes
    2> An order is in flight; waiting for its answer. Press Ctrl-C again to stop at once; its outcome is then unknown. See how to continue with: refcheck status
    4 of 5 people in people.csv are ordered; 1 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    4  accepted
    1  pending
    5  rows

    results  HOME/people.results.csv
    2> Interrupted; 4 accepted so far, 1 not sent yet
    2> Resume with: refcheck batch resume BATCH_1
    ^C
    exit 130
  `)
  expect((await type(`${run} --yes`)).code).toBe(0)
  expect(listOrderedEmails()).toEqual(createEmails(5))
})
