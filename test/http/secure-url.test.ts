import { expect, test } from 'vitest'

import { UsageError } from '../../src/errors/kinds.ts'
import { secureUrl } from '../../src/http/transport.ts'
import { startConnectProxy } from './connect-proxy.ts'
import { startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, nextTurn, post, startClient } from './setup.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `plain-http` of the fault table (test/resilience/rows.ts).
recordForFaultTable('plain-http', { mustNotHappen: 'sent in clear text' })

expectNoProcessFaults()

test.each([
  'https://api.example.com',
  'https://api.example.com:8443/base/path?x=1',
  'https://10.0.0.1',
  'http://127.0.0.1',
  'http://127.0.0.1:4010/v1',
  'http://127.255.255.254/',
  'http://127.1:4010/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://localhost',
  'http://LOCALHOST:4010',
  'http://[::1]:4010',
  'http://[0:0:0:0:0:0:0:1]',
])('the URL %s is accepted', (text) => {
  expect(secureUrl(text).href).toBe(new URL(text).href)
})

const refusedUrls = [
  'http://api.example.com',
  'http://api.example.com:443',
  'HTTP://API.EXAMPLE.COM',
  'http://10.0.0.1',
  'http://192.168.1.10:4010',
  'http://169.254.169.254/latest/meta-data',
  'http://0.0.0.0:4010',
  'http://[::]:4010',
  'http://[::ffff:127.0.0.1]',
  'http://[fe80::1]',
  'http://128.0.0.1',
  'http://126.255.255.255',
  'http://localhost.example.com',
  'http://127.0.0.1.example.com',
  'http://localhost.',
  'http://api.localhost',
  'http://local\u0131host',
  'http://localhost@api.example.com',
  'http://127.0.0.1:80@api.example.com/',
  'http://api.example.com#@127.0.0.1',
  'http://api.example.com\\@127.0.0.1',
  'https://user:hunter2@api.example.com',
  'https://user@api.example.com',
  'ftp://127.0.0.1/',
  'ws://127.0.0.1/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'javascript:alert(1)',
  'unix:/var/run/x.sock',
  'api.example.com',
  '//api.example.com',
  'https://',
  'http:',
  '',
]

test.each(refusedUrls)('the URL %j is refused, and the error has a hint and no password', (text) => {
  let error: unknown
  try {
    secureUrl(text)
  } catch (caught) {
    error = caught
  }
  expect(error).toBeInstanceOf(UsageError)
  const { message, hint } = error as UsageError
  expect(hint).not.toBe('')
  expect(`${message} ${hint}`).not.toContain('hunter2')
})

test('no byte of a call to a refused URL is sent, neither to the host nor to a proxy', async () => {
  await using server = await startRawServer()
  await using proxy = await startConnectProxy({ routes: {} })
  const address = `http://127.0.0.1:${proxy.port}`
  await using client = startClient({ env: { HTTP_PROXY: address, HTTPS_PROXY: address } })
  for (const url of [
    ...refusedUrls,
    `http://0.0.0.0:${server.port}/`,
    `http://[::ffff:127.0.0.1]:${server.port}/`,
  ]) {
    await expect(client.sendOnce(post(url))).rejects.toBeInstanceOf(UsageError)
    await expect(client.send({ method: 'GET', url })).rejects.toBeInstanceOf(UsageError)
    await expect(client.open({ method: 'GET', url })).rejects.toBeInstanceOf(UsageError)
  }
  await nextTurn()
  expect(server).toMatchObject({ connections: 0, bytes: 0 })
  expect(proxy).toMatchObject({ connectTargets: [], otherRequests: [] })
})
