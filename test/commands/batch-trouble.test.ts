import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// Tests about halts are the row `halt` of the fault table (test/resilience/rows.ts).
recordForFaultTable('halt', { mustNotHappen: 'went on', titles: /halts/ })

const run = 'batch run people.csv --package 102 --yes'
const unavailable = { kind: 'status', status: 503, when: 'before' } as const

test('a row whose answer is lost is unknown, the other rows are sent, and another run sends no row twice', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, ['a1@example.com', 'a2+500-after@example.com', 'a3@example.com'])
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 3 rows
    2>   3 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> Ana Row2 unknown: the service failed (500): internal server error
    2> A test call to the service succeeded; continuing.
    2 of 3 people in people.csv are ordered; 1 unknown

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    1  unknown
    3  rows

    results  HOME/people.results.csv
    2> Error: 1 row may or may not have been ordered
    2> Settle it with: refcheck batch reconcile BATCH_1
    exit 8
  `)
  expect(await type(`${run} --json`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --json
    2> people.csv is batch BATCH_1: nothing left to send.
    {
      "batch_id": "BATCH_1",
      "package_id": 102,
      "counts": {
        "total": 3,
        "pending": 0,
        "sending": 0,
        "accepted": 2,
        "rejected": 0,
        "unknown": 1,
        "dropped": 0,
        "held": 0,
        "invalid": 0,
        "duplicate": 0,
        "cancelled": 0
      },
      "results_file": "HOME/people.results.csv",
      "error": {
        "code": "outcome_unknown",
        "message": "1 row may or may not have been ordered",
        "hint": "Settle it with: refcheck batch reconcile BATCH_1",
        "batch_id": "BATCH_1",
        "row": 2
      }
    }
    2> Error: 1 row may or may not have been ordered
    exit 8
  `)
  expect(listOrderedEmails()).toEqual(['a1@example.com', 'a2+500-after@example.com', 'a3@example.com'])
})

test.each([
  ['+500-before', 0],
  ['+cut-after', 1],
  ['+cut-before', 0],
  ['+502-html', 1],
  ['+no-id', 1],
])('%s makes the row unknown, whether the request was created or not', async (tag, createdCount) => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, ['a1@example.com', `a2${tag}@example.com`, 'a3@example.com'])
  for (const _ of [1, 2]) {
    const outcome = await type(`${run} --json`)
    expect([outcome.code, outcome.json()]).toMatchObject([8, { counts: { accepted: 2, unknown: 1 } }])
    expect(listOrderedEmails()).toHaveLength(2 + createdCount)
  }
})

test('a throttled row is sent after the time that the answer states', async () => {
  const { type, folder, sandbox, clock, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  const fault = { kind: 'status', status: 429, when: 'before', retryAfter: '7' } as const
  sandbox.inject({ on: 'POST *', fault })
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> The quota is used up; continuing in 7 s.
    ✔ All 2 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(clock.sleeps).toContain(7000)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('without credits the run halts, the rows stay pending, and the batch continues once there are credits', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(4))
  sandbox.setCredits(2)
  const halted = await type(run)
  expect(halted).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 4 rows
    2>   4 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2 of 4 people in people.csv are ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  pending
    4  rows

    halted  2026-11-20 12:00 +00:00  organisation has no credits remaining

    results  HOME/people.results.csv
    2> Error: halted: organisation has no credits remaining; 2 accepted so far, 2 not sent yet
    2> The organisation has to buy credits.
    2> Then resume with: refcheck batch resume BATCH_1
    exit 4
  `)
  const [{ batch_id } = { batch_id: '' }] = (await type('batch list --json')).json() as { batch_id: string }[]
  expect(await type(`batch status ${batch_id}`)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1
    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  pending
    4  rows

    halted  2026-11-20 12:00 +00:00  organisation has no credits remaining
    The organisation has to buy credits.

    results  HOME/people.results.csv

    requests  2 RECEIVED

    Needs a person
      1 halted  people.csv
        refcheck batch resume BATCH_1
    exit 0
  `)
  sandbox.setCredits(null)
  expect(await type(`batch resume ${batch_id} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_1 --yes
    ✔ All 4 people in people.csv are ordered
       2 now: Ana Row3, Ana Row4
       2 before

    batch  BATCH_1
    people.csv, 102 Identity check only

    4  accepted
    4  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(4))
})

test('the run halts if the trial is over or the key was replaced', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(4))
  await type(`${run} --max 1`)
  sandbox.makePermanentChange('expire-trial')
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 1 of 4 accepted, 3 rows are left to send.
    1 of 4 people in people.csv is ordered; 3 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    3  pending
    4  rows

    halted  2026-11-20 12:00 +00:00  organisation trial has expired

    results  HOME/people.results.csv
    2> Error: halted: organisation trial has expired; 1 accepted so far, 3 not sent yet
    2> The organisation’s trial is over; an Owner can subscribe.
    2> Then resume with: refcheck batch resume BATCH_1
    exit 4
  `)
  sandbox.makePermanentChange('revoke-key')
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 1 of 4 accepted, 3 rows are left to send.
    1 of 4 people in people.csv is ordered; 3 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    3  pending
    4  rows

    halted  2026-11-20 12:00 +00:00  invalid API key

    results  HOME/people.results.csv
    2> Error: halted: invalid API key; 1 accepted so far, 3 not sent yet
    2> A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login
    2> Then resume with: refcheck batch resume BATCH_1
    exit 3
  `)
  expect(await type('batch list')).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID                              NAME        ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               people.csv  2026-11-20  1 of 4   0         halted
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(1))
})

test('if the package is replaced, the run halts and names the successor and the fields that the file lacks', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(3))
  await type(`${run} --max 1`)
  sandbox.replacePackage(102)
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 1 of 3 accepted, 2 rows are left to send.
    1 of 3 people in people.csv is ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    2  pending
    3  rows

    halted  2026-11-20 12:00 +00:00  package 102 ("Identity check only") is INACTIVE and can no longer be ordered

    results  HOME/people.results.csv
    2> Error: halted: package 102 ("Identity check only") is INACTIVE and can no longer be ordered; 1 accepted so far, 2 not sent yet
    2> Its likely successor is package 107 (same name, newer id). consent.consent_method: new and required.
    2> Write the rows that were not sent to a file: refcheck batch export BATCH_1 --state pending,held,rejected --output rest.csv
    2> Fix them there, set their package_id to 107, and order them: refcheck batch run rest.csv
    2> Then cancel them here: refcheck batch cancel BATCH_1
    exit 5
  `)
  expect(listOrderedEmails()).toEqual(createEmails(1))
})

test('for a package that is not ACTIVE from the start no batch is added', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  sandbox.replacePackage(102)
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    people.csv: 2 rows
      2 orders of 102 Identity check only
    Sending takes under a minute
    2> Error: package 102 ("Identity check only") is INACTIVE and can no longer be ordered
    2> Its likely successor is package 107 (same name, newer id). consent.consent_method: new and required.
    exit 5
  `)
  expect(await type(`${run} --json`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --json
    {
      "batch_id": null,
      "package_id": 102,
      "counts": {
        "total": 2,
        "pending": 2,
        "sending": 0,
        "accepted": 0,
        "rejected": 0,
        "unknown": 0,
        "dropped": 0,
        "held": 0,
        "invalid": 0,
        "duplicate": 0,
        "cancelled": 0
      },
      "results_file": null,
      "error": {
        "code": "not_found",
        "message": "package 102 (\\"Identity check only\\") is INACTIVE and can no longer be ordered",
        "hint": "Its likely successor is package 107 (same name, newer id). consent.consent_method: new and required."
      }
    }
    2> Error: package 102 ("Identity check only") is INACTIVE and can no longer be ordered
    exit 5
  `)
  expect((await type('batch list --json')).json()).toEqual([])
  expect(listOrderedEmails()).toEqual([])
})

test('if the package is replaced and the list of packages cannot be read, the run still halts with its summary', async () => {
  const { type, folder, sandbox } = await session()
  writePeopleFile(folder, createEmails(3))
  await type(`${run} --max 1`)
  sandbox.replacePackage(102)
  sandbox.inject({ on: 'GET /v1/packages', times: 40, fault: unavailable })
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: 1 of 3 accepted, 2 rows are left to send.
    2> answer 503; try 2 of 4 in 0.5 s
    2> answer 503; try 3 of 4 in 1.0 s
    2> answer 503; try 4 of 4 in 1.3 s
    1 of 3 people in people.csv is ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    2  pending
    3  rows

    halted  2026-11-20 12:00 +00:00  the service failed (503): internal server error

    results  HOME/people.results.csv
    2> Error: halted: the service failed (503): internal server error; 1 accepted so far, 2 not sent yet
    2> Try again in a moment. Check whether the service is up with: refcheck ping
    2> Then resume with: refcheck batch resume BATCH_1
    exit 7
  `)
})
