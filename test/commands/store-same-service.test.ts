import { expect, test } from 'vitest'

import { session } from '../harness/session.ts'

test('store same-service records a person’s word of two base URLs, and the other word after it', async () => {
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
    https://old.example.com and https://api.example.com are one service.
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
    2> Give it like https://api.example.com.
    exit 2
  `)
})
