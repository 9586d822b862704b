import { expect, test } from 'vitest'

import { type Session, session } from '../harness/session.ts'

const header = 'first_name,last_name,email,phone'
const lee = 'Lee,Rap,lee+cut-after@example.com,+61400000002'
const len = 'Len,Ott,len@example.com,+61400000003'

const batchIdOf = (step: { json: () => unknown }): string => (step.json() as { batch_id: string }).batch_id

/** Orders the first of three people of l.csv; another file orders the second one with an unknown outcome. */
async function orderPerhapsUnderSuccessor(): Promise<Session & { id: string; restId: string }> {
  const here = await session()
  here.write('l.csv', `${header}\nLyo,Bay,lyo@example.com,+61400000001\n${lee}\n${len}\n`)
  const id = batchIdOf(await here.type('batch run l.csv --package 102 --yes --max 1 --json'))
  const successor = here.sandbox.replacePackage(102, { newField: false })
  await here.type(`batch resume ${id} --yes`)
  here.write('rest.csv', `${header}\n${lee}\n`)
  const restId = batchIdOf(await here.type(`batch run rest.csv --package ${successor} --yes --json`))
  return { ...here, id, restId }
}

test('a cancelled person who may have been ordered by another file is not called left out', async () => {
  const here = await orderPerhapsUnderSuccessor()
  const { type, id } = here
  expect(await type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      Lee Rap  perhaps ordered  refcheck batch reconcile BATCH_2
      l.csv    halted           refcheck batch move BATCH_1 --package 107
        package 102 ("Identity check only") is INACTIVE and can no longer be ordered; left to send: Lee Rap (may have been ordered by rest.csv), Len Ott
    exit 0
  `)
  expect(await here.all([`batch cancel ${id} --yes`, 'batch run l.csv --package 102 --yes']))
    .toMatchInlineSnapshot(`
      $ refcheck batch cancel BATCH_1 --yes
      2> Cancelled 2 rows; they will not be sent.
      2> May have been ordered by another row or command: Lee Rap (line 3)
      2> Settle that order with: refcheck batch reconcile BATCH_2
      2> To order Len Ott (line 4) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_1 --state cancelled --output again.csv
      batch  BATCH_1
      l.csv, 102 Identity check only

      1  accepted
      2  cancelled
      3  rows

      results  HOME/l.results.csv
      exit 0

      $ refcheck batch run l.csv --package 102 --yes
      2> l.csv is batch BATCH_1: nothing left to send.
      1 of 3 people in l.csv is ordered; left out: Len Ott (line 4); may have been ordered: Lee Rap (line 3)

      batch  BATCH_1
      l.csv, 102 Identity check only

      1  accepted
      2  cancelled
      3  rows

      results  HOME/l.results.csv
      2> Error: 1 row is the same as an order whose outcome is unknown
      2> Settle that first: refcheck batch reconcile BATCH_2
      exit 8
    `)
  expect(await here.all([`batch rows ${id}`, `batch status ${id}`])).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1
    ROW  LINE  STATE      EMAIL                      OUTCOME
    1    2     accepted   lyo@example.com            REQUEST_1
    2    3     cancelled  lee+cut-after@example.com  may have been ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv
    3    4     cancelled  len@example.com            cancelled before it was sent
    exit 0

    $ refcheck batch status BATCH_1
    batch  BATCH_1
    l.csv, 102 Identity check only

    1  accepted
    2  cancelled
    3  rows

    results  HOME/l.results.csv

    requests  1 RECEIVED

    Needs a person
      1 perhaps ordered  rest.csv: Lee Rap: may have been ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv
        refcheck batch reconcile BATCH_2
    exit 0
  `)
  expect(here.cat('l.results.csv')).toMatchInlineSnapshot(`
    $ cat l.results.csv
    first_name,last_name,email,phone,refcheck_state,refcheck_request_id,refcheck_status,refcheck_error,refcheck_ordered_at,refcheck_account,refcheck_service,refcheck_package_id,refcheck_batch_id,refcheck_row,refcheck_name_digest,refcheck_email_digest,refcheck_phone_digest
    Lyo,Bay,lyo@example.com,+61400000001,accepted,REQUEST_1,RECEIVED,,2026-11-20T12:00:00.000Z,,http://localhost:PORT,102,BATCH_1,1,x4a3c1549cb561d65cd1d963536b8f0f5,x07dfb92e00dd72aa3830e0da55128b73,xac32bfb8ae31c22dd56f91ef1db8fc06
    Lee,Rap,lee+cut-after@example.com,+61400000002,cancelled,,,"may have been ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv",,,http://localhost:PORT,102,BATCH_1,2,x99668437d3a2055042b0cba9af862137,xda5e03427f23c13db0efa23238c3a8e5,x6b9e6d39ff534b7a83962f01b1f2c29a
    Len,Ott,len@example.com,+61400000003,cancelled,,,cancelled before it was sent,,,http://localhost:PORT,102,BATCH_1,3,x502790e0cf8f7ccedb91a4629e032d39,x0f8ca6942c5c3839c3e02c0d934fdd57,xb91206767b91821470497978906fc4dc
  `)
  await type(`batch export ${id} --format html --output l.html`)
  const page = here.read('l.html')
  expect(page).toContain('aria-label="Statuses: 1 RECEIVED, 1 unknown, 1 left out"')
  expect(page).toContain('(perhaps ordered elsewhere)')
  expect(page).not.toContain('Nothing needs a person')
  await type('status --html all.html')
  expect(here.read('all.html')).toContain('aria-label="Statuses: 1 RECEIVED, 1 unknown, 1 left out"')
})

test('a rejected person who may have been ordered by another file is not sent again, and the order to settle is named', async () => {
  const here = await session()
  const { type } = here
  here.write('l.csv', `${header}\n${lee}\n${len}\n`)
  const refused = { kind: 'status', status: 400, when: 'before', message: 'not accepted today' } as const
  here.sandbox.inject({ on: 'POST /v1/requests', times: 1, fault: refused })
  const id = batchIdOf(await type('batch run l.csv --package 102 --yes --json'))
  here.write('rest.csv', `${header}\n${lee}\n`)
  const restId = batchIdOf(await type('batch run rest.csv --package 102 --yes --json'))
  expect(await here.all(['batch run l.csv --package 102 --yes', `batch retry ${id}`])).toMatchInlineSnapshot(`
    $ refcheck batch run l.csv --package 102 --yes
    2> l.csv is batch BATCH_1: nothing left to send.
    1 of 2 people in l.csv is ordered; 1 rejected

    batch  BATCH_1
    l.csv, 102 Identity check only

    1  accepted
    1  rejected
    2  rows

    results  HOME/l.results.csv
    2> Error: 1 row is the same as an order whose outcome is unknown
    2> Settle that first: refcheck batch reconcile BATCH_2
    exit 8

    $ refcheck batch retry BATCH_1
    2> No rejected row is left to send: their people have other orders, or were removed.
    2> 1 row is the same as an order whose outcome is unknown. Settle that first: refcheck batch reconcile BATCH_2
    batch  BATCH_1
    l.csv, 102 Identity check only

    1  accepted
    1  duplicate
    2  rows

    results  HOME/l.results.csv
    exit 0
  `)
  await type(`batch reconcile ${restId} --row 1 --drop`)
  expect(await here.all(['batch run rest.csv --package 102', 'batch run l.csv --package 102 --yes']))
    .toMatchInlineSnapshot(`
      $ refcheck batch run rest.csv --package 102
      2> rest.csv is batch BATCH_2: nothing left to send.
      0 of 1 person in rest.csv is ordered; may have been ordered: Lee Rap (line 2)

      batch  BATCH_2
      rest.csv, 102 Identity check only

      1  dropped
      1  row

      results  HOME/rest.results.csv
      2> To decide again about Lee Rap (line 2): refcheck batch reconcile BATCH_2 --row 1
      exit 10

      $ refcheck batch run l.csv --package 102 --yes
      2> l.csv is batch BATCH_1: nothing left to send.
      1 of 2 people in l.csv is ordered; may have been ordered: Lee Rap (line 2)

      batch  BATCH_1
      l.csv, 102 Identity check only

      1  accepted
      1  duplicate
      2  rows

      results  HOME/l.results.csv

      Next: refcheck report sync --output reports
      2> To decide again about that order: refcheck batch reconcile BATCH_2 --row 1
      exit 8
    `)
  await type(`batch export ${id} --format html --output l.html`)
  expect(here.read('l.html').replaceAll(/\s+/g, ' ')).toContain(
    'dropped</span> <small>(perhaps ordered elsewhere)',
  )
})

test('a dropped person is named as perhaps ordered, and not as left out', async () => {
  const here = await session()
  const { type } = here
  here.write('mix.csv', `${header}\n${lee}\n${len}\n`)
  const id = batchIdOf(await type('batch run mix.csv --package 102 --yes --json'))
  await type(`batch reconcile ${id} --row 1 --drop`)
  await type(`batch resume ${id} --yes`)
  expect(await type('batch run mix.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch run mix.csv --package 102
    2> mix.csv is batch BATCH_1: nothing left to send.
    1 of 2 people in mix.csv is ordered; may have been ordered: Lee Rap (line 2)

    batch  BATCH_1
    mix.csv, 102 Identity check only

    1  accepted
    1  dropped
    2  rows

    results  HOME/mix.results.csv

    Next: refcheck report sync --output reports
    2> To decide again about Lee Rap (line 2): refcheck batch reconcile BATCH_1 --row 1
    exit 10
  `)
})

test.each(['SQLite', 'PostgreSQL'] as const)(
  'release --all leaves a row held that is similar to a dropped order, which may have been accepted (%s)',
  async (store) => {
    const { type, write, listOrderedEmails } = await session({ store })
    const smith =
      'Jonathan,Smith,jon+cut-after@example.com,+61400000001\nJonathon,Smith,jon+cut-after@example.com,+61400000001'
    write('jon.csv', `${header}\n${smith}\n`)
    const id = batchIdOf(await type('batch run jon.csv --package 102 --yes --json'))
    expect((await type(`batch run jon.csv --package 102 --yes`)).stderr).toContain(
      `with: refcheck batch reconcile ${id}\nDecide about the held rows: refcheck batch release ${id}\n`,
    )
    await type(`batch reconcile ${id} --row 1 --drop`)
    expect(await type(`batch release ${id} --all`)).toMatchInlineSnapshot(`
    $ refcheck batch release BATCH_1 --all
    batch  BATCH_1
    jon.csv, 102 Identity check only

    1  dropped
    1  held
    2  rows

    results  HOME/jon.results.csv
    2> Error: 1 row stays held, because its person may have been ordered (an order of a similar person has an unknown outcome): Jonathon Smith (line 3)
    2> Jonathon Smith (line 3) is another person: refcheck batch release BATCH_1 --row 2
    2> Jonathon Smith (line 3) is the same person: refcheck batch cancel BATCH_1 --row 2
    exit 10
  `)
    await type(`batch resume ${id} --yes`)
    expect(listOrderedEmails()).toHaveLength(1)
    const screen = { tty: { stdout: true, stderr: true }, env: { NO_COLOR: '1' } }
    const { stderr } = await type('request get jonathon', screen)
    expect(stderr.replace(/\s+/g, ' ')).toContain(
      `The row of Jonathon Smith (jon+cut-after@example.com) is held: refcheck batch rows ${id} --state held`,
    )
    expect((await type(`batch release ${id} --row 2`)).code).toBe(0)
  },
)

test('if the people of a file are ordered by another one or left out, that is no error, and the exit code is 10', async () => {
  const { type, write } = await session()
  write('one.csv', `${header}\n${len}\n`)
  await type('batch run one.csv --package 102 --yes')
  write('z.csv', `${header}\n${len}\nLenn,Ott,len@example.com,+61400000003\n`)
  const id = batchIdOf(await type('batch run z.csv --package 102 --yes --json'))
  await type(`batch cancel ${id} --row 2`)
  expect(await type('batch run z.csv --package 102 --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run z.csv --package 102 --yes
    2> z.csv is batch BATCH_2: nothing left to send.
    ✔ 1 of 2 people in z.csv is ordered; left out: Lenn Ott (line 3)

    batch  BATCH_2
    z.csv, 102 Identity check only

    1  duplicate
    1  cancelled
    2  rows

    results  HOME/z.results.csv

    Next: refcheck report sync --output reports
    2> To order Lenn Ott (line 3) after all, write the cancelled rows to a file and run that: refcheck batch export BATCH_2 --state cancelled --output again.csv
    exit 10
  `)
})

test('the steps for a package that can no longer be ordered are shown once, also with an unknown row', async () => {
  const here = await session()
  here.write('mix.csv', `${header}\n${lee}\n${len}\n`)
  const id = batchIdOf(await here.type('batch run mix.csv --package 102 --yes --max 1 --json'))
  here.sandbox.replacePackage(102)
  expect(await here.type(`batch resume ${id} --yes`)).toMatchInlineSnapshot(`
    $ refcheck batch resume BATCH_1 --yes
    0 of 2 people in mix.csv are ordered; 1 pending, 1 unknown

    batch  BATCH_1
    mix.csv, 102 Identity check only

    1  pending
    1  unknown
    2  rows

    halted  2026-11-20 12:00 +00:00  package 102 ("Identity check only") is INACTIVE and can no longer be ordered

    results  HOME/mix.results.csv
    2> Error: 1 row may or may not have been ordered, 1 not sent yet; halted: package 102 ("Identity check only") is INACTIVE and can no longer be ordered
    2> Settle it with: refcheck batch reconcile BATCH_1
    2> Its likely successor is package 107 (same name, newer id). consent.consent_method: new and required.
    2> Write the rows that were not sent to a file: refcheck batch export BATCH_1 --state pending,held,rejected --output rest.csv
    2> Fix them there, set their package_id to 107, and order them: refcheck batch run rest.csv
    2> Then cancel them here: refcheck batch cancel BATCH_1
    exit 8
  `)
  await here.clock.advance(3_600_000)
  expect(await here.type(`batch reconcile ${id} --row 1 --confirm-email lee+cut-after@example.com`))
    .toMatchInlineSnapshot(`
    $ refcheck batch reconcile BATCH_1 --row 1 --confirm-email lee+cut-after@example.com
    Lee Rap (line 2) was not ordered yet; the row waits to be sent.

    batch  BATCH_1
    mix.csv, 102 Identity check only

    2  pending
    2  rows

    halted  2026-11-20 13:00 +00:00  package 102 ("Identity check only") is INACTIVE and can no longer be ordered

    results  HOME/mix.results.csv
    2> Error: halted: package 102 ("Identity check only") is INACTIVE and can no longer be ordered; 0 accepted so far, 2 not sent yet
    2> Its likely successor is package 107 (same name, newer id). consent.consent_method: new and required.
    2> Write the rows that were not sent to a file: refcheck batch export BATCH_1 --state pending,held,rejected --output rest.csv
    2> Fix them there, set their package_id to 107, and order them: refcheck batch run rest.csv
    2> Then cancel them here: refcheck batch cancel BATCH_1
    exit 5
  `)
})

test('another store holds a person whose cancelled row may have been ordered otherwise, according to the results file', async () => {
  const { type, write, read } = await session()
  write('rest.csv', `${header}\n${lee}\n`)
  await type('batch run rest.csv --package 102 --yes')
  write('l.csv', `${header}\n${lee}\n${len}\n`)
  const id = batchIdOf(await type('batch run l.csv --package 102 --yes --json'))
  await type(`batch cancel ${id} --yes`)
  expect(read('l.results.csv')).toMatch(
    /lee\+cut-after@example\.com.*,cancelled,,,"may have been ordered on /,
  )
  const exported = { REFCHECK_STORE: 'other.sqlite', REFCHECK_QUOTA: '10000/60' }
  const run = await type('batch run l.csv --package 102 --yes --json', { exported })
  expect(run.json()).toMatchObject({ counts: { accepted: 0, held: 1, duplicate: 1 } })
})

test('release --all before a drop does not allow the row that is similar to the dropped one', async () => {
  const here = await session()
  here.write(
    'people.csv',
    `${header}\nAna,Row1,a1+cut-after@example.com,+61400000001\nAna,Row1,a1@example.com,+61400000001\n`,
  )
  const id = batchIdOf(await here.type('batch run people.csv --package 102 --yes --json'))
  expect(await here.all([`batch release ${id} --all`, `batch reconcile ${id} --row 1 --drop`]))
    .toMatchInlineSnapshot(`
      $ refcheck batch release BATCH_1 --all
      batch  BATCH_1
      people.csv, 102 Identity check only

      1  unknown
      1  held
      2  rows

      results  HOME/people.results.csv
      2> Error: 1 row stays held, because its person may have been ordered (an order of a similar person has an unknown outcome): Ana Row1 (line 3)
      2> Settle the order with an unknown outcome first: refcheck batch reconcile BATCH_1
      exit 10

      $ refcheck batch reconcile BATCH_1 --row 1 --drop
      Ana Row1 (line 2) will not be sent again.

      batch  BATCH_1
      people.csv, 102 Identity check only

      1  dropped
      1  held
      2  rows

      results  HOME/people.results.csv
      exit 0
    `)
  expect((await here.type(`batch resume ${id} --yes`)).code).toBe(10)
  expect(await here.type(`batch rows ${id}`)).toMatchInlineSnapshot(`
    $ refcheck batch rows BATCH_1
    ROW  LINE  STATE    EMAIL                     OUTCOME
    1    2     dropped  a1+cut-after@example.com  dropped by a person’s decision
    2    3     held     a1@example.com            held: has the same phone and name as Ana Row1 (a1+cut-after@example.com), line 2, dropped
    2> Ana Row1 (line 3) is another person: refcheck batch release BATCH_1 --row 2
    2> Ana Row1 (line 3) is the same person: refcheck batch cancel BATCH_1 --row 2
    exit 0
  `)
  expect(here.listOrderedEmails()).toHaveLength(1)
})
