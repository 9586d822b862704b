import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

import { expect, test } from 'vitest'

import { startConnectProxy } from './connect-proxy.ts'
import { identity, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, post, startClient, expectTransportError } from './setup.ts'

/**
 * The tests of the decision between "ordered nothing" and an unknown outcome (src/docs/ordering.md, section 2):
 * "failure before the connection stood" against "anything else". For https the connection is the TLS connection.
 */

expectNoProcessFaults()

/** The connect limit has to end a call; the message of the total limit would be another one. */
const shortConnectLimit = { connectMs: 50, totalMs: 5_000 }

/** Returns a port on which no server listens. */
async function findClosedPort(): Promise<number> {
  await using server = await startRawServer()
  return server.port
}

test('a closed port: the create is not sent', async () => {
  await using client = startClient()
  const error = await expectTransportError(
    client.sendOnce(post(`http://127.0.0.1:${await findClosedPort()}/v1/requests`)),
  )
  expect(error).toMatchObject({ sent: false, code: 'unavailable', permanent: false })
  expect(error.message).toMatch(/^127\.0\.0\.1:\d+: connection refused$/)
  expect(error.hint).toBe('Check the base URL, and that the service is running.')
})

test('a port that is closed on each address of localhost: the create is not sent', async () => {
  await using client = startClient()
  const error = await expectTransportError(
    client.sendOnce(post(`http://localhost:${await findClosedPort()}/`)),
  )
  expect(error).toMatchObject({ sent: false, message: expect.stringMatching(/connection refused$/) })
})

test('a host name that does not exist: the create is not sent', async () => {
  await using client = startClient()
  const error = await expectTransportError(client.sendOnce(post('https://service.invalid/v1/requests')))
  expect(error.sent).toBe(false)
  expect(error.message).toMatch(/^service\.invalid: (host not found|the host name could not be resolved)$/)
})

test.each([
  ['self-signed', 'its certificate is self-signed'],
  ['service', 'its certificate is signed by an unknown authority'],
] as const)('an untrusted certificate (%s): the create is not sent', async (name, reason) => {
  await using server = await startRawServer({ tls: identity(name) })
  await using client = startClient()
  const error = await expectTransportError(client.sendOnce(post(`${server.origin}/v1/requests`)))
  expect(error).toMatchObject({ sent: false, permanent: true })
  expect(error.message).toBe(`127.0.0.1:${server.port}: ${reason}`)
  expect(error.hint).toContain('NODE_EXTRA_CA_CERTS')
  expect(server.bytes).toBe(0)
})

test('a server that does not speak TLS: the create is not sent', async () => {
  await using server = await startRawServer({
    onConnection: (socket) => socket.write('220 mail.test ESMTP\r\n'),
  })
  await using client = startClient()
  const error = await expectTransportError(client.sendOnce(post(`https://127.0.0.1:${server.port}/`)))
  expect(error).toMatchObject({ sent: false, permanent: true })
  expect(error.message).toContain('it does not speak TLS')
})

test('a server that closes in the TLS handshake: the create is not sent', async () => {
  await using server = await startRawServer({ onFirstBytes: (socket) => socket.destroy() })
  await using client = startClient()
  const error = await expectTransportError(client.sendOnce(post(`https://127.0.0.1:${server.port}/`)))
  expect(error).toMatchObject({ sent: false, message: expect.stringContaining('the connection was cut') })
})

test('a TLS handshake that never ends: the create ends by the connect limit and is not sent', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const error = await expectTransportError(
    client.sendOnce(post(`https://127.0.0.1:${server.port}/`, { limits: shortConnectLimit })),
  )
  expect(error).toMatchObject({ sent: false, message: expect.stringContaining('the connection timed out') })
})

test('a host that accepts no more connections (its backlog is full): the create ends by the connect limit and is not sent', async () => {
  // The kernel accepts connections until the backlog of the listener is full. The blocked thread never empties it.
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
     const server = require('node:net').createServer()
     server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port)
       setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
     })`,
    { eval: true },
  )
  const [port] = (await once(worker, 'message')) as [number]
  const fillers: Socket[] = []
  for (let count = 0; count < 4; count += 1) fillers.push(connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, 'connect')))
  await using client = startClient()
  const error = await expectTransportError(
    client.sendOnce(post(`http://127.0.0.1:${port}/`, { limits: shortConnectLimit })),
  )
  expect(error).toMatchObject({ sent: false, message: expect.stringContaining('the connection timed out') })
  for (const socket of fillers) socket.destroy()
  await worker.terminate()
})

test('a total limit that passes while the connection is made: the create is not sent', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const error = await expectTransportError(
    client.sendOnce(post(`https://127.0.0.1:${server.port}/`, { limits: { totalMs: 20 } })),
  )
  expect(error).toMatchObject({
    sent: false,
    message: expect.stringContaining('timed out after 0.02 s without a complete answer'),
  })
})

test('a proxy that does not listen: the create is not sent, and the hint names the proxy', async () => {
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${await findClosedPort()}` } })
  const error = await expectTransportError(client.sendOnce(post('https://service.test/v1/requests')))
  expect(error).toMatchObject({ sent: false, message: 'service.test: connection refused' })
  expect(error.hint).toMatch(/^The environment sets the proxy 127\.0\.0\.1:\d+: check HTTPS_PROXY, /)
})

test.each([
  [403, true, 'NO_PROXY'],
  [407, true, 'USER:PASSWORD'],
  [502, false, 'NO_PROXY'],
])('a proxy that answers CONNECT with %i: the create is not sent', async (status, permanent, hint) => {
  await using proxy = await startConnectProxy({ refuseStatus: status })
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  const error = await expectTransportError(client.sendOnce(post('https://service.test/v1/requests')))
  expect(error).toMatchObject({ sent: false, permanent })
  expect(error.message).toBe(
    `service.test: the proxy 127.0.0.1:${proxy.port} refused the connection (${status})`,
  )
  expect(error.hint).toContain(hint)
  expect(proxy.connectTargets).toEqual(['service.test:443'])
})

test('a proxy that closes instead of answering CONNECT: the create is not sent', async () => {
  await using proxy = await startConnectProxy({ onConnect: (socket) => socket.destroy() })
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  const error = await expectTransportError(client.sendOnce(post('https://service.test/v1/requests')))
  const message = `service.test: the proxy 127.0.0.1:${proxy.port} cut the connection`
  expect(error).toMatchObject({ sent: false, message })
  expect(proxy.connectTargets).toHaveLength(1)
})

test('a proxy that never answers CONNECT: the create ends by the connect limit and is not sent', async () => {
  await using proxy = await startConnectProxy({ onConnect: () => {} })
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  const error = await expectTransportError(
    client.sendOnce(post('https://service.test/v1/requests', { limits: shortConnectLimit })),
  )
  expect(error).toMatchObject({ sent: false, message: 'service.test: timed out waiting for an answer' })
})

test.each([
  ['self-signed', 'its certificate is self-signed'],
  ['other', 'its certificate is signed by an unknown authority'],
] as const)(
  'an untrusted certificate at the end of a tunnel (%s): the create is not sent',
  async (name, reason) => {
    await using server = await startRawServer({ tls: identity(name) })
    await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
    await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
    const error = await expectTransportError(client.sendOnce(post('https://service.test/v1/requests')))
    expect(error).toMatchObject({ sent: false, message: `service.test: ${reason}` })
    expect(server.bytes).toBe(0)
  },
)

test('a tunnel whose end never finishes the TLS handshake: the create ends by the connect limit and is not sent', async () => {
  await using server = await startRawServer()
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  const error = await expectTransportError(
    client.sendOnce(post('https://service.test/v1/requests', { limits: shortConnectLimit })),
  )
  expect(error).toMatchObject({ sent: false, message: 'service.test: the connection timed out' })
})

test.each<[string, Parameters<typeof startRawServer>[0], string]>([
  ['closes right after accepting', { onConnection: (socket) => socket.destroy() }, 'the connection was cut'],
  ['closes at the first bytes', { onFirstBytes: (socket) => socket.destroy() }, 'the connection was cut'],
  ['closes after the whole request', { onRequest: (socket) => socket.destroy() }, 'the connection was cut'],
  [
    'resets after the whole request',
    { onRequest: (socket) => socket.resetAndDestroy() },
    'the connection was cut',
  ],
  [
    'ends after half a status line',
    { onRequest: (socket) => socket.end('HTTP/1.1 20') },
    'the connection was cut',
  ],
  [
    'answers with half a body',
    { onRequest: (socket) => socket.end('HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\n{"da') },
    'the connection was cut',
  ],
  [
    'answers with half a chunk',
    {
      onRequest: (socket) =>
        socket.end('HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{"da'),
    },
    'the connection was cut',
  ],
  [
    'does not speak HTTP',
    { onRequest: (socket) => socket.end('220 mail.test ESMTP\r\n') },
    'the answer is not HTTP',
  ],
])(
  'a server that %s: the create may have been sent, and only one connection was made',
  async (_name, options, reason) => {
    await using server = await startRawServer(options)
    await using client = startClient()
    const error = await expectTransportError(client.sendOnce(post(`${server.origin}/v1/requests`)))
    expect(error.sent).toBe(true)
    expect(error.message).toBe(`127.0.0.1:${server.port}: ${reason}`)
    expect(server.connections).toBe(1)
    expect(server.requests.length).toBeLessThanOrEqual(1)
  },
)

test('a server that resets right after accepting receives no byte, and the create is not repeated', async () => {
  await using server = await startRawServer({ onConnection: (socket) => socket.resetAndDestroy() })
  await using client = startClient()
  const error = await expectTransportError(client.sendOnce(post(`${server.origin}/v1/requests`)))
  expect(error.message).toBe(`127.0.0.1:${server.port}: the connection was cut`)
  expect(server).toMatchObject({ bytes: 0, connections: 1 })
})
