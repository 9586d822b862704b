import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { session } from '../harness/session.ts'

recordForFaultTable('input-limits', { mustNotHappen: 'compared', titles: /1,000 characters/ })

const columns = [
  'first_name,last_name,email,phone,reference.position_title,ncc_acic.date_of_birth,ncc_acic.is_volunteer',
  'ncc_acic.previous_names,ncc_acic.residential_address,icrc.years_of_history,icrc.annual_income',
].join(',')
const createRow = (name: string, phone: number, born: string, address: string): string =>
  `${name},Low,${name.toLowerCase()}@example.com,+6140000000${phone},Nurse,${born},no,[],"${address.replaceAll('"', '""')}",5,85000.5`
const people = [
  columns,
  createRow('Ana', 1, '1990-04-30', '{"street":"1 High St"}'),
  createRow('Bo', 2, '2062-03-04', '{"street":"1 High St"}'),
  createRow('Cy', 3, '1890-01-01', '{}'),
  createRow('Di', 4, '1990-04-30', '{"street":" ","postcode":""}'),
].join('\n')

test('unlikely dates and empty groups are reported, named in the last question, and never ordered without a message', async () => {
  const { type, write, listOrderedEmails } = await session()
  write('people.csv', people)
  expect(await type('batch validate people.csv --package 101')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 101
    people.csv: 4 rows, 4 valid

      3 rows with an unlikely value; fix the file, or they are sent as they are
        Bo Low (line 3): ncc_acic.date_of_birth 2062-03-04 is in the future
        Cy Low (line 4): ncc_acic.date_of_birth 1890-01-01 is more than 120 years ago
        Cy Low (line 4): ncc_acic.residential_address {} is empty
        Di Low (line 5): ncc_acic.residential_address {"street":" ","postcode":""} is empty
    2> Order them with: refcheck batch run people.csv --package 101
    exit 0
  `)
  const checked = await type('batch validate people.csv --package 101 --jq .unlikely[0]')
  expect(checked).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 101 --jq .unlikely[0]
    {"row":2,"line":3,"column":"ncc_acic.date_of_birth","value":"2062-03-04","problem":"is in the future"}
    2> Order them with: refcheck batch run people.csv --package 101
    exit 0
  `)
  expect(
    await type('batch run people.csv --package 101', {
      tty: true,
      answers: [{ ask: /3 with an unlikely value/, confirm: false }],
    }),
  ).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 101
    2>
    2> ␛[1mpeople.csv␛[22m: 4 rows
    2>   4 orders of 101 Standard employment screen
    2>   3 rows with an unlikely value; fix the file, or they are sent as they are
    2>     Bo Low (line 3): ncc_acic.date_of_birth 2062-03-04 is in the future
    2>     Cy Low (line 4): ncc_acic.date_of_birth 1890-01-01 is more than 120 years
    2>       ago
    2>     Cy Low (line 4): ncc_acic.residential_address {} is empty
    2>     Di Low (line 5): ncc_acic.residential_address {"street":" ","postcode":""}
    2>       is empty
    2> Sending takes under a minute
    2>
    ? Order 101 Standard employment screen for 4 people (Ana Low (ana@example.com), Bo Low (bo@example.com), Cy Low (cy@example.com), Di Low (di@example.com)), 3 with an unlikely value, at 127.0.0.1:PORT as olive.owner@example.com? no
    2> Not confirmed; nothing was done
    exit 130
  `)
  expect(listOrderedEmails()).toEqual([])
  expect((await type('batch run people.csv --package 101 --yes --quiet')).stderr).toMatchInlineSnapshot(`
    "Warning: people.csv: unlikely, and sent as it is: Bo Low (line 3): ncc_acic.date_of_birth 2062-03-04 is in the future, and 3 more values
    "
  `)
  expect(listOrderedEmails()).toHaveLength(4)
})

test('a name of more than 1,000 characters is reported as invalid, with its line and column', async () => {
  const { type, write } = await session()
  const createNamedRow = (first: string, number: number): string =>
    `${first},Low,p${number}@example.com,+6140000000${number}`
  write(
    'people.csv',
    [
      'first_name,last_name,email,phone',
      createNamedRow('a'.repeat(1_000), 1),
      createNamedRow('b'.repeat(1_001), 2),
    ].join('\n'),
  )
  // Comparing many names of this length would take hours (src/domain/submission/similarity.ts), so they are refused.
  const { code, stdout } = await type('batch validate people.csv --package 102')
  expect(code).toBe(2)
  expect(stdout).toContain('1 valid, 1 invalid')
  expect(stdout).toMatch(/^3 +Low +first_name +b+ +has 1001 characters; a name has at most 1000$/m)
})

test('two rows with the same name but different e-mails and phones are reported, and the message says how to leave one out', async () => {
  const { type, write, listOrderedEmails } = await session()
  write(
    'people.csv',
    'first_name,last_name,email,phone\nRita,Vega,rita@example.com,+34600333444\nRITA,Vega,rita@example.net,+34600333555\n',
  )
  expect(await type('batch run people.csv --package 102 --dry-run')).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102 --dry-run
    2> Dry run: nothing was sent.
    people.csv: 2 rows
      2 orders of 102 Identity check only
      1 row has the name of an earlier row with another e-mail and phone: it is sent
        RITA Vega (line 3), as in line 2
      To leave one of them out, remove its line from the file first
    Sending takes under a minute
    exit 0
  `)
  expect(listOrderedEmails()).toEqual([])
})

test('the message for a blank cell in a required list explains how to write an empty list', async () => {
  const { type, write } = await session()
  write(
    'people.csv',
    `${columns}\n${createRow('Hans', 8, '1990-04-30', '12 Main St').replace(',[],', ',,')}\n`,
  )
  expect(await type('batch validate people.csv --package 101')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 101
    people.csv: 1 row, 0 valid, 1 invalid

    LINE  PERSON    COLUMN                        VALUE       PROBLEM
    2     Hans Low  ncc_acic.residential_address  12 Main St  is not an object in JSON, such as {"name": "value"}
    2     Hans Low  ncc_acic.previous_names       -           is required; write none if there are none
    2> Error: people.csv: 1 of 1 row is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 101 --errors invalid.csv
    exit 2
  `)
})
