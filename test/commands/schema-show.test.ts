import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

test('schema show prints the fields of each check, with the flag for each field', async () => {
  const { type } = await session()
  expect(await type('schema show 102')).toMatchInlineSnapshot(`
    $ refcheck schema show 102
    Recipient
    FIELD         TYPE    REQUIRED  DESCRIPTION
    --first-name  string  required  -
    --last-name   string  required  -
    --email       string  required  -
    --phone       string  required  + and country code, such as +61400000000

    No additional information is needed.
    exit 0
  `)
  expect(await type('schema show 101')).toMatchInlineSnapshot(`
    $ refcheck schema show 101
    Recipient
    FIELD         TYPE    REQUIRED  DESCRIPTION
    --first-name  string  required  -
    --last-name   string  required  -
    --email       string  required  -
    --phone       string  required  + and country code, such as +61400000000

    Professional reference survey (reference)
    FIELD                                    TYPE    REQUIRED  DESCRIPTION
    --field reference.position_title         string  required  Title of the position the recipient has applied for.
    --field reference.referee_relationships  array   optional  Whom the referees should be, for example "direct manager" and "peer".

    National police check (ncc_acic)
    FIELD                                 TYPE     REQUIRED  DESCRIPTION
    --field ncc_acic.date_of_birth        string   required  Date of birth as an ISO date, for example 1990-04-30.
    --field ncc_acic.licence_number       string   optional  Driver licence number, without spaces.
    --field ncc_acic.is_volunteer         boolean  required  Whether the check is for unpaid work; volunteers pay a reduced fee.
    --field ncc_acic.previous_names       array    required  Every other name the recipient has used; an empty list if none.
    --field ncc_acic.residential_address  object   required  Current address: street, suburb, state, postcode and country.

    Credit history check (icrc)
    FIELD                          TYPE     REQUIRED  DESCRIPTION
    --field icrc.years_of_history  integer  required  How many years to look back, 1 to 7.
    --field icrc.annual_income     number   required  Declared gross income a year, in dollars and cents.
    exit 0
  `)
})

test('a second schema show uses the cache, and --refresh reads the schema again', async () => {
  const { type, listCalls } = await session()
  const first = await type('schema show 102 --json')
  expect(first).toMatchInlineSnapshot(`
    $ refcheck schema show 102 --json
    {
      "id": 102,
      "fields": {
        "recipient": {
          "first_name": {
            "type": "string",
            "required": true
          },
          "last_name": {
            "type": "string",
            "required": true
          },
          "email": {
            "type": "string",
            "required": true
          },
          "phone": {
            "type": "string",
            "required": true
          }
        },
        "additional_information": []
      }
    }
    exit 0
  `)
  expect(listCalls()).toEqual(['GET /v1/packages/102/schema 200'])
  expect((await type('schema show 102 --json')).json()).toEqual(first.json())
  expect(listCalls()).toHaveLength(1)
  expect((await type('schema show 102 --json --refresh')).json()).toEqual(first.json())
  expect(listCalls()).toHaveLength(2)
})

test('--json-schema prints a JSON Schema 2020-12', async () => {
  const { type } = await session()
  expect(await type('schema show 102 --json-schema')).toMatchInlineSnapshot(`
    $ refcheck schema show 102 --json-schema
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Request from package 102",
      "description": "Body of POST /v1/requests",
      "type": "object",
      "properties": {
        "package_id": {
          "const": 102,
          "description": "The package to order"
        },
        "recipient": {
          "description": "Who the checks are about",
          "type": "object",
          "properties": {
            "first_name": {
              "type": "string",
              "pattern": "^[^\\\\s\\\\p{Cc}](?:[^\\\\p{Cc}]*[^\\\\s\\\\p{Cc}])?$",
              "description": "Given name"
            },
            "last_name": {
              "type": "string",
              "pattern": "^[^\\\\s\\\\p{Cc}](?:[^\\\\p{Cc}]*[^\\\\s\\\\p{Cc}])?$",
              "description": "Family name"
            },
            "email": {
              "type": "string",
              "maxLength": 254,
              "format": "email",
              "pattern": "^(?:[A-Za-z0-9_'+\\\\-]+\\\\.)*[A-Za-z0-9_'+\\\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\\\-]*\\\\.)+[A-Za-z]{2,}$",
              "description": "At most 254 characters"
            },
            "phone": {
              "type": "string",
              "maxLength": 16,
              "pattern": "^\\\\+[1-9]\\\\d{1,14}$",
              "description": "E.164: + and country calling code, at most 15 digits"
            }
          },
          "required": [
            "first_name",
            "last_name",
            "email",
            "phone"
          ],
          "additionalProperties": false
        },
        "additional_information": {
          "description": "Nothing is needed for this package",
          "type": "array",
          "maxItems": 0
        }
      },
      "required": [
        "package_id",
        "recipient"
      ],
      "additionalProperties": false
    }
    exit 0
  `)
})

test('an unknown package is reported, and invalid ids are refused without a call', async () => {
  const { type, all, listCalls } = await session()
  expect(await type('schema show 999')).toMatchInlineSnapshot(`
    $ refcheck schema show 999
    2> Error: package 999 was not found for this user, or is DISABLED
    2> List the packages that this user may see with: refcheck packages list
    exit 5
  `)
  expect(listCalls()).toEqual(['GET /v1/packages/999/schema 404'])
  expect(await all(['abc', '1.5', '-1', '1e3'].map((id) => `schema show -- ${id}`))).toMatchInlineSnapshot(`
    $ refcheck schema show -- abc
    2> Error: PACKAGE_ID: "abc" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2

    $ refcheck schema show -- 1.5
    2> Error: PACKAGE_ID: "1.5" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2

    $ refcheck schema show -- -1
    2> Error: PACKAGE_ID: "-1" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2

    $ refcheck schema show -- 1e3
    2> Error: PACKAGE_ID: "1e3" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2
  `)
  expect(listCalls()).toHaveLength(1)
})
