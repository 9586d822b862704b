import { expect, test } from 'vitest'

import { enveloped, startRawServer } from '../http/raw-server.ts'
import { expectNoProcessFaults } from '../http/setup.ts'
import { apiKey, requestId, startApi, userEmail } from './setup.ts'

/** What each operation sends ("Endpoints", "Authentication"), and how a read is repeated and waits. */

expectNoProcessFaults()

const anyData = { status: 'up', packages: [], users: [] }

/** Returns the first line and the credentials of each request that a call sends. */
async function listSentRequests(
  call: (api: ReturnType<typeof startApi>) => Promise<unknown>,
  prefix = '',
): Promise<string[]> {
  await using server = await startRawServer({ onRequest: (socket) => socket.write(enveloped(200, anyData)) })
  await using api = startApi(server.origin + prefix)
  await call(api).catch(() => undefined)
  return server.requests.map((text) => {
    const key = /^X-Service-API-Key: (.*)\r$/im.exec(text)?.[1]
    const email = /^X-Service-User-Email: (.*)\r$/im.exec(text)?.[1]
    return `${text.split('\r\n')[0]} ${key === undefined && email === undefined ? 'no key' : `${key} ${email}`}`
  })
}

const withKey = `${apiKey} ${userEmail}`

test.each<[string, Parameters<typeof listSentRequests>[0], string]>([
  ['ping, without a key', (api) => api.ping(), 'GET /v1/ping HTTP/1.1 no key'],
  ['all packages', (api) => api.listPackages(), `GET /v1/packages HTTP/1.1 ${withKey}`],
  [
    'packages by status',
    (api) => api.listPackages({ status: 'active' }),
    `GET /v1/packages?status=active HTTP/1.1 ${withKey}`,
  ],
  ['a package by id', (api) => api.listPackages({ id: 7 }), `GET /v1/packages?id=7 HTTP/1.1 ${withKey}`],
  [
    'packages by status and id',
    (api) => api.listPackages({ status: 'disabled', id: 7 }),
    `GET /v1/packages?status=disabled&id=7 HTTP/1.1 ${withKey}`,
  ],
  ['a schema', (api) => api.packageSchema(7), `GET /v1/packages/7/schema HTTP/1.1 ${withKey}`],
  ['a request', (api) => api.getRequest(requestId), `GET /v1/requests/${requestId} HTTP/1.1 ${withKey}`],
  ['users', (api) => api.listUsers(), `GET /v1/users HTTP/1.1 ${withKey}`],
])('the call sends one request: %s', async (_name, call, line) => {
  expect(await listSentRequests(call)).toEqual([line])
})

test('a base URL may have a path before the version', async () => {
  expect(await listSentRequests((api) => api.listUsers(), '/gateway/checks')).toEqual([
    `GET /gateway/checks/v1/users HTTP/1.1 ${withKey}`,
  ])
})

test.each(['..', '.', '', '\uD800'])('with the id %j nothing is sent', async (id) => {
  expect(await listSentRequests((api) => api.getRequest(id))).toEqual([])
  expect(await listSentRequests((api) => api.openReport({ checkId: requestId, refereeId: id }))).toEqual([])
})

test.each([
  ['a/../../users', 'a%2F..%2F..%2Fusers'],
  ['a?t=1#x', 'a%3Ft%3D1%23x'],
  ['%2e%2e', '%252e%252e'],
  ['é 1', '%C3%A9%201'],
])('the id %j stays one segment of the path', async (id, encoded) => {
  expect(await listSentRequests((api) => api.getRequest(id))).toEqual([
    `GET /v1/requests/${encoded} HTTP/1.1 ${withKey}`,
  ])
})

test('a read that fails for a while succeeds, and each wait is reported', async () => {
  await using server = await startRawServer({
    onRequest: (socket, _request, count) => {
      if (count === 1) socket.destroy()
      else if (count === 2) socket.write(enveloped(503, null))
      else if (count === 3) socket.write(enveloped(429, null, '', { 'retry-after': '7' }))
      else socket.write(enveloped(200, anyData))
    },
  })
  await using api = startApi(server.origin)
  expect(await api.listUsers()).toEqual([])
  expect(api.retries).toEqual([
    {
      kind: 'retry',
      attempt: 2,
      of: 4,
      seconds: 0.375,
      reason: `127.0.0.1:${server.port}: the connection was cut`,
    },
    { kind: 'retry', attempt: 3, of: 4, seconds: 0.75, reason: 'answer 503' },
    { kind: 'throttled', seconds: 7, isStated: true },
  ])
  expect(api.exchanges.map(({ status }) => status)).toEqual([undefined, 503, 429, 200])
})

test('a 429 whose wait exceeds the budget is a throttled error with the seconds', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(enveloped(429, null, 'rate limit exceeded', { 'retry-after': '59' })),
  })
  await using api = startApi(server.origin, { budgetMs: 30_000 })
  await expect(api.listUsers()).rejects.toMatchObject({ code: 'throttled', status: 429, retryAfter: 59 })
  expect(server.requests).toHaveLength(1)
})

test('an abort during a wait ends the call at once, with the reason of the caller', async () => {
  const controller = new AbortController()
  const reason = new Error('stopped')
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(enveloped(500, null), () => controller.abort(reason)),
  })
  await using api = startApi(server.origin)
  await expect(api.listUsers(controller.signal)).rejects.toBe(reason)
  expect(server.requests).toHaveLength(1)
})

test('the latency of a ping is that of the successful exchange, without the waits before it', async () => {
  await using server = await startRawServer({
    onRequest: (socket, _request, count) => socket.write(enveloped(count < 3 ? 500 : 200, anyData)),
  })
  await using api = startApi(server.origin)
  const { status, latency_ms: latency } = await api.ping()
  expect(status).toBe('up')
  expect(Number.isInteger(latency)).toBe(true)
  // The two waits before the successful exchange took 1,125 ms of the test clock.
  expect(api.clock.monotonic()).toBe(1_125)
  expect(latency).toBeLessThan(1_125)
})
