import { describe, expect, test } from 'vitest'

import { session } from '../harness/session.ts'

const simpleHeader = 'first_name,last_name,email,phone'
const validate = 'batch validate people.csv --package 102'

test('an unknown column is refused with flags that map or ignore it; the mapping can be saved by name and used again', async () => {
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

describe('the confirmation of all columns on one screen', () => {
  const header = 'First Name,Last Name,E-mail,Mobile,Department,Start date\n'
  const anna = 'Anna,Müller,anna.mueller@example.com,+49 151 2345 6789,Sales,2026-12-01\n'
  const confirmColumns = [{ ask: 'Are these right?', confirm: true }]

  test('usual headers need one confirmation, unknown ones are left out, and the next file with them needs none', async () => {
    const { type, write } = await session()
    write('new hires.csv', `${header}${anna}`)
    expect(await type("batch validate 'new hires.csv' --package 102", { answers: confirmColumns }))
      .toMatchInlineSnapshot(`
        $ refcheck batch validate 'new hires.csv' --package 102
        ? new hires.csv is read so:
        ?   First Name              → first name  Anna
        ?   Last Name               → last name   Müller
        ?   E-mail                  → email       anna.mueller@example.com
        ?   Mobile                  → phone       +49 151 2345 6789
        ?   Department, Start date  → left out
        ? Are these right? yes
        2> Saved: files with these columns are read so without a question
        new hires.csv: 1 row, 1 valid

        Changed before sending:
          1 × phone: spaces, (), - and . are removed
            line 2, Mobile: "+49 151 2345 6789" is sent as "+4915123456789"
        2> Order them with: refcheck batch run 'new hires.csv' --package 102
        exit 0
      `)
    write('december.csv', `${header}Ben,Low,ben@example.com,+61400000002,IT,\n`)
    // The mapping is used without a terminal, too.
    expect(await type('batch validate december.csv --package 102')).toMatchInlineSnapshot(`
      $ refcheck batch validate december.csv --package 102
      2> Columns as agreed before: First Name → first name; Last Name → last name; E-mail → email; Mobile → phone; Department, Start date → left out
      2> To change this, add: --map 'First Name=FIELD' --save-mapping columns-44d5a4033e
      2> FIELD: first_name, last_name, email, phone, or of: refcheck schema show PACKAGE
      december.csv: 1 row, 1 valid
      2> Order them with: refcheck batch run december.csv --package 102
      exit 0
    `)
    write(
      'swapped.csv',
      'Mobile,Start date,Department,E-mail,Last Name,First Name\n+61400000003,,IT,jo@example.com,Ray,Jo\n',
    )
    expect((await type('batch validate swapped.csv --package 102 --json')).json()).toMatchObject({ valid: 1 })
    const dryRun = await type('batch run december.csv --package 102 --dry-run --show-changes')
    expect(dryRun.code).toBe(0)
  })

  test('--save-mapping replaces the confirmed mapping by that of the flags', async () => {
    const { type, write } = await session()
    write(
      'people.csv',
      'first_name,last_name,email,Cell,Mobile\nAna,Silva,ana@example.com,+61400000001,+61400000002\n',
    )
    const answers = [{ ask: 'Which column is the phone?', choose: /Mobile/ }, ...confirmColumns]
    expect((await type(validate, { answers })).text).toContain('  Cell    → left out')
    const again = await type(validate)
    expect(again).toMatchInlineSnapshot(`
      $ refcheck batch validate people.csv --package 102
      2> Columns as agreed before: Mobile → phone; Cell → left out
      2> To change this, add: --map Mobile=FIELD --save-mapping columns-6911d2e9a2
      2> FIELD: first_name, last_name, email, phone, or of: refcheck schema show PACKAGE
      people.csv: 1 row, 1 valid
      2> Order them with: refcheck batch run people.csv --package 102
      exit 0
    `)
    const name = /columns-[0-9a-f]+/.exec(again.stderr)?.[0] ?? ''
    await type(`${validate} --map Cell=phone --ignore Mobile --save-mapping ${name}`)
    expect((await type(validate)).stderr).toContain('agreed before: Cell → phone; Mobile → left out')
  })

  test('if the columns are not confirmed, each column has its own question, which names a value of the column', async () => {
    const { type, write } = await session()
    write('people.csv', 'Given name,Surname,email,phone,Notes\nSilva,Ana,ana@example.com,+61400000001,vip\n')
    const answers = [
      { ask: 'Are these right?', confirm: false },
      { ask: 'What is the column "Given name" (Silva)?', choose: 'last name' },
      {
        ask: 'What is the column "Surname" (Ana)?',
        choose: 'first name',
        offered: ['Leave it out', 'first name'],
      },
      { ask: 'What is the column "Notes" (vip)?', choose: 'Leave it out', offered: ['Leave it out'] },
    ]
    expect(await type('batch run people.csv --package 102 --dry-run --json', { answers })).toMatchObject({
      code: 0,
    })
    expect((await type('batch plan people.csv --package 102 --json')).json()).toMatchObject({
      reading: { map: { 'Given name': 'last_name', Surname: 'first_name' }, ignore: ['Notes'] },
    })
  })

  test('a required field that no column seems to contain is asked for; without an answer the file is refused', async () => {
    const { type, write } = await session()
    write(
      'people.csv',
      'first_name,last_name,email,Nummer,Notes\nAna,Silva,ana@example.com,+61400000001,vip\n',
    )
    const ask = 'Which column is the phone?'
    expect(await type(validate, { answers: [{ ask, choose: 'None of these' }] })).toMatchInlineSnapshot(`
      $ refcheck batch validate people.csv --package 102
      ? Which column is the phone?: None of these
      2> Error: people.csv: the column phone is missing
      2> Add a column, or name an existing one, for example with: --map Mobile=phone
      exit 2
    `)
    // Nothing was saved, so the question is asked again.
    expect((await type(validate, { answers: [{ ask, choose: /Nummer/ }, ...confirmColumns] })).code).toBe(0)
  })

  test('the question about the package of each row comes before those about the fields of these packages', async () => {
    const { type, write } = await session()
    write(
      'people.csv',
      'first_name,last_name,email,Telephone,Package,Years\nAna,Silva,ana@example.com,+61400000001,102,3\n',
    )
    const packageColumnAnswer = {
      ask: 'Does the column "Package" (102) give the package id of each row?',
      confirm: true,
    }
    const answers = [{ ask: /Which package/, choose: /102/ }, packageColumnAnswer, ...confirmColumns]
    expect(await type('batch validate people.csv', { answers })).toMatchInlineSnapshot(`
      $ refcheck batch validate people.csv
      ? Which package?: Identity check only (102)
      ? Does the column "Package" (102) give the package id of each row? yes
      2> Saved: files with these columns are read so without a question
      ? people.csv is read so:
      ?   Telephone  → phone       +61400000001
      ?   Package    → package id  102
      ?   By their own names: first_name, last_name, email
      ?   Years      → left out
      ? Are these right? yes
      people.csv: 1 row, 1 valid
      2> Order them with: refcheck batch run people.csv --package 102
      exit 0
    `)
    expect((await type('batch validate people.csv --package 102')).stderr).toContain('Package → package id')
  })

  test('a mapping that was confirmed for one package is not used for a package with other fields', async () => {
    const { type, write } = await session()
    write(
      'people.csv',
      'first_name,last_name,email,phone,Years of history\nAna,Silva,ana@example.com,+61400000001,3\n',
    )
    const outcome = await type(validate, { answers: confirmColumns })
    expect(outcome.text).toContain('Years of history  → left out')
    const other = await type('batch validate people.csv --package 101')
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('"Years of history" is unknown')])
  })

  test('without a terminal and a confirmed mapping, the file is refused with flags that map its columns', async () => {
    const { type, write } = await session()
    write('people.csv', 'Given name,last_name,email,phone\nAna,Silva,ana@example.com,+61400000001\n')
    expect(await type(validate)).toMatchInlineSnapshot(`
      $ refcheck batch validate people.csv --package 102
      2> Error: people.csv: the column "Given name" is unknown
      2> If this is what it means, add: --map 'Given name=first_name'
      exit 2
    `)
  })

  test('Ctrl-C at the confirmation of the columns saves no mapping', async () => {
    const { type, write } = await session()
    write('people.csv', `${header}${anna}`)
    const outcome = await type(validate, { answers: [{ ask: 'Are these right?', leave: true }] })
    expect(outcome.code).toBe(130)
    expect((await type(validate)).code).toBe(2)
  })
})

test('a duplicate column, a missing column and flags that name no column are refused', async () => {
  const { type, write } = await session()
  const withHeader = (header: string) =>
    write('people.csv', `${header}\na,b,c@example.com,+61400000001,d@example.com\n`)
  withHeader(`${simpleHeader},recipient.email`)
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
    2> Add a column, or name an existing one, for example with: --map Mobile=phone
    exit 2
  `)
  withHeader(simpleHeader)
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
