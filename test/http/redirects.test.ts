import { expect, test } from 'vitest'

import { collect } from '../../src/http/client.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { answer, startRawServer } from './raw-server.ts'
import { expectNoProcessFaults, post, startClient } from './setup.ts'

// The tests of this file are the row `redirect` of the fault table (test/resilience/rows.ts).
recordForFaultTable('redirect', { mustNotHappen: 'followed' })

expectNoProcessFaults()

const key = 'k'.repeat(32)

test.each([300, 301, 302, 303, 304, 305, 307, 308])(
  'a %i is returned like any other answer, and its location is not called',
  async (status) => {
    await using otherServer = await startRawServer()
    await using server = await startRawServer({
      onRequest: (socket) =>
        socket.write(
          answer(status, {
            location: `${otherServer.origin}/v1/requests`,
            refresh: `0;url=${otherServer.origin}`,
          }),
        ),
    })
    await using client = startClient()
    const headers = { 'X-Service-API-Key': key }
    const url = `${server.origin}/v1/requests`
    expect((await client.sendOnce(post(url, { headers }))).status).toBe(status)
    expect((await client.send({ method: 'GET', url, headers })).status).toBe(status)
    await collect((await client.open({ method: 'GET', url, headers })).body)
    expect(server.requests).toHaveLength(3)
    expect(otherServer).toMatchObject({ connections: 0, bytes: 0 })
  },
)

test('a redirect to the same host is not followed either', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(308, { location: '/v1/requests/' })),
  })
  await using client = startClient()
  expect((await client.sendOnce(post(`${server.origin}/v1/requests`))).status).toBe(308)
  expect(server.requests).toHaveLength(1)
})
