import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { colleague } from '../harness/service-env.ts'
import { session } from '../harness/session.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('colleagues-results', { mustNotHappen: 'ordered twice' })

const run = 'batch run people.csv --package 102 --yes'
const header = 'first_name,last_name,email,phone'
const [ana1, ana2, bob] = [
  'Ana,Row1,a1@example.com,+61400000001',
  'Ana,Row2,a2@example.com,+61400000002',
  'Bob,Low,bob@example.com,+61400000100',
]

const file = (...rows: string[]): string => `${[header, ...rows].join('\n')}\n`

/**
 * One store orders two people, and another store runs the same file with a third person. In an early version, the other
 * store knew from the results file that the two people were ordered, but compared only the rows of this file with it.
 */
async function sessionWithResults() {
  const here = await session()
  writePeopleFile(here.folder, createEmails(2))
  await here.type(run)
  here.write('people.csv', file(ana1, ana2, bob))
  const other = colleague(here)
  expect((await here.type(run, other)).code).toBe(0)
  expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'bob@example.com'])
  return { here, other }
}

describe('an order that a results file of another store names is found by every later order of this store', () => {
  test('a single order is refused with the request of the results file', async () => {
    const { here, other } = await sessionWithResults()
    const create =
      'request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --yes'
    expect(await here.type(create, other)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000001 --yes
      2> Error: package 102 was already ordered for this person: request REQUEST_1, on 2026-11-20 12:00 +00:00, last seen RECEIVED when it was ordered
      2> To order it once more, add --allow-duplicate. Show the request with: refcheck request get REQUEST_1
      exit 2
    `)
    expect(await here.type(create.replace('+61400000001', '+61400000077'), other)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ana --last-name Row1 --email a1@example.com --phone +61400000077 --yes
      2> Error: somebody similar was ordered: package 102 (request REQUEST_1, 2026-11-20 12:00 +00:00) for the person in line 2 of people.results.csv has the same e-mail and name
      2> Nothing was sent. If these are two people, or this is meant to be ordered again, add --allow-similar.
      exit 2
    `)
    expect(here.listOrderedEmails()).toHaveLength(3)
  })

  test('a row of another file is a duplicate, and a similar one is held', async () => {
    const { here, other } = await sessionWithResults()
    here.write('more.csv', file(ana2, 'Anna,Row1,a1@example.com,+61400000001'))
    expect(await here.type('batch run more.csv --package 102 --yes', other)).toMatchInlineSnapshot(`
      $ refcheck batch run more.csv --package 102 --yes
      2>
      2> more.csv: 2 rows
      2>   0 orders to send
      2>   1 row ordered before, not sent
      2>     Ana Row2 (line 2): ordered, by line 3 of people.results.csv
      2>   1 row held, not sent until you release it
      2>     the same e-mail and phone as line 2 of people.results.csv: a1@example.com
      2>       Anna Row1 (line 3)
      2>
      1 of 2 people in more.csv is ordered; 1 held

      batch  BATCH_3
      more.csv, 102 Identity check only

      1  held
      1  duplicate
      2  rows

      results  HOME/more.results.csv
      2> Error: 1 of 2 rows is ordered (1 held)
      2> See why it is held: refcheck batch rows BATCH_3 --state held
      2> Anna Row1 (line 3) is another person: refcheck batch release BATCH_3 --row 2
      2> Anna Row1 (line 3) is the same person: refcheck batch cancel BATCH_3 --row 2
      exit 10
    `)
    expect(here.listOrderedEmails()).toHaveLength(3)
  })

  test('a results file of this store with such an order, used as the input, is evidence', async () => {
    const { here, other } = await sessionWithResults()
    rmSync(join(here.folder, 'people.results.csv'))
    const again = await here.type('batch run people.results-2.csv --package 102 --yes --json', other)
    expect([again.code, again.json()]).toMatchObject([0, { counts: { duplicate: 3 } }])
    expect(here.listOrderedEmails()).toHaveLength(3)
  })

  test('a person whose row is invalid in a results file as the input is found once the row is corrected', async () => {
    const here = await session()
    const other = colleague(here)
    writePeopleFile(here.folder, createEmails(2))
    await here.type(run)
    const [names = '', first = '', second = ''] = here.read('people.results.csv').split('\n')
    const invalid = second.replace('+61400000002', '8.19012E+11')
    here.write('team.csv', `${[names, first, invalid, bob + ','.repeat(13)].join('\n')}\n`)
    await here.type('batch run team.csv --package 102 --on-invalid skip --yes', other)
    expect(here.cat('team.results.csv')).toMatchInlineSnapshot(`
      $ cat team.results.csv
      first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
      Ana,Row1,a1@example.com,+61400000001,duplicate,REQUEST_1,,"is the same order as request REQUEST_1 (line 2 of team.csv, ordered 2026-11-20 12:00 +00:00)",2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_2,1,x5931154f64741b42466b02baab621880,xb092fe445001552b4d6d8e97740ee606,xac32bfb8ae31c22dd56f91ef1db8fc06
      Ana,Row2,a2@example.com,8.19012E+11,invalid,REQUEST_2,,"phone is in scientific notation: the spreadsheet has dropped digits; format the column as text and type it again",2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_2,2,,,
      Bob,Low,bob@example.com,+61400000100,accepted,REQUEST_3,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_2,3,xa70fe5ae3045f44faab3e1c2ae9a4889,xa69583d157ef1ad753c8f8e87a30c862,xf638685f0d825080eb333fcc3d1c8974
    `)
    const create =
      'request create --package 102 --first-name Ana --last-name Row2 --email a2@example.com --phone +61400000002 --yes'
    expect(await here.type(create, other)).toMatchInlineSnapshot(`
      $ refcheck request create --package 102 --first-name Ana --last-name Row2 --email a2@example.com --phone +61400000002 --yes
      2> Error: somebody similar was ordered: package 102 (request REQUEST_2, 2026-11-20 12:00 +00:00) for the person in line 3 of team.csv has the same e-mail
      2> Nothing was sent. If these are two people, or this is meant to be ordered again, add --allow-similar.
      exit 2
    `)
    here.write('corrected.csv', here.read('team.results.csv').replace('8.19012E+11', '+61400000002'))
    const corrected = await here.type('batch run corrected.csv --package 102 --yes --json', other)
    expect([corrected.code, corrected.json()]).toMatchObject([0, { counts: { duplicate: 3 } }])
    expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'bob@example.com'])
  })

  test('a row that waits when the results file is read for another batch is a duplicate when it is sent', async () => {
    const here = await session()
    const other = colleague(here)
    here.write('waiting.csv', file(bob, ana1))
    expect((await here.type('batch run waiting.csv --package 102 --yes --max 1', other)).code).not.toBe(0)
    writePeopleFile(here.folder, createEmails(1))
    await here.type(run)
    await here.type(run, other)
    const resumed = await here.type('batch run waiting.csv --package 102 --yes --json', other)
    expect([resumed.code, resumed.json()]).toMatchObject([0, { counts: { accepted: 1, duplicate: 1 } }])
    expect(here.listOrderedEmails()).toEqual(['bob@example.com', 'a1@example.com'])
  })
})

describe('an order that a results file named', () => {
  test('is known after the results file was overwritten without it', async () => {
    const here = await session()
    const other = colleague(here)
    writePeopleFile(here.folder, createEmails(2))
    await here.type(run)
    here.write('people.csv', file(ana1, ana2, bob, 'Cem,Ito,cem@example.com,+61400000200'))
    await here.type(`${run} --max 1`, other)
    const results = here.read('people.results.csv')
    here.write('people.results.csv', results.slice(0, results.indexOf('Ana')))
    expect((await here.type(`${run} --json`, other)).json()).toMatchObject({
      counts: { accepted: 2, duplicate: 2 },
    })
    expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'bob@example.com', 'cem@example.com'])
  })

  test('is found by a worker if the results file came after the batch was queued', async () => {
    const here = await session()
    const other = colleague(here)
    writePeopleFile(here.folder, createEmails(1))
    expect((await here.type('batch queue people.csv --package 102 --yes', other)).code).toBe(0)
    rmSync(join(here.folder, 'people.results.csv'))
    await here.type(run)
    expect(await here.type('worker --once', other)).toMatchInlineSnapshot(`
      $ refcheck worker --once
      {"time":"2026-11-20T12:00:00.000Z","level":"info","event":"started","profiles":["default"]}
      {"time":"2026-11-20T12:00:00.000Z","level":"info","event":"batch-started","profile":"default","batch_id":"BATCH_1","pending":1}
      {"time":"2026-11-20T12:00:00.000Z","level":"info","event":"refreshed","profile":"default"}
      {"time":"2026-11-20T12:00:00.000Z","level":"info","event":"batch-ended","profile":"default","batch_id":"BATCH_1","counts":{"total":1,"pending":0,"sending":0,"accepted":0,"rejected":0,"unknown":0,"dropped":0,"held":0,"invalid":0,"duplicate":1,"cancelled":0}}
      {"time":"2026-11-20T12:00:00.000Z","level":"info","event":"stopping"}
      {"time":"2026-11-20T12:00:00.000Z","level":"info","event":"stopped"}
      exit 0
    `)
    expect(here.listOrderedEmails()).toEqual(createEmails(1))
  })

  test('counts for another file also with --ignore-results, which is about the results files next to that file', async () => {
    const { here, other } = await sessionWithResults()
    here.write('more.csv', file(ana1))
    const runMore = 'batch run more.csv --package 102 --yes --ignore-results'
    expect((await here.type(runMore, other)).stdout).toContain('\n1  duplicate\n')
    expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'bob@example.com'])
    expect((await here.type(`${runMore} --allow-duplicate`, other)).code).toBe(0)
    expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'bob@example.com', 'a1@example.com'])
  })

  test('counts after the person was purged, and names no file any more', async () => {
    const { here, other } = await sessionWithResults()
    await here.type('store purge --email a1@example.com --yes', other)
    here.write('more.csv', file(ana1))
    expect((await here.type('batch run more.csv --package 102 --yes', other)).stderr).toMatch(
      /: ordered, by line 2 of a results file$/m,
    )
    expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'bob@example.com'])
  })

  test('is compared if its results file came after --ignore-results', async () => {
    const here = await session()
    const other = colleague(here)
    writePeopleFile(here.folder, createEmails(2))
    await here.type(run)
    const results = here.read('people.results.csv')
    here.write('people.results.csv', `${results}broken\n`)
    await here.type(`${run} --max 1 --ignore-results`, other)
    here.write('people.results.csv', results)
    expect((await here.type(`${run} --json`, other)).json()).toMatchObject({
      counts: { accepted: 1, duplicate: 1 },
    })
    expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'a1@example.com'])
  })
})

/** The results of a similar person were passed on to a person who has nothing in common with their person. */
test('an order that a results file names holds a person who shares a value with its person, and no other', async () => {
  const { here, other } = await sessionWithResults()
  here.write('more.csv', file('Anna,Other,a1@example.com,+61400000009'))
  const { batch_id: id } = (
    await here.type('batch run more.csv --package 102 --yes --json', other)
  ).json() as {
    batch_id: string
  }
  await here.type(`batch cancel ${id} --yes`, other)
  here.write(
    'third.csv',
    file('Anna,Third,c@example.com,+61400000009', 'Anna,Fourth,a1@example.com,+61400000008'),
  )
  expect(await here.type('batch run third.csv --package 102 --yes', other)).toMatchInlineSnapshot(`
    $ refcheck batch run third.csv --package 102 --yes
    2>
    2> third.csv: 2 rows
    2>   1 order of 102 Identity check only
    2>   1 row held, not sent until you release it
    2>     the same e-mail as line 2 of people.results.csv: a1@example.com
    2>       Anna Fourth (line 3)
    2> Sending takes under a minute
    2>
    1 of 2 people in third.csv is ordered; 1 held

    batch  BATCH_4
    third.csv, 102 Identity check only

    1  accepted
    1  held
    2  rows

    results  HOME/third.results.csv
    2> Error: 1 of 2 rows was accepted (1 held)
    2> See why it is held: refcheck batch rows BATCH_4 --state held
    2> Anna Fourth (line 3) is another person: refcheck batch release BATCH_4 --row 2
    2> Anna Fourth (line 3) is the same person: refcheck batch cancel BATCH_4 --row 2
    exit 10
  `)
})

/** Only orders were looked for, and not the results that are stored with other rows. */
test('a duplicate of a cancelled row whose order a results file names is not said to be free', async () => {
  const here = await session()
  const other = colleague(here)
  here.write('waiting.csv', file(bob, ana1))
  const { batch_id: id } = (
    await here.type('batch run waiting.csv --package 102 --yes --max 1 --json', other)
  ).json() as { batch_id: string }
  here.write('again.csv', file(ana1, 'Cem,Ito,cem@example.com,+61400000200'))
  expect((await here.type('batch run again.csv --package 102 --yes', other)).code).toBe(10)
  writePeopleFile(here.folder, createEmails(1))
  await here.type(run)
  await here.type(run, other)
  expect(await here.all([`batch cancel ${id} --yes`, 'status', 'batch list'], other)).toMatchInlineSnapshot(`
    $ refcheck batch cancel BATCH_1 --yes
    2> Cancelled 1 row; it will not be sent.
    2> To order Ana Row1 (line 3) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again-2.csv
    batch  BATCH_1
    waiting.csv, 102 Identity check only

    1  accepted
    1  cancelled
    2  rows

    results  HOME/waiting.results.csv
    exit 0

    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    2 orders   read again: refcheck request list --refresh
    Needs you  nothing
    exit 0

    $ refcheck batch list
    BATCH ID                              NAME         ADDED AT          ORDERED  FINISHED  STATE
    BATCH_4                               people.csv   2026-11-20 12:00  1 of 1   0         done
    BATCH_2                               again.csv    2026-11-20 12:00  1 of 2   0         done
    BATCH_1                               waiting.csv  2026-11-20 12:00  1 of 2   0         done
    exit 0
  `)
})

/** The preview left out the new results only, so that it said that nothing was left to send. */
test('a dry run of a known batch with --ignore-results shows the orders that the same run sends', async () => {
  const { here, other } = await sessionWithResults()
  expect(await here.all([`${run} --ignore-results --dry-run`, `${run} --ignore-results`], other))
    .toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102 --yes --ignore-results --dry-run
      2> people.csv is batch BATCH_2: 1 of 3 accepted, 2 rows are left to send.
      2> Dry run: nothing was sent.
      batch  BATCH_2
      people.csv, 102 Identity check only

      1  accepted
      2  pending
      3  rows

      results  HOME/people.results-2.csv
      exit 0

      $ refcheck batch run people.csv --package 102 --yes --ignore-results
      2> people.csv is batch BATCH_2: 1 of 3 accepted, 2 rows are left to send.
      ✔ All 3 people in people.csv are ordered
         2 now: Ana Row1, Ana Row2
         1 before

      batch  BATCH_2
      people.csv, 102 Identity check only

      3  accepted
      3  rows

      results  HOME/people.results-2.csv

      Next: refcheck request wait --batch BATCH_2
      exit 0
    `)
  expect(here.listOrderedEmails()).toEqual([...createEmails(2), 'bob@example.com', ...createEmails(2)])
})
