import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'

const run = 'batch run people.csv --package 102 --yes'

/** Replaces the results file by a folder, so that it cannot be written. */
function blockResultsFile({ folder }: Session): void {
  const results = join(folder, 'people.results.csv')
  rmSync(results)
  mkdirSync(results)
}

test('if the results file cannot be written, the outcomes of the rows are still printed', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  await here.type(`${run} --max 1`)
  blockResultsFile(here)
  expect(await here.type(run)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes
    2> Warning: people.results.csv could not be read, so orders it may name were not looked at: HOME/people.results.csv is a folder
    2> people.csv is batch BATCH_1: 1 of 2 accepted, 1 row is left to send.
    2 of 2 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows
    2> Error: the results file was not written: cannot write "HOME/people.results.csv": it is a folder
    2> What became of each row is in the store. Write it to a file with: refcheck batch export BATCH_1 --output results.csv
    exit 1
  `)
  expect(await here.type(`${run} --json`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --json
    2> Warning: people.results.csv could not be read, so orders it may name were not looked at: HOME/people.results.csv is a folder
    2> people.csv is batch BATCH_1: nothing left to send.
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
})

test('if the results file cannot be written, an unknown outcome still decides the exit code', async () => {
  const here = await session()
  writePeopleFile(here.folder, ['a1@example.com', 'a2+cut-after@example.com'])
  await here.type(`${run} --max 1`)
  blockResultsFile(here)
  expect(await here.type(`${run} --json`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --json
    2> Warning: people.results.csv could not be read, so orders it may name were not looked at: HOME/people.results.csv is a folder
    2> people.csv is batch BATCH_1: 1 of 2 accepted, 1 row is left to send.
    2> Ana Row2 unknown: 127.0.0.1:PORT: the connection was cut
    2> Warning: the results file was not written: cannot write "HOME/people.results.csv": it is a folder. Write all rows to a file with: refcheck batch export BATCH_1 --output results.csv
    {
      "batch_id": "BATCH_1",
      "package_id": 102,
      "counts": {
        "total": 2,
        "pending": 0,
        "sending": 0,
        "accepted": 1,
        "rejected": 0,
        "unknown": 1,
        "dropped": 0,
        "held": 0,
        "invalid": 0,
        "duplicate": 0,
        "cancelled": 0
      },
      "results_file": null,
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
})

test('the results of a file that changes during the run are not written, and the orders are as planned', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  const meanwhile = (): void => void writePeopleFile(here.folder, createEmails(3))
  const answers = [{ ask: /^Order .* for 2 people/, confirm: true, meanwhile }]
  expect(await here.type('batch run people.csv --package 102', { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 2 people (Ana Row1 (a1@example.com), Ana Row2 (a2@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? yes
    2> Warning: people.csv has changed since, so no results file was written. Write all rows to a file with: refcheck batch export BATCH_1 --output results.csv
    ✔ All 2 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  const [batch] = (await here.type('batch list --json')).json() as { batch_id: string }[]
  expect((await here.type(`batch status ${batch?.batch_id}`)).stdout).not.toContain('results')
  expect(here.listOrderedEmails()).toEqual(createEmails(2))
})

test('if the file is sorted during the run and its timestamps are restored, no results file is written, so that no row gets the result of another person', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  const path = join(here.folder, 'people.csv')
  const meanwhile = (): void => {
    const { atime, mtime } = statSync(path)
    const [header = '', ...rows] = readFileSync(path, 'utf8').trimEnd().split('\n')
    writeFileSync(path, `${[header, ...rows.toReversed()].join('\n')}\n`)
    utimesSync(path, atime, mtime)
  }
  const answers = [{ ask: /^Order .* for 2 people/, confirm: true, meanwhile }]
  expect(await here.type('batch run people.csv --package 102', { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 2 people (Ana Row1 (a1@example.com), Ana Row2 (a2@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? yes
    2> Warning: people.csv has changed since, so no results file was written. Write all rows to a file with: refcheck batch export BATCH_1 --output results.csv
    ✔ All 2 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(createEmails(2))
})

test('a file that is saved again unchanged during the run gets its results file', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  const meanwhile = (): void => utimesSync(join(here.folder, 'people.csv'), 0, 0)
  const answers = [{ ask: /^Order .* for 2 people/, confirm: true, meanwhile }]
  expect(await here.type('batch run people.csv --package 102', { answers })).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    2>
    2> people.csv: 2 rows
    2>   2 orders of 102 Identity check only
    2> Sending takes under a minute
    2>
    ? Order 102 Identity check only for 2 people (Ana Row1 (a1@example.com), Ana Row2 (a2@example.com)) at 127.0.0.1:PORT as olive.owner@example.com? yes
    ✔ All 2 people in people.csv are ordered

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    2  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch BATCH_1
    exit 0
  `)
  expect(readFileSync(join(here.folder, 'people.results.csv'), 'utf8').match(/,accepted,/g)).toHaveLength(2)
})

test('a run is refused if its results file could not be written', async () => {
  const { all, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(1))
  const paths = ['missing/results.csv', 'people.csv', '.']
  expect(await all(paths.map((path) => `${run} --results ${path}`))).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --results missing/results.csv
    2> Error: --results: missing/results.csv is in a folder that is not writable
    2> Nothing was sent. Choose another name.
    exit 2

    $ refcheck batch run people.csv --package 102 --yes --results people.csv
    2> Error: --results: people.csv already exists
    2> Nothing was sent. Choose another name.
    exit 2

    $ refcheck batch run people.csv --package 102 --yes --results .
    2> Error: --results: . is a folder
    2> Nothing was sent. Choose another name.
    exit 2
  `)
  expect(listOrderedEmails()).toEqual([])
})

test('a later run can choose another results file, and the same command again continues the batch', async () => {
  const { type, folder, cat } = await session()
  writePeopleFile(folder, createEmails(3))
  await type(`${run} --max 1`)
  expect(await type(`${run} --max 1 --results other.csv`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --max 1 --results other.csv
    2> people.csv is batch BATCH_1: 1 of 3 accepted, 2 rows are left to send.
    2 of 3 people in people.csv are ordered; 1 pending

    batch  BATCH_1
    people.csv, 102 Identity check only

    2  accepted
    1  pending
    3  rows

    results  HOME/other.csv
    2> Resume with: refcheck batch resume BATCH_1
    exit 10
  `)
  expect(cat('other.csv')).toMatchInlineSnapshot(`
    $ cat other.csv
    first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Ana,Row1,a1@example.com,+61400000001,accepted,REQUEST_1,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,1,x5931154f64741b42466b02baab621880,xb092fe445001552b4d6d8e97740ee606,xac32bfb8ae31c22dd56f91ef1db8fc06
    Ana,Row2,a2@example.com,+61400000002,accepted,REQUEST_2,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,2,x541523fdb3c8524810ab068adffc5435,x74bcd92f32d00c1ee52d51d62320dcca,x6b9e6d39ff534b7a83962f01b1f2c29a
    Ana,Row3,a3@example.com,+61400000003,pending,,,,,,http://localhost:PORT,102,BATCH_1,3,x5bea1978406a4631108e57060a3014f0,xd640556b08caedb2e95a5ce28ec26a62,xb91206767b91821470497978906fc4dc
  `)
  expect(await type(`${run} --max 1 --results other.csv --json`)).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes --max 1 --results other.csv --json
    2> people.csv is batch BATCH_1: 2 of 3 accepted, 1 row is left to send.
    {
      "batch_id": "BATCH_1",
      "package_id": 102,
      "counts": {
        "total": 3,
        "pending": 0,
        "sending": 0,
        "accepted": 3,
        "rejected": 0,
        "unknown": 0,
        "dropped": 0,
        "held": 0,
        "invalid": 0,
        "duplicate": 0,
        "cancelled": 0
      },
      "results_file": "HOME/other.csv"
    }
    exit 0
  `)
  expect(cat('other.csv')).toMatchInlineSnapshot(`
    $ cat other.csv
    first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Ana,Row1,a1@example.com,+61400000001,accepted,REQUEST_1,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,1,x5931154f64741b42466b02baab621880,xb092fe445001552b4d6d8e97740ee606,xac32bfb8ae31c22dd56f91ef1db8fc06
    Ana,Row2,a2@example.com,+61400000002,accepted,REQUEST_2,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,2,x541523fdb3c8524810ab068adffc5435,x74bcd92f32d00c1ee52d51d62320dcca,x6b9e6d39ff534b7a83962f01b1f2c29a
    Ana,Row3,a3@example.com,+61400000003,accepted,REQUEST_3,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,3,x5bea1978406a4631108e57060a3014f0,xd640556b08caedb2e95a5ce28ec26a62,xb91206767b91821470497978906fc4dc
  `)
})

test('--allow-duplicate for rows that are duplicates in an existing batch names the commands to use, and orders no person', async () => {
  const { type, folder, listOrderedEmails } = await session()
  writePeopleFile(folder, createEmails(1))
  await type(run)
  writePeopleFile(folder, createEmails(2), 'more.csv')
  const more = await type('batch run more.csv --package 102 --yes --json')
  const { batch_id } = more.json() as { batch_id: string }
  expect(await type('batch run more.csv --package 102 --yes --allow-duplicate')).toMatchInlineSnapshot(`
    $ refcheck batch run more.csv --package 102 --yes --allow-duplicate
    2> more.csv is batch BATCH_2: nothing left to send.
    2> Warning: --allow-duplicate has no effect on rows that this batch already holds as duplicates. To order all of these people again, also those whose request is COMPLETED, write them to a file and run that: refcheck batch export BATCH_2 --state duplicate --output again.csv
    ✔ All 2 people in more.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

    batch  BATCH_2
    more.csv, 102 Identity check only

    1  accepted
    1  duplicate
    2  rows

    results  HOME/more.results.csv

    Next: refcheck report sync --output reports
    exit 0
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
  expect(await type(`batch export ${batch_id} --state duplicate --output again.csv`)).toMatchInlineSnapshot(`
    $ refcheck batch export BATCH_2 --state duplicate --output again.csv
    1 row written to HOME/again.csv
    exit 0
  `)
  expect(await type('batch run again.csv --yes --allow-duplicate')).toMatchInlineSnapshot(`
    $ refcheck batch run again.csv --yes --allow-duplicate
    2>
    2> again.csv: 1 row
    2>   0 orders to send
    2>   1 row held, not sent until you release it
    2>     was ordered less than 7 days ago
    2>       Ana Row1 (line 2)
    2>
    1 of 1 person in again.csv is ordered; 1 held, to decide whether to order again

    batch  BATCH_3
    again.csv

    1  held
    1  row

    results  HOME/again.results.csv
    2> Error: 0 of 1 row was accepted (1 held)
    2> See why it is held: refcheck batch rows BATCH_3 --state held
    2> Order Ana Row1 (line 2) again: refcheck batch release BATCH_3 --row 1
    2> Leave Ana Row1 (line 2) out: refcheck batch cancel BATCH_3 --row 1
    exit 10
  `)
  expect(listOrderedEmails()).toEqual(createEmails(2))
})

test('results of a file that was fixed and run again have the request ids of the earlier batch', async () => {
  const { type, read, folder, sandbox } = await session()
  writePeopleFile(folder, createEmails(2))
  await type(`${run} --max 1`)
  const [request] = sandbox.requests()
  // The second row is fixed, so the file is another batch, and the first row is a duplicate in it. Its results get another
  // file, because the first batch may still order the second row.
  writePeopleFile(folder, ['a1@example.com', 'a2.fixed@example.com'])
  expect((await type(run)).code).toBe(0)
  expect(read('people.results-2.csv')).toContain(`,duplicate,${request?.request_id},`)
})

test('commands that change rows without a run write the results file too, unless a later batch uses it', async () => {
  const { type, folder, read, clock } = await session()
  const readStates = () =>
    read('people.results.csv')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',').slice(4, 6).join(' ').trim())
  writePeopleFile(folder, createEmails(4))
  const first = (await type(`${run} --max 1 --json`)).json() as { batch_id: string }
  expect(readStates().slice(1)).toEqual(['pending', 'pending', 'pending'])
  await type(`batch cancel ${first.batch_id} --row 4`)
  expect(readStates().slice(1)).toEqual(['pending', 'pending', 'cancelled'])
  await type(`batch cancel ${first.batch_id} --row 3 --row 4`)
  expect(readStates().slice(1)).toEqual(['pending', 'cancelled', 'cancelled'])
  await type(`batch cancel ${first.batch_id} --yes`)
  expect(readStates().slice(1)).toEqual(['cancelled', 'cancelled', 'cancelled'])
  await clock.advance(60_000)
  await type(`${run} --again`)
  const laterResults = read('people.results.csv')
  expect((await type(`batch cancel ${first.batch_id} --row 4`)).code).toBe(2)
  expect(read('people.results.csv')).toBe(laterResults)
})

test('batch status names no results file that has only rows of a later batch', async () => {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  const first = (await here.type(`${run} --json`)).json() as { batch_id: string }
  writePeopleFile(here.folder, createEmails(3))
  const second = (await here.type(`${run} --json`)).json() as { batch_id: string }
  const readStatus = async (id: string) => (await here.type(`batch status ${id}`)).stdout
  expect(await readStatus(first.batch_id)).not.toContain('results')
  expect(await readStatus(second.batch_id)).toMatch(/^results {2}\S+\/people\.results\.csv$/m)
})
