import { expect, test } from 'vitest'

import {
  hour,
  minute,
  refusal,
  simpleOrder,
  createSandboxClient,
  type SandboxClient,
} from '../sandbox-client.ts'

/** Makes `count` calls, one after the other, and returns their statuses. */
async function makeCalls(client: SandboxClient, count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let call = 0; call < count; call += 1) statuses.push((await client.get('/v1/users')).status)
  return statuses
}

test('60 requests per 60-second fixed window, then 429 with the remaining seconds of the window in Retry-After', async () => {
  const client = createSandboxClient()
  expect(await makeCalls(client, 60)).toEqual(Array(60).fill(200))
  const answer = await client.get('/v1/users')
  expect(answer.status).toBe(429)
  expect(answer.headers.get('Retry-After')).toBe('60')
  expect(answer.envelope()).toEqual(refusal('rate limit exceeded'))
  await client.clock.advance(12_300)
  expect((await client.get('/v1/users')).headers.get('Retry-After')).toBe('48')
  await client.clock.advance(47_699)
  expect((await client.get('/v1/users')).headers.get('Retry-After')).toBe('1')
  await client.clock.advance(1)
  expect((await client.get('/v1/users')).status).toBe(200)
})

test('the window is fixed: it does not move with later calls', async () => {
  const client = createSandboxClient()
  await makeCalls(client, 1)
  await client.clock.advance(minute - 1)
  expect(await makeCalls(client, 60)).toEqual([...Array(59).fill(200), 429])
  await client.clock.advance(1)
  expect(await makeCalls(client, 61)).toEqual([...Array(60).fill(200), 429])
})

test('1000 requests per 1-hour fixed window, with the remaining seconds of the hour in Retry-After', async () => {
  const client = createSandboxClient()
  for (let window = 0; window < 16; window += 1) {
    expect(await makeCalls(client, 60)).toEqual(Array(60).fill(200))
    await client.clock.advance(minute)
  }
  expect(await makeCalls(client, 41)).toEqual([...Array(40).fill(200), 429])
  const answer = await client.get('/v1/users')
  expect(answer.headers.get('Retry-After')).toBe(String(3600 - 16 * 60))
  await client.clock.advance(hour - 16 * minute)
  expect((await client.get('/v1/users')).status).toBe(200)
})

test('calls to each authenticated endpoint count, also those with a refused body or user', async () => {
  const client = createSandboxClient({ quota: [{ calls: 5, seconds: 60 }] })
  expect((await client.post(simpleOrder)).status).toBe(201)
  expect((await client.post('{')).status).toBe(400)
  expect((await client.get('/v1/users', client.authHeaders('nobody@example.com'))).status).toBe(403)
  expect((await client.get('/v1/packages/999/schema')).status).toBe(404)
  expect((await client.get('/v1/reports/x')).status).toBe(404)
  expect((await client.post(simpleOrder)).status).toBe(429)
  expect(client.sandbox.requests()).toHaveLength(1)
})

test('GET /v1/ping does not count, even with valid headers', async () => {
  const client = createSandboxClient({ quota: [{ calls: 1, seconds: 60 }] })
  for (let call = 0; call < 5; call += 1) expect((await client.get('/v1/ping')).status).toBe(200)
  expect(await makeCalls(client, 2)).toEqual([200, 429])
  expect((await client.get('/v1/ping')).status).toBe(200)
})

test('downloads with a valid `t` do not count, and those with headers do', async () => {
  const client = createSandboxClient({ quota: [{ calls: 3, seconds: 7200 }] })
  const id = await client.order()
  await client.clock.advance(hour)
  const check = (await client.read(id)).checks[0]
  const url = check?.report_pdf_url ?? ''
  for (let call = 0; call < 5; call += 1)
    expect((await client.get(url, client.authHeaders())).status).toBe(200)
  expect((await client.get(`/v1/reports/${check?.id}`)).status).toBe(200)
  expect((await client.get(`/v1/reports/${check?.id}`)).status).toBe(429)
  expect((await client.get(url, {})).status).toBe(200)
})

test('the calls of each API key are counted separately', async () => {
  const client = createSandboxClient({ quota: [{ calls: 1, seconds: 60 }] })
  expect(await makeCalls(client, 2)).toEqual([200, 429])
  const { apiKey, userEmail } = client.sandbox.otherOrganisationOwner
  const foreignHeaders = { 'X-Service-API-Key': apiKey, 'X-Service-User-Email': userEmail }
  expect((await client.get('/v1/users', foreignHeaders)).status).toBe(200)
})

test('an invalid key is a 401 even when the quota is used up', async () => {
  const client = createSandboxClient({ quota: [{ calls: 1, seconds: 60 }] })
  await makeCalls(client, 2)
  expect((await client.get('/v1/users', {})).status).toBe(401)
})
