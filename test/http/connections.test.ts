import type { Socket } from 'node:net'

import { expect, test, vi } from 'vitest'

import { collect } from '../../src/http/client.ts'
import { startConnectProxy } from './connect-proxy.ts'
import { answer, identity, type RawServer, startRawServer } from './raw-server.ts'
import {
  expectNoProcessFaults,
  nextTurn,
  openSockets,
  post,
  startClient,
  transportError,
  trustAuthority,
} from './setup.ts'

expectNoProcessFaults()

trustAuthority()

/** Sockets that are open, once there are so many: what other files of tests left is closed in a while. */
const onceThereAre = (count: number): Promise<string[]> =>
  vi.waitFor(
    () => {
      const open = openSockets()
      if (open.length !== count) throw new Error(`open: ${open.join(', ')}`)
      return open
    },
    { timeout: 5000 },
  )

test('reads use connections again; every create has one of its own, closed after it', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(200, {}, 'x')) })
  await using client = startClient()
  const url = `${server.origin}/`
  for (let count = 0; count < 10; count += 1) await client.send({ method: 'GET', url })
  const reading = server.connections
  // undici frees a connection one turn after the answer: the read that follows at once may open a second.
  expect(reading).toBeLessThanOrEqual(2)
  for (let count = 0; count < 3; count += 1) await client.sendOnce(post(url))
  expect(server.connections).toBe(reading + 3)
  await client.send({ method: 'GET', url })
  expect(server.connections).toBe(reading + 3)
  const closing = server.requests.filter((text) => /^connection: close\r$/m.test(text))
  expect(closing.map((text) => text.slice(0, 4))).toEqual(['POST', 'POST', 'POST'])
})

test('a server that closes what idles costs a create nothing', async () => {
  // The trap of a reused connection: it is closed at the very moment the next request goes out on it.
  let idle: Socket | undefined
  await using server = await startRawServer({
    onConnection: (socket) => {
      idle?.destroy()
      idle = socket
    },
    onRequest: (socket) => socket.write(answer(201, { 'keep-alive': 'timeout=1' }, 'x')),
  })
  await using client = startClient()
  for (let count = 0; count < 20; count += 1) {
    await client.send({ method: 'GET', url: `${server.origin}/` }).catch(() => undefined)
    idle?.end()
    expect((await client.sendOnce(post(`${server.origin}/`))).status).toBe(201)
  }
})

test('creates at the same time each have a connection', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(201)) })
  await using client = startClient()
  await Promise.all(Array.from({ length: 5 }, () => client.sendOnce(post(`${server.origin}/`))))
  expect(server).toMatchObject({ connections: 5, requests: { length: 5 } })
})

test.each(['straight', 'through a proxy'])(
  'TLS offers HTTP/1.1 alone, %s: there is no GOAWAY to replay after',
  async (way) => {
    const offered: string[][] = []
    await using server = await startRawServer({
      tls: {
        ...identity('service'),
        ALPNCallback: ({ protocols }) => {
          offered.push(protocols)
          return protocols.at(-1)
        },
      },
      onRequest: (socket) => socket.write(answer(201)),
    })
    await using proxy = await startConnectProxy({ routes: { 'service.test:443': server.port } })
    await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
    const url = way === 'straight' ? `https://localhost:${server.port}/` : 'https://service.test/'
    await client.sendOnce(post(url))
    await client.send({ method: 'GET', url })
    expect(offered).toEqual([['http/1.1'], ['http/1.1']])
    expect(proxy.asked).toHaveLength(way === 'straight' ? 0 : 2)
  },
)

/** Far longer than a test may take: what is still connecting has to be ended, not waited for. */
const patient = { connectMs: 600_000 }

/** Ends when the server sees no connection any more; a test that waits here for ever fails. */
async function untilDeserted(server: RawServer): Promise<void> {
  while (server.open > 0) await nextTurn()
}

test('nothing stays open after close: idle, answering, half read, connecting', async () => {
  await using server = await startRawServer({
    onRequest: (socket, request) => {
      if (request.startsWith('GET /idle')) socket.write(answer(200, {}, 'x'))
      if (request.startsWith('GET /half')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')
    },
  })
  const client = startClient()
  await client.send({ method: 'GET', url: `${server.origin}/idle`, limits: patient })
  const half = await client.open({ method: 'GET', url: `${server.origin}/half` })
  const silent = transportError(client.send({ method: 'GET', url: `${server.origin}/silent` }))
  const connecting = transportError(client.send({ method: 'GET', url: `https://127.0.0.1:${server.port}/` }))
  while (server.connections < 3) await nextTurn()
  await client.close()
  await silent
  await connecting
  await expect(collect(half.body)).rejects.toThrow(/127\.0\.0\.1/)
  await untilDeserted(server)
  expect(await onceThereAre(1)).toEqual(['TCPServerWrap'])
})

test('nothing stays open after a create, however it ended', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(201)) })
  await using hanging = await startRawServer()
  await using proxy = await startConnectProxy({ routes: { 'service.test:443': hanging.port } })
  await using client = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  const limits = { totalMs: 30, ...patient }
  await client.sendOnce(post(`${server.origin}/`))
  await transportError(client.sendOnce(post(`${hanging.origin}/`, { limits })))
  await transportError(client.sendOnce(post(`https://127.0.0.1:${hanging.port}/`, { limits })))
  await transportError(client.sendOnce(post('https://service.test/', { limits })))
  await using behind = startClient({ env: { HTTPS_PROXY: `https://127.0.0.1:${hanging.port}` } })
  await transportError(behind.sendOnce(post('https://service.test/', { limits })))
  await untilDeserted(server)
  await untilDeserted(hanging)
  await nextTurn()
  expect(await onceThereAre(3)).toEqual(['TCPServerWrap', 'TCPServerWrap', 'TCPServerWrap'])
})

test('the body of a stream left early gives its connection back', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nsome'),
  })
  await using client = startClient()
  const { body } = await client.open({ method: 'GET', url: `${server.origin}/` })
  expect((await collect(body, 2)).toString()).toBe('some')
  await nextTurn()
  // The server's own ends are counted here too: its listener alone is left.
  expect(await onceThereAre(1)).toEqual(['TCPServerWrap'])
})

test('a closed client opens nothing again', async () => {
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
