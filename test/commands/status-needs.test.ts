import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

const terminal = { tty: true, exported: { NO_COLOR: '1' } }

test('status names the command for held rows, the reason why a batch halted, and how many more people a line is about', async () => {
  const here = await session()
  here.write(
    'people.csv',
    `first_name,last_name,email,phone
Lena,Vogt-Maier-Lindenberger,l1@example.com,+61400000001
Lenna,Vogt-Maier-Lindenberger,l2@example.com,+61400000001
Lenaa,Vogt-Maier-Lindenberger,l3@example.com,+61400000001
`,
  )
  await here.type('batch run people.csv --package 102 --yes --quiet')
  here.sandbox.setCredits(0)
  writePeopleFile(here.folder, createEmails(2), 'more.csv')
  await here.type('batch run more.csv --package 102 --yes --quiet')
  expect(await here.type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      more.csv                              halted  refcheck batch resume BATCH_2…
        organisation has no credits remaining; left to send: Ana Row1, Ana Row2
      Lenna Vogt-Maier-Lindenb… and 1 more  held    refcheck batch release BATCH_1…
    exit 0
  `)
  expect(await here.type('status')).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      more.csv                              halted  refcheck batch resume BATCH_2
        organisation has no credits remaining; left to send: Ana Row1, Ana Row2
      Lenna Vogt-Maier-Lindenb… and 1 more  held    refcheck batch release BATCH_1
    exit 0
  `)
})

test('a request that ended without a result is counted once in status: listed until the user looks at it, then as looked at', async () => {
  const here = await session()
  const { type, folder, clock, read, write } = here
  const people = ['a1+error@example.com', 'a2+declined@example.com']
  writePeopleFile(folder, people)
  await type('batch run people.csv --package 102 --yes --quiet')
  await clock.advance(30 * 24 * 60 * 60_000)
  await type('request list --refresh --quiet')
  await type(`request get ${people[0]}`, terminal)
  expect(await type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you
      Ana Row2  cancelled  refcheck request get REQUEST_2…
    Ended, settled: 1 ERROR → refcheck request list --status error
    exit 0
  `)
  await type(`request get ${people[1]}`, terminal)
  expect(await type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you  nothing
    Ended, settled: 1 ERROR → refcheck request list --status error
    Ended, settled: 1 CANCELLED → refcheck request list --status cancelled
    exit 0
  `)
  const others = read('people.csv').replace(/^.*a1\+error.*\n/m, '')
  write('again.csv', `${others}Cleo,Hart,cleo@example.com,+61400000099\n`)
  await type('batch run again.csv --package 102 --yes --quiet')
  const [batch] = (await type('batch list --json')).json() as { batch_id: string }[]
  await type(`batch export ${batch?.batch_id} --output again.html`)
  const [section] = /<h2 id="attention">.*?<\/section>/s.exec(read('again.html')) ?? []
  expect(section?.replaceAll(/\s+/g, ' ')).toMatchInlineSnapshot(
    `"<h2 id="attention">Needs a person</h2> <p>Nothing new needs a person.</p> <p>1 request ended without a result: see the list of people.</p> </section>"`,
  )
})

test('the page of people counts a person with two rejected rows once', async () => {
  const { sandbox, write, type, read } = await session()
  const ana = 'Ana,Lee,ana@example.com,+61400000001'
  write('people.csv', `first_name,last_name,email,phone,package_id\n${ana},102\n${ana},103\n`)
  sandbox.inject({
    on: 'POST /v1/requests',
    times: 9,
    fault: { kind: 'status', status: 400, when: 'before' },
  })
  await type('batch run people.csv --yes --quiet')
  await type('status --html people.html')
  expect(read('people.html').replaceAll(/\s+/g, ' ')).toContain('<dd>2 <small>1 person</small></dd>')
})

test('status --all lists each person who needs the user by name', async () => {
  const { write, type } = await session()
  for (let file = 1; file <= 9; file += 1) {
    const rows = ['Lena', 'Lenna', 'Lenaa'].map(
      (first, at) => `${first},Vogt${file},l${file}${at}@example.com,+6140000000${file}`,
    )
    write(`f${file}.csv`, `first_name,last_name,email,phone\n${rows.join('\n')}\n`)
    await type(`batch run f${file}.csv --package 102 --yes --quiet`)
  }
  const short = await type('status', terminal)
  expect(short.stdout.split('\n').at(-2)).toBe('  and 1 more; each person: refcheck status --all')
  const whole = await type('status --all', terminal)
  expect(whole.stdout.match(/^ {2}\S+ Vogt\d +held {2}refcheck batch release /gm)).toHaveLength(18)
  expect(whole.stdout).not.toContain(' more')
})

test('batch status says once that a row is held, and of whom it may be', async () => {
  const { write, type } = await session()
  const rows = ['Lena,Vogt,l1@example.com,+61400000001', 'Lenna,Vogt,l2@example.com,+61400000001']
  write('people.csv', `first_name,last_name,email,phone\n${rows.join('\n')}\n`)
  const run = await type('batch run people.csv --package 102 --yes --max 1 --json')
  const { batch_id: id } = run.json() as { batch_id: string }
  expect((await type(`batch status ${id}`)).stdout).toContain(
    '  1 held  people.csv: Lenna Vogt: has the same phone as Lena Vogt (l1@example.com), ',
  )
})

test('the end of a run and status name the people whose rows were left out as invalid, until the corrected file is run', async () => {
  const here = await session()
  writePeopleFile(here.folder, ['a1@example.com', 'no e-mail'])
  const run = 'batch run people.csv --package 102 --yes --on-invalid skip'
  expect((await here.type(run)).stdout).toContain(
    'Not ordered, because invalid: Ana Row2 (line 3)\nTo order invalid rows, correct them in the file and run it again.',
  )
  expect(await here.type('status', terminal)).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    1 order   read again: refcheck request list --refresh
    Needs you
      Ana Row2  invalid  refcheck batch rows BATCH_1… --state invalid
        correct people.csv and run it again
    exit 0
  `)
  expect((await here.type('status --json')).json()).toMatchObject({
    attention: [{ kind: 'invalid', first_name: 'Ana', last_name: 'Row2', row: 2 }],
  })
  writePeopleFile(here.folder, ['a1@example.com', 'a2@example.com'])
  const changed = await here.type('status', terminal)
  expect(changed.stdout).toMatch(/^ {2}Ana Row2 {2}invalid /m)
  await here.clock.advance(60_000)
  await here.type(run)
  expect((await here.type('status', terminal)).stdout).toMatch(/^Needs you +nothing$/m)
})

const header = 'first_name,last_name,email,phone'
const ada = 'Ada,Arm,ada@example.com,+61400000001'

test('an invalid row is not listed after its person was ordered by another file', async () => {
  const here = await session()
  here.write('people.csv', `${header}\n${ada}\nBob,Bly,no e-mail,+61400000002\n`)
  await here.type('batch run people.csv --package 102 --yes --on-invalid skip')
  here.write('namesake.csv', `${header}\nBob,Bly,bob.b@example.com,+61400000009\n`)
  await here.type('batch run namesake.csv --package 102 --yes')
  expect((await here.type('status', terminal)).stdout).toMatch(/^ +Bob Bly +invalid/m)
  here.write('corrected.csv', `${header}\n${ada}\nBob,Bly,bob@example.com,+61400000002\n`)
  await here.type('batch run corrected.csv --package 102 --yes')
  expect((await here.type('status', terminal)).stdout).toMatch(/^Needs you +nothing$/m)
})

const order = '--package 102 --yes'

test('an invalid person who was then ordered by hand or by the corrected file counts as ordered', async () => {
  const here = await session()
  const { type, all, write } = here
  write(
    'i.csv',
    `${header}\n${ada}\nIva,Inn,iva at example,+61400000002\nIke,Ivo,ike at example,+61400000003\n`,
  )
  const run = `batch run i.csv ${order} --on-invalid skip`
  const { batch_id: id } = (await type(`${run} --json`)).json() as { batch_id: string }
  await here.clock.advance(60_000)
  await type(
    `request create ${order} --first-name Iva --last-name Inn --email iva@example.com --phone +61400000002`,
  )
  expect(await all([run, `batch rows ${id}`, 'batch list'])).toMatchInlineSnapshot(`
    $ refcheck batch run i.csv --package 102 --yes --on-invalid skip
    2> i.csv is batch BATCH_1: nothing left to send.
    ✔ 2 of 3 people in i.csv are ordered; left out: 1 invalid

    batch  BATCH_1
    i.csv, 102 Identity check only

    1  accepted
    2  invalid, 1 of them ordered by another row or command
    3  rows

    results  HOME/i.results.csv

    Next: refcheck report sync --output reports

    Not ordered, because invalid: Ike Ivo (line 4)
    To order invalid rows, correct them in the file and run it again.
    2> See the reason for each row with: refcheck batch rows BATCH_1
    exit 10

    $ refcheck batch rows BATCH_1
    ROW  LINE  STATE     EMAIL            OUTCOME
    1    2     accepted  ada@example.com  REQUEST_1
    2    3     invalid   iva at example   ordered on 2026-11-20 12:01 +00:00, by request create (this row: email has no @; an e-mail address looks like ann@example.com)
    3    4     invalid   ike at example   email has no @; an e-mail address looks like ann@example.com
    2> To order invalid rows, correct them in the file and run it again.
    exit 0

    $ refcheck batch list
    BATCH ID                              NAME   ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               i.csv  2026-11-20  2 of 3   0         done, 1 invalid
    exit 0
  `)
  write('i2.csv', `${header}\n${ada}\nIke,Ivo,ike@example.com,+61400000003\n`)
  await type(`batch run i2.csv ${order}`)
  expect(await all([run, `batch rows ${id} --state invalid`, `batch status ${id}`, 'batch list']))
    .toMatchInlineSnapshot(`
      $ refcheck batch run i.csv --package 102 --yes --on-invalid skip
      2> i.csv is batch BATCH_1: nothing left to send.
      ✔ All 3 people in i.csv are ordered, from 2026-11-20 12:00 +00:00 to 2026-11-20 12:01 +00:00; nothing to do

      batch  BATCH_1
      i.csv, 102 Identity check only

      1  accepted
      2  invalid, ordered by another row or command
      3  rows

      results  HOME/i.results.csv

      Next: refcheck report sync --output reports
      exit 0

      $ refcheck batch rows BATCH_1 --state invalid
      ROW  LINE  STATE    EMAIL           OUTCOME
      2    3     invalid  iva at example  ordered on 2026-11-20 12:01 +00:00, by request create (this row: email has no @; an e-mail address looks like ann@example.com)
      3    4     invalid  ike at example  ordered on 2026-11-20 12:01 +00:00, by i2.csv (this row: email has no @; an e-mail address looks like ann@example.com)
      exit 0

      $ refcheck batch status BATCH_1
      batch  BATCH_1
      i.csv, 102 Identity check only

      1  accepted
      2  invalid, ordered by another row or command
      3  rows

      results  HOME/i.results.csv

      requests  3 RECEIVED (2 ordered by other files or commands)
      exit 0

      $ refcheck batch list
      BATCH ID                              NAME    ADDED AT          ORDERED  FINISHED  STATE
      BATCH_2                               i2.csv  2026-11-20 12:01  2 of 2   0         done
      BATCH_1                               i.csv   2026-11-20 12:00  3 of 3   0         done
      exit 0
    `)
  expect(here.read('i.results.csv')).toMatch(
    /^Ike,Ivo,ike at example,\+61400000003,invalid,[\da-f-]{36},RECEIVED,/m,
  )
  write('i.csv', here.read('i.csv').replaceAll(' at ', '@').replaceAll('example,', 'example.com,'))
  const otherStore = { env: { REFCHECK_STORE: join(here.folder, 'other.sqlite') } }
  expect(await type(`batch run i.csv ${order} --dry-run`, otherStore)).toMatchInlineSnapshot(`
    $ REFCHECK_STORE=HOME/other.sqlite refcheck batch run i.csv --package 102 --yes --dry-run
    2> Dry run: nothing was sent.
    ✔ All 3 people in i.csv are ordered, from 2026-11-20 12:00 +00:00 to 2026-11-20 12:01 +00:00; nothing to do

    i.csv: 3 rows
      0 orders to send
      3 rows ordered before, not sent
        Ada Arm (line 2): ordered, by line 2 of i.results.csv
        Iva Inn (line 3): ordered, by line 3 of i.results.csv
        Ike Ivo (line 4): ordered, by line 4 of i.results.csv
    exit 0
  `)
  await type(`batch export ${id} --format html --output i.html`)
  const page = here.read('i.html').replaceAll(/\s+/g, ' ')
  expect(page).toContain('aria-label="Statuses: 3 RECEIVED"')
  expect(page.match(/RECEIVED<\/span> <small>\(ordered elsewhere\)/g)).toHaveLength(2)
  expect(page).toContain('Ike Ivo')
})

test('an invalid person is not counted as ordered because another person is, or because of another package', async () => {
  const { type, write } = await session()
  const invalidRows = 'Ado,Arm,ado@example.com,no phone\nEva,Arm,office@example.com,no phone'
  write('i.csv', `${header}\n${ada}\n${invalidRows}\n`)
  const run = `batch run i.csv ${order} --on-invalid skip`
  await type(run)
  write('i2.csv', `${header}\nAdo,Arm,ado@example.com,+61400000001\n`)
  await type(`batch run i2.csv ${order}`)
  for (const [packageId, person] of [
    [103, '--first-name Ado --last-name Arm --email ado@example.com --phone +61400000007'],
    [102, '--first-name Ado --last-name Arm --email other@example.com --phone +61400000008'],
    [102, '--first-name Ewa --last-name Lob --email office@example.com --phone +61400000009'],
  ] as const)
    expect(await type(`request create --package ${packageId} --yes ${person}`)).toMatchObject({ code: 0 })
  expect((await type(run)).stdout).toContain('1 of 3 people in i.csv is ordered; left out: 2 invalid\n')
})

test('a rejected person who was ordered with a corrected e-mail or phone is not listed any more', async () => {
  const here = await session()
  here.write(
    'r.csv',
    `${header}\nNora,Nagel,nora+422@example.com,+61400000002\nNorb,Noll,norb+422@example.com,+61400000003\n`,
  )
  here.sandbox.inject({
    on: 'POST /v1/requests',
    fault: { kind: 'status', status: 400, when: 'before' },
    times: 2,
  })
  const { batch_id: id } = (await here.type(`batch run r.csv ${order} --json`)).json() as { batch_id: string }
  expect((await here.type('status --all', terminal)).stdout).toMatch(/Nora Nagel +rejected/)
  await here.clock.advance(60_000)
  here.write(
    'r2.csv',
    `${header}\nNora,Nagel,nora@example.com,+61400000002\nNorb,Noll,norb+422@example.com,+61400000004\n`,
  )
  await here.type(`batch run r2.csv ${order}`)
  expect((await here.type('status', terminal)).stdout).toMatch(/^Needs you +nothing$/m)
  expect(await here.all(['batch list', `batch rows ${id}`, `batch run r.csv ${order}`]))
    .toMatchInlineSnapshot(`
      $ refcheck batch list
      BATCH ID                              NAME    ADDED AT          ORDERED  FINISHED  STATE
      BATCH_2                               r2.csv  2026-11-20 12:01  2 of 2   0         done
      BATCH_1                               r.csv   2026-11-20 12:00  2 of 2   0         done
      exit 0

      $ refcheck batch rows BATCH_1
      ROW  LINE  STATE     EMAIL                 OUTCOME
      1    2     rejected  nora+422@example.com  ordered on 2026-11-20 12:01 +00:00, by r2.csv (this row: request refused)
      2    3     rejected  norb+422@example.com  ordered on 2026-11-20 12:01 +00:00, by r2.csv (this row: request refused)
      exit 0

      $ refcheck batch run r.csv --package 102 --yes
      2> r.csv is batch BATCH_1: nothing left to send.
      ✔ All 2 people in r.csv are ordered, on 2026-11-20 12:01 +00:00; nothing to do

      batch  BATCH_1
      r.csv, 102 Identity check only

      2  rejected, ordered by another row or command
      2  rows

      results  HOME/r.results.csv

      Next: refcheck report sync --output reports
      exit 0
    `)
  await here.type(`batch export ${id} --format html --output r.html`)
  await here.type('status --html all.html')
  for (const name of ['r.html', 'all.html'])
    expect(here.read(name)).toContain('aria-label="Statuses: 2 RECEIVED"')
})

test('a request that was cancelled is not listed any more once the person was ordered again', async () => {
  const here = await session()
  here.write('c.csv', `${header}\nFips,Feld,fips@example.com,+61400000002\n`)
  here.sandbox.inject({ scenario: 'declined' })
  await here.type(`batch run c.csv ${order}`)
  await here.clock.advance(10 * 24 * 3_600_000)
  await here.type('request list --refresh')
  expect((await here.type('status', terminal)).stdout).toMatch(/Fips Feld +cancelled/)
  const person = '--first-name Fips --last-name Feld --email fips@example.com --phone +61400000002'
  await here.type(`request create ${order} ${person} --allow-duplicate`)
  expect((await here.type('status', terminal)).stdout).toMatch(/^Needs you +nothing$/m)
  await here.type('status --html all.html')
  const page = here.read('all.html').replaceAll(/\s+/g, ' ')
  expect(page).toContain('CANCELLED</span> <small>(ordered again)</small>')
  expect(page).toContain('<p>Nothing needs a person.</p>')
  const [cancelled, again] = here.sandbox.requests().map(({ request_id }) => request_id)
  expect((await here.type(`request get ${cancelled}`, terminal)).stdout).toContain(
    `Ordered again, RECEIVED: refcheck request get ${again?.slice(0, 8)}`,
  )
  expect((await here.type('batch run c.csv --package 102')).stdout).toMatch(
    /the request of Fips Feld \(line 2\), ordered again, was CANCELLED/,
  )
})

test('an invalid person whose later request was cancelled is named, with the command that orders again', async () => {
  const here = await session()
  here.write('c.csv', `${header}\n${ada}\nIva,Inn,iva at example,+61400000002\n`)
  const run = `batch run c.csv ${order} --on-invalid skip`
  await here.type(run)
  here.sandbox.inject({ scenario: 'declined' })
  const person = '--first-name Iva --last-name Inn --email iva@example.com --phone +61400000002'
  await here.type(`request create ${order} ${person}`)
  await here.clock.advance(10 * 24 * 3_600_000)
  await here.type('request list --refresh')
  const stdout = (await here.type(run, terminal)).stdout.replaceAll(/[\s\\]+/g, ' ')
  expect(stdout).toContain('; the request of Iva Inn (line 3) was CANCELLED')
  expect(stdout).toContain(`refcheck request create --package 102 ${person} --allow-duplicate`)
})
