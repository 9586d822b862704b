import type { Socket } from 'node:net'

import { expect, test, vi } from 'vitest'

import { collect } from '../../src/http/client.ts'
import { startConnectProxy } from './connect-proxy.ts'
import { answer, identity, type RawServer, startRawServer } from './raw-server.ts'
import {
  expectNoProcessFaults,
  nextTurn,
  listOpenSockets,
  post,
  startClient,
  expectTransportError,
  trustAuthority,
} from './setup.ts'

expectNoProcessFaults()

trustAuthority()

/** Waits until `count` sockets are open, because sockets of earlier test files may still close. Returns them. */
const waitForOpenSockets = (count: number): Promise<string[]> =>
  vi.waitFor(
    () => {
      const sockets = listOpenSockets()
      if (sockets.length !== count) throw new Error(`open: ${sockets.join(', ')}`)
      return sockets
    },
    { timeout: 5000 },
  )

test('reads reuse connections, and each create has a connection of its own, which is closed after it', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(200, {}, 'x')) })
  await using client = startClient()
  const url = `${server.origin}/`
  for (let count = 0; count < 10; count += 1) await client.send({ method: 'GET', url })
  const readConnections = server.connections
  // undici releases a connection one turn after the answer, so that the next read may open a second connection.
  expect(readConnections).toBeLessThanOrEqual(2)
  for (let count = 0; count < 3; count += 1) await client.sendOnce(post(url))
  expect(server.connections).toBe(readConnections + 3)
  await client.send({ method: 'GET', url })
  expect(server.connections).toBe(readConnections + 3)
  const closingRequests = server.requests.filter((text) => /^connection: close\r$/m.test(text))
  expect(closingRequests.map((text) => text.slice(0, 4))).toEqual(['POST', 'POST', 'POST'])
})

test('creates succeed although the server closes idle connections', async () => {
  // The server may close a reused connection at the moment when the next request is sent on it.
  let idleSocket: Socket | undefined
  await using server = await startRawServer({
    onConnection: (socket) => {
      idleSocket?.destroy()
      idleSocket = socket
    },
    onRequest: (socket) => socket.write(answer(201, { 'keep-alive': 'timeout=1' }, 'x')),
  })
  await using client = startClient()
  for (let count = 0; count < 20; count += 1) {
    await client.send({ method: 'GET', url: `${server.origin}/` }).catch(() => undefined)
    idleSocket?.end()
    expect((await client.sendOnce(post(`${server.origin}/`))).status).toBe(201)
  }
})

test('creates at the same time each have a connection', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(201)) })
  await using client = startClient()
  await Promise.all(Array.from({ length: 5 }, () => client.sendOnce(post(`${server.origin}/`))))
  expect(server).toMatchObject({ connections: 5, requests: { length: 5 } })
})

test.each(['directly', 'through a proxy'])(
  'TLS offers only HTTP/1.1, %s, because an HTTP/2 client repeats requests after a GOAWAY',
  async (route) => {
    const offeredProtocols: string[][] = []
    await using server = await startRawServer({
      tls: {
        ...identity('service'),
        ALPNCallback: ({ protocols }) => {
          offeredProtocols.push(protocols)
          return protocols.at(-1)
        },
      },
      onRequest: (socket) => socket.write(answer(201)),
    })
    await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
    await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
    const url = route === 'directly' ? `https://localhost:${server.port}/` : 'https://service.test/'
    await client.sendOnce(post(url))
    await client.send({ method: 'GET', url })
    expect(offeredProtocols).toEqual([['http/1.1'], ['http/1.1']])
    expect(proxy.connectTargets).toHaveLength(route === 'directly' ? 0 : 2)
  },
)

/** Much longer than a test may take, so that a connection attempt has to be ended by other means. */
const longConnectLimit = { connectMs: 600_000 }

/** Waits until the server has no open connection. */
async function waitUntilDisconnected(server: RawServer): Promise<void> {
  while (server.openConnections > 0) await nextTurn()
}

test('close ends all connections: idle, waiting for an answer, partly read and connecting', async () => {
  await using server = await startRawServer({
    onRequest: (socket, request) => {
      if (request.startsWith('GET /idle')) socket.write(answer(200, {}, 'x'))
      if (request.startsWith('GET /half')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')
    },
  })
  const client = startClient()
  await client.send({ method: 'GET', url: `${server.origin}/idle`, limits: longConnectLimit })
  const partlyReadAnswer = await client.open({ method: 'GET', url: `${server.origin}/half` })
  const unansweredCall = expectTransportError(client.send({ method: 'GET', url: `${server.origin}/silent` }))
  const connectingCall = expectTransportError(
    client.send({ method: 'GET', url: `https://127.0.0.1:${server.port}/` }),
  )
  while (server.connections < 3) await nextTurn()
  await client.close()
  await unansweredCall
  await connectingCall
  await expect(collect(partlyReadAnswer.body)).rejects.toThrow(/127\.0\.0\.1/)
  await waitUntilDisconnected(server)
  expect(await waitForOpenSockets(1)).toEqual(['TCPServerWrap'])
})

test('no connection stays open after a create, whether it succeeds or fails', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(201)) })
  await using silentServer = await startRawServer()
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': silentServer.port } })
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  const limits = { totalMs: 30, ...longConnectLimit }
  await client.sendOnce(post(`${server.origin}/`))
  await expectTransportError(client.sendOnce(post(`${silentServer.origin}/`, { limits })))
  await expectTransportError(client.sendOnce(post(`https://127.0.0.1:${silentServer.port}/`, { limits })))
  await expectTransportError(client.sendOnce(post('https://service.test/', { limits })))
  await using clientOfTlsProxy = startClient({
    env: { HTTPS_PROXY: `https://127.0.0.1:${silentServer.port}` },
  })
  await expectTransportError(clientOfTlsProxy.sendOnce(post('https://service.test/', { limits })))
  await waitUntilDisconnected(server)
  await waitUntilDisconnected(silentServer)
  await nextTurn()
  expect(await waitForOpenSockets(3)).toEqual(['TCPServerWrap', 'TCPServerWrap', 'TCPServerWrap'])
})

test('a body that is not read to its end closes its connection', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nsome'),
  })
  await using client = startClient()
  const { body } = await client.open({ method: 'GET', url: `${server.origin}/` })
  expect((await collect(body, 2)).toString()).toBe('some')
  await nextTurn()
  // The sockets of the server are counted too. Only its listener stays open.
  expect(await waitForOpenSockets(1)).toEqual(['TCPServerWrap'])
})

test('a closed client opens no connection', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(200)) })
  const client = startClient()
  const url = `${server.origin}/`
  await client.send({ method: 'GET', url })
  await client.close()
  await client.close()
  await expect(client.send({ method: 'GET', url })).rejects.toMatchObject({ code: 'internal' })
  await expect(client.sendOnce(post(url))).rejects.toMatchObject({ code: 'internal' })
  expect(server.connections).toBe(1)
})
