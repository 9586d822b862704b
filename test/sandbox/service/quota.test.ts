import { expect, test } from 'vitest'

import { hour, minute, refusal, simpleOrder, visit, type Visit } from '../visit.ts'

/** The statuses of `count` calls one after the other. */
async function calls(where: Visit, count: number): Promise<number[]> {
  const statuses: number[] = []
  for (let call = 0; call < count; call += 1) statuses.push((await where.get('/v1/users')).status)
  return statuses
}

test('60 requests per 60-second fixed window, then 429 with the seconds left in the window', async () => {
  const where = visit()
  expect(await calls(where, 60)).toEqual(Array(60).fill(200))
  const answer = await where.get('/v1/users')
  expect(answer.status).toBe(429)
  expect(answer.headers.get('Retry-After')).toBe('60')
  expect(answer.envelope()).toEqual(refusal('rate limit exceeded'))
  await where.clock.advance(12_300)
  expect((await where.get('/v1/users')).headers.get('Retry-After')).toBe('48')
  await where.clock.advance(47_699)
  expect((await where.get('/v1/users')).headers.get('Retry-After')).toBe('1')
  await where.clock.advance(1)
  expect((await where.get('/v1/users')).status).toBe(200)
})

test('the window is fixed: it does not move with later calls', async () => {
  const where = visit()
  await calls(where, 1)
  await where.clock.advance(minute - 1)
  expect(await calls(where, 60)).toEqual([...Array(59).fill(200), 429])
  await where.clock.advance(1)
  expect(await calls(where, 61)).toEqual([...Array(60).fill(200), 429])
})

test('1000 requests per 1-hour fixed window, with the seconds left in the hour', async () => {
  const where = visit()
  for (let window = 0; window < 16; window += 1) {
    expect(await calls(where, 60)).toEqual(Array(60).fill(200))
    await where.clock.advance(minute)
  }
  expect(await calls(where, 41)).toEqual([...Array(40).fill(200), 429])
  const answer = await where.get('/v1/users')
  expect(answer.headers.get('Retry-After')).toBe(String(3600 - 16 * 60))
  await where.clock.advance(hour - 16 * minute)
  expect((await where.get('/v1/users')).status).toBe(200)
})

test('every authenticated endpoint counts, refused bodies and users too', async () => {
  const where = visit({ quota: [{ calls: 5, seconds: 60 }] })
  expect((await where.post(simpleOrder)).status).toBe(201)
  expect((await where.post('{')).status).toBe(400)
  expect((await where.get('/v1/users', where.signedIn('nobody@example.com'))).status).toBe(403)
  expect((await where.get('/v1/packages/999/schema')).status).toBe(404)
  expect((await where.get('/v1/reports/x')).status).toBe(404)
  expect((await where.post(simpleOrder)).status).toBe(429)
  expect(where.sandbox.requests()).toHaveLength(1)
})

test('GET /v1/ping is exempt, with good headers too', async () => {
  const where = visit({ quota: [{ calls: 1, seconds: 60 }] })
  for (let call = 0; call < 5; call += 1) expect((await where.get('/v1/ping')).status).toBe(200)
  expect(await calls(where, 2)).toEqual([200, 429])
  expect((await where.get('/v1/ping')).status).toBe(200)
})

test('downloads with a valid `t` are exempt, those with headers are not', async () => {
  const where = visit({ quota: [{ calls: 3, seconds: 7200 }] })
  const id = await where.order()
  await where.clock.advance(hour)
  const check = (await where.read(id)).checks[0]
  const url = check?.report_pdf_url ?? ''
  for (let call = 0; call < 5; call += 1) expect((await where.get(url, where.signedIn())).status).toBe(200)
  expect((await where.get(`/v1/reports/${check?.id}`)).status).toBe(200)
  expect((await where.get(`/v1/reports/${check?.id}`)).status).toBe(429)
  expect((await where.get(url, {})).status).toBe(200)
})

test('each API key has windows of its own', async () => {
  const where = visit({ quota: [{ calls: 1, seconds: 60 }] })
  expect(await calls(where, 2)).toEqual([200, 429])
  const { apiKey, userEmail } = where.sandbox.otherOrganisation
  const foreign = { 'X-Service-API-Key': apiKey, 'X-Service-User-Email': userEmail }
  expect((await where.get('/v1/users', foreign)).status).toBe(200)
})

test('an invalid key is a 401 however full the windows are', async () => {
  const where = visit({ quota: [{ calls: 1, seconds: 60 }] })
  await calls(where, 2)
  expect((await where.get('/v1/users', {})).status).toBe(401)
})
