import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { MS } from '../harness/filters.ts'
import { session } from '../harness/session.ts'

test('ping needs only a base URL', async () => {
  const { type, url, listCalls } = await session({ isLoggedOut: true, filters: [MS] })
  expect(await type('ping', { env: { REFCHECK_BASE_URL: url } })).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=http://127.0.0.1:PORT refcheck ping
    up  http://127.0.0.1:PORT answered "ok" in # ms
    exit 0
  `)
  expect(await type('ping --json', { env: { REFCHECK_BASE_URL: url } })).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=http://127.0.0.1:PORT refcheck ping --json
    {
      "base_url": "http://127.0.0.1:PORT",
      "status": "ok",
      "latency_ms": 0
    }
    exit 0
  `)
  expect(await type('ping')).toMatchInlineSnapshot(`
    $ refcheck ping
    2> Error: the base URL is missing
    2> Log in with: refcheck auth login
    2> In a script, set REFCHECK_BASE_URL instead.
    exit 2
  `)
  expect(listCalls()).toEqual(['GET /v1/ping 200', 'GET /v1/ping 200'])
})

test('if the service is down, ping makes four attempts and reports each failure; with --timeout 0s it makes one', async () => {
  const { type, clock } = await session({ isLoggedOut: true })
  const env = { REFCHECK_BASE_URL: 'http://127.0.0.1:1' }
  expect(await type('ping', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=http://127.0.0.1:1 refcheck ping
    2> 127.0.0.1:1: connection refused; try 2 of 4 in 0.4 s
    2> 127.0.0.1:1: connection refused; try 3 of 4 in 0.5 s
    2> 127.0.0.1:1: connection refused; try 4 of 4 in 1.5 s
    2> Error: 127.0.0.1:1: connection refused
    2> Check the base URL, and that the service is running.
    exit 7
  `)
  expect(clock.sleeps).toHaveLength(3)
  expect(await type('ping --timeout 0s --json', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=http://127.0.0.1:1 refcheck ping --timeout 0s --json
    {
      "error": {
        "code": "unavailable",
        "message": "127.0.0.1:1: connection refused",
        "hint": "Check the base URL, and that the service is running."
      }
    }
    2> Error: 127.0.0.1:1: connection refused
    exit 7
  `)
  expect(clock.sleeps).toHaveLength(3)
})

test('ping reports a server that is not the service', async () => {
  const server = createServer((_request, response) => response.end('<html>Log in</html>')).listen(0)
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { type } = await session({ isLoggedOut: true })
  const env = { REFCHECK_BASE_URL: `http://127.0.0.1:${port}` }
  expect(await type('ping --json', { env })).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=http://127.0.0.1:PORT_1 refcheck ping --json
    {
      "error": {
        "code": "unavailable",
        "message": "the answer does not come from the service: it has no envelope {data, status_message, message}",
        "hint": "Check the base URL: something other than the service may have answered.",
        "status": 200
      }
    }
    2> Error: the answer does not come from the service: it has no envelope {data, status_message, message}
    exit 7
  `)
})

test('an invalid base URL is refused before anything is sent', async () => {
  const { type } = await session({ isLoggedOut: true })
  const typePing = (url: string) => type('ping', { env: { REFCHECK_BASE_URL: url } })
  expect(await typePing('http://api.example.com')).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=http://api.example.com refcheck ping
    2> Error: REFCHECK_BASE_URL would call api.example.com unencrypted: https is required
    2> http is allowed for this machine only (127.0.0.1, ::1, localhost).
    exit 2
  `)
  const password = await typePing('https://user:pw@api.example.com')
  expect(password.stderr).not.toContain('pw')
  expect(password).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=https://user:pw@api.example.com refcheck ping
    2> Error: REFCHECK_BASE_URL has a user name or a password in it
    2> Remove the part before the @.
    exit 2
  `)
  expect(await typePing('https://api.example.com?x=1')).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL='https://api.example.com?x=1' refcheck ping
    2> Error: REFCHECK_BASE_URL has a query
    2> Remove the ? and what follows it.
    exit 2
  `)
  expect(await typePing('ftp://api.example.com')).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=ftp://api.example.com refcheck ping
    2> Error: REFCHECK_BASE_URL does not start with https://
    2> A base URL looks like https://api.example.com
    exit 2
  `)
  expect(await typePing('nonsense')).toMatchInlineSnapshot(`
    $ REFCHECK_BASE_URL=nonsense refcheck ping
    2> Error: REFCHECK_BASE_URL does not start with https://
    2> A base URL looks like https://api.example.com
    exit 2
  `)
})
