import { statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openSheet } from '../../src/sheets/open.ts'
import { fileSource, exampleSheet } from '../../src/sheets/sheet.ts'
import { session } from '../harness/session.ts'
import { collect, textOfCell, parseJsonRow } from '../sheets/table.ts'

test('schema template prints the header of a CSV file', async () => {
  const { type } = await session()
  expect(await type('schema template 101')).toMatchInlineSnapshot(`
    $ refcheck schema template 101
    first_name,last_name,email,phone,reference.position_title,reference.referee_relationships,ncc_acic.date_of_birth,ncc_acic.licence_number,ncc_acic.is_volunteer,ncc_acic.previous_names,ncc_acic.residential_address.street,ncc_acic.residential_address.suburb,ncc_acic.residential_address.state,ncc_acic.residential_address.postcode,ncc_acic.residential_address.country,icrc.years_of_history,icrc.annual_income
    exit 0
  `)
})

test('schema template writes a workbook with an example on another sheet, and prints the next command', async () => {
  const { type, folder } = await session()
  const header = (await type('schema template 101')).stdout.trim()
  expect(await type('schema template 101 --output people.xlsx')).toMatchInlineSnapshot(`
    $ refcheck schema template 101 --output people.xlsx
    written  people.xlsx  17 fields, 10 required
    2> Fill in a row per person, then: refcheck batch validate people.xlsx --package 101
    exit 0
  `)
  expect(statSync(join(folder, 'people.xlsx')).mode & 0o777).toBe(0o600)
  const source = await fileSource(join(folder, 'people.xlsx'), 'people.xlsx')
  const open = (sheet?: string) => openSheet(source, { sheet, readJson: parseJsonRow })
  const people = await open()
  expect(people.columns.join(',')).toBe(header)
  expect(await collect(people.rows())).toEqual([])
  const [example] = await collect((await open(exampleSheet)).rows())
  expect(example?.cells.map(textOfCell)).toEqual([
    'Priya',
    'Shah',
    'priya.shah@example.com',
    '+61400000000',
    'Position title (example)',
    'first; second',
    '1990-04-30',
    'Licence number (example)',
    'yes',
    'first; second',
    'Residential address, street (example)',
    'Residential address, suburb (example)',
    'Residential address, state (example)',
    'Residential address, postcode (example)',
    'Residential address, country (example)',
    '3',
    '12.5',
  ])
})

test('schema template writes a body whose placeholders are refused, and which is accepted with values', async () => {
  const { type, cat, read, write } = await session()
  expect(await type('schema template 102 --output body.json --json')).toMatchInlineSnapshot(`
    $ refcheck schema template 102 --output body.json --json
    {
      "path": "HOME/body.json",
      "format": "json",
      "package_id": 102,
      "fields": 4,
      "required": 4
    }
    2> Fill in each "", "YYYY-MM-DD" and null, remove what is optional, then: refcheck request create --file body.json
    exit 0
  `)
  expect(cat('body.json')).toMatchInlineSnapshot(`
    $ cat body.json
    {
      "package_id": 102,
      "recipient": {
        "first_name": "",
        "last_name": "",
        "email": "",
        "phone": ""
      }
    }
  `)
  expect(await type('request create --file body.json --dry-run')).toMatchInlineSnapshot(`
    $ refcheck request create --file body.json --dry-run
    2> Error: 4 problems
    2>   recipient.first_name: "" is empty, but required
    2>   recipient.last_name: "" is empty, but required
    2>   recipient.email: "" is empty, but required
    2>   recipient.phone: "" is empty, but required
    2> Nothing was sent. Show the fields with: refcheck schema show 102
    exit 2
  `)
  const person = { first_name: 'Zoë', last_name: 'Ng', email: 'zoe@example.com', phone: '+61400000000' }
  const body = JSON.parse(read('body.json')) as object
  write('body.json', JSON.stringify({ ...body, recipient: person }))
  expect(await type('request create --file body.json --dry-run')).toMatchInlineSnapshot(`
    $ refcheck request create --file body.json --dry-run
    2> Dry run: nothing was sent.
    {
      "package_id": 102,
      "recipient": {
        "first_name": "Zoë",
        "last_name": "Ng",
        "email": "zoe@example.com",
        "phone": "+61400000000"
      }
    }
    exit 0
  `)
  expect(await type('schema template 101 --format json --json')).toMatchInlineSnapshot(`
    $ refcheck schema template 101 --format json --json
    {
      "package_id": 101,
      "recipient": {
        "first_name": "",
        "last_name": "",
        "email": "",
        "phone": ""
      },
      "additional_information": [
        {
          "code": "reference",
          "fields": {
            "position_title": "",
            "referee_relationships": null
          }
        },
        {
          "code": "ncc_acic",
          "fields": {
            "date_of_birth": "YYYY-MM-DD",
            "licence_number": null,
            "is_volunteer": null,
            "previous_names": null,
            "residential_address": null
          }
        },
        {
          "code": "icrc",
          "fields": {
            "years_of_history": null,
            "annual_income": null
          }
        }
      ]
    }
    exit 0
  `)
})

test('schema template replaces an existing file only with --overwrite', async () => {
  const { type, write, cat, listCalls } = await session()
  write('people.csv', 'mine')
  expect(await type('schema template 102 --output people.csv')).toMatchInlineSnapshot(`
    $ refcheck schema template 102 --output people.csv
    2> Error: --output: people.csv already exists
    2> Choose another name, or replace it with --overwrite.
    exit 2
  `)
  expect(cat('people.csv').text).toBe('$ cat people.csv\nmine')
  expect(listCalls()).toEqual([])
  expect(await type('schema template 102 --output people.csv --overwrite')).toMatchInlineSnapshot(`
    $ refcheck schema template 102 --output people.csv --overwrite
    written  people.csv  4 fields, 4 required
    2> Fill in a row per person, then: refcheck batch validate people.csv --package 102
    exit 0
  `)
  expect(cat('people.csv')).toMatchInlineSnapshot(`
    $ cat people.csv
    first_name,last_name,email,phone
  `)
})

test('formats that cannot be written to the output are refused before a call', async () => {
  const { type, all, listCalls } = await session()
  expect(await type('schema template 102 --format xlsx', { tty: true })).toMatchInlineSnapshot(`
    $ refcheck schema template 102 --format xlsx
    2> ␛[31mError:␛[39m refused to write a workbook to the terminal
    2> ␛[2mAdd --output FILE, or pipe it to a program.␛[22m
    exit 2
  `)
  const lines = ['--format xlsx --json', '--format xlsx --output people.csv', '--output .']
  expect(await all(lines.map((flags) => `schema template 102 ${flags}`))).toMatchInlineSnapshot(`
    $ refcheck schema template 102 --format xlsx --json
    {
      "error": {
        "code": "usage",
        "message": "--json cannot be combined with a xlsx template on stdout",
        "hint": "Add --output FILE, or use --format json."
      }
    }
    2> Error: --json cannot be combined with a xlsx template on stdout
    exit 2

    $ refcheck schema template 102 --format xlsx --output people.csv
    2> Error: --format xlsx contradicts --output people.csv
    2> Leave out --format, or give a name that ends in .xlsx.
    exit 2

    $ refcheck schema template 102 --output .
    2> Error: --output: . is a folder
    2> Give the name of a file in it.
    exit 2
  `)
  expect(listCalls()).toEqual([])
})

test('schema template writes a workbook to a pipe', async () => {
  const { type } = await session()
  const { code, bytes, stderr } = await type('schema template 102 --format xlsx')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(bytes.subarray(0, 4).toString('latin1')).toBe('PK\u0003\u0004')
})
