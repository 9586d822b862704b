import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

test('packages list prints a table, one package, or chosen and sorted columns', async () => {
  const { type, listCalls } = await session()
  expect(await type('packages list --status active')).toMatchInlineSnapshot(`
    $ refcheck packages list --status active
    ID   NAME                        STATUS  REFERENCE SURVEY                            BACKGROUND CHECKS
    101  Standard employment screen  ACTIVE  Professional reference survey (2 referees)  National police check, Credit history check
    102  Identity check only         ACTIVE  -                                           Identity check
    103  Two references              ACTIVE  2 referees                                  -
    104  Executive screen            ACTIVE  Executive reference survey (3 referees)     National police check, Credit history check, Identity check
    exit 0
  `)
  expect(await type('packages list --id 102 --json')).toMatchInlineSnapshot(`
    $ refcheck packages list --id 102 --json
    [
      {
        "id": 102,
        "name": "Identity check only",
        "status": "ACTIVE",
        "details": {
          "reference_survey": null,
          "background_checks": [
            {
              "check_name": "Identity check",
              "partner_name": "Facet Identity"
            }
          ]
        }
      }
    ]
    exit 0
  `)
  expect(await type('packages list --csv --columns id,status --sort -id')).toMatchInlineSnapshot(`
    $ refcheck packages list --csv --columns id,status --sort -id
    id,status
    106,DISABLED
    105,INACTIVE
    104,ACTIVE
    103,ACTIVE
    102,ACTIVE
    101,ACTIVE
    exit 0
  `)
  expect(await type('packages list --id 999')).toMatchInlineSnapshot(`
    $ refcheck packages list --id 999
    No packages match, or this user may see none.
    exit 0
  `)
  expect(new Set(listCalls())).toEqual(new Set(['GET /v1/packages 200']))
})

test('an invalid package id is refused before anything is sent', async () => {
  const { all, listCalls } = await session()
  const lines = ['1e3', '0x10', '12abc', '-1', '0', ''].map((id) => `packages list --id='${id}'`)
  expect(await all(lines)).toMatchInlineSnapshot(`
    $ refcheck packages list --id='1e3'
    2> Error: --id: "1e3" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2

    $ refcheck packages list --id='0x10'
    2> Error: --id: "0x10" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2

    $ refcheck packages list --id='12abc'
    2> Error: --id: "12abc" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2

    $ refcheck packages list --id='-1'
    2> Error: --id: "-1" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2

    $ refcheck packages list --id='0'
    2> Error: --id: "0" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2

    $ refcheck packages list --id=''
    2> Error: --id: "" is not a package id
    2> Package ids are whole numbers. List them with: refcheck packages list
    exit 2
  `)
  expect(listCalls()).toEqual([])
})

test('an invalid key is reported with the way to fix it, in text and in JSON', async () => {
  const { type } = await session()
  const env = { REFCHECK_API_KEY: 'x'.repeat(32) }
  expect(await type('packages list', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx refcheck packages list
    2> Error: invalid API key
    2> A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login
    exit 3
  `)
  expect(await type('packages list --json', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx refcheck packages list --json
    {
      "error": {
        "code": "unauthenticated",
        "message": "invalid API key",
        "hint": "A newer key revokes the older one. If REFCHECK_API_KEY is set, set it to the current key. Else log in with: refcheck auth login",
        "status": 401
      }
    }
    2> Error: invalid API key
    exit 3
  `)
})
