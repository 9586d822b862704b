import type { Socket } from 'node:net'

import { expect, test } from 'vitest'

import { answer, type RawServerOptions, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, nextTurn, post, startClient } from './setup.ts'

/** An interim 1xx answer is skipped and does not end an exchange. Version 0.1.0 failed at an unsolicited 100. */

expectNoProcessFaults()

const continueAnswer = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n')
const createdAnswer = answer(201, {}, '{"whole":true}')

/** Sends one create and `readCount` reads to a server that answers with `onRequest`. */
async function sendCreateAndReads(onRequest: RawServerOptions['onRequest'], readCount = 1) {
  await using server = await startRawServer({ onRequest: onRequest ?? (() => {}) })
  await using client = startClient()
  const create = await client.sendOnce(post(server.origin))
  const reads = []
  for (let number = 0; number < readCount; number += 1) {
    reads.push(await client.send({ method: 'GET', url: server.origin }))
  }
  return { create, reads, connections: server.connections }
}

/** Writes each piece after the one before it was read. */
async function writePieces(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  socket.setNoDelay(true)
  for (const piece of pieces) {
    socket.write(piece)
    await nextTurn()
  }
}

test.each<[string, Buffer[]]>([
  ['before the answer, in one piece', [Buffer.concat([continueAnswer, createdAnswer])]],
  ['by itself', [continueAnswer, createdAnswer]],
  ['three times', [continueAnswer, continueAnswer, Buffer.concat([continueAnswer, createdAnswer])]],
  ['with a header and without a reason', [Buffer.from('HTTP/1.1 100\r\nX-Any: 1\r\n\r\n'), createdAnswer]],
  [
    'cut in the middle',
    [continueAnswer.subarray(0, 10), Buffer.concat([continueAnswer.subarray(10), createdAnswer])],
  ],
  [
    'followed by another interim answer',
    [continueAnswer, Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), createdAnswer],
  ],
])('an unsolicited 100 Continue %s does not end an exchange', async (_label, pieces) => {
  const { create, reads, connections } = await sendCreateAndReads(
    (socket) => void writePieces(socket, pieces),
    3,
  )
  for (const { status, body } of [create, ...reads]) {
    expect([status, body.toString()]).toEqual([201, '{"whole":true}'])
  }
  // Reads share connections, and each answer on one may begin with a 100.
  expect(connections).toBeLessThan(4)
})

test('a text such as a 100 Continue inside a body is part of the body', async () => {
  const text = `${continueAnswer.toString()}${continueAnswer.toString()}`
  const { create, reads } = await sendCreateAndReads((socket) => {
    const bytes = answer(200, {}, text)
    const headLength = bytes.indexOf('\r\n\r\n') + 4
    socket.setNoDelay(true)
    socket.write(bytes.subarray(0, headLength), () =>
      setImmediate(() => socket.write(bytes.subarray(headLength))),
    )
  })
  expect(create.body.toString()).toBe(text)
  expect(reads[0]?.body.toString()).toBe(text)
})

test('a create whose answer has an endless head fails, and may have been sent', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(`HTTP/1.1 100 Continue\r\n${'x: y\r\n'.repeat(20_000)}`),
  })
  await using client = startClient()
  await expect(client.sendOnce(post(server.origin))).rejects.toMatchObject({ sent: true })
})
