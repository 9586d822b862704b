import { expect, onTestFinished, test } from 'vitest'

import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { listen } from '../../../src/server/listen.ts'
import { ManualClock } from '../../../src/sandbox/control/manual-clock.ts'
import { hour, simpleOrder, startTime, createSandboxClient } from '../sandbox-client.ts'

const createCall = 'POST /v1/requests'

test('a status fault before the work creates no request, and one after the work does create it', async () => {
  const { sandbox, post } = createSandboxClient()
  sandbox.inject({ on: createCall, fault: { kind: 'status', status: 500, when: 'before' } })
  expect((await post(simpleOrder)).status).toBe(500)
  expect(sandbox.requests()).toHaveLength(0)
  sandbox.inject({ on: createCall, fault: { kind: 'status', status: 503, when: 'after' } })
  expect((await post(simpleOrder)).status).toBe(503)
  expect(sandbox.requests()).toHaveLength(1)
  expect((await post(simpleOrder)).status).toBe(201)
})

test('`after` is the number of calls before the fault, and `times` the number of calls with it', async () => {
  const { sandbox, get } = createSandboxClient()
  sandbox.inject({
    on: 'GET /v1/users',
    after: 2,
    times: 2,
    fault: { kind: 'status', status: 502, when: 'before', body: 'html' },
  })
  const statuses: number[] = []
  for (let call = 0; call < 6; call += 1) statuses.push((await get('/v1/users')).status)
  expect(statuses).toEqual([200, 200, 502, 502, 200, 200])
})

test('a fault can be removed', async () => {
  const { sandbox, get } = createSandboxClient()
  const removeFault = sandbox.inject({
    on: '*',
    times: 9,
    fault: { kind: 'status', status: 500, when: 'before' },
  })
  expect((await get('/v1/ping')).status).toBe(500)
  removeFault()
  expect((await get('/v1/ping')).status).toBe(200)
})

test.each([
  ['GET /v1/requests/:id', '/v1/requests/abc', true],
  ['GET /v1/requests/:id', '/v1/requests', false],
  ['GET /v1/reports/*', '/v1/reports/a/referees/b', true],
  ['POST *', '/v1/users', false],
  ['/v1/users', '/v1/users', true],
  ['get /v1/users', '/v1/users', true],
  ['GET /v1/package', '/v1/packages', false],
])('a fault on "%s" applies to GET %s: %s', async (on, path, shouldApply) => {
  const { sandbox, get } = createSandboxClient()
  sandbox.inject({ on, fault: { kind: 'status', status: 599, when: 'before' } })
  expect((await get(path)).status === 599).toBe(shouldApply)
})

test.each([
  ['envelope', 'application/json', /"status_message":"server_error"/],
  ['html', 'text/html', /^<html>/],
  ['empty', null, /^$/],
] as const)('a status fault can have the body %s', async (body, type, text) => {
  const { sandbox, get } = createSandboxClient()
  sandbox.inject({ on: '*', fault: { kind: 'status', status: 502, when: 'before', body } })
  const answer = await get('/v1/users')
  expect(answer.headers.get('Content-Type')).toBe(type)
  expect(answer.bytes.toString()).toMatch(text)
})

test.each(['-5', 'soon', 'Wed, 21 Oct 2026 07:28:00 GMT', '99999999', undefined])(
  'a 429 fault sends Retry-After %s unchanged',
  async (retryAfter) => {
    const { sandbox, get } = createSandboxClient()
    sandbox.inject({ on: '*', fault: { kind: 'status', status: 429, when: 'before', retryAfter } })
    expect((await get('/v1/users')).headers.get('Retry-After')).toBe(retryAfter ?? null)
  },
)

test('the fault no-id creates the request and answers 201 without its id', async () => {
  const { sandbox, post } = createSandboxClient()
  sandbox.inject({ on: createCall, fault: { kind: 'no-id' } })
  const answer = await post(simpleOrder)
  expect(answer.status).toBe(201)
  expect(answer.envelope()).toEqual({ data: { status: 'RECEIVED' }, status_message: 'ok', message: '' })
  expect(sandbox.requests()).toHaveLength(1)
})

test('the faults content-type and body replace the content type and the body of an answer', async () => {
  const { sandbox, get } = createSandboxClient()
  sandbox.inject({ on: '*', fault: { kind: 'content-type', value: 'text/plain' } })
  const answerWithType = await get('/v1/ping')
  expect(answerWithType.headers.get('Content-Type')).toBe('text/plain')
  expect(answerWithType.envelope().data).toEqual({ status: 'ok' })
  sandbox.inject({ on: '*', fault: { kind: 'body', body: '{"data":' } })
  const answerWithBody = await get('/v1/ping')
  expect(answerWithBody.status).toBe(200)
  expect(answerWithBody.bytes.toString()).toBe('{"data":')
})

test('the fault truncated without `announced` sends a part of a report as a complete answer', async () => {
  const { sandbox, order, clock, read, get } = createSandboxClient()
  const id = await order()
  await clock.advance(hour)
  const url = (await read(id)).checks[0]?.report_pdf_url ?? ''
  const completeReport = await get(url)
  sandbox.inject({ on: 'GET /v1/reports/:id', fault: { kind: 'truncated', keep: 0.5, announced: false } })
  const partialReport = await get(url)
  expect(partialReport.status).toBe(200)
  expect(
    partialReport.bytes.equals(completeReport.bytes.subarray(0, Math.floor(completeReport.bytes.length / 2))),
  ).toBe(true)
})

/** Starts a sandbox that listens on a port, because only a real connection can be cut or hang. */
async function startListeningSandbox() {
  const sandbox = createSandbox({ clock: new ManualClock(startTime) })
  const { url, close } = await listen((request, connection) => sandbox.fetch(request, connection))
  onTestFinished(close)
  const headers = {
    'X-Service-API-Key': sandbox.credentials.apiKey,
    'X-Service-User-Email': sandbox.credentials.userEmail,
    'Content-Type': 'application/json',
  }
  const post = (signal?: AbortSignal) =>
    fetch(`${url}/v1/requests`, {
      method: 'POST',
      headers,
      body: JSON.stringify(simpleOrder),
      signal: signal ?? null,
    })
  return { sandbox, post, url, headers }
}

test.each([
  ['before', 0],
  ['after', 1],
] as const)('the fault cut %s the work leaves %i requests', async (when, count) => {
  const { sandbox, post } = await startListeningSandbox()
  sandbox.inject({ on: createCall, fault: { kind: 'cut', when } })
  await expect(post()).rejects.toThrow('fetch failed')
  expect(sandbox.requests()).toHaveLength(count)
  expect((await post()).status).toBe(201)
})

test.each([
  ['before', 0],
  ['after', 1],
] as const)('the fault hang %s the work leaves %i requests', async (when, count) => {
  const { sandbox, post } = await startListeningSandbox()
  const faultApplied = Promise.withResolvers<void>()
  sandbox.log.subscribe((entry) => {
    if (entry.kind === 'call' && entry.fault === 'hang') faultApplied.resolve()
  })
  sandbox.inject({ on: createCall, fault: { kind: 'hang', when } })
  const controller = new AbortController()
  const hangingCall = post(controller.signal)
  await faultApplied.promise
  expect(sandbox.requests()).toHaveLength(count)
  controller.abort()
  await expect(hangingCall).rejects.toThrow('aborted')
})

test('the fault truncated with `announced` ends the body before its announced length', async () => {
  const { sandbox, url, headers } = await startListeningSandbox()
  sandbox.inject({ on: 'GET /v1/users', fault: { kind: 'truncated', keep: 0.5, announced: true } })
  const answer = await fetch(`${url}/v1/users`, { headers })
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow('terminated')
})

test('a call with a fault before the work does not count against the quota', async () => {
  const { sandbox, get } = createSandboxClient({ quota: [{ calls: 1, seconds: 60 }] })
  sandbox.inject({ on: 'GET *', fault: { kind: 'status', status: 500, when: 'before' } })
  expect((await get('/v1/users')).status).toBe(500)
  expect((await get('/v1/users')).status).toBe(200)
  expect((await get('/v1/users')).status).toBe(429)
})
