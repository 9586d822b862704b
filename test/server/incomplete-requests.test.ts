import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { expect, onTestFinished, test } from 'vitest'

import { listen, type Listener } from '../../src/server/listen.ts'
import { serveSmallRequests, type SmallRequestOptions } from '../../src/server/small-requests.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

recordForFaultTable('incomplete', 'client out')

const mebibyte = 1024 * 1024
const options = {
  host: '127.0.0.1',
  port: 0,
  maxBytes: mebibyte,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  incomplete: { maxConnections: 20, maxBytes: 2 * mebibyte },
}

async function start(more: Partial<SmallRequestOptions> = {}): Promise<Listener> {
  const server = await serveSmallRequests(({ body }) => ({ status: 200, text: String(body.length) }), {
    ...options,
    ...more,
  })
  onTestFinished(() => server.close())
  return server
}

interface Client {
  socket: Socket
  /** Everything that was received until the server closed the connection. */
  answer: Promise<string>
}

async function open(port: number, sent: string | Buffer): Promise<Client> {
  return opened(connect(port, '127.0.0.1'), 'connect', sent)
}

async function opened(socket: Socket, event: string, sent: string | Buffer): Promise<Client> {
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', () => undefined)
  const answer = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  await once(socket, event)
  socket.write(sent)
  return { socket, answer }
}

const head = (length: number): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`

const isClosed = async ({ answer }: Client): Promise<boolean> =>
  Promise.race([answer.then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))])

async function openMany(port: number, count: number, sent: string | Buffer): Promise<Client[]> {
  const clients: Client[] = []
  for (let at = 0; at < count; at += 1) clients.push(await open(port, sent))
  return clients
}

const closedOf = async (clients: readonly Client[]): Promise<number[]> => {
  const closed = await Promise.all(clients.map(isClosed))
  return closed.flatMap((is, at) => (is ? [at] : []))
}

test('of connections with complete headers and withheld bodies the oldest are closed, and requests of the same address answered', async () => {
  const { port } = await start()
  const held = await openMany(port, 50, `${head(10)}12345`)
  for (let count = 0; count < 10; count += 1) {
    expect(await (await open(port, `${head(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 200 /)
  }
  await Promise.all(held.slice(0, 30).map(({ answer }) => answer))
  const closed = await closedOf(held)
  expect(closed).toEqual(closed.map((_, at) => at))
})

test('a body that arrives late is taken, unless its connection is the oldest of too many', async () => {
  const { port } = await start()
  const slow = await open(port, `${head(10)}12345`)
  const others = await openMany(port, 19, head(10))
  slow.socket.write('67890')
  expect(await slow.answer).toContain('\r\n\r\n10')
  expect(await closedOf(others)).toEqual([])
})

test('incomplete bodies are limited in total, and small ones among them are not closed for it', async () => {
  const { port } = await start()
  const small = await open(port, `${head(10)}12345`)
  const large = await openMany(port, 10, Buffer.concat([Buffer.from(head(mebibyte)), Buffer.alloc(600_000)]))
  await Promise.all(large.slice(0, 7).map(({ answer }) => answer))
  expect(await closedOf(large)).toEqual([0, 1, 2, 3, 4, 5, 6])
  small.socket.write('67890')
  expect(await small.answer).toContain('\r\n\r\n10')
})

test('bodies that stay at an equal share of the limit do not cost a larger one its place', async () => {
  const { port } = await start()
  const share = (2 * mebibyte) / 20
  const held = await openMany(port, 19, Buffer.concat([Buffer.from(head(mebibyte)), Buffer.alloc(share)]))
  for (let count = 0; count < 5; count += 1) {
    const body = Buffer.concat([Buffer.from(head(300_000)), Buffer.alloc(300_000)])
    expect(await (await open(port, body)).answer).toContain('\r\n\r\n300000')
  }
  expect(await closedOf(held.slice(-5))).toEqual([])
})

test('a connection that sends many whole requests at once is closed', async () => {
  let handled = 0
  const done = Promise.withResolvers<void>()
  const server = await serveSmallRequests(async () => {
    handled += 1
    await done.promise
    return { status: 204 }
  }, options)
  onTestFinished(() => server.close())
  const flood = await open(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100_000))
  expect(await flood.answer).toBe('')
  expect(handled).toBeLessThan(5_000)
  done.resolve()
  expect(await (await open(server.port, `${head(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 204 /)
})

test.each([
  ['that are whole', 'Host: x\r\n'],
  ['without Host', ''],
  ['with an unknown expectation', 'Host: x\r\nExpect: much\r\n'],
])('of many requests %s in one packet only the first ones are parsed', async (_, headers) => {
  const { port } = await start()
  let parsed = 0
  const count = (): void => void (parsed += 1)
  subscribe('http.server.request.start', count)
  onTestFinished(() => void unsubscribe('http.server.request.start', count))
  await (
    await open(port, `GET / HTTP/1.1\r\n${headers}\r\n`.repeat(1000))
  ).answer
  expect(parsed).toBeGreaterThan(0)
  expect(parsed).toBeLessThan(20)
  expect(await (await open(port, `${head(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 200 /)
})

test('of many requests with bodies in one packet, each answered at once, only the first ones are handled', async () => {
  let handledCount = 0
  const handle = (): { status: number } => {
    handledCount += 1
    return { status: 204 }
  }
  const { port, close } = await serveSmallRequests(handle, options)
  onTestFinished(() => close())
  const packet = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok'.repeat(1000)
  await (
    await open(port, packet)
  ).answer
  expect(handledCount).toBeLessThan(20)
  expect(await (await open(port, `${head(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 204 /)
})

const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'

test('a body in very many tiny chunks closes its connection, a short one is taken byte by byte', async () => {
  const { port } = await start()
  expect(await (await open(port, `${chunked}${'1\r\na\r\n'.repeat(10_000)}0\r\n\r\n`)).answer).toBe('')
  const short = `${chunked}${'1\r\na\r\n'.repeat(200)}0\r\n\r\n`
  expect(await (await open(port, short)).answer).toContain('\r\n\r\n200')
  const long = `${chunked}${`200\r\n${'a'.repeat(512)}\r\n`.repeat(2000)}0\r\n\r\n`
  expect(await (await open(port, long)).answer).toContain(`\r\n\r\n${512 * 2000}`)
})

test.each([
  ['tiny pieces', `${chunked}${'1\r\na\r\n'.repeat(10_000)}`],
  ['requests', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000)],
])('after a connection was closed for its many %s, the next ones are answered whole', async (_, flood) => {
  const { port } = await start()
  for (let round = 0; round < 3; round += 1) {
    await (
      await open(port, flood)
    ).answer
    const whole = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'
    for (const { answer } of await openMany(port, 10, whole))
      expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*2$/)
  }
})

test('a request of HTTP/1.1 without Host is answered with 400, one of HTTP/1.0 is taken', async () => {
  const { port } = await start()
  expect(await (await open(port, 'GET / HTTP/1.1\r\n\r\n')).answer).toMatch(
    /^HTTP\/1\.1 400 [^]*the header Host is missing\n$/,
  )
  expect(await (await open(port, 'GET / HTTP/1.0\r\n\r\n')).answer).toMatch(/^HTTP\/1\.1 200 /)
})

test('a connection whose request is being answered is not closed', async () => {
  const asked = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const server = await serveSmallRequests(async () => {
    asked.resolve()
    await done.promise
    return { status: 204 }
  }, options)
  onTestFinished(() => server.close())
  const slow = await open(server.port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok')
  await asked.promise
  const held = await openMany(server.port, 40, head(10))
  await Promise.all(held.slice(0, 20).map(({ answer }) => answer))
  expect(await isClosed(slow)).toBe(false)
  done.resolve()
  expect(String(await once(slow.socket, 'data'))).toMatch(/^HTTP\/1\.1 204 /)
})

test('where more than half of the places are taken, no connection is client for another request', async () => {
  const { port } = await start()
  await openMany(port, 11, head(10))
  const client = await open(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok')
  expect(await client.answer).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i)
})

test('an idle connection is closed as one that waits for a request', async () => {
  const { port } = await start()
  const client = await open(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok')
  await once(client.socket, 'data')
  const others = await openMany(port, 20, '')
  expect(await client.answer).toContain('\r\n\r\n2')
  expect(await closedOf(others)).toEqual([])
})

test('a request that is refused before its body came is incomplete until all of it came', async () => {
  const { port } = await start({ maxBytes: 10 })
  const client = await open(
    port,
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n${'x'.repeat(50)}`,
  )
  expect(await client.answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(await (await open(port, `${head(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 200 /)
})

const pem = (name: string): string => readFileSync(new URL(`../vectors/tls/${name}`, import.meta.url), 'utf8')

test('over TLS it is the same, for a connection without a handshake too', async () => {
  const tls = { cert: pem('service.pem'), key: pem('service.key') }
  const { port } = await start({ tls })
  const secure = async (sent: string): Promise<Client> =>
    opened(connectTls({ port, host: '127.0.0.1', ca: pem('authority.pem') }), 'secureConnect', sent)
  const silent = await openMany(port, 10, '')
  const held: Client[] = []
  for (let count = 0; count < 20; count += 1) held.push(await secure(head(10)))
  expect(await (await secure(`${head(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 200 /)
  await Promise.all([...silent, ...held.slice(0, 1)].map(({ answer }) => answer))
  expect(await closedOf(held)).toEqual([0])
})

test('the server that sandboxes use limits them as well', async () => {
  const server = await listen(async (request) => new Response(await request.text()))
  onTestFinished(() => server.close())
  const held = await openMany(server.port, 600, `${head(10)}12345`)
  expect(await (await open(server.port, `${head(2)}ok`)).answer).toContain('ok')
  await Promise.all(held.slice(0, 88).map(({ answer }) => answer))
  const closed = await closedOf(held)
  expect(closed).toEqual(closed.map((_, at) => at))
})
