import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102 --yes'
/** Creates a batch of four rows, and sends two of them. Returns its id. */
async function createHalfSentBatch({ type, folder }: Session): Promise<string> {
  writePeopleFile(folder, createEmails(4))
  return ((await type(`${run} --max 2 --json`)).json() as { batch_id: string }).batch_id
}

test('batch list, batch status and batch rows show the progress; the beginning of an id is enough', async () => {
  const here = await session()
  const id = await createHalfSentBatch(here)
  expect(await here.type('batch list')).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID                              NAME        ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               people.csv  2026-11-20  2 of 4   0         stopped
    exit 0
  `)
  expect(await here.type('batch list --json')).toMatchInlineSnapshot(`
    $ refcheck batch list --json
    [
      {
        "batch_id": "BATCH_1",
        "name": "people.csv",
        "package_id": 102,
        "added_at": "2026-11-20T12:00:00.000Z",
        "total": 4,
        "accepted": 2,
        "pending": 2,
        "unknown": 0,
        "state": "stopped",
        "held": 0,
        "rejected": 0,
        "invalid": 0,
        "ordered": 2,
        "people": 4,
        "finished": 0
      }
    ]
    exit 0
  `)
  expect(await here.type(`batch status ${id.slice(0, 8)}`)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1…
    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  pending
    4  rows

    results  HOME/people.results.csv

    requests  2 RECEIVED

    Needs a person
      1 stopped  people.csv
        refcheck batch resume BATCH_1
    exit 0
  `)
  expect(await here.type(`batch status ${id.slice(0, 8)} --json`)).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_1… --json
    {
      "batch_id": "BATCH_1",
      "package_id": 102,
      "counts": {
        "total": 4,
        "pending": 2,
        "sending": 0,
        "accepted": 2,
        "rejected": 0,
        "unknown": 0,
        "dropped": 0,
        "held": 0,
        "invalid": 0,
        "duplicate": 0,
        "cancelled": 0
      },
      "results_file": "HOME/people.results.csv",
      "statuses": {
        "RECEIVED": 2
      },
      "checks": {
        "requests": 0,
        "by_type": {}
      },
      "attention": [
        {
          "kind": "stopped",
          "batch_id": "BATCH_1",
          "batch": "people.csv",
          "row": null,
          "request_id": null,
          "first_name": null,
          "last_name": null,
          "email": null,
          "reason": null,
          "since": "2026-11-20T12:00:00.000Z",
          "command": "refcheck batch resume BATCH_1"
        }
      ]
    }
    exit 0
  `)
  expect(await here.type(`batch rows ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1
    ROW  LINE  STATE     EMAIL           OUTCOME
    1    2     accepted  a1@example.com  REQUEST_1
    2    3     accepted  a2@example.com  REQUEST_2
    3    4     pending   a3@example.com  -
    4    5     pending   a4@example.com  -
    exit 0
  `)
  expect(await here.type(`batch rows ${id} --state pending --json`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1 --state pending --json
    [
      {
        "row": 3,
        "line": 4,
        "state": "pending",
        "request_id": null,
        "status": null,
        "attempts": 0,
        "email": "a3@example.com",
        "error": null,
        "matches": null,
        "error_reason": null
      },
      {
        "row": 4,
        "line": 5,
        "state": "pending",
        "request_id": null,
        "status": null,
        "attempts": 0,
        "email": "a4@example.com",
        "error": null,
        "matches": null,
        "error_reason": null
      }
    ]
    exit 0
  `)
})

test('an unknown batch, an invalid id and an invalid state are refused', async () => {
  const { all } = await session()
  expect(
    await all([
      'batch list',
      'batch status aaaa1111',
      'batch status people.csv',
      'batch rows aaaa1111 --state sent',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck batch list
    No batches in this store. Start one with: refcheck batch run FILE
    exit 0

    $ refcheck batch status aaaa1111
    2> Error: no batch aaaa1111 in this store
    2> List the batches with: refcheck batch list
    exit 5

    $ refcheck batch status people.csv
    2> Error: BATCH_ID: "people.csv" is not a batch id
    2> Give at least the first 4 characters of the id. List the batches with: refcheck batch list
    exit 2

    $ refcheck batch rows aaaa1111 --state sent
    2> Error: --state: unknown state "sent"
    2> States: pending, sending, accepted, rejected, unknown, dropped, held, invalid, duplicate, cancelled
    exit 2
  `)
})

test('batch cancel cancels the rows that were not sent, and resume does not send them', async () => {
  const here = await session()
  const id = await createHalfSentBatch(here)
  expect(await here.all([`batch cancel ${id}`, `batch cancel ${id} --yes`, `batch resume ${id} --yes`]))
    .toMatchInlineSnapshot(`
      $ refcheck batch cancel BATCH_1
      2> Error: there is no terminal to confirm on
      2> Nothing was done. Run it again with --yes to skip the confirmation.
      exit 2

      $ refcheck batch cancel BATCH_1 --yes
      2> Cancelled 2 rows; they will not be sent.
      2> To order Ana Row3 (line 4), Ana Row4 (line 5) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
      batch  BATCH_1
      people.csv, 102 Identity check only

      2  accepted
      2  cancelled
      4  rows

      results  HOME/people.results.csv
      exit 0

      $ refcheck batch resume BATCH_1 --yes
      ✔ 2 of 4 people in people.csv are ordered; left out: Ana Row3 (line 4), Ana Row4 (line 5)

      batch  BATCH_1
      people.csv, 102 Identity check only

      2  accepted
      2  cancelled
      4  rows

      results  HOME/people.results.csv

      Next: refcheck report sync --output reports
      2> To order Ana Row3 (line 4), Ana Row4 (line 5) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
      exit 10
    `)
  expect(here.listOrderedEmails()).toEqual(createEmails(2))
})

test('batch run reports rows that were cancelled before they were sent, and batch export writes them to a file', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  sandbox.setCredits(0)
  writePeopleFile(folder, createEmails(2))
  const { batch_id: id } = (await type(`${run} --json`)).json() as { batch_id: string }
  await type(`batch cancel ${id} --yes`)
  sandbox.setCredits(null)
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> people.csv is batch BATCH_1: nothing left to send.
    0 of 2 people in people.csv are ordered; left out: Ana Row1 (line 2), Ana Row2 (line 3)

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  cancelled
    2  rows

    results  HOME/people.results.csv
    2> Error: nothing was sent: 2 of 2 rows were cancelled
    2> To order Ana Row1 (line 2), Ana Row2 (line 3) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
    exit 2
  `)
  expect(await type(`batch export ${id} --state cancelled --output again.csv`)).toMatchInlineSnapshot(`
    $ refcheck batch export BATCH_1 --state cancelled --output again.csv
    2 rows written to HOME/again.csv
    exit 0
  `)
  expect(await type('batch run again.csv --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --yes
    2>
    2> again.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ✔ All 2 people in again.csv are ordered

    batch  BATCH_2
    again.csv

    2  accepted
    2  rows

    results  HOME/again.results.csv

    Next: refcheck request wait --batch BATCH_2
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('batch retry queues rejected rows, and batch resume sends them', async () => {
  const { type, folder, sandbox, listOrderedEmails } = await session()
  const message = 'recipient.email: is not accepted today'
  sandbox.inject({ on: 'POST *', fault: { kind: 'status', status: 400, when: 'before', message } })
  writePeopleFile(folder, createEmails(2))
  expect(await type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    2> Ana Row1 rejected: recipient.email: is not accepted today
    1 of 2 people in people.csv is ordered; 1 rejected

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    1  rejected
    2  rows

    results  HOME/people.results.csv
    2> Error: 1 of 2 rows was accepted (1 rejected)
    2> See the reason for each row with: refcheck batch rows BATCH_1
    2> To order rejected rows, correct them in the file and run it again, or if the cause is gone, make them pending with: refcheck batch retry BATCH_1
    exit 10
  `)
  const [{ batch_id: id } = { batch_id: '' }] = (await type('batch list --json')).json() as {
    batch_id: string
  }[]
  expect(await type(`batch retry ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch retry BATCH_1
    2> 1 rejected row is pending again.
    1 of 2 people in people.csv is ordered; 1 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    1  pending
    2  rows

    results  HOME/people.results.csv

    Next: refcheck batch resume BATCH_1
    exit 0
  `)
  expect(await type(`batch resume ${id} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_1 --yes
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
  `)
  expect(listOrderedEmails().sort()).toEqual(createEmails(2))
})

test('batch retry refuses rows that were not rejected, such as a row with an unknown outcome', async () => {
  const { type, all, folder } = await session()
  writePeopleFile(folder, ['a1@example.com', 'a2+cut-after@example.com'])
  const { batch_id: id } = (await type(`${run} --json`)).json() as { batch_id: string }
  expect(await all(['1', '2', '3'].map((row) => `batch retry ${id} --row ${row}`))).toMatchInlineSnapshot(`
    $ refcheck batch retry BATCH_1 --row 1
    2> Error: row 1 is accepted; only rejected rows can be sent again
    2> List the rejected rows with: refcheck batch rows BATCH_1 --state rejected
    exit 2

    $ refcheck batch retry BATCH_1 --row 2
    2> Error: row 2 is unknown; only rejected rows can be sent again
    2> It may have been ordered. Settle it first with: refcheck batch reconcile BATCH_1
    exit 2

    $ refcheck batch retry BATCH_1 --row 3
    2> Error: row 3 is not in batch BATCH_1
    2> List the rejected rows with: refcheck batch rows BATCH_1 --state rejected
    exit 2
  `)
})
