import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

const header = 'first_name,last_name,email,phone'

test('a hint proposes a file name that does not exist, so that its command works each time', async () => {
  const { type, write } = await session()
  write('people.csv', `${header}\nJonas,Webber,jonas@example.com,0151 2345678\n`)
  expect(await type('batch run people.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch run people.csv --package 102
    people.csv: 1 row, 0 valid, 1 invalid

    LINE  PERSON        COLUMN  VALUE         PROBLEM
    2     Jonas Webber  phone   0151 2345678  has no +; start it with + and the country code, such as +61400000000
    2> Error: people.csv: 1 of 1 row is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv
    2> If all phones without + are of one country, add it, as in: --default-country DE
    exit 2
  `)
  await type('batch validate people.csv --package 102 --errors invalid.csv')
  const again = await type('batch run people.csv --package 102')
  expect(again.stderr).toContain('batch validate people.csv --package 102 --errors invalid-2.csv')
})

test('for a name in place of a check id, and for a missing file argument, the error names the command to use', async () => {
  const { all } = await session()
  expect(await all(['report download otto', 'batch run'])).toMatchInlineSnapshot(`
    $ refcheck report download otto
    2> Error: CHECK_ID: "otto" is not a whole id
    2> By name: refcheck report download --request otto
    exit 2

    $ refcheck batch run
    2> Error: FILE is missing
    2> Give a file, or - for stdin, for example: refcheck batch run people.csv --package 102
    2> Make a file to fill in with: refcheck schema template 102
    exit 2
  `)
})

test('a file with one column for the whole name is refused with the advice to split the column', async () => {
  const { type, write } = await session()
  write('people.csv', 'Name,email,phone\nJonas Webber,jonas@example.com,+491512345678\n')
  expect(await type('batch validate people.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: the column "Name" is unknown
    2> Split the column "Name" into two, first_name and last_name, and run it again.
    exit 2
  `)
  expect(await type('batch validate people.csv --package 102', { answers: [] })).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: the columns first_name, last_name are missing
    2> Split the column "Name" into two, first_name and last_name, and run it again.
    exit 2
  `)
})

test('a file that lacks more columns than could be meant by its unknown ones is refused before any question', async () => {
  const { type, write } = await session()
  write(
    'staff.csv',
    'First name,Last name,Email,Mobile,Department,Start date\nAna,Low,ana@example.com,+61400000001,IT,2026-01-02\n',
  )
  expect(await type('batch run staff.csv --package 101', { answers: [] })).toMatchInlineSnapshot(`
    $ refcheck batch run staff.csv --package 101
    2> Error: staff.csv: the columns reference.position_title, ncc_acic.date_of_birth, ncc_acic.is_volunteer, ncc_acic.previous_names, ncc_acic.residential_address, icrc.years_of_history, icrc.annual_income are missing
    2> Add a column, or name an existing one, for example with: --map 'Your column=reference.position_title'
    exit 2
  `)
})
