import { expect, test } from 'vitest'

import { InternalError } from '../../src/errors/kinds.ts'
import { startConnectProxy } from '../http/connect-proxy.ts'
import { answer, enveloped, type RawServerOptions, startRawServer } from '../http/raw-server.ts'
import { expectNoProcessFaults, startClient } from '../http/setup.ts'
import { apiKey, requestId, startApi, userEmail } from './setup.ts'

/** The outcome of createRequest is unsent, lost or answered (src/docs/ordering.md). The function never throws. */

expectNoProcessFaults()

const body = Buffer.from('{"package_id":7,  "recipient":{}}')

async function createAgainst(options: RawServerOptions) {
  await using server = await startRawServer(options)
  await using api = startApi(server.origin)
  const outcome = await api.createRequest(body)
  return { outcome, requests: server.requests, connections: server.connections, sleeps: api.clock.sleeps }
}

test('createRequest sends one POST with the documented headers and the exact bytes', async () => {
  const { outcome, requests } = await createAgainst({
    onRequest: (socket) => socket.write(enveloped(201, { request_id: requestId, status: 'RECEIVED' })),
  })
  expect(outcome).toEqual({
    kind: 'answered',
    status: 201,
    envelope: { data: { request_id: requestId, status: 'RECEIVED' }, status_message: 'ok', message: '' },
    retryAfter: undefined,
    error: undefined,
  })
  const [head = '', sentBody] = (requests[0] ?? '').split('\r\n\r\n')
  expect(sentBody).toBe(body.toString())
  const lines = head.split('\r\n').map((line) => line.replace(/^[^:]+:/, (name) => name.toLowerCase()))
  expect(lines[0]).toBe('POST /v1/requests HTTP/1.1')
  expect(lines).toEqual(
    expect.arrayContaining([
      `x-service-api-key: ${apiKey}`,
      `x-service-user-email: ${userEmail}`,
      'content-type: application/json',
      'accept: application/json',
      'accept-encoding: identity',
      `content-length: ${body.length}`,
    ]),
  )
})

test.each([
  [400, 'invalid_input', 'recipient.phone: not E.164'],
  [401, 'unauthenticated', 'invalid API key'],
  [403, 'forbidden', 'organisation has no credits remaining'],
  [404, 'not_found', 'resource not found'],
  [429, 'throttled', 'rate limit exceeded'],
  [500, 'unavailable', 'internal server error'],
  [503, 'unavailable', ''],
  [302, 'unavailable', ''],
  [408, 'unavailable', 'timeout'],
])(
  'a %i is an answered outcome with its error, and the order is not repeated',
  async (status, code, message) => {
    const { outcome, requests, sleeps } = await createAgainst({
      onRequest: (socket) => socket.write(enveloped(status, null, message, { 'retry-after': '17' })),
    })
    expect(outcome).toMatchObject({
      kind: 'answered',
      status,
      envelope: { data: null, message },
      retryAfter: '17',
      error: { code, status },
    })
    expect(requests).toHaveLength(1)
    expect(sleeps).toEqual([])
  },
)

test('the error for a 400 has the field, for a 404 a hint to list packages, and for a 429 the wait', async () => {
  const readError = async (status: number, message: string) => {
    const { outcome } = await createAgainst({
      onRequest: (socket) => socket.write(enveloped(status, null, message, { 'retry-after': '17' })),
    })
    return outcome.kind === 'answered' ? outcome.error : undefined
  }
  expect(await readError(400, 'recipient.phone: not E.164')).toMatchObject({ field: 'recipient.phone' })
  expect(await readError(404, 'resource not found')).toMatchObject({
    hint: 'List the packages that can be ordered with: refcheck packages list --status active',
  })
  expect(await readError(429, 'rate limit exceeded')).toMatchObject({ retryAfter: 17 })
})

test.each([
  ['a 201 of HTML', answer(201, {}, '<html>'), 201],
  ['a 201 without a body', answer(201), 201],
  ['a 200', enveloped(200, { request_id: requestId, status: 'RECEIVED' }), 200],
  ['a 202', enveloped(202, { request_id: requestId, status: 'RECEIVED' }), 202],
])(
  '%s is an answered outcome without an error, because the caller decides what it means',
  async (_name, bytes, status) => {
    const { outcome } = await createAgainst({ onRequest: (socket) => socket.write(bytes) })
    expect(outcome).toMatchObject({ kind: 'answered', status, error: undefined })
  },
)

test.each<[string, RawServerOptions]>([
  ['closes at once', { onConnection: (socket) => socket.destroy() }],
  ['closes after the request', { onRequest: (socket) => socket.destroy() }],
  ['breaks off in its answer', { onRequest: (socket) => socket.end(enveloped(201, {}).subarray(0, -3)) }],
  [
    'answers in gzip',
    { onRequest: (socket) => socket.write(answer(201, { 'content-encoding': 'gzip' }, 'x')) },
  ],
])('if the service %s, the outcome is lost, and the order is not sent again', async (_name, options) => {
  const { outcome, connections, sleeps } = await createAgainst(options)
  expect(outcome).toMatchObject({ kind: 'lost', error: { code: 'unavailable' } })
  expect(connections).toBe(1)
  expect(sleeps).toEqual([])
})

test('if the connection is refused, the outcome is unsent', async () => {
  let origin: string
  {
    await using server = await startRawServer()
    origin = server.origin
  }
  await using api = startApi(origin)
  expect(await api.createRequest(body)).toMatchObject({
    kind: 'unsent',
    error: { code: 'unavailable', message: expect.stringContaining('connection refused') },
  })
})

test('an abort before sending gives an unsent outcome, and an abort after sending a lost one', async () => {
  await using server = await startRawServer({ onRequest: () => controller.abort(new Error('stopped')) })
  await using api = startApi(server.origin)
  const controller = new AbortController()
  expect(await api.createRequest(body, AbortSignal.abort(new Error('stopped')))).toMatchObject({
    kind: 'unsent',
  })
  expect(server.connections).toBe(0)
  expect(await api.createRequest(body, controller.signal)).toMatchObject({ kind: 'lost' })
})

test.each([
  ['a base URL in clear text', 'http://service.test', { apiKey, userEmail }, {}, 'usage'],
  [
    'an e-mail that no header can contain',
    'https://service.test',
    { apiKey, userEmail: 'ü@example.com' },
    {},
    'invalid_input',
  ],
  [
    'an e-mail with a line break',
    'https://service.test',
    { apiKey, userEmail: 'a@b.c\r\nX: y' },
    {},
    'invalid_input',
  ],
  [
    'a key with a line break',
    'https://service.test',
    { apiKey: `${apiKey}\n`, userEmail },
    {},
    'invalid_input',
  ],
  ['no key', 'https://service.test', undefined, {}, 'internal'],
  [
    'an invalid proxy URL',
    'https://service.test',
    { apiKey, userEmail },
    { HTTPS_PROXY: 'gopher://x' },
    'usage',
  ],
])(
  'with %s the outcome is unsent, with an error that does not contain the key',
  async (_name, baseUrl, credentials, env, code) => {
    await using http = startClient({ env })
    await using api = startApi(baseUrl, { http, credentials })
    const outcome = await api.createRequest(body)
    expect(outcome).toMatchObject({ kind: 'unsent', error: { code } })
    expect(JSON.stringify(outcome)).not.toContain(apiKey)
  },
)

test('if the proxy refuses the connection, the outcome is unsent', async () => {
  await using proxy = await startConnectProxy({ refuseStatus: 403 })
  await using http = startClient({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } })
  await using api = startApi('https://service.test', { http })
  expect(await api.createRequest(body)).toMatchObject({ kind: 'unsent', error: { code: 'unavailable' } })
  expect(proxy.connectTargets).toHaveLength(1)
})

test('an internal error during the call gives a lost outcome, because the order may have been sent', async () => {
  const http = startClient()
  const broken = Object.assign(Object.create(http) as typeof http, {
    sendOnce: () => Promise.reject(new TypeError('an internal error')),
  })
  await using api = startApi('https://service.test', { http: broken })
  const outcome = await api.createRequest(body)
  expect(outcome.kind).toBe('lost')
  expect(outcome).toHaveProperty('error', expect.any(InternalError))
  await http.close()
})
