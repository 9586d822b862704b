import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { ScriptedPrompter } from '../harness/scripted-prompter.ts'
import { session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102'

test('a file is planned, confirmed and ordered row by row, and the results are in a file next to it', async () => {
  const { type, cat, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(3))
  const answers = [{ ask: /^Order 102 Identity check only for 3 people/, confirm: true }]
  expect(await type(run, { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2>
    2> people.csv: 3 rows
    2>   3 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 3 people (Ana Row1 (a1@example.com), Ana Row2 (a2@example.com), Ana Row3 (a3@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? yes
    ✔ All 3 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    3  accepted
    3  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(3))
  expect(cat('people.results.csv')).toMatchInlineSnapshot(`
    $ cat people.results.csv
    first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Ana,Row1,a1@example.com,+61400000001,accepted,REQUEST_1,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,1,x5931154f64741b42466b02baab621880,xb092fe445001552b4d6d8e97740ee606,xac32bfb8ae31c22dd56f91ef1db8fc06
    Ana,Row2,a2@example.com,+61400000002,accepted,REQUEST_2,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,2,x541523fdb3c8524810ab068adffc5435,x74bcd92f32d00c1ee52d51d62320dcca,x6b9e6d39ff534b7a83962f01b1f2c29a
    Ana,Row3,a3@example.com,+61400000003,accepted,REQUEST_3,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,3,x5bea1978406a4631108e57060a3014f0,xd640556b08caedb2e95a5ce28ec26a62,xb91206767b91821470497978906fc4dc
  `)
})

test('the same content under another file name is the same batch, and running it again orders no person', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  expect(await type(`${run} --yes --json`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --json
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    {
      "batch_id": "BATCH_1",
      "package_id": 102,
      "counts": {
        "total": 2,
        "pending": 0,
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
      "results_file": "HOME/people.results.csv"
    }
    exit 0
  `)
  renameSync(join(folder, 'people.csv'), join(folder, 'again.csv'))
  expect(await type('batch run again.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --package 102 --yes
    2> again.csv is the same file as people.csv, batch BATCH_1: nothing left to send.
    ✔ All 2 people in again.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck report sync --output reports
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('if another process starts the batch of the file during the confirmation, the run prints the result of that batch', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  const prompter = new ScriptedPrompter([
    { ask: /^Order 102 Identity check only for 2 people/, confirm: true },
  ])
  const ask = prompter.confirm.bind(prompter)
  let first: unknown
  prompter.confirm = async (question) => {
    first = (await here.type(`${run} --yes --json`)).json()
    return ask(question)
  }
  const outcome = await here.run([...run.split(' '), '--json'], { prompter, clock: here.clock })
  expect([outcome.code, outcome.json()]).toEqual([0, first])
  expect(here.listOrderedEmails()).toEqual(createEmails(2))
})

test('a file with one additional person orders that person; the others are duplicates', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(2))
  await type(`${run} --yes`)
  writePeopleFile(folder, createEmails(3), 'more.csv')
  const more = await type('batch run more.csv --package 102 --yes --json')
  expect(more).toMatchInlineSnapshot(`
    $ refcheck batch run more.csv --package 102 --yes --json
    2>
    2> more.csv: 3 rows
    2>   1 order of 102 Identity check only
    2>   2 rows ordered before, not sent
    2>     Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00
    2>     Ana Row2 (line 3): ordered 2026-11-20 12:00 +00:00
    2> Sending takes under a minute
    2>
    {
      "batch_id": "BATCH_2",
      "package_id": 102,
      "counts": {
        "total": 3,
        "pending": 0,
        "sending": 0,
        "accepted": 1,
        "rejected": 0,
        "unknown": 0,
        "dropped": 0,
        "held": 0,
        "invalid": 0,
        "duplicate": 2,
        "cancelled": 0
      },
      "results_file": "HOME/more.results.csv",
      "stopped": [
        {
          "row": 1,
          "line": 2,
          "state": "duplicate",
          "email": "a1@example.com",
          "reason": "is the same order as request REQUEST_1 (row 1 of batch BATCH_1, ordered 2026-11-20 12:00 +00:00)",
          "matches": {
            "state": "accepted",
            "batch_id": "BATCH_1",
            "row": 1,
            "request_id": "REQUEST_1"
          }
        },
        {
          "row": 2,
          "line": 3,
          "state": "duplicate",
          "email": "a2@example.com",
          "reason": "is the same order as request REQUEST_2 (row 2 of batch BATCH_1, ordered 2026-11-20 12:00 +00:00)",
          "matches": {
            "state": "accepted",
            "batch_id": "BATCH_1",
            "row": 2,
            "request_id": "REQUEST_2"
          }
        }
      ]
    }
    exit 0
  `)
  const { batch_id } = more.json() as { batch_id: string }
  expect(await type(`batch rows ${batch_id}`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_2
    ROW  LINE  STATE      EMAIL           OUTCOME
    1    2     duplicate  a1@example.com  is the same order as request REQUEST_1 (row 1 of batch BATCH_1, ordered 2026-11-20 12:00 +00:00)
    2    3     duplicate  a2@example.com  is the same order as request REQUEST_2 (row 2 of batch BATCH_1, ordered 2026-11-20 12:00 +00:00)
    3    4     accepted   a3@example.com  REQUEST_3
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(3))
})

test('a batch does not order people whom request create ordered, and a batch without new people sends nothing', async () => {
  const { type, folder, listOrderedEmails } = await session()
  const person = '--first-name Ana --last-name Row1 --email A1@Example.com'
  await type(`request create --package 102 ${person} --phone '+61 400 000 001' --yes`)
  writePeopleFile(folder, createEmails(2))
  expect(await type(`${run} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2>
    2> people.csv: 2 rows
    2>   1 order of 102 Identity check only
    2>   1 row ordered before, not sent
    2>     Ana Row1 (line 2): ordered 2026-11-20 12:00 +00:00
    2> Sending takes under a minute
    2>
    ✔ All 2 people in people.csv are ordered
       1 now: Ana Row2
       1 before, on 2026-11-20 12:00 +00:00

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    1  duplicate
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  writeFileSync(join(folder, 'same.csv'), `${readFileSync(join(folder, 'people.csv'), 'utf8')}\n`)
  expect(await type('batch run same.csv --package 102 --yes --json')).toMatchInlineSnapshot(`
    $ refcheck batch run same.csv --package 102 --yes --json
    {
      "batch_id": null,
      "package_id": 102,
      "counts": {
        "total": 2,
        "pending": 0,
        "sending": 0,
        "accepted": 0,
        "rejected": 0,
        "unknown": 0,
        "dropped": 0,
        "held": 0,
        "invalid": 0,
        "duplicate": 2,
        "cancelled": 0
      },
      "results_file": null,
      "stopped": [
        {
          "row": 1,
          "line": 2,
          "state": "duplicate",
          "email": "A1@Example.com",
          "reason": "Ana Row1 (A1@Example.com) is the same person",
          "matches": {
            "state": "accepted",
            "batch_id": "BATCH_2",
            "row": 1,
            "request_id": "REQUEST_1"
          }
        },
        {
          "row": 2,
          "line": 3,
          "state": "duplicate",
          "email": "a2@example.com",
          "reason": "Ana Row2 (a2@example.com) is the same person",
          "matches": {
            "state": "accepted",
            "batch_id": "BATCH_1",
            "row": 2,
            "request_id": "REQUEST_2"
          }
        }
      ]
    }
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(['A1@Example.com', 'a2@example.com'])
})

test('a file with an invalid row is not ordered; --on-invalid skip leaves the row out', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, ['a1@example.com', 'not an address', 'a3@example.com'])
  expect(await type(`${run} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    people.csv: 3 rows, 2 valid, 1 invalid

    LINE  PERSON    COLUMN  VALUE           PROBLEM
    3     Ana Row2  email   not an address  has no @; an e-mail address looks like ann@example.com
    2> Error: people.csv: 1 of 3 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or add --on-invalid skip to order the valid rows only. Write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv
    exit 2
  `)
  expect(await type(`${run} --yes --json`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --json
    {
      "batch_id": null,
      "package_id": 102,
      "counts": {
        "total": 3,
        "pending": 2,
        "sending": 0,
        "accepted": 0,
        "rejected": 0,
        "unknown": 0,
        "dropped": 0,
        "held": 0,
        "invalid": 1,
        "duplicate": 0,
        "cancelled": 0
      },
      "results_file": null,
      "error": {
        "code": "invalid_input",
        "message": "people.csv: 1 of 3 rows is invalid",
        "hint": "Nothing was sent. Fix the file and run it again, or add --on-invalid skip to order the valid rows only. Write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv",
        "field": "email"
      }
    }
    2> Error: people.csv: 1 of 3 rows is invalid
    exit 2
  `)
  expect(listOrderedEmails()).toEqual([])
  expect(await type(`${run} --yes --on-invalid skip`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --on-invalid skip
    2>
    2> people.csv: 3 rows
    2>   2 orders of 102 Identity check only
    2>   1 row invalid, not sent
    2>     Ana Row2 (line 3): email has no @; an e-mail address looks like ann@example.com
    2> Sending takes under a minute
    2>
    ✔ 2 of 3 people in people.csv are ordered; left out: 1 invalid

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    1  invalid
    3  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1

    Not ordered, because invalid: Ana Row2 (line 3)
    To order invalid rows, correct them in the file and run it again.
    2> See the reason for each row with: refcheck batch rows BATCH_1
    exit 10
  `)
  const id = (await type('batch list --jq .[].batch_id --quiet')).stdout.trim()
  expect(await type('batch list')).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID                              NAME        ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               people.csv  2026-11-20  2 of 3   0         done, 1 invalid
    exit 0
  `)
  const invalid = await type(`batch rows ${id} --state invalid`, { tty: true })
  expect(invalid.stdout).toMatch(/2 +3 +Ana Row2/)
  expect(listOrderedEmails()).toEqual(['a1@example.com', 'a3@example.com'])
})

test('--dry-run shows the plan and sends nothing', async () => {
  const { type, write, listOrderedEmails } = await session()
  const rows = [
    'Ana,Row1,a1@example.com,+61400000001',
    'Ana,Row2,a2@example.com,+61400000002',
    'ana,row1,A1@EXAMPLE.com,+61 400-000-001',
  ]
  write('people.csv', `first_name,last_name,email,phone\n${rows.join('\n')}\n`)
  expect(await type(`${run} --dry-run`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --dry-run
    2> Dry run: nothing was sent.
    people.csv: 3 rows
      2 orders of 102 Identity check only
      1 row the same as an earlier row, not sent
        ana row1 (line 4), as in line 2
    Sending takes under a minute
    exit 0
  `)
  expect(await type('batch list')).toMatchInlineSnapshot(`
    $ refcheck batch list
    No batches in this store. Start one with: refcheck batch run FILE
    exit 0
  `)
  expect(listOrderedEmails()).toEqual([])
})

test('--quiet prints only the result, and rows that --max leaves for later are no error', async () => {
  const { type, folder } = await session()
  writePeopleFile(folder, createEmails(3))
  expect(await type(`${run} --yes --quiet --max 1`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --quiet --max 1
    1 of 3 people in people.csv is ordered; 2 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    1  accepted
    2  pending
    3  rows

    results  HOME/people.results.csv
    2> Resume with: refcheck batch resume BATCH_1
    exit 10
  `)
})
