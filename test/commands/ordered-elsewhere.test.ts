import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { type Session, session } from '../harness/session.ts'

const header = 'first_name,last_name,email,phone'
const hal = 'Hal,Weg,hal@example.com,+61400000001'
const refused = { kind: 'status', status: 400, when: 'before', message: 'not accepted today' } as const

const batchIdOf = (step: { json: () => unknown }): string => (step.json() as { batch_id: string }).batch_id

/** Orders two people, of whom the first is rejected, and then the rejected one by another file. */
async function orderByAnotherFile(here: Session): Promise<string> {
  here.write('hal.csv', `${header}\n${hal}\nHip,Hop,hip@example.com,+61400000002\n`)
  here.write('hal2.csv', `${header}\n${hal}\n`)
  here.sandbox.inject({ on: 'POST /v1/requests', times: 1, fault: refused })
  const id = batchIdOf(await here.type('batch run hal.csv --package 102 --yes --json'))
  await here.clock.advance(60_000)
  expect(await here.type('batch run hal2.csv --package 102 --yes')).toMatchObject({ code: 0 })
  return id
}

test('a rejected person who was then ordered by another file is shown as ordered, and needs no person', async () => {
  const here = await session()
  const id = await orderByAnotherFile(here)
  expect(await here.all(['status', 'batch list', `batch status ${id}`, `batch rows ${id} --state rejected`]))
    .toMatchInlineSnapshot(`
      $ refcheck status
      127.0.0.1:PORT (olive.owner@example.com)   as of 12:00, 60 s ago
      Running    2 orders   read again: refcheck request list --refresh
      Needs you  nothing
      exit 0

      $ refcheck batch list
      BATCH ID                              NAME      ADDED AT          ORDERED  FINISHED  STATE
      BATCH_2                               hal2.csv  2026-11-20 12:01  1 of 1   0         done
      BATCH_1                               hal.csv   2026-11-20 12:00  2 of 2   0         done
      exit 0

      $ refcheck batch status BATCH_1
      batch  BATCH_1
      hal.csv, 102 Identity check only

      1  accepted
      1  rejected, ordered by another row or command
      2  rows

      results  HOME/hal.results.csv

      requests  2 RECEIVED (1 ordered by other files or commands)
      exit 0

      $ refcheck batch rows BATCH_1 --state rejected
      ROW  LINE  STATE     EMAIL            OUTCOME
      1    2     rejected  hal@example.com  ordered on 2026-11-20 12:01 +00:00, by hal2.csv (this row: not accepted today)
      exit 0
    `)
  expect(await here.all(['batch run hal.csv --package 102 --yes', `batch resume ${id}`]))
    .toMatchInlineSnapshot(`
    $ refcheck batch run hal.csv --package 102 --yes
    2> hal.csv is batch BATCH_1: nothing left to send.
    ✔ All 2 people in hal.csv are ordered, from 2026-11-20 12:00 +00:00 to 2026-11-20 12:01 +00:00; nothing to do

    batch  BATCH_1
    hal.csv, 102 Identity check only

    1  accepted
    1  rejected, ordered by another row or command
    2  rows

    results  HOME/hal.results.csv

    Next: refcheck report sync --output reports
    exit 0

    $ refcheck batch resume BATCH_1
    ✔ All 2 people in hal.csv are ordered, on 2026-11-20 12:01 +00:00; nothing to do

    batch  BATCH_1
    hal.csv, 102 Identity check only

    1  accepted
    1  rejected, ordered by another row or command
    2  rows

    results  HOME/hal.results.csv

    Next: refcheck report sync --output reports
    exit 0
  `)
  expect(here.cat('hal.results.csv')).toMatchInlineSnapshot(`
    $ cat hal.results.csv
    first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Hal,Weg,hal@example.com,+61400000001,rejected,REQUEST_2,RECEIVED,"ordered on 2026-11-20 12:01 +00:00, by hal2.csv (this row: not accepted today)",2026-11-20T12:01:00.000Z,,http://localhost:PORT,102,BATCH_1,1,x0f6e66ad0c160c1e46a59881d9ef4370,xb0497a7d20a193f07ed2b3063066a579,xac32bfb8ae31c22dd56f91ef1db8fc06
    Hip,Hop,hip@example.com,+61400000002,accepted,REQUEST_1,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,2,xb7f3a8310222d18ae65463acd0f7c26a,xad68df42b5f931936a068c1e276893b5,x6b9e6d39ff534b7a83962f01b1f2c29a
  `)
  expect((await here.type(`batch rows ${id} --state rejected --json`)).json()).toMatchObject([
    { state: 'rejected', status: 'RECEIVED', matches: { row: 1, state: 'accepted' } },
  ])
  expect(await here.type(`batch retry ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch retry BATCH_1
    2> No rejected row is left to send: their people have other orders, or were removed.
    batch  BATCH_1
    hal.csv, 102 Identity check only

    1  accepted
    1  duplicate
    2  rows

    results  HOME/hal.results.csv
    exit 0
  `)
  expect(await here.type(`batch rows ${id} --state rejected,unknown`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1 --state rejected,unknown
    No row of hal.csv is rejected or unknown.
    exit 0
  `)
  expect(here.listOrderedEmails()).toEqual(['hip@example.com', 'hal@example.com'])
})

test('a rejected person who was then ordered has the status and the time of that order in exports', async () => {
  const here = await session()
  const id = await orderByAnotherFile(here)
  const exported = await here.type(`batch export ${id} --format json`)
  expect(exported.json()).toMatchObject([
    { refcheck_state: 'rejected', refcheck_ordered_at: '2026-11-20T12:01:00.000Z' },
    { refcheck_state: 'accepted', refcheck_ordered_at: '2026-11-20T12:00:00.000Z' },
  ])
  await here.type(`batch export ${id} --format html --output hal.html`)
  expect(here.read('hal.html')).not.toContain('rejected')
  await here.type('status --html all.html')
  expect(here.read('all.html')).not.toContain('rejected')
})

test('people ordered under the package that replaced theirs are named when their batch is resumed, and not listed as not ordered', async () => {
  const here = await session()
  const { type, sandbox } = here
  writePeopleFile(here.folder, createEmails(3))
  sandbox.inject({ on: 'POST /v1/requests', times: 1, fault: refused })
  const id = batchIdOf(await type('batch run people.csv --package 102 --yes --max 1 --json'))
  const successor = sandbox.replacePackage(102)
  await type(`batch resume ${id} --yes`)
  const rest = createEmails(3).map((email, at) => `Ana,Row${at + 1},${email},+6140000000${at + 1},email`)
  here.write('rest.csv', `${header},consent.consent_method\n${rest.join('\n')}\n`)
  await type(`batch run rest.csv --package ${successor} --yes`)
  expect(await type(`batch resume ${id}`, { answers: [] })).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_1
    2> Error: package 102 ("Identity check only") is INACTIVE and can no longer be ordered
    2> Ana Row2 (line 3) was ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv; Ana Row3 (line 4) was ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv. Take such rows out with: refcheck batch cancel BATCH_1 --row 2 --row 3
    2> Its likely successor is package 107 (same name, newer id). consent.consent_method: new and required.
    2> Write the rows that were not sent to a file: refcheck batch export BATCH_1 --state pending,held,rejected --output rest.csv
    2> Fix them there, set their package_id to 107, and order them: refcheck batch run rest.csv
    2> Then cancel them here: refcheck batch cancel BATCH_1
    exit 5
  `)
  expect(await type(`batch cancel ${id} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch cancel BATCH_1 --yes
    2> Cancelled 2 rows. All of these people are ordered by another row or command.
    2> List the orders with: refcheck request list
    batch  BATCH_1
    people.csv, 102 Identity check only

    1  rejected, ordered by another row or command
    2  cancelled, ordered by another row or command
    3  rows

    results  HOME/people.results.csv
    exit 0
  `)
  expect(await here.all([`batch run people.csv --package 102`, 'status', `batch retry ${id}`, 'batch list']))
    .toMatchInlineSnapshot(`
      $ refcheck batch run people.csv --package 102
      2> people.csv is batch BATCH_1: nothing left to send.
      ✔ All 3 people in people.csv are ordered, on 2026-11-20 12:00 +00:00; nothing to do

      batch  BATCH_1
      people.csv, 102 Identity check only

      1  rejected, ordered by another row or command
      2  cancelled, ordered by another row or command
      3  rows

      results  HOME/people.results.csv

      Next: refcheck report sync --output reports
      exit 0

      $ refcheck status
      127.0.0.1:PORT (olive.owner@example.com)   read just now
      Running    3 orders   read again: refcheck request list --refresh
      Needs you  nothing
      exit 0

      $ refcheck batch retry BATCH_1
      2> No rejected row is left to send: their people have other orders, or were removed.
      batch  BATCH_1
      people.csv, 102 Identity check only

      1  rejected, ordered by another row or command
      2  cancelled, ordered by another row or command
      3  rows

      results  HOME/people.results.csv
      exit 0

      $ refcheck batch list
      BATCH ID                              NAME        ADDED AT          ORDERED  FINISHED  STATE
      BATCH_2                               rest.csv    2026-11-20 12:00  3 of 3   0         done
      BATCH_1                               people.csv  2026-11-20 12:00  3 of 3   0         done
      exit 0
    `)
  expect(here.cat('people.results.csv')).toMatchInlineSnapshot(`
    $ cat people.results.csv
    first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Ana,Row1,a1@example.com,+61400000001,rejected,REQUEST_1,RECEIVED,"ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv (this row: not accepted today)",2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,1,x5931154f64741b42466b02baab621880,xb092fe445001552b4d6d8e97740ee606,xac32bfb8ae31c22dd56f91ef1db8fc06
    Ana,Row2,a2@example.com,+61400000002,cancelled,REQUEST_2,RECEIVED,"ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv",2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,2,x541523fdb3c8524810ab068adffc5435,x74bcd92f32d00c1ee52d51d62320dcca,x6b9e6d39ff534b7a83962f01b1f2c29a
    Ana,Row3,a3@example.com,+61400000003,cancelled,REQUEST_3,RECEIVED,"ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv",2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,3,x5bea1978406a4631108e57060a3014f0,xd640556b08caedb2e95a5ce28ec26a62,xb91206767b91821470497978906fc4dc
  `)
})

test('the results of rejected and cancelled rows whose people were ordered later are evidence for another store', async () => {
  const here = await session()
  await orderByAnotherFile(here)
  await here.type('batch run hal.csv --package 102 --yes')
  const other = { REFCHECK_DATA_DIR: join(here.folder, 'other', 'data') }
  for (const file of ['hal.results.csv', 'hal.csv'])
    expect((await here.type(`batch run ${file} --package 102 --yes`, { exported: other })).stdout).toContain(
      'All 2 people',
    )
  expect(here.listOrderedEmails()).toEqual(['hip@example.com', 'hal@example.com'])
})

test('a rejected row is pending again by its number, although its person was ordered under the likely successor', async () => {
  const here = await session()
  const { type, sandbox } = here
  here.write('one.csv', `${header}\n${hal}\n`)
  sandbox.inject({ on: 'POST /v1/requests', times: 1, fault: refused })
  const id = batchIdOf(await type('batch run one.csv --package 102 --yes --json'))
  const successor = sandbox.replacePackage(102, { newField: false })
  await type('packages list')
  await type(
    `request create --package ${successor} --first-name Hal --last-name Weg --email hal@example.com --phone +61400000001 --yes`,
  )
  expect((await type(`batch retry ${id}`)).stderr).toContain('their people have other orders')
  expect((await type(`batch retry ${id} --row 1`)).stderr).toContain('1 rejected row is pending again')
})

test('batch list shows rejected rows of a batch that is done, and the results file names the line that a row repeats', async () => {
  const here = await session()
  here.write('two.csv', `${header}\nHip,Hop,hip@example.com,+61400000002\n${hal}\n${hal}\n`)
  here.sandbox.inject({ on: 'POST /v1/requests', times: 1, fault: refused })
  await here.type('batch run two.csv --package 102 --yes')
  expect(await here.type('batch list')).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID                              NAME     ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               two.csv  2026-11-20  1 of 2   0         done, 1 rejected
    exit 0
  `)
  expect(here.read('two.results.csv')).toContain('is the same order as request')
  expect(here.read('two.results.csv')).toContain('(line 3, ordered ')
})

test('a person is counted once, if one row was rejected and another one repeats the later order', async () => {
  const here = await session()
  const { type } = here
  here.write('twice.csv', `${header}\n${hal}\n${hal}\n`)
  here.sandbox.inject({ on: 'POST /v1/requests', times: 1, fault: refused })
  await type('batch run twice.csv --package 102 --yes')
  const person = '--first-name Hal --last-name Weg --email hal@example.com --phone +61400000001'
  await type(`request create --package 102 ${person} --yes`)
  expect(await here.all(['batch run twice.csv --package 102 --yes', 'batch list'])).toMatchInlineSnapshot(`
    $ refcheck batch run twice.csv --package 102 --yes
    2> twice.csv is batch BATCH_1: nothing left to send.
    ✔ 1 person in twice.csv is ordered, on 2026-11-20 12:00 +00:00; nothing to do

    batch  BATCH_1
    twice.csv, 102 Identity check only

    1  rejected, ordered by another row or command
    1  duplicate
    2  rows

    results  HOME/twice.results.csv

    Next: refcheck report sync --output reports
    exit 0

    $ refcheck batch list
    BATCH ID                              NAME       ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               twice.csv  2026-11-20  1 of 1   0         done
    exit 0
  `)
})

test('a held person who was then ordered by another file is shown as ordered by each command about the batch', async () => {
  const here = await session()
  const { type, all, write } = here
  const ada = 'Ada,Arm,ada@example.com,+61400000001'
  const ado = 'Ado,Arm,ado@example.com,+61400000001'
  const bob = 'Bob,Bay,bob@example.com,+61400000005'
  write('h1.csv', `${header}\n${ada}\n`)
  write('h2.csv', `${header}\n${bob}\n${ado}\n`)
  write('h3.csv', `${header}\n${ado}\n`)
  await type('batch run h1.csv --package 102 --yes')
  const id = batchIdOf(await type(`batch run h2.csv --package 102 --yes --json`))
  await here.clock.advance(60_000)
  const otherId = batchIdOf(await type(`batch run h3.csv --package 102 --yes --json`))
  await type(`batch release ${otherId} --row 1`)
  expect(await type(`batch resume ${otherId} --yes`)).toMatchObject({ code: 0 })
  expect(await all(['batch list', `batch status ${id}`, `batch rows ${id}`, 'status']))
    .toMatchInlineSnapshot(`
      $ refcheck batch list
      BATCH ID                              NAME    ADDED AT          ORDERED  FINISHED  STATE
      BATCH_3                               h3.csv  2026-11-20 12:01  1 of 1   0         done
      BATCH_2                               h2.csv  2026-11-20 12:00  2 of 2   0         done
      BATCH_1                               h1.csv  2026-11-20 12:00  1 of 1   0         done
      exit 0

      $ refcheck batch status BATCH_2
      batch  BATCH_2
      h2.csv, 102 Identity check only

      1  accepted
      1  held, ordered by another row or command
      2  rows

      results  HOME/h2.results.csv

      requests  2 RECEIVED (1 ordered by other files or commands)
      exit 0

      $ refcheck batch rows BATCH_2
      ROW  LINE  STATE     EMAIL            OUTCOME
      1    2     accepted  bob@example.com  REQUEST_2
      2    3     held      ado@example.com  ordered on 2026-11-20 12:01 +00:00, by h3.csv
      exit 0

      $ refcheck status
      127.0.0.1:PORT (olive.owner@example.com)   as of 12:00, 60 s ago
      Running    3 orders   read again: refcheck request list --refresh
      Needs you  nothing
      exit 0
    `)
  await type(`batch export ${id} --format html --output h2.html`)
  expect(here.read('h2.html').replaceAll(/\s+/g, ' ')).toContain('RECEIVED</span> <small>(ordered elsewhere)')
  expect((await type('batch list --json')).json()).toMatchObject([
    { name: 'h3.csv' },
    { name: 'h2.csv', held: 0, ordered: 2, people: 2, state: 'done' },
    { name: 'h1.csv' },
  ])
  expect((await type(`batch rows ${id} --json`)).json()).toMatchObject([{}, { state: 'held' }])
})

test('a person whose order by another file has an unknown outcome is named by the run and on the page', async () => {
  const here = await session()
  const kim = 'Kim,Orr,kim+cut-after@example.com,+61400000003'
  here.write('k.csv', `${header}\n${kim}\n`)
  await here.type('batch run k.csv --package 102 --yes')
  here.write('k2.csv', `${header}\n${kim}\n${hal}\n`)
  const run = await here.type('batch run k2.csv --package 102 --yes --json')
  expect((await here.type('batch run k2.csv --package 102')).stdout).toMatch(
    /^1 of 2 people in k2\.csv is ordered; may have been ordered: Kim Orr \(line 2\)$/m,
  )
  expect((await here.type(`batch status ${batchIdOf(run)}`)).stdout).toMatch(
    /Needs a person\n +1 perhaps ordered +k\.csv: Kim Orr/,
  )
  expect((await here.type('batch list')).stdout).toMatch(/ k2\.csv .* 1 of 2 +0 +unknown$/m)
  await here.type(`batch export ${batchIdOf(run)} --format html --output k2.html`)
  expect(here.read('k2.html').replaceAll(/\s+/g, ' ')).toContain(
    'unknown</span> <small>(perhaps ordered elsewhere)',
  )
})

test('an invalid row counts as ordered by an earlier order of its person, but by none without a package of its own', async () => {
  const { type, write } = await session()
  write('mon.csv', `${header}\n${hal}\n`)
  await type('batch run mon.csv --package 102 --yes')
  const ownHeader = 'first_name,last_name,E-Mail,Mobil'
  write('tue.csv', `${ownHeader}\n${hal.replace(/[^,]*$/, '12')}\nBob,Bly,bob@example.com,+61400000002\n`)
  await type('batch run tue.csv --package 102 --yes --on-invalid skip --map E-Mail=email --map Mobil=phone')
  const tom = 'Tom,Tam,tom@example.com,+61400000003'
  write('p.csv', `${header},package_id\nMia,May,mia@example.com,+61400000004,102\n${tom},1O2\n`)
  await type('batch run p.csv --yes --on-invalid skip')
  const person = '--first-name Tom --last-name Tam --email tom@example.com --phone +61400000003'
  await type(`request create --package 103 --yes ${person}`)
  expect((await type('batch list')).stdout).toMatch(/ p\.csv .* 1 of 2 [^]* tue\.csv .* 2 of 2 /)
  const { attention } = (await type('status --json')).json() as { attention: unknown[] }
  expect(attention).toMatchObject([{ kind: 'invalid', last_name: 'Tam' }])
})
