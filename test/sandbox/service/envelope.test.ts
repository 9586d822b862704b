import { expect, test } from 'vitest'

import { minute, simpleOrder, createSandboxClient } from '../sandbox-client.ts'

const uuid = '00000000-0000-4000-8000-000000000000'

test('each JSON answer is {data, status_message, message}, with the headers that prevent caching', async () => {
  const { get, post, order, authHeaders } = createSandboxClient()
  const id = await order()
  const answers = [
    [200, 'ok', await get('/v1/ping', {})],
    [200, 'ok', await get('/v1/packages')],
    [200, 'ok', await get('/v1/packages/101/schema')],
    [200, 'ok', await get('/v1/users')],
    [200, 'ok', await get(`/v1/requests/${id}`)],
    [201, 'ok', await post(simpleOrder)],
    [400, 'client_error', await post('{')],
    [400, 'client_error', await get('/v1/packages?status=paused')],
    [401, 'client_error', await get('/v1/users', {})],
    [403, 'client_error', await get('/v1/users', authHeaders('nobody@example.com'))],
    [404, 'client_error', await get(`/v1/requests/${uuid}`)],
    [404, 'client_error', await get('/v1/nothing/here')],
    [404, 'client_error', await get('/v1')],
  ] as const
  for (const [status, statusMessage, answer] of answers) {
    expect(answer.status).toBe(status)
    expect(answer.headers.get('Content-Type')).toBe('application/json')
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(answer.headers.get('Pragma')).toBe('no-cache')
    expect(answer.headers.get('Expires')).toBe('0')
    const envelope = answer.envelope()
    expect(Object.keys(envelope)).toEqual(['data', 'status_message', 'message'])
    expect(envelope.status_message).toBe(statusMessage)
    expect(envelope.message === '').toBe(status < 300)
    expect(envelope.data === null).toBe(status >= 400)
  }
})

test('a 429 and a 500 have the same envelope', async () => {
  const { get, sandbox, clock } = createSandboxClient({ quota: [{ calls: 1, seconds: 60 }] })
  await get('/v1/users')
  const throttledAnswer = await get('/v1/users')
  expect(throttledAnswer.envelope()).toEqual({
    data: null,
    status_message: 'client_error',
    message: 'rate limit exceeded',
  })
  expect(throttledAnswer.headers.get('Cache-Control')).toBe('no-store')
  await clock.advance(minute)
  sandbox.inject({ on: 'GET /v1/users', fault: { kind: 'status', status: 500, when: 'after' } })
  const failed = await get('/v1/users')
  expect(failed.status).toBe(500)
  expect(failed.envelope()).toEqual({
    data: null,
    status_message: 'server_error',
    message: 'internal server error',
  })
})

test('a method that an endpoint does not have is a 404', async () => {
  const { sandbox } = createSandboxClient()
  const answer = await sandbox.fetch(new Request('http://127.0.0.1:1/v1/packages', { method: 'DELETE' }))
  expect(answer.status).toBe(404)
})
