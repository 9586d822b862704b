import { expect, test } from 'vitest'

import { TransportError } from '../../src/http/failure.ts'
import { startFaultProxy } from '../harness/faults/proxy.ts'
import { enveloped, identity, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, post, startClient, trustAuthority } from './setup.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

const fault = recordForFaultTable('cut', 'sent again')

/** The fault table: "network cut after byte N, both directions … 0 sent again". */

expectNoProcessFaults()

trustAuthority()

const created = enveloped(201, { request_id: '5b2c8f0e-4a3d-4c1b-9e6f-7a8b9c0d1e2f', status: 'RECEIVED' })

/** What one create through the proxy came to; an error that is not of the transport fails the test. */
async function outcome(url: string): Promise<'answered' | 'lost' | 'unsent'> {
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
  'cut by a %s after every byte of the answer: lost, never again',
  async (how) => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(created) })
    await using proxy = await startFaultProxy(server.port)
    for (let down = 1; down < created.length; down += 1) {
      proxy.cut = { down, how }
      const [connections, requests] = [proxy.connections, server.requests.length]
      expect(await outcome(`http://127.0.0.1:${proxy.port}/`), `after byte ${down}`).toBe('lost')
      expect(proxy.connections - connections, `connections, after byte ${down}`).toBe(1)
      expect(server.requests.length - requests, `requests, after byte ${down}`).toBe(1)
    }
    proxy.cut = {}
    expect(await outcome(`http://127.0.0.1:${proxy.port}/`)).toBe('answered')
    fault.countCases(created.length - 1)
  },
)

test.each(['close', 'reset'] as const)(
  'cut by a %s after every byte of the request: lost, never again',
  async (how) => {
    await using server = await startRawServer({ onRequest: (socket) => socket.write(created) })
    await using proxy = await startFaultProxy(server.port)
    expect(await outcome(`http://127.0.0.1:${proxy.port}/`)).toBe('answered')
    const whole = server.bytes
    for (let up = 1; up < whole; up += 1) {
      proxy.cut = { up, how }
      const connections = proxy.connections
      expect(await outcome(`http://127.0.0.1:${proxy.port}/`), `after byte ${up}`).toBe('lost')
      expect(proxy.connections - connections, `connections, after byte ${up}`).toBe(1)
    }
    // The first, uncut one alone came in whole.
    expect(server.requests).toHaveLength(1)
    fault.countCases(whole - 1)
  },
)

test('cut before the first byte: whatever is reported, nothing arrived', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(created) })
  await using proxy = await startFaultProxy(server.port, { up: 0 })
  expect(await outcome(`http://127.0.0.1:${proxy.port}/`)).not.toBe('answered')
  expect(server.bytes).toBe(0)
  expect(proxy.connections).toBe(1)
})

test.each(['up', 'down'] as const)(
  'cut %sstream in the TLS handshake and after it: unsent is true, lost is careful',
  async (way) => {
    await using server = await startRawServer({
      tls: identity('service'),
      onRequest: (socket) => socket.write(created),
    })
    await using proxy = await startFaultProxy(server.port)
    const seen: string[] = []
    for (let bytes = 1; seen.at(-1) !== 'answered'; bytes += 7) {
      proxy.cut = { [way]: bytes }
      const [connections, before] = [proxy.connections, server.bytes]
      const result = await outcome(`https://localhost:${proxy.port}/`)
      expect(
        { result, arrived: server.bytes > before },
        `cut after ${bytes}: what is reported as unsent never arrived`,
      ).not.toEqual({ result: 'unsent', arrived: true })
      expect(proxy.connections - connections, `connections, cut after ${bytes}`).toBe(1)
      if (result !== seen.at(-1)) seen.push(result)
    }
    // Once a connection stood at one cut, it stands at every later one.
    expect(seen).toEqual(['unsent', 'lost', 'answered'])
  },
)

test('a line that goes silent in the answer: lost, by the idle limit', async () => {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(created) })
  await using proxy = await startFaultProxy(server.port, { down: 60, how: 'silence' })
  await using client = startClient()
  await expect(
    client.sendOnce(post(`http://127.0.0.1:${proxy.port}/`, { limits: { idleMs: 50 } })),
  ).rejects.toMatchObject({ sent: true })
  expect(proxy.connections).toBe(1)
})
