import { expect, test } from 'vitest'

import { createEmails, writePeopleFile } from '../harness/batch-file.ts'
import { session } from '../harness/session.ts'

const batchIdOf = (step: { json: () => unknown }): string => (step.json() as { batch_id: string }).batch_id

test('batch status counts the requests of all people of the file, as batch list and the page do, also those of other files', async () => {
  const here = await session()
  const { type, folder, clock } = here
  writePeopleFile(folder, createEmails(2), 'first.csv')
  await type('batch run first.csv --package 102 --yes')
  await clock.advance(3_600_000)
  await type('request list --refresh')
  writePeopleFile(folder, createEmails(3))
  const id = batchIdOf(await type('batch run people.csv --package 102 --yes --json'))
  expect(await here.all([`batch status ${id}`, 'batch list'])).toMatchInlineSnapshot(`
    $ refcheck batch status BATCH_2
    batch  BATCH_2
    people.csv, 102 Identity check only

    1  accepted
    2  duplicate
    3  rows

    results  HOME/people.results.csv

    requests  2 COMPLETED, 1 RECEIVED (2 ordered by other files or commands)
    checks    2 completed (2 of 3 requests read)
    exit 0

    $ refcheck batch list
    BATCH ID                              NAME        ADDED AT          ORDERED  FINISHED  STATE
    BATCH_2                               people.csv  2026-11-20 13:00  3 of 3   2         done
    BATCH_1                               first.csv   2026-11-20 12:00  2 of 2   2         done
    exit 0
  `)
  await type(`batch export ${id} --format html --output people.html`)
  expect(here.read('people.html').replaceAll(/\s+/g, ' ')).toMatch(/<dt>completed<\/dt> <dd>2 <small>of 3/)
})

test('people of a halted batch who were ordered by another file are ordered in batch list, batch rows and batch status', async () => {
  const here = await session()
  const { type, folder, sandbox } = here
  writePeopleFile(folder, createEmails(6))
  const id = batchIdOf(await type('batch run people.csv --package 102 --yes --max 1 --json'))
  const successor = sandbox.replacePackage(102)
  await type(`batch resume ${id} --yes`)
  await type(`batch export ${id} --state pending --output rest.csv`)
  const [header = '', ...rows] = here.read('rest.csv').trimEnd().split('\n')
  const corrected = rows.map((row) => `${row.replaceAll(',102,', `,${successor},`)},email`)
  here.write('rest.csv', [`${header},consent.consent_method`, ...corrected, ''].join('\n'))
  expect((await type('batch run rest.csv --yes')).code).toBe(0)
  expect(await here.all(['batch list', `batch rows ${id} --state pending`, `batch status ${id}`, 'status']))
    .toMatchInlineSnapshot(`
      $ refcheck batch list
      BATCH ID                              NAME        ADDED AT          ORDERED  FINISHED  STATE
      BATCH_2                               rest.csv    2026-11-20 12:00  5 of 5   0         done
      BATCH_1                               people.csv  2026-11-20 12:00  6 of 6   0         halted
      exit 0

      $ refcheck batch rows BATCH_1 --state pending
      ROW  LINE  STATE    EMAIL           OUTCOME
      2    3     pending  a2@example.com  ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv
      3    4     pending  a3@example.com  ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv
      4    5     pending  a4@example.com  ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv
      5    6     pending  a5@example.com  ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv
      6    7     pending  a6@example.com  ordered on 2026-11-20 12:00 +00:00 under package 107, by rest.csv
      2> The people of the pending rows are ordered. Cancel these rows with: refcheck batch cancel BATCH_1
      exit 0

      $ refcheck batch status BATCH_1
      batch  BATCH_1
      people.csv, 102 Identity check only

      1  accepted
      5  pending, ordered by another row or command
      6  rows

      halted  2026-11-20 12:00 +00:00  package 102 ("Identity check only") is INACTIVE and can no longer be ordered
      Its likely successor is package 107 (same name, newer id). consent.consent_method: new and required.
      Write the rows that were not sent to a file: refcheck batch export BATCH_1 --state pending,held,rejected --output rest.csv
      Fix them there, set their package_id to 107, and order them: refcheck batch run rest.csv
      Then cancel them here: refcheck batch cancel BATCH_1

      results  HOME/people.results.csv

      requests  6 RECEIVED (5 ordered by other files or commands)

      Needs a person
        1 halted  people.csv
          refcheck batch cancel BATCH_1
      exit 0

      $ refcheck status
      127.0.0.1:PORT (olive.owner@example.com)   read just now
      Running    6 orders   read again: refcheck request list --refresh
      Needs you
        people.csv  halted  refcheck batch cancel BATCH_1
          package 102 ("Identity check only") is INACTIVE and can no longer be ordered; the people of the other rows are ordered otherwise
      exit 0
    `)
})

test('a rejected row is corrected or retried, and batch list counts the invalid people who are not ordered', async () => {
  const here = await session()
  const { sandbox, write } = here
  const header = 'first_name,last_name,email,phone'
  const badRow = 'Ivo,Bad,ivo@example.com,0412 345 678'
  write('mixed.csv', `${header}\nHal,Weg,hal@example.com,+61400000001\n${badRow}\n`)
  const fault = { kind: 'status', status: 400, when: 'before', message: 'not accepted today' } as const
  sandbox.inject({ on: 'POST /v1/requests', times: 1, fault })
  expect(await here.type('batch run mixed.csv --package 102 --on-invalid skip --yes')).toMatchInlineSnapshot(`
    $ refcheck batch run mixed.csv --package 102 --on-invalid skip --yes
    2>
    2> mixed.csv: 2 rows
    2>   1 order of 102 Identity check only
    2>   1 row invalid, not sent
    2>     Ivo Bad (line 3): phone has no +; start it with + and the country code, such as +61400000000
    2> Sending takes under a minute
    2>
    2> Hal Weg rejected: not accepted today
    0 of 2 people in mixed.csv are ordered; 1 rejected, 1 invalid

    batch  BATCH_1
    mixed.csv, 102 Identity check only

    1  rejected
    1  invalid
    2  rows

    results  HOME/mixed.results.csv

    Not ordered, because invalid: Ivo Bad (line 3)
    To order invalid rows, correct them in the file and run it again.
    2> Error: 0 of 2 rows were accepted (1 rejected, 1 invalid)
    2> See the reason for each row with: refcheck batch rows BATCH_1
    2> To order rejected rows, correct them in the file and run it again, or if the cause is gone, make them pending with: refcheck batch retry BATCH_1
    exit 10
  `)
  const [{ batch_id: id }] = (await here.type('batch list --json')).json() as [{ batch_id: string }]
  expect(await here.all(['batch list', `batch rows ${id}`, 'status'])).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID                              NAME       ADDED AT    ORDERED  FINISHED  STATE
    BATCH_1                               mixed.csv  2026-11-20  0 of 2   0         done, 1 rejected, 1 invalid
    exit 0

    $ refcheck batch rows BATCH_1
    ROW  LINE  STATE     EMAIL            OUTCOME
    1    2     rejected  hal@example.com  not accepted today
    2    3     invalid   ivo@example.com  phone has no +; start it with + and the country code, such as +61400000000
    2> To order rejected rows, correct them in the file and run it again, or if the cause is gone, make them pending with: refcheck batch retry BATCH_1
    2> To order invalid rows, correct them in the file and run it again.
    exit 0

    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)
    Running    nothing
    Needs you
      Hal Weg  rejected  refcheck batch rows BATCH_1 --state rejected
        correct mixed.csv and run it again, or if the cause is gone, retry the rows
      Ivo Bad  invalid   refcheck batch rows BATCH_1 --state invalid
        correct mixed.csv and run it again
    exit 0
  `)
})
