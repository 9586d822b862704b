import { expect, test } from 'vitest'

import { TransportError } from '../../src/http/failure.ts'
import { startFaultProxy } from '../harness/faults/proxy.ts'
import { enveloped, identity, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, post, startClient, trustAuthority } from './setup.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `cut` of the fault table (test/resilience/rows.ts).
const faultRow = recordForFaultTable('cut', { mustNotHappen: 'sent again' })

expectNoProcessFaults()

trustAuthority()

const createdAnswer = enveloped(201, {
  request_id: '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f',
  status: 'RECEIVED',
})

/** Sends one create and returns its outcome. Throws an error that is not a TransportError. */
async function sendCreate(url: string): Promise<'answered' | 'lost' | 'unsent'> {
  await using client = startClient()
  return await client.sendOnce(post(url)).then(
    () => 'answered',
    (error: unknown) => {
      if (!(error instanceof TransportError)) throw error
      return error.sent ? 'lost' : 'unsent'
    },
  )
}

test.each(['close', 'reset'] as const)(
  'a create cut by a %s after any byte of the answer may have been sent, and is not sent again',
  async (how) => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(createdAnswer) })
    await using proxy = await startFaultProxy(server.port)
    for (let down = 1; down < createdAnswer.length; down += 1) {
      proxy.cut = { down, how }
      const [connectionsBefore, requestsBefore] = [proxy.connections, server.requests.length]
      expect(await sendCreate(`http://127.0.0.1:${proxy.port}/`), `after byte ${down}`).toBe('lost')
      expect(proxy.connections - connectionsBefore, `connections, after byte ${down}`).toBe(1)
      expect(server.requests.length - requestsBefore, `requests, after byte ${down}`).toBe(1)
    }
    proxy.cut = {}
    expect(await sendCreate(`http://127.0.0.1:${proxy.port}/`)).toBe('answered')
    faultRow.countCases(createdAnswer.length - 1)
  },
)

test.each(['close', 'reset'] as const)(
  'a create cut by a %s after any byte of the request may have been sent, and is not sent again',
  async (how) => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(createdAnswer) })
    await using proxy = await startFaultProxy(server.port)
    expect(await sendCreate(`http://127.0.0.1:${proxy.port}/`)).toBe('answered')
    const requestBytes = server.bytes
    for (let up = 1; up < requestBytes; up += 1) {
      proxy.cut = { up, how }
      const connectionsBefore = proxy.connections
      expect(await sendCreate(`http://127.0.0.1:${proxy.port}/`), `after byte ${up}`).toBe('lost')
      expect(proxy.connections - connectionsBefore, `connections, after byte ${up}`).toBe(1)
    }
    // Only the first request, which was not cut, was received completely.
    expect(server.requests).toHaveLength(1)
    faultRow.countCases(requestBytes - 1)
  },
)

test('no byte of a create that is cut before its first byte is received', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(createdAnswer) })
  await using proxy = await startFaultProxy(server.port, { up: 0 })
  expect(await sendCreate(`http://127.0.0.1:${proxy.port}/`)).not.toBe('answered')
  expect(server.bytes).toBe(0)
  expect(proxy.connections).toBe(1)
})

test.each(['up', 'down'] as const)(
  'a create cut %sstream during or after the TLS handshake is reported as unsent only if no byte of it arrived',
  async (direction) => {
    await using server = await startRawServer({
      tls: identity('service'),
      onRequest: (socket) => socket.write(createdAnswer),
    })
    await using proxy = await startFaultProxy(server.port)
    const outcomes: string[] = []
    for (let bytes = 1; outcomes.at(-1) !== 'answered'; bytes += 7) {
      proxy.cut = { [direction]: bytes }
      const [connectionsBefore, bytesBefore] = [proxy.connections, server.bytes]
      const result = await sendCreate(`https://localhost:${proxy.port}/`)
      expect(
        { result, arrived: server.bytes > bytesBefore },
        `cut after ${bytes}: what is reported as unsent never arrived`,
      ).not.toEqual({ result: 'unsent', arrived: true })
      expect(proxy.connections - connectionsBefore, `connections, cut after ${bytes}`).toBe(1)
      if (result !== outcomes.at(-1)) outcomes.push(result)
    }
    // The later the cut, the later is the outcome in this list.
    expect(outcomes).toEqual(['unsent', 'lost', 'answered'])
  },
)

test('a create whose answer stops without a close ends by the idle limit, and may have been sent', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(createdAnswer) })
  await using proxy = await startFaultProxy(server.port, { down: 60, how: 'silence' })
  await using client = startClient()
  await expect(
    client.sendOnce(post(`http://127.0.0.1:${proxy.port}/`, { limits: { idleMs: 50 } })),
  ).rejects.toMatchObject({ sent: true })
  expect(proxy.connections).toBe(1)
})
