import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

const simple = 'first_name,last_name,email,phone'
const validate = 'batch validate people.csv --package 102'

test('an unknown column is refused with the flags that would do, then mapped, kept under a name and used again', async () => {
  const { type, write } = await session()
  write('people.csv', 'Given name,last_name,email,phone,Notes\nAna,Silva,ana@example.com,+61400000001,vip\n')
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: the columns "Given name", "Notes" are unknown
    2> If this is what they mean, add: --map 'Given name=first_name' --ignore Notes
    exit 2
  `)
  expect(await type(`${validate} --map 'Given name=first_name' --ignore Notes --save-mapping workday`))
    .toMatchInlineSnapshot(`
      $ refcheck batch validate people.csv --package 102 --map 'Given name=first_name' --ignore Notes --save-mapping workday
      2> Kept how the file was read: use it with --mapping workday
      people.csv: 1 row, 1 valid
      2> Order them with: refcheck batch run people.csv --package 102 --map 'Given name=first_name' --ignore Notes
      exit 0
    `)
  expect(await type(`${validate} --mapping workday`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --mapping workday
    people.csv: 1 row, 1 valid
    2> Order them with: refcheck batch run people.csv --package 102 --mapping workday
    exit 0
  `)
  expect(await type(`${validate} --mapping nobody`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --mapping nobody
    2> Error: --mapping: no mapping named "nobody"
    2> Save one with: refcheck batch validate FILE --map 'Given name=first_name' --save-mapping nobody
    exit 2
  `)
})

test('a suggestion for a column is followed only after a yes', async () => {
  const { type, write } = await session()
  write('people.csv', 'Given name,last_name,email,phone\nAna,Silva,ana@example.com,+61400000001\n')
  const ask = /Given name/
  expect(await type(validate, { answers: [{ ask, confirm: true }] })).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    ? Is the column "Given name" first_name? yes
    2> Kept your answers about the columns: use them with --mapping people
    people.csv: 1 row, 1 valid
    2> Order them with: refcheck batch run people.csv --package 102 --map 'Given name=first_name'
    exit 0
  `)
  expect(await type(validate, { answers: [{ ask, confirm: false }] })).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    ? Is the column "Given name" first_name? no
    2> Error: people.csv: the column "Given name" is unknown
    2> If this is what it means, add: --map 'Given name=first_name'
    exit 2
  `)
})

test('a column twice, one that is missing, and flags that name none', async () => {
  const { type, write } = await session()
  const withHeader = (header: string) =>
    write('people.csv', `${header}\na,b,c@example.com,+61400000001,d@example.com\n`)
  withHeader(`${simple},recipient.email`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: the columns "email" and "recipient.email" both mean email
    2> Leave one out: --ignore recipient.email
    exit 2
  `)
  withHeader('first_name,last_name,email')
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: the column phone is missing
    2> Add a column, or name an existing one, for example with: --map 'Given name=first_name'
    exit 2
  `)
  withHeader(simple)
  expect(await type(`${validate} --ignore Notes`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --ignore Notes
    2> Error: --ignore: the file has no column "Notes"
    2> Columns of the file: first_name, last_name, email, phone
    exit 2
  `)
  expect(await type(`${validate} --map Vorname=first_name`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --map Vorname=first_name
    2> Error: --map: the file has no column "Vorname"
    2> Columns of the file: first_name, last_name, email, phone
    exit 2
  `)
  expect(await type(`${validate} --map phone=telephone`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --map phone=telephone
    2> Error: --map: unknown field "telephone"
    2> Fields: first_name, last_name, email, phone, package_id
    exit 2
  `)
})
