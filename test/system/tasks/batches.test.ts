import { expect, test } from 'vitest'

import { type Filter, SIZE } from '../../harness/filters.ts'
import { type TerminalSession, startTerminal } from '../../harness/terminal-session.ts'
import { keys } from '../../harness/terminal.ts'

const header = 'first_name,last_name,email,phone'
const people = `${header}
Priya,Shah,priya@example.com,+61412345678
Mei,Ito,mei@example.com,+81312345678
Jo,Ray,jo@example.com,+442071234567
`
const run = 'refcheck batch run people.csv --package 102'

/** Returns the id of the only batch. */
async function readBatchId(terminal: TerminalSession): Promise<string> {
  const list = (await terminal.run(['batch', 'list', '--json'])).json() as { batch_id: string }[]
  return list[0]?.batch_id ?? ''
}

/** The name of a report, which depends on the URL of the service. */
const REPORT: Filter = [/_[0-9a-f]{8}\.pdf/g, '_KEY.pdf']
/** A time that depends on the machine's clock. */
const LATER: Filter = [/free again in \d+ \w+/g, 'free again in TIME']

test('get a template to fill in', async () => {
  const terminal = await startTerminal()
  await terminal.type('refcheck schema template 101 --output people.csv')
  await terminal.type('head -1 people.csv | fold -w 78')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck schema template 101 --output people.csv
    written  people.csv  17 fields, 10 required
    2> Fill in a row per person, then: refcheck batch validate people.csv --package 101
    exit 0
    $ head -1 people.csv | fold -w 78
    first_name,last_name,email,phone,reference.position_title,reference.referee_re
    lationships,ncc_acic.date_of_birth,ncc_acic.licence_number,ncc_acic.is_volunte
    er,ncc_acic.previous_names,ncc_acic.residential_address.street,ncc_acic.reside
    ntial_address.suburb,ncc_acic.residential_address.state,ncc_acic.residential_a
    ddress.postcode,ncc_acic.residential_address.country,icrc.years_of_history,icr
    c.annual_income
    exit 0
    $
  `)
})

test('check a file of people before ordering', async () => {
  const terminal = await startTerminal()
  terminal.write('people.csv', `${people}Ann,Low,ann,0400\n`)
  await terminal.type('refcheck batch validate people.csv --package 102')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 4 rows, 3 valid, 1 invalid

    LINE  PERSON   COLUMN  VALUE  PROBLEM
    5     Ann Low  email   ann    has no @; an e-mail address looks like
                                  ann@example.com
    5     Ann Low  phone   0400   has no +; start it with + and the country code,
                                  such as +61400000000
    2> Error: people.csv: 1 of 4 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a
    2> file with:
    2>   refcheck batch validate people.csv --package 102 --errors invalid.csv
    2> If all phones without + are of one country, add it, as in: --default-country DE
    exit 2
    $
  `)
})

test('order checks for a file of people', async () => {
  const terminal = await startTerminal()
  terminal.write('people.csv', people)
  await terminal.type(run, '(y/N)')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102

    2> people.csv: 3 rows
    2>   3 orders of 102 Identity check only
    2> Sending takes under a minute

    2> ? Order 102 Identity check only for 3 people (Priya Shah (priya@example.com),
    2> Mei Ito (mei@example.com), Jo Ray (jo@example.com)) at 127.0.0.1:PORT as
    2> olive.owner@example.com? (y/N)
  `)
  await terminal.press('y\r')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102

    2> people.csv: 3 rows
    2>   3 orders of 102 Identity check only
    2> Sending takes under a minute

    2> ✔ Order 102 Identity check only for 3 people (Priya Shah (priya@example.com),
    2> Mei Ito (mei@example.com), Jo Ray (jo@example.com)) at 127.0.0.1:PORT as
    2> olive.owner@example.com? Yes
    ✔ All 3 people in people.csv are ordered

    batch  ID_1
    people.csv, 102 Identity check only

    3  accepted
    3  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch ID_1
    exit 0
    $
  `)
  expect(terminal.sandbox.requests()).toHaveLength(3)
})

test('order the valid rows of a file with invalid ones', async () => {
  const terminal = await startTerminal()
  terminal.write('people.csv', `${people}Ann,Low,ann,0400\n`)
  await terminal.type(run)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    people.csv: 4 rows, 3 valid, 1 invalid

    LINE  PERSON   COLUMN  VALUE  PROBLEM
    5     Ann Low  email   ann    has no @; an e-mail address looks like
                                  ann@example.com
    5     Ann Low  phone   0400   has no +; start it with + and the country code,
                                  such as +61400000000
    2> Error: people.csv: 1 of 4 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or add --on-invalid skip to
    2> order the valid rows only. Write the invalid rows to a file with:
    2>   refcheck batch validate people.csv --package 102 --errors invalid.csv
    2> If all phones without + are of one country, add it, as in: --default-country DE
    exit 2
    $
  `)
  await terminal.type(`${run} --on-invalid skip`, '(y/N)')
  expect(terminal.screen()).toMatchInlineSnapshot(`
    LINE  PERSON   COLUMN  VALUE  PROBLEM
    5     Ann Low  email   ann    has no @; an e-mail address looks like
                                  ann@example.com
    5     Ann Low  phone   0400   has no +; start it with + and the country code,
                                  such as +61400000000
    2> Error: people.csv: 1 of 4 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or add --on-invalid skip to
    2> order the valid rows only. Write the invalid rows to a file with:
    2>   refcheck batch validate people.csv --package 102 --errors invalid.csv
    2> If all phones without + are of one country, add it, as in: --default-country DE
    exit 2
    $ refcheck batch run people.csv --package 102 --on-invalid skip

    2> people.csv: 4 rows
    2>   3 orders of 102 Identity check only
    2>   1 row invalid, not sent
    2>     Ann Low (line 5): email has no @; an e-mail address looks like
    2>       ann@example.com
    2> Sending takes under a minute

    2> ? Order 102 Identity check only for 3 people (Priya Shah (priya@example.com),
    2> Mei Ito (mei@example.com), Jo Ray (jo@example.com)) at 127.0.0.1:PORT as
    2> olive.owner@example.com, and leave out 1 row? (y/N)
  `)
  terminal.transcript()
  await terminal.press('y\r')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    2> olive.owner@example.com, and leave out 1 row? Yes
    ✔ 3 of 4 people in people.csv are ordered; left out: 1 invalid

    batch  ID_1
    people.csv, 102 Identity check only

    3  accepted
    1  invalid
    4  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch ID_1

    Not ordered, because invalid: Ann Low (line 5)
    To order invalid rows, correct them in the file and run it again.
    2> See the reason for each row with:
    2>   refcheck batch rows ID_1
    exit 10
    $
  `)
  expect(terminal.sandbox.requests()).toHaveLength(3)
})

test('continue a batch that was halted', async () => {
  const terminal = await startTerminal({ filters: [[/\b20\d\d-\d\d-\d\d\b/g, 'YYYY-MM-DD']] })
  terminal.write('people.csv', people)
  terminal.sandbox.inject({
    on: 'POST /v1/requests',
    fault: { kind: 'status', status: 403, when: 'before', message: 'no credits left' },
  })
  await terminal.type(`${run} --yes`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --yes

    2> people.csv: 3 rows
    2>   3 orders of 102 Identity check only
    2> Sending takes under a minute

    0 of 3 people in people.csv are ordered; 3 pending

    batch  ID_1
    people.csv, 102 Identity check only

    3  pending
    3  rows

    halted  YYYY-MM-DD HH:MM +00:00  no credits left

    results  HOME/people.results.csv
    2> Error: halted: no credits left; 0 accepted so far, 3 not sent yet
    2> The organisation has to buy credits.
    2> Then resume with: refcheck batch resume ID_1
    exit 4
    $
  `)
  await terminal.type('refcheck batch list')
  await terminal.type(`refcheck batch resume ${await readBatchId(terminal)}`, '(y/N)')
  await terminal.press('y\r')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID  NAME        ADDED AT    ORDERED  FINISHED  STATE
    ID_1…  people.csv  YYYY-MM-DD  0 of 3   0         halted
    exit 0
    $ refcheck batch resume ID_1
    2> ✔ Order 102 Identity check only for 3 people (Priya Shah (priya@example.com),
    2> Mei Ito (mei@example.com), Jo Ray (jo@example.com)) at 127.0.0.1:PORT as
    2> olive.owner@example.com? Yes
    ✔ All 3 people in people.csv are ordered

    batch  ID_1
    people.csv, 102 Identity check only

    3  accepted
    3  rows

    results  HOME/people.results.csv

    Next: refcheck request wait --batch ID_1
    exit 0
    $
  `)
  expect(terminal.sandbox.requests()).toHaveLength(3)
})

test('remove the data of a person', async () => {
  const terminal = await startTerminal()
  terminal.write('people.csv', people)
  await terminal.type(`${run} --yes --quiet`)
  terminal.transcript()
  await terminal.type('refcheck store purge --email priya@example.com', '(y/N)')
  await terminal.press('y\r', 'that refcheck wrote as well')
  await terminal.press('y\r')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck store purge --email priya@example.com
    2> ✔ Remove personal data of Priya Shah (priya@example.com): 1 row and 0 events
    2> permanently? Yes
    2> Files that show the person:
    2>   results file  HOME/people.results.csv
    2> Results files and exports are deleted whole, with the other people in them.
    2> ✔ Delete 1 file that refcheck wrote as well? Yes
    Removed personal data of 1 row and 0 events.
    Deleted:
      results file  HOME/people.results.csv
    Files that still show the person:
      input file    HOME/people.csv
    exit 0
    $
  `)
})

test('find the order of a person', async () => {
  const terminal = await startTerminal({ filters: [[/\b20\d\d-\d\d-\d\d\b/g, 'YYYY-MM-DD']] })
  terminal.write('people.csv', people)
  await terminal.type(`${run} --yes --quiet`)
  terminal.transcript()
  await terminal.type('refcheck request list --email mei@example.com')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck request list --email mei@example.com
    REQUEST ID  STATUS    ORDERED AT  NAME     PACKAGE
    REQUEST_2…    RECEIVED  YYYY-MM-DD  Mei Ito  102 Identity check only
    2> 1 not finished, last read YYYY-MM-DD HH:MM +00:00
    2> Read again with: refcheck request list --refresh
    exit 0
    $
  `)
})

test('wait for a request', async () => {
  const terminal = await startTerminal()
  await terminal.type(
    'refcheck request create --package 102 --first-name Jo --last-name Ray --email jo@example.com --phone +442071234567 --yes --quiet',
  )
  const id = terminal.sandbox.requests()[0]?.request_id ?? ''
  await terminal.type(`refcheck request wait ${id}`, 'RECEIVED')
  await terminal.press(keys.ctrlC)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck request create --package 102 --first-name Jo --last-name Ray --email
    jo@example.com --phone +442071234567 --yes --quiet
    created  REQUEST_1                             RECEIVED
    exit 0
    $ refcheck request wait REQUEST_1
    2> Interrupted
    2> Continue with: refcheck request wait REQUEST_1
    exit 130
    $
  `)
})

test('see the progress of a batch', async () => {
  const terminal = await startTerminal({ filters: [[/\b20\d\d-\d\d-\d\d\b/g, 'YYYY-MM-DD']] })
  terminal.write('people.csv', people)
  await terminal.type(`${run} --yes --quiet`)
  terminal.transcript()
  await terminal.type('refcheck batch list')
  const id = await readBatchId(terminal)
  await terminal.type(`refcheck batch status ${id}`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch list
    BATCH ID  NAME        ADDED AT    ORDERED  FINISHED  STATE
    ID_1…  people.csv  YYYY-MM-DD  3 of 3   0         done
    exit 0
    $ refcheck batch status ID_1
    batch  ID_1
    people.csv, 102 Identity check only

    3  accepted
    3  rows

    results  HOME/people.results.csv

    requests  3 RECEIVED
    exit 0
    $
  `)
})

test('download the reports of a batch', async () => {
  const terminal = await startTerminal({ filters: [SIZE, REPORT], speed: 36_000 })
  terminal.write('people.csv', people)
  await terminal.type(`${run} --yes --quiet`)
  const id = await readBatchId(terminal)
  await terminal.type(`refcheck request wait --batch ${id} --quiet`)
  terminal.transcript()
  await terminal.type(`refcheck report download --batch ${id} --output reports`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck report download --batch ID_1 --output
     reports
    stored  reports/Shah-Priya_Identity-check_KEY.pdf  # kB
    stored  reports/Ito-Mei_Identity-check_KEY.pdf  # kB
    stored  reports/Ray-Jo_Identity-check_KEY.pdf  # kB

    3 reports stored (# kB)
    exit 0
    $
  `)
})

test('give a manager a page to open', async () => {
  const terminal = await startTerminal()
  terminal.write('people.csv', people)
  await terminal.type(`${run} --yes --quiet`)
  const id = await readBatchId(terminal)
  terminal.transcript()
  await terminal.type(`refcheck batch export ${id} --format html --output people.html`)
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck batch export ID_1 --format html --out
    put people.html
    3 rows written to HOME/people.html
    exit 0
    $
  `)
  expect(terminal.read('people.html')).toMatch(/^<!doctype html>/i)
})

test('see what needs my attention', async () => {
  const terminal = await startTerminal({ filters: [LATER] })
  terminal.write('people.csv', people)
  await terminal.type(`${run} --yes --quiet`)
  terminal.transcript()
  await terminal.type('refcheck status')
  expect(terminal.transcript()).toMatchInlineSnapshot(`
    $ refcheck status
    127.0.0.1:PORT (olive.owner@example.com)   read just now
    Running    3 orders   read again: refcheck request list --refresh
    Needs you  nothing
    exit 0
    $
  `)
})
