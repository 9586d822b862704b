import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { expect, onTestFinished, test } from 'vitest'

import { listen, type Listener } from '../../src/server/listen.ts'
import { serveSmallRequests, type SmallRequestOptions } from '../../src/server/small-requests.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `incomplete` of the fault table (test/resilience/rows.ts).
recordForFaultTable('incomplete', { mustNotHappen: 'blocked' })

const mebibyte = 1024 * 1024
const options = {
  host: '127.0.0.1',
  port: 0,
  maxBytes: mebibyte,
  requestTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  incomplete: { maxConnections: 20, maxBytes: 2 * mebibyte },
}

async function startServer(otherOptions: Partial<SmallRequestOptions> = {}): Promise<Listener> {
  const server = await serveSmallRequests(({ body }) => ({ status: 200, text: String(body.length) }), {
    ...options,
    ...otherOptions,
  })
  onTestFinished(() => server.close())
  return server
}

interface Client {
  socket: Socket
  /** Everything that was received until the server closed the connection. */
  answer: Promise<string>
}

async function openClient(port: number, sent: string | Buffer): Promise<Client> {
  return createClient(connect(port, '127.0.0.1'), 'connect', sent)
}

/** Waits for `event` of a socket, and then sends `sent`. */
async function createClient(socket: Socket, event: string, sent: string | Buffer): Promise<Client> {
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.on('error', () => undefined)
  const answer = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  await once(socket, event)
  socket.write(sent)
  return { socket, answer }
}

const formatHead = (length: number): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`

const isClosed = async ({ answer }: Client): Promise<boolean> =>
  Promise.race([answer.then(() => true), new Promise<false>((resolve) => setImmediate(resolve, false))])

async function openClients(port: number, count: number, sent: string | Buffer): Promise<Client[]> {
  const clients: Client[] = []
  for (let number = 0; number < count; number += 1) clients.push(await openClient(port, sent))
  return clients
}

/** Returns the indexes of the closed connections. */
const findClosed = async (clients: readonly Client[]): Promise<number[]> => {
  const closed = await Promise.all(clients.map(isClosed))
  return closed.flatMap((isClientClosed, index) => (isClientClosed ? [index] : []))
}

test('the oldest connections with incomplete bodies are closed, and complete requests of the same address are answered', async () => {
  const { port } = await startServer()
  const incompleteClients = await openClients(port, 50, `${formatHead(10)}12345`)
  for (let count = 0; count < 10; count += 1) {
    expect(await (await openClient(port, `${formatHead(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 200 /)
  }
  await Promise.all(incompleteClients.slice(0, 30).map(({ answer }) => answer))
  const closedIndexes = await findClosed(incompleteClients)
  expect(closedIndexes).toEqual(closedIndexes.map((_, index) => index))
})

test('a body that arrives late is accepted, unless there are too many incomplete requests and its connection is the oldest', async () => {
  const { port } = await startServer()
  const slowClient = await openClient(port, `${formatHead(10)}12345`)
  const otherClients = await openClients(port, 19, formatHead(10))
  slowClient.socket.write('67890')
  expect(await slowClient.answer).toContain('\r\n\r\n10')
  expect(await findClosed(otherClients)).toEqual([])
})

test('incomplete bodies are limited in total size, and connections with small bodies are not closed for it', async () => {
  const { port } = await startServer()
  const smallClient = await openClient(port, `${formatHead(10)}12345`)
  const largeClients = await openClients(
    port,
    10,
    Buffer.concat([Buffer.from(formatHead(mebibyte)), Buffer.alloc(600_000)]),
  )
  await Promise.all(largeClients.slice(0, 7).map(({ answer }) => answer))
  expect(await findClosed(largeClients)).toEqual([0, 1, 2, 3, 4, 5, 6])
  smallClient.socket.write('67890')
  expect(await smallClient.answer).toContain('\r\n\r\n10')
})

test('a body larger than a twentieth of the size limit is accepted while each of 19 other connections has an incomplete body of that size', async () => {
  const { port } = await startServer()
  const share = (2 * mebibyte) / 20
  const incompleteClients = await openClients(
    port,
    19,
    Buffer.concat([Buffer.from(formatHead(mebibyte)), Buffer.alloc(share)]),
  )
  for (let count = 0; count < 5; count += 1) {
    const body = Buffer.concat([Buffer.from(formatHead(300_000)), Buffer.alloc(300_000)])
    expect(await (await openClient(port, body)).answer).toContain('\r\n\r\n300000')
  }
  expect(await findClosed(incompleteClients.slice(-5))).toEqual([])
})

test('a connection that sends many complete requests at once is closed', async () => {
  let handledCount = 0
  const handlerDone = Promise.withResolvers<void>()
  const server = await serveSmallRequests(async () => {
    handledCount += 1
    await handlerDone.promise
    return { status: 204 }
  }, options)
  onTestFinished(() => server.close())
  const flood = await openClient(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100_000))
  expect(await flood.answer).toBe('')
  expect(handledCount).toBeLessThan(5_000)
  handlerDone.resolve()
  expect(await (await openClient(server.port, `${formatHead(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 204 /)
})

test.each([
  ['that are complete', 'Host: x\r\n'],
  ['without Host', ''],
  ['with an unknown expectation', 'Host: x\r\nExpect: much\r\n'],
])('of many requests %s in one packet, only the first ones are parsed', async (_, headers) => {
  const { port } = await startServer()
  let parsedCount = 0
  const count = (): void => void (parsedCount += 1)
  subscribe('http.server.request.start', count)
  onTestFinished(() => void unsubscribe('http.server.request.start', count))
  await (
    await openClient(port, `GET / HTTP/1.1\r\n${headers}\r\n`.repeat(1000))
  ).answer
  expect(parsedCount).toBeGreaterThan(0)
  expect(parsedCount).toBeLessThan(20)
  expect(await (await openClient(port, `${formatHead(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 200 /)
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
    await openClient(port, packet)
  ).answer
  expect(handledCount).toBeLessThan(20)
  expect(await (await openClient(port, `${formatHead(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 204 /)
})

/** The head of a request whose body has the transfer coding `chunked`. */
const chunkedHead = 'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'

test('a long body in tiny chunks closes its connection, and a short body in tiny chunks is accepted', async () => {
  const { port } = await startServer()
  expect(await (await openClient(port, `${chunkedHead}${'1\r\na\r\n'.repeat(10_000)}0\r\n\r\n`)).answer).toBe(
    '',
  )
  const short = `${chunkedHead}${'1\r\na\r\n'.repeat(200)}0\r\n\r\n`
  expect(await (await openClient(port, short)).answer).toContain('\r\n\r\n200')
  const long = `${chunkedHead}${`200\r\n${'a'.repeat(512)}\r\n`.repeat(2000)}0\r\n\r\n`
  expect(await (await openClient(port, long)).answer).toContain(`\r\n\r\n${512 * 2000}`)
})

test.each([
  ['tiny pieces', `${chunkedHead}${'1\r\na\r\n'.repeat(10_000)}`],
  ['requests', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000)],
])(
  'after a connection was closed because it sent many %s, later requests get complete answers',
  async (_, flood) => {
    const { port } = await startServer()
    for (let round = 0; round < 3; round += 1) {
      await (
        await openClient(port, flood)
      ).answer
      const completeRequest = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'
      for (const { answer } of await openClients(port, 10, completeRequest))
        expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*2$/)
    }
  },
)

test('a request of HTTP/1.1 without Host is answered with 400, and a request of HTTP/1.0 without Host is accepted', async () => {
  const { port } = await startServer()
  expect(await (await openClient(port, 'GET / HTTP/1.1\r\n\r\n')).answer).toMatch(
    /^HTTP\/1\.1 400 [^]*the header Host is missing\n$/,
  )
  expect(await (await openClient(port, 'GET / HTTP/1.0\r\n\r\n')).answer).toMatch(/^HTTP\/1\.1 200 /)
})

test('a connection whose request is being answered is not closed', async () => {
  const handlerStarted = Promise.withResolvers<void>()
  const handlerDone = Promise.withResolvers<void>()
  const server = await serveSmallRequests(async () => {
    handlerStarted.resolve()
    await handlerDone.promise
    return { status: 204 }
  }, options)
  onTestFinished(() => server.close())
  const slowClient = await openClient(
    server.port,
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok',
  )
  await handlerStarted.promise
  const incompleteClients = await openClients(server.port, 40, formatHead(10))
  await Promise.all(incompleteClients.slice(0, 20).map(({ answer }) => answer))
  expect(await isClosed(slowClient)).toBe(false)
  handlerDone.resolve()
  expect(String(await once(slowClient.socket, 'data'))).toMatch(/^HTTP\/1\.1 204 /)
})

test('if more than half of the connections are in use, a connection is closed after its answer', async () => {
  const { port } = await startServer()
  await openClients(port, 11, formatHead(10))
  const client = await openClient(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok')
  expect(await client.answer).toMatch(/^HTTP\/1\.1 200 [^]*connection: close/i)
})

test('an idle connection is closed before newer connections that have sent nothing', async () => {
  const { port } = await startServer()
  const client = await openClient(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok')
  await once(client.socket, 'data')
  const otherClients = await openClients(port, 20, '')
  expect(await client.answer).toContain('\r\n\r\n2')
  expect(await findClosed(otherClients)).toEqual([])
})

test('a request that is refused before its body arrives counts as incomplete until the whole body has arrived', async () => {
  const { port } = await startServer({ maxBytes: 10 })
  const client = await openClient(
    port,
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n${'x'.repeat(50)}`,
  )
  expect(await client.answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(await (await openClient(port, `${formatHead(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 200 /)
})

const readPem = (name: string): string =>
  readFileSync(new URL(`../vectors/tls/${name}`, import.meta.url), 'utf8')

test('over TLS incomplete requests are limited too, and connections without a handshake count as incomplete', async () => {
  const tls = { cert: readPem('service.pem'), key: readPem('service.key') }
  const { port } = await startServer({ tls })
  const openTlsClient = async (sent: string): Promise<Client> =>
    createClient(connectTls({ port, host: '127.0.0.1', ca: readPem('authority.pem') }), 'secureConnect', sent)
  const silentClients = await openClients(port, 10, '')
  const incompleteClients: Client[] = []
  for (let count = 0; count < 20; count += 1) incompleteClients.push(await openTlsClient(formatHead(10)))
  expect(await (await openTlsClient(`${formatHead(2)}ok`)).answer).toMatch(/^HTTP\/1\.1 200 /)
  await Promise.all([...silentClients, ...incompleteClients.slice(0, 1)].map(({ answer }) => answer))
  expect(await findClosed(incompleteClients)).toEqual([0])
})

test('the server of the sandbox limits incomplete requests too', async () => {
  const server = await listen(async (request) => new Response(await request.text()))
  onTestFinished(() => server.close())
  const incompleteClients = await openClients(server.port, 600, `${formatHead(10)}12345`)
  expect(await (await openClient(server.port, `${formatHead(2)}ok`)).answer).toContain('ok')
  // The sandbox allows 512 incomplete connections.
  await Promise.all(incompleteClients.slice(0, 600 - 512).map(({ answer }) => answer))
  const closedIndexes = await findClosed(incompleteClients)
  expect(closedIndexes).toEqual(closedIndexes.map((_, index) => index))
})
