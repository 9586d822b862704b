import type { Socket } from 'node:net'

import { expect, test } from 'vitest'

import { jsonLimits, reportLimits } from '../../src/http/types.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { answer, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, post, startClient, expectTransportError } from './setup.ts'

// The tests of this file are the row `answer-limits` of the fault table (test/resilience/rows.ts).
recordForFaultTable('answer-limits', { mustNotHappen: 'without an end' })

expectNoProcessFaults()

test('the limits are 16 MiB and a minute for JSON, and 2 GiB and a quarter of an hour for a report', () => {
  const connection = { connectMs: 10_000, idleMs: 30_000 }
  expect(jsonLimits).toEqual({ ...connection, totalMs: 60_000, maxBytes: 16_777_216 })
  expect(reportLimits).toEqual({ ...connection, totalMs: 900_000, maxBytes: 2_147_483_648 })
})

/** Writes a new result of `createBytes` every `intervalMs` until the socket is closed. */
function writeRepeatedly(socket: Socket, createBytes: () => string | Buffer, intervalMs: number): void {
  const timer = setInterval(() => socket.write(createBytes()), intervalMs)
  socket.on('close', () => clearInterval(timer))
}

test('a call to a server that does not answer ends by the idle limit', async () => {
  await using server = await startRawServer()
  await using client = startClient()
  const url = `${server.origin}/`
  const error = await expectTransportError(client.sendOnce(post(url, { limits: { idleMs: 50 } })))
  expect(error).toMatchObject({
    sent: true,
    message: `127.0.0.1:${server.port}: timed out waiting for an answer`,
  })
  expect(server.connections).toBe(1)
})

test('an answer that stops in the middle ends by the idle limit', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
  })
  await using client = startClient()
  const url = `${server.origin}/`
  const error = await expectTransportError(client.send({ method: 'GET', url, limits: { idleMs: 50 } }))
  expect(error.message).toBe(`127.0.0.1:${server.port}: timed out in the middle of the answer`)
})

test('an answer of one byte at a time is never idle and ends by the total limit', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
      writeRepeatedly(socket, () => '.', 10)
    },
  })
  await using client = startClient()
  const limits = { idleMs: 10_000, totalMs: 150 }
  const error = await expectTransportError(client.sendOnce(post(`${server.origin}/`, { limits })))
  expect(error).toMatchObject({ sent: true, permanent: false })
  expect(error.message).toBe(`127.0.0.1:${server.port}: timed out after 0.15 s without a complete answer`)
})

test('headers of one byte at a time end by the total limit', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx: ')
      writeRepeatedly(socket, () => '.', 10)
    },
  })
  await using client = startClient()
  const limits = { idleMs: 10_000, totalMs: 150 }
  const error = await expectTransportError(client.send({ method: 'GET', url: `${server.origin}/`, limits }))
  expect(error.message).toBe(`127.0.0.1:${server.port}: timed out after 0.15 s without a complete answer`)
})

test('endless informational answers end by the total limit', async () => {
  await using server = await startRawServer({
    onRequest: (socket) =>
      writeRepeatedly(socket, () => 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', 10),
  })
  await using client = startClient()
  const limits = { idleMs: 10_000, totalMs: 150 }
  const error = await expectTransportError(client.sendOnce(post(`${server.origin}/`, { limits })))
  expect(error.message).toBe(`127.0.0.1:${server.port}: timed out after 0.15 s without a complete answer`)
})

test.each([
  ['one endless header', () => 'a'.repeat(1024)],
  ['endless headers', () => `x-${Math.random()}: 1\r\n`.repeat(100)],
])(
  'an answer with %s is refused after some kilobytes, and is not requested again',
  async (_label, createBytes) => {
    await using server = await startRawServer({
      onRequest: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx: ')
        writeRepeatedly(socket, createBytes, 1)
      },
    })
    await using client = startClient()
    const error = await expectTransportError(client.send({ method: 'GET', url: `${server.origin}/` }))
    expect(error).toMatchObject({ permanent: true })
    expect(error.message).toBe(`127.0.0.1:${server.port}: the headers of the answer are too large`)
  },
)

test('an endless body is refused at the byte limit', async () => {
  let writtenBytes = 0
  await using server = await startRawServer({
    onRequest: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`)
      const writeChunk = (): void => {
        writtenBytes += 65_536
        if (!socket.destroyed) socket.write(chunk, writeChunk)
      }
      writeChunk()
    },
  })
  await using client = startClient()
  const limits = { maxBytes: 1_000_000 }
  const error = await expectTransportError(client.send({ method: 'GET', url: `${server.origin}/`, limits }))
  expect(error).toMatchObject({ permanent: true })
  expect(error.message).toBe(`127.0.0.1:${server.port}: the answer is larger than 1000000 bytes, the limit`)
  // The socket buffers of both sides accept bytes in addition to the limit.
  expect(writtenBytes).toBeLessThan(20_000_000)
})

test('an answer with a Content-Length of 10 GB is refused before its body is read', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\nx'),
  })
  await using client = startClient()
  const error = await expectTransportError(client.sendOnce(post(`${server.origin}/`)))
  expect(error).toMatchObject({ sent: true, permanent: true })
  expect(error.message).toContain('the answer is larger than 16777216 bytes')
})

test('an answer of exactly the byte limit is accepted', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(answer(200, {}, '12345')) })
  await using client = startClient()
  const url = `${server.origin}/`
  const { body } = await client.send({ method: 'GET', url, limits: { maxBytes: 5 } })
  expect(body.toString()).toBe('12345')
  const error = await expectTransportError(client.send({ method: 'GET', url, limits: { maxBytes: 4 } }))
  expect(error.message).toContain('larger than 4 bytes')
})

test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip', 'x-unknown'])(
  'an answer in %s is refused and not decompressed',
  async (encoding) => {
    await using server = await startRawServer({
      onRequest: (socket) =>
        socket.write(answer(200, { 'content-encoding': encoding }, Buffer.from('1f8b08', 'hex'))),
    })
    await using client = startClient()
    const error = await expectTransportError(client.send({ method: 'GET', url: `${server.origin}/` }))
    expect(error).toMatchObject({ permanent: true })
    expect(error.message).toBe(`127.0.0.1:${server.port}: the answer is compressed, which was not requested`)
    expect(server.requests[0]).toMatch(/^accept-encoding: identity\r$/im)
  },
)

test('a create with a compressed answer may have been sent', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(201, { 'content-encoding': 'gzip' }, 'x')),
  })
  await using client = startClient()
  expect(await expectTransportError(client.sendOnce(post(`${server.origin}/`)))).toMatchObject({ sent: true })
})

test('the encoding "identity" is accepted, in upper or lower case', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(200, { 'content-encoding': 'Identity' }, 'plain')),
  })
  await using client = startClient()
  const { body } = await client.send({ method: 'GET', url: `${server.origin}/` })
  expect(body.toString()).toBe('plain')
})
