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
  transportError,
  trustAuthority,
} from './setup.ts'

/** src/docs/cli.md, "Environment": HTTPS_PROXY/NO_PROXY. The proxy of these tests takes service.test to a TLS server here. */

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
  '%s takes a create and a read through its tunnel, end to end encrypted',
  async (name) => {
    await using server = await startService()
    await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
    await using client = startClient({ env: { [name]: `http://127.0.0.1:${proxy.port}` } })
    const headers = { 'X-Service-API-Key': key }
    expect((await client.sendOnce(post('https://service.test/v1/requests', { headers }))).status).toBe(201)
    expect((await client.send({ method: 'GET', url: 'https://service.test/v1/users', headers })).status).toBe(
      201,
    )
    expect(proxy.asked).toEqual(['service.test:443', 'service.test:443'])
    expect(proxy.others).toEqual([])
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

test('user name and password of the proxy go to the proxy alone', async () => {
  await using server = await startService()
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  await using client = startClient({ env: { HTTPS_PROXY: `http://us%40er:pa%3Ass@127.0.0.1:${proxy.port}` } })
  await client.sendOnce(post('https://service.test/'))
  const expected = `Basic ${Buffer.from('us@er:pa:ss').toString('base64')}`
  expect(proxy.headers[0]?.['proxy-authorization']).toBe(expected)
  expect(server.requests[0]).not.toMatch(/proxy-/i)
})

test.each(['service.test', '.test', '*.test', '*', 'other.test, service.test', 'service.test:443'])(
  'NO_PROXY=%s goes straight',
  async (noProxy) => {
    await using proxy = await startConnectProxy()
    await using client = startClient({
      env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: noProxy },
    })
    // There is no such host, which only who goes straight finds out.
    const error = await transportError(client.sendOnce(post('https://service.test/')))
    expect(error.message).toMatch(/host not found|could not be resolved/)
    expect(error.sent).toBe(false)
    expect(proxy.asked).toEqual([])
  },
)

test.each(['other.test', 'ervice.test', 'service.test:8443', ' '])(
  'NO_PROXY=%j does not',
  async (noProxy) => {
    await using server = await startService()
    await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
    await using client = startClient({
      env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, no_proxy: noProxy },
    })
    expect((await client.sendOnce(post('https://service.test/'))).status).toBe(201)
  },
)

test('loopback is never proxied, by address or by name', async () => {
  await using plain = await startRawServer({ onRequest: (socket) => socket.write(answer(200)) })
  await using server = await startService()
  await using proxy = await startConnectProxy()
  const address = `http://127.0.0.1:${proxy.port}`
  await using client = startClient({ env: { HTTPS_PROXY: address, HTTP_PROXY: address } })
  await client.send({ method: 'GET', url: `${plain.origin}/` })
  await client.send({ method: 'GET', url: `http://localhost:${plain.port}/` })
  await client.sendOnce(post(`${server.origin}/`))
  await client.sendOnce(post(`https://localhost:${server.port}/`))
  expect(proxy).toMatchObject({ asked: [], others: [] })
})

test('the variables of this process do not count, the ones given do', async () => {
  await using proxy = await startConnectProxy()
  const before = process.env['HTTPS_PROXY']
  process.env['HTTPS_PROXY'] = `http://127.0.0.1:${proxy.port}`
  try {
    await using client = startClient()
    await transportError(client.sendOnce(post('https://service.test/')))
  } finally {
    if (before === undefined) delete process.env['HTTPS_PROXY']
    else process.env['HTTPS_PROXY'] = before
  }
  expect(proxy.asked).toEqual([])
})

test('HOST:PORT alone is an http proxy; a path after it is not looked at', () => {
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
])('a proxy of %j is told as wrong, by the name of the variable, without its value', async (value) => {
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

test('giving up while a proxy keeps silent ends at once, and leaves nothing behind', async () => {
  await using proxy = await startConnectProxy({ handle: () => {} })
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  const stop = new AbortController()
  const work = transportError(client.sendOnce(post('https://service.test/', { signal: stop.signal })))
  while (proxy.asked.length < 1) await nextTurn()
  stop.abort(new Error('stopped'))
  expect(await work).toMatchObject({ sent: false })
})

test('a proxy that speaks TLS itself', async () => {
  await using server = await startService()
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  // A TLS server in front of the plain proxy: what a proxy with an https address is.
  await using front = await startRawServer({ tls: identity('service'), pipeTo: proxy.port })
  await using client = startClient({ env: { HTTPS_PROXY: `https://localhost:${front.port}` } })
  expect((await client.sendOnce(post('https://service.test/'))).status).toBe(201)
  expect(proxy.asked).toEqual(['service.test:443'])
})

test('a proxy whose certificate is not to be trusted is not used', async () => {
  await using front = await startRawServer({ tls: identity('self-signed') })
  await using client = startClient({ env: { HTTPS_PROXY: `https://localhost:${front.port}` } })
  const error = await transportError(client.sendOnce(post('https://service.test/')))
  expect(error.sent).toBe(false)
  expect(error.message).toBe('service.test: its certificate is self-signed')
  expect(error.hint).toContain(`The environment sets the proxy localhost:${front.port} (HTTPS_PROXY)`)
  expect(front.bytes).toBe(0)
})

test('a proxy whose certificate is for another host is reported as such', async () => {
  await using front = await startRawServer({ tls: identity('other') })
  await using client = startClient({ env: { HTTPS_PROXY: `https://localhost:${front.port}` } })
  const error = await transportError(client.sendOnce(post('https://service.test/')))
  expect(error).toMatchObject({ sent: false, permanent: true })
  expect(error.message).toBe(
    `service.test: the certificate of the proxy localhost:${front.port} is not trusted`,
  )
  expect(front.bytes).toBe(0)
})
