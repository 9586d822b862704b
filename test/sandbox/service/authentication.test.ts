import { expect, test } from 'vitest'

import { hour, minute, refusal, simpleOrder, visit } from '../visit.ts'

const uuid = '00000000-0000-4000-8000-000000000000'

const authenticated = [
  '/v1/packages',
  '/v1/packages/101/schema',
  `/v1/requests/${uuid}`,
  '/v1/users',
  `/v1/reports/${uuid}`,
  `/v1/reports/${uuid}/referees/1`,
]

test.each(authenticated)('both headers are required on %s', async (path) => {
  const { get, signedIn } = visit()
  const both = signedIn()
  const { 'X-Service-API-Key': key = '', 'X-Service-User-Email': email = '' } = both
  for (const headers of [{}, { 'X-Service-API-Key': key }, { 'X-Service-User-Email': email }]) {
    const answer = await get(path, headers)
    expect(answer.status).toBe(401)
    expect(answer.envelope()).toEqual(refusal('missing authentication headers'))
  }
})

test('both headers are required on POST /v1/requests', async () => {
  const { post, signedIn } = visit()
  const { 'X-Service-API-Key': key = '' } = signedIn()
  const json = { 'Content-Type': 'application/json' }
  expect((await post(simpleOrder, json)).status).toBe(401)
  expect((await post(simpleOrder, { ...json, 'X-Service-API-Key': key })).status).toBe(401)
})

test('GET /v1/ping needs no authentication', async () => {
  const { get } = visit()
  const answer = await get('/v1/ping', {})
  expect(answer.status).toBe(200)
  expect(answer.envelope()).toEqual({ data: { status: 'ok' }, status_message: 'ok', message: '' })
})

test.each(['x'.repeat(32), 'short', 'toString'])('an invalid API key (%s) is a 401', async (key) => {
  const { get, signedIn } = visit()
  const answer = await get('/v1/users', { ...signedIn(), 'X-Service-API-Key': key })
  expect(answer.status).toBe(401)
  expect(answer.envelope()).toEqual(refusal('invalid API key'))
})

test('a revoked API key is a 401', async () => {
  const { sandbox, get } = visit()
  expect((await get('/v1/users')).status).toBe(200)
  sandbox.applySwitch('revoke-key')
  const answer = await get('/v1/users')
  expect(answer.status).toBe(401)
  expect(answer.envelope()).toEqual(refusal('invalid API key'))
})

test.each([
  ['an unknown user', 'nobody@example.com'],
  ['an inactive user', 'ivy.inactive@example.com'],
  ['an active user of another organisation', 'stan.stranger@example.net'],
])('%s is a 403 wherever a user is needed', async (_who, email) => {
  const { get, signedIn } = visit()
  for (const path of authenticated) {
    const answer = await get(path, signedIn(email))
    expect(answer.status).toBe(403)
    expect(answer.envelope()).toEqual(refusal('user is not an active member of the organisation'))
  }
})

test('a user who is deactivated is a 403 from then on', async () => {
  const { sandbox, get, signedIn } = visit()
  expect((await get('/v1/users', signedIn('max.member@example.com'))).status).toBe(200)
  sandbox.setUserActive('max.member@example.com', false)
  expect((await get('/v1/users', signedIn('max.member@example.com'))).status).toBe(403)
})

test('an API key is 32 characters, and another seed gives another', () => {
  const { apiKey, webhookSecret } = visit().sandbox.credentials
  expect(apiKey).toMatch(/^[A-Za-z0-9]{32}$/)
  expect(visit().sandbox.credentials.apiKey).toBe(apiKey)
  const other = visit({ seed: 'another' }).sandbox.credentials
  expect(other.apiKey).not.toBe(apiKey)
  expect(other.webhookSecret).not.toBe(webhookSecret)
})

test('without a seed every sandbox has a key, secret and ids of its own', async () => {
  const [one, other] = [visit({ seed: undefined }), visit({ seed: undefined })]
  const { apiKey, webhookSecret } = one.sandbox.credentials
  expect(other.sandbox.credentials.apiKey).not.toBe(apiKey)
  expect(other.sandbox.credentials.webhookSecret).not.toBe(webhookSecret)
  await one.order()
  await other.order()
  const checks = ({ sandbox }: typeof one) => sandbox.snapshot().requests.flatMap((each) => each.checks)
  const ids = new Set(checks(one).map(({ id }) => id))
  expect(ids.size).toBeGreaterThan(0)
  expect(checks(other).filter(({ id }) => ids.has(id))).toEqual([])
})

test('the key decides which requests are accessible', async () => {
  const { sandbox, get, order } = visit()
  const id = await order()
  const foreign = {
    'X-Service-API-Key': sandbox.otherOrganisation.apiKey,
    'X-Service-User-Email': sandbox.otherOrganisation.userEmail,
  }
  expect((await get(`/v1/requests/${id}`)).status).toBe(200)
  expect((await get(`/v1/requests/${id}`, foreign)).status).toBe(404)
})

test('a role that does not permit an action is a 403', async () => {
  const { post, signedIn } = visit()
  const json = { 'Content-Type': 'application/json' }
  const support = await post(simpleOrder, { ...signedIn('sam.support@example.com'), ...json })
  expect(support.status).toBe(403)
  expect(support.envelope()).toEqual(refusal('the role of the user does not permit this action'))
  expect((await post(simpleOrder, { ...signedIn('max.member@example.com'), ...json })).status).toBe(201)
})

test('plain HTTP is rejected but on this machine itself', async () => {
  const { get } = visit()
  expect((await get('http://sandbox.example.com/v1/ping', {})).status).toBe(400)
  expect((await get('https://sandbox.example.com/v1/ping', {})).status).toBe(200)
  expect((await get('http://localhost:8080/v1/ping', {})).status).toBe(200)
  expect((await get('http://[::1]:8080/v1/ping', {})).status).toBe(200)
})

test('an API key stays good as time goes by', async () => {
  const { get, clock } = visit()
  await clock.advance(24 * hour + minute)
  expect((await get('/v1/users')).status).toBe(200)
})
