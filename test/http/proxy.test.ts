import { expect, test } from 'vitest'

import { UsageError } from '../../src/errors/kinds.ts'
import { proxySettings } from '../../src/http/transport.ts'
import { startConnectProxy } from './connect-proxy.ts'
import { answer, identity, startRawServer } from './raw-server.ts'
import {
  expectNoProcessFaults,
  nextTurn,
  post,
  startClient,
  expectTransportError,
  trustAuthority,
} from './setup.ts'

/**
 * src/docs/cli.md, "Environment": HTTPS_PROXY/NO_PROXY. The proxy of these tests connects service.test to a local TLS
 * server.
 */

expectNoProcessFaults()

trustAuthority()

const key = 'K'.repeat(32)

async function startService() {
  return startRawServer({
    tls: identity('service'),
    onRequest: (socket) => socket.write(answer(201, {}, 'ok')),
  })
}

test.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'])(
  'with %s, a create and a read are sent encrypted through a tunnel of the proxy',
  async (name) => {
    await using server = await startService()
    await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
    await using client = startClient({ env: { [name]: `http://127.0.0.1:${proxy.port}` } })
    const headers = { 'X-Service-API-Key': key }
    expect((await client.sendOnce(post('https://service.test/v1/requests', { headers }))).status).toBe(201)
    expect((await client.send({ method: 'GET', url: 'https://service.test/v1/users', headers })).status).toBe(
      201,
    )
    expect(proxy.connectTargets).toEqual(['service.test:443', 'service.test:443'])
    expect(proxy.otherRequests).toEqual([])
    expect(JSON.stringify(proxy.headers)).not.toContain(key)
    expect(server.requests[0]).toMatch(/^POST \/v1\/requests HTTP\/1\.1\r\nhost: service\.test\r\n/)
    expect(server.requests[0]).toContain(`X-Service-API-Key: ${key}`)
  },
)

test('the lower-case name overrides the upper-case one, and HTTPS_PROXY overrides HTTP_PROXY', async () => {
  expect(
    proxySettings({
      https_proxy: 'http://a:1',
      HTTPS_PROXY: 'http://b:1',
      http_proxy: '',
      HTTP_PROXY: 'http://c:1',
    }),
  ).toEqual({ httpsProxy: 'http://a:1/', httpProxy: 'http://c:1/', noProxy: '' })
  await using server = await startService()
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  await using client = startClient({
    env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, HTTP_PROXY: 'http://127.0.0.1:1' },
  })
  expect((await client.sendOnce(post('https://service.test/'))).status).toBe(201)
})

test('the user name and password of the proxy are sent only to the proxy', async () => {
  await using server = await startService()
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  await using client = startClient({ env: { HTTPS_PROXY: `http://us%40er:pa%3Ass@127.0.0.1:${proxy.port}` } })
  await client.sendOnce(post('https://service.test/'))
  const expected = `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`
  expect(proxy.headers[0]?.['proxy-authorization']).toBe(expected)
  expect(server.requests[0]).not.toMatch(/proxy-/i)
})

test.each(['service.test', '.test', '*.test', '*', 'other.test, service.test', 'service.test:443'])(
  'with NO_PROXY=%s, service.test is called directly',
  async (noProxy) => {
    await using proxy = await startConnectProxy()
    await using client = startClient({
      env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: noProxy },
    })
    // The host does not exist, and only a direct call looks its name up.
    const error = await expectTransportError(client.sendOnce(post('https://service.test/')))
    expect(error.message).toMatch(/host not found|could not be resolved/)
    expect(error.sent).toBe(false)
    expect(proxy.connectTargets).toEqual([])
  },
)

test.each(['other.test', 'ervice.test', 'service.test:8443', ' '])(
  'with NO_PROXY=%j, service.test is called through the proxy',
  async (noProxy) => {
    await using server = await startService()
    await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
    await using client = startClient({
      env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, no_proxy: noProxy },
    })
    expect((await client.sendOnce(post('https://service.test/'))).status).toBe(201)
  },
)

test('loopback is never called through a proxy, neither by address nor by name', async () => {
  await using plainServer = await startRawServer({ onRequest: (socket) => socket.write(answer(200)) })
  await using server = await startService()
  await using proxy = await startConnectProxy()
  const address = `http://127.0.0.1:${proxy.port}`
  await using client = startClient({ env: { HTTPS_PROXY: address, HTTP_PROXY: address } })
  await client.send({ method: 'GET', url: `${plainServer.origin}/` })
  await client.send({ method: 'GET', url: `http://localhost:${plainServer.port}/` })
  await client.sendOnce(post(`${server.origin}/`))
  await client.sendOnce(post(`https://localhost:${server.port}/`))
  expect(proxy).toMatchObject({ connectTargets: [], otherRequests: [] })
})

test('the environment variables of this process are ignored; only the given ones count', async () => {
  await using proxy = await startConnectProxy()
  const previousValue = process.env['HTTPS_PROXY']
  process.env['HTTPS_PROXY'] = `http://127.0.0.1:${proxy.port}`
  try {
    await using client = startClient()
    await expectTransportError(client.sendOnce(post('https://service.test/')))
  } finally {
    if (previousValue === undefined) delete process.env['HTTPS_PROXY']
    else process.env['HTTPS_PROXY'] = previousValue
  }
  expect(proxy.connectTargets).toEqual([])
})

test('HOST:PORT without a scheme is an http proxy, and a path is ignored', () => {
  expect(proxySettings({ HTTPS_PROXY: 'proxy.example.com:3128' }).httpsProxy).toBe(
    'http://proxy.example.com:3128/',
  )
  expect(proxySettings({ HTTPS_PROXY: 'https://proxy.example.com/p?q#f' }).httpsProxy).toBe(
    'https://proxy.example.com/',
  )
})

test.each([
  'socks5://127.0.0.1:1080',
  'http://',
  'ftp://proxy',
  'http://a:%zz@proxy',
  'http://secret word@proxy:99999',
])('the error for the invalid proxy %j has the name of the variable and not its value', async (value) => {
  await using client = startClient({ env: { https_proxy: value } })
  const error: unknown = await client
    .sendOnce(post('https://service.test/'))
    .catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(UsageError)
  expect((error as UsageError).message).toBe(
    'HTTPS_PROXY in the environment is not the address of an http or https proxy',
  )
  await expect(client.send({ method: 'GET', url: 'https://service.test/' })).rejects.toBeInstanceOf(
    UsageError,
  )
})

test('a create that is cancelled while the proxy does not answer ends at once and is not sent', async () => {
  await using proxy = await startConnectProxy({ onConnect: () => {} })
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  const controller = new AbortController()
  const create = expectTransportError(
    client.sendOnce(post('https://service.test/', { signal: controller.signal })),
  )
  while (proxy.connectTargets.length < 1) await nextTurn()
  controller.abort(new Error('stopped'))
  expect(await create).toMatchObject({ sent: false })
})

test('a proxy with an https address is called over TLS', async () => {
  await using server = await startService()
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  // A TLS server in front of the plain proxy acts as a proxy with an https address.
  await using tlsFront = await startRawServer({ tls: identity('service'), pipeTo: proxy.port })
  await using client = startClient({ env: { HTTPS_PROXY: `https://localhost:${tlsFront.port}` } })
  expect((await client.sendOnce(post('https://service.test/'))).status).toBe(201)
  expect(proxy.connectTargets).toEqual(['service.test:443'])
})

test('a proxy with an untrusted certificate is not used', async () => {
  await using tlsFront = await startRawServer({ tls: identity('self-signed') })
  await using client = startClient({ env: { HTTPS_PROXY: `https://localhost:${tlsFront.port}` } })
  const error = await expectTransportError(client.sendOnce(post('https://service.test/')))
  expect(error.sent).toBe(false)
  expect(error.message).toBe('service.test: its certificate is self-signed')
  expect(error.hint).toContain(`The environment sets the proxy localhost:${tlsFront.port} (HTTPS_PROXY)`)
  expect(tlsFront.bytes).toBe(0)
})

test('the error for a proxy with the certificate of another host names the proxy', async () => {
  await using tlsFront = await startRawServer({ tls: identity('other') })
  await using client = startClient({ env: { HTTPS_PROXY: `https://localhost:${tlsFront.port}` } })
  const error = await expectTransportError(client.sendOnce(post('https://service.test/')))
  expect(error).toMatchObject({ sent: false, permanent: true })
  expect(error.message).toBe(
    `service.test: the certificate of the proxy localhost:${tlsFront.port} is not trusted`,
  )
  expect(tlsFront.bytes).toBe(0)
})
