import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

test('store same-service records that two base URLs are the same service, and --different the opposite', async () => {
  const { all } = await session()
  const urls = 'https://old.example.com https://api.example.com'
  expect(
    await all([
      `store same-service ${urls}`,
      `store same-service ${urls} --different --json`,
      'store same-service https://old.example.com https://OLD.example.com/',
      'store same-service ftp://old.example.com https://api.example.com',
    ]),
  ).toMatchInlineSnapshot(`
    $ refcheck store same-service https://old.example.com https://api.example.com
    Recorded: https://old.example.com and https://api.example.com are the same service.
    exit 0

    $ refcheck store same-service https://old.example.com https://api.example.com --different --json
    {
      "urls": [
        "https://old.example.com",
        "https://api.example.com"
      ],
      "same": false
    }
    exit 0

    $ refcheck store same-service https://old.example.com https://OLD.example.com/
    2> Error: the two URLs are the same
    2> Give two different URLs.
    exit 2

    $ refcheck store same-service ftp://old.example.com https://api.example.com
    2> Error: ONE does not start with https://
    2> A base URL looks like https://api.example.com
    exit 2
  `)
})

test('the decision is stored with its author: the user, or else the account of this machine', async () => {
  const { type, folder } = await session()
  const readAuthors = (): unknown => {
    const database = new DatabaseSync(join(folder, 'data', 'ledger.sqlite'))
    const rows = database.prepare('SELECT said_by FROM joined_services').all()
    database.close()
    return rows.map((row) => row['said_by'])
  }
  const line = 'store same-service https://old.example.com https://api.example.com'
  await type(line)
  expect(readAuthors()).toEqual(['olive.owner@example.com'])
  await type(line, { env: { REFCHECK_USER_EMAIL: '', USER: 'ops' } })
  expect(readAuthors()).toEqual(['ops'])
})
