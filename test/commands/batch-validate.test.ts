import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

const header = 'first_name,last_name,email,phone'
const validate = 'batch validate people.csv --package 102'

test('batch validate reports row, column, value and problem of invalid cells, and sends nothing', async () => {
  const { type, write, listCalls } = await session()
  write('people.csv', `${header}\nAna,Silva,ana@example.com,+61400000001\n`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 1 row, 1 valid
    2> Order them with: refcheck batch run people.csv --package 102
    exit 0
  `)
  expect(await type(`${validate} --json`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --json
    {
      "rows": 1,
      "valid": 1,
      "invalid": 0,
      "problems": [],
      "duplicates": [],
      "similar": [],
      "ordered_before": [],
      "shared_phones": [],
      "shared_names": [],
      "changes": [],
      "unlikely": []
    }
    2> Order them with: refcheck batch run people.csv --package 102
    exit 0
  `)
  const rows = ['Ana,Silva,ana@example.com,+61400000001', 'Bo,,bo@example,0400 000 002']
  write('people.csv', `${header}\n${rows.join('\n')}\n`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 2 rows, 1 valid, 1 invalid

    LINE  PERSON  COLUMN     VALUE         PROBLEM
    3     Bo      last_name  -             is required
    3     Bo      email      bo@example    is not a valid e-mail address such as ann@example.com
    3     Bo      phone      0400 000 002  has no +; start it with + and the country code, such as +61400000000
    2> Error: people.csv: 1 of 2 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv
    2> If all phones without + are of one country, add it, as in: --default-country DE
    exit 2
  `)
  expect(await type(`${validate} --json`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --json
    {
      "rows": 2,
      "valid": 1,
      "invalid": 1,
      "problems": [
        {
          "row": 2,
          "line": 3,
          "column": "last_name",
          "value": "",
          "problem": "is required",
          "suggestion": null
        },
        {
          "row": 2,
          "line": 3,
          "column": "email",
          "value": "bo@example",
          "problem": "is not a valid e-mail address such as ann@example.com",
          "suggestion": null
        },
        {
          "row": 2,
          "line": 3,
          "column": "phone",
          "value": "0400 000 002",
          "problem": "has no +; start it with + and the country code, such as +61400000000",
          "suggestion": null
        }
      ],
      "duplicates": [],
      "similar": [],
      "ordered_before": [],
      "shared_phones": [],
      "shared_names": [],
      "changes": [],
      "unlikely": [],
      "error": {
        "code": "invalid_input",
        "message": "people.csv: 1 of 2 rows is invalid",
        "hint": "Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv\\nIf all phones without + are of one country, add it, as in: --default-country DE",
        "field": "last_name"
      }
    }
    2> Error: people.csv: 1 of 2 rows is invalid
    exit 2
  `)
  expect(listCalls()).not.toContainEqual(expect.stringContaining('POST'))
})

test('batch validate reads rows from stdin, as JSON Lines and as JSON', async () => {
  const { type } = await session()
  const person = { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' }
  const validateStdin = 'batch validate - --package 102'
  expect(await type(validateStdin, { stdin: `${JSON.stringify(person)}\n` })).toMatchInlineSnapshot(`
    $ refcheck batch validate - --package 102 <<EOF
    {"first_name":"Ana","last_name":"Silva","email":"ana@example.com","phone":"+61400000001"}
    EOF
    stdin: 1 row, 1 valid
    exit 0
  `)
  const bad = { ...person, last_name: '' }
  expect(await type(validateStdin, { stdin: JSON.stringify([{ recipient: bad }]) })).toMatchInlineSnapshot(`
    $ refcheck batch validate - --package 102 <<EOF
    [{"recipient":{"first_name":"Ana","last_name":"","email":"ana@example.com","phone":"+61400000001"}}]
    EOF
    stdin: 1 row, 0 valid, 1 invalid

    LINE  PERSON  COLUMN               VALUE  PROBLEM
    1     Ana     recipient.last_name  -      is required
    2> Error: stdin: 1 of 1 row is invalid
    2> Nothing was sent. Fix the invalid rows, then run it again.
    exit 2
  `)
})

test('a file without rows, with an open quote or with rows of different lengths, and a missing file are refused', async () => {
  const { type, write } = await session()
  write('people.csv', `${header}\n`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: it has a header but no rows
    2> Add a row for each person.
    exit 2
  `)
  write('people.csv', `${header}\n"Ana,Silva,ana@example.com,+61400000001\n`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: the row that starts on line 2 has an opening quote without a closing one
    2> Close it with ", and write a " inside a quoted cell as "".
    exit 2
  `)
  write('people.csv', `${header}\nAna,Silva,ana@example.com,+61400000001,extra\n`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: line 2 has 5 cells, and the header has 4
    2> Put a cell that holds the separator or a line break in double quotes, or save the file as XLSX.
    exit 2
  `)
  expect(await type('batch validate nowhere.csv --package 102')).toMatchInlineSnapshot(`
    $ refcheck batch validate nowhere.csv --package 102
    2> Error: file not found: nowhere.csv
    2> Check the path.
    exit 2
  `)
})

test('a file in UTF-16 is read; a file in Windows-1252 is refused with possible encodings, unless --encoding is given', async () => {
  const { type, write } = await session()
  const text = `${header}\nJosé,Muñoz,jose@example.com,+61400000001\n`
  write('people.csv', Buffer.from(`\uFEFF${text}`, 'utf16le'))
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 1 row, 1 valid
    2> Order them with: refcheck batch run people.csv --package 102
    exit 0
  `)
  write('people.csv', Buffer.from(text.replaceAll(',', ';'), 'latin1'))
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    2> Error: people.csv: "first_name" on line 2 is not UTF-8, so its letters cannot be told for sure
    2> Save it as "CSV UTF-8", or say what it is, such as --encoding windows-1252. It may be windows-1252 (José, Muñoz) or windows-1250 (José, Muńoz) or windows-1256 (José, Muٌoz).
    exit 2
  `)
  expect(await type(`${validate} --encoding windows-1252`)).toMatchObject({ code: 0 })
  write('people.csv', `\uFEFF${text}`)
  expect(await type(`${validate} --json`)).toMatchObject({ code: 0 })
})

test('each row can have another package', async () => {
  const { type, write } = await session()
  const rows = ['Ana,Silva,ana@example.com,+61400000001,102', 'Bo,Li,bo@example.com,+61400000002,999']
  write('people.csv', `${header},package_id\n${rows.join('\n')}\n`)
  expect(await type('batch validate people.csv')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv
    people.csv: 2 rows, 1 valid, 1 invalid

    LINE  PERSON  COLUMN      VALUE  PROBLEM
    3     Bo Li   package_id  999    is not a package that this user may order
    2> Error: people.csv: 1 of 2 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --errors invalid.csv
    exit 2
  `)
})

const columnsOfAllChecks = [
  'reference.position_title',
  'ncc_acic.date_of_birth',
  'ncc_acic.is_volunteer',
  'ncc_acic.previous_names',
  'ncc_acic.residential_address.street',
  'icrc.years_of_history',
  'icrc.annual_income',
]

test('cells are converted by the schema: booleans, dates, lists, dotted objects and whole numbers', async () => {
  const { type, write } = await session()
  const rows = ['yes', 'no', 'true', 'FALSE', '1', '0'].map(
    (word, at) =>
      `Ana,Silva,ana${at}@example.com,+6140000000${at},Nurse,1990-04-30,${word},"[""Ana Li""]",1 High St,5,85000.5`,
  )
  write('people.csv', `${header},${columnsOfAllChecks.join(',')}\n${rows.join('\n')}\n`)
  expect(await type('batch validate people.csv --package 101')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 101
    people.csv: 6 rows, 6 valid

      5 rows have the name of an earlier row with another e-mail and phone: they are sent
        Ana Silva (line 3), as in line 2
        Ana Silva (line 4), as in line 2
        Ana Silva (line 5), as in line 2
        Ana Silva (line 6), as in line 2
        Ana Silva (line 7), as in line 2
      To leave one of them out, remove its line from the file first
    2> Order them with: refcheck batch run people.csv --package 101
    exit 0
  `)
})

test('values that do not fit the schema are refused, with a suggestion if there is one', async () => {
  const { type, write } = await session()
  const validValues = ['Nurse', '1990-04-30', 'no', '[]', '1 High St', '5', '85000.5']
  const invalidValues: [column: string, value: string][] = [
    ['ncc_acic.date_of_birth', '30/04/1990'],
    ['ncc_acic.date_of_birth', '2026-02-30'],
    ['ncc_acic.is_volunteer', 'perhaps'],
    ['ncc_acic.previous_names', '{"a":1}'],
    ['icrc.years_of_history', '1e3'],
    ['icrc.years_of_history', '5.5'],
  ]
  const rows = invalidValues.map(([column, value], at) => {
    const cells = columnsOfAllChecks.map((name, index) =>
      name === column ? value : (validValues[index] ?? ''),
    )
    const quotedCells = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`)
    return `Ana,Silva,ana${at}@example.com,+6140000000${at},${quotedCells.join(',')}`
  })
  write('people.csv', `${header},${columnsOfAllChecks.join(',')}\n${rows.join('\n')}\n`)
  expect(await type('batch validate people.csv --package 101')).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 101
    people.csv: 6 rows, 0 valid, 6 invalid

    LINE  PERSON     COLUMN                   VALUE       PROBLEM
    2     Ana Silva  ncc_acic.date_of_birth   30/04/1990  is not a date in the form YYYY-MM-DD, such as 1990-04-23 (did you mean "1990-04-30"?)
    3     Ana Silva  ncc_acic.date_of_birth   2026-02-30  is a day that does not exist
    4     Ana Silva  ncc_acic.is_volunteer    perhaps     is neither yes nor no (or true, false, 1, 0)
    5     Ana Silva  ncc_acic.previous_names  {"a":1}     is one JSON object, and a list is expected: [{…}]
    6     Ana Silva  icrc.years_of_history    1e3         is not a whole number such as 12
    7     Ana Silva  icrc.years_of_history    5.5         is not a whole number such as 12
    2> Error: people.csv: 6 of 6 rows are invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 101 --errors invalid.csv
    exit 2
  `)
  const { problems } = (await type('batch validate people.csv --package 101 --json')).json() as {
    problems: { suggestion: string | null }[]
  }
  expect(problems.map(({ suggestion }) => suggestion)).toEqual(['1990-04-30', null, null, null, null, null])
})

test('a phone number that a spreadsheet rounded is invalid, and a national one needs --default-country', async () => {
  const { type, write } = await session()
  const rows = ['Ana,Silva,ana@example.com,6.14E+10', 'Bo,Li,bo@example.com,0400 000 001']
  write('people.csv', `${header}\n${rows.join('\n')}\n`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 2 rows, 0 valid, 2 invalid

    LINE  PERSON     COLUMN  VALUE         PROBLEM
    2     Ana Silva  phone   6.14E+10      is in scientific notation: the spreadsheet has dropped digits; format the column as text and type it again
    3     Bo Li      phone   0400 000 001  has no +; start it with + and the country code, such as +61400000000
    2> Error: people.csv: 2 of 2 rows are invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv
    2> If all phones without + are of one country, add it, as in: --default-country DE
    exit 2
  `)
  expect(await type(`${validate} --default-country au`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --default-country au
    people.csv: 2 rows, 1 valid, 1 invalid

    LINE  PERSON     COLUMN  VALUE     PROBLEM
    2     Ana Silva  phone   6.14E+10  is in scientific notation: the spreadsheet has dropped digits; format the column as text and type it again

    Changed before sending:
      1 × phone: read as a number of --default-country
        line 3, phone: "0400 000 001" is sent as "+61400000001"
    2> Error: people.csv: 1 of 2 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --default-country au --errors invalid.csv
    exit 2
  `)
  expect(await type(`${validate} --default-country Oz`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --default-country Oz
    2> Error: --default-country: unknown country "Oz"
    2> Give the two-letter code of ISO 3166, such as AU, NZ, GB or DE.
    exit 2
  `)
})

test('names are sent with their Unicode letters, but without surrounding spaces; a line break in an e-mail is refused', async () => {
  const { type, write } = await session()
  const rows = [
    '  Zoë  ,Ó Briain,zoe@example.com,+61400000001',
    'Ana,Silva,"ana@example.com\r\nBcc: x@example.com",+61400000002',
  ]
  write('people.csv', `${header}\n${rows.join('\n')}\n`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 2 rows, 1 valid, 1 invalid

    LINE  PERSON     COLUMN  VALUE                               PROBLEM
    3     Ana Silva  email   ana@example.com Bcc: x@example.com  contains U+000D, a line break or control character; which an address cannot have

    Changed before sending:
      1 × white space around the value is removed
        line 2, first_name: " Zoë " is sent as "Zoë"
    2> Error: people.csv: 1 of 2 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv
    exit 2
  `)
})

test('the same order in two spellings is reported with both rows, and does not make the file invalid', async () => {
  const { type, write } = await session()
  const rows = [
    'Ana,Silva,ana@example.com,+61400000001',
    'Bo,Li,bo@example.com,+61400000002',
    ' ANA ,SILVA,Ana@Example.com,+61 (400) 000-001',
    'Ana,Si\u200Blva,ana@example.com,+61400000001',
  ]
  write('people.csv', `${header}\n${rows.join('\n')}\n`)
  expect(await type(validate)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102
    people.csv: 4 rows, 3 valid, 1 invalid

    LINE  PERSON      COLUMN     VALUE   PROBLEM
    5     Ana Si�lva  last_name  Si�lva  holds U+200B, an invisible character; type it again; if it is right, add --accept-line 5

    The same person and package more than once; only the first is sent:
      line 4 is the same as line 2
      line 5 is the same as line 2
    2> Error: people.csv: 1 of 4 rows is invalid
    2> Nothing was sent. Fix the file and run it again, or write the invalid rows to a file with: refcheck batch validate people.csv --package 102 --errors invalid.csv
    exit 2
  `)
  const { duplicates } = (await type(`${validate} --json`)).json() as { duplicates: number[][] }
  expect(duplicates).toEqual([
    [1, 3],
    [1, 4],
  ])
})

test('--errors writes the invalid rows unchanged, with their problems, and overwrites no file', async () => {
  const { type, write, cat } = await session()
  write('people.csv', `${header}\nAna,Silva,ana@example.com,+61400000001\nBo,Li,=bo,0400\n`)
  expect(await type(`${validate} --errors fix.csv`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --errors fix.csv
    2> The invalid rows are in HOME/fix.csv
    people.csv: 2 rows, 1 valid, 1 invalid

    LINE  PERSON  COLUMN  VALUE  PROBLEM
    3     Bo Li   email   =bo    has no @; an e-mail address looks like ann@example.com
    3     Bo Li   phone   0400   has no +; start it with + and the country code, such as +61400000000
    2> Error: people.csv: 1 of 2 rows is invalid
    2> Nothing was sent. Fix them in that file, then order them with: refcheck batch run fix.csv --package 102
    exit 2
  `)
  expect(cat('fix.csv')).toMatchInlineSnapshot(`
    $ cat fix.csv
    first_name,last_name,email,phone,refcheck_row,refcheck_column,refcheck_problem,refcheck_suggestion
    Bo,Li,'=bo,0400,2,"email; phone","email has no @; an e-mail address looks like ann@example.com; phone has no +; start it with + and the country code, such as +61400000000",
  `)
  expect(await type(`${validate} --errors fix.csv`)).toMatchInlineSnapshot(`
    $ refcheck batch validate people.csv --package 102 --errors fix.csv
    2> Error: --errors: fix.csv already exists
    2> Nothing was sent. Choose another name.
    exit 2
  `)
})
