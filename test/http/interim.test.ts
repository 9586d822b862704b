import type { Socket } from 'node:net'

import { expect, test } from 'vitest'

import { answer, type RawServerOptions, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, nextTurn, post, startClient } from './setup.ts'

/** "An interim 1xx answer is no answer" (src/docs/ordering.md, section 2): 0.1.0 broke off at a 100 that was not asked for. */

expectNoProcessFaults()

const goOn = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n')
const created = answer(201, {}, '{"whole":true}')

async function exchanges(onRequest: RawServerOptions['onRequest'], count = 1) {
  await using server = await startRawServer({ onRequest: onRequest ?? (() => {}) })
  await using client = startClient()
  const once = await client.sendOnce(post(server.origin))
  const reads = []
  for (let number = 0; number < count; number += 1) {
    reads.push(await client.send({ method: 'GET', url: server.origin }))
  }
  return { once, reads, connections: server.connections }
}

/** Each piece once the one before it was read. */
async function inTurn(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  socket.setNoDelay(true)
  for (const piece of pieces) {
    socket.write(piece)
    await nextTurn()
  }
}

test.each<[string, Buffer[]]>([
  ['before the answer, in one piece', [Buffer.concat([goOn, created])]],
  ['by itself', [goOn, created]],
  ['three times', [goOn, goOn, Buffer.concat([goOn, created])]],
  ['with a header and without a reason', [Buffer.from('HTTP/1.1 100\r\nX-Any: 1\r\n\r\n'), created]],
  ['cut in the middle', [goOn.subarray(0, 10), Buffer.concat([goOn.subarray(10), created])]],
  ['followed by another interim answer', [goOn, Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), created]],
])('an unsolicited 100 Continue %s does not end an exchange', async (_how, pieces) => {
  const { once, reads, connections } = await exchanges((socket) => void inTurn(socket, pieces), 3)
  for (const { status, body } of [once, ...reads]) {
    expect([status, body.toString()]).toEqual([201, '{"whole":true}'])
  }
  // Reads share connections, and each answer on one may begin with a 100.
  expect(connections).toBeLessThan(4)
})

test('what looks like a 100 inside a body stays in it', async () => {
  const text = `${goOn.toString()}${goOn.toString()}`
  const { once, reads } = await exchanges((socket) => {
    const bytes = answer(200, {}, text)
    const head = bytes.indexOf('\r\n\r\n') + 4
    socket.setNoDelay(true)
    socket.write(bytes.subarray(0, head), () => setImmediate(() => socket.write(bytes.subarray(head))))
  })
  expect(once.body.toString()).toBe(text)
  expect(reads[0]?.body.toString()).toBe(text)
})

test('a head that never ends is given up, not waited for', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(`HTTP/1.1 100 Continue\r\n${'x: y\r\n'.repeat(20_000)}`),
  })
  await using client = startClient()
  await expect(client.sendOnce(post(server.origin))).rejects.toMatchObject({ sent: true })
})
