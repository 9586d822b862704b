import { expect, test } from 'vitest'

import { hour, minute, refusal, simpleOrder, createSandboxClient } from '../sandbox-client.ts'

const uuid = '00000000-0000-4000-8000-000000000000'

const authenticatedPaths = [
  '/v1/packages',
  '/v1/packages/101/schema',
  `/v1/requests/${uuid}`,
  '/v1/users',
  `/v1/reports/${uuid}`,
  `/v1/reports/${uuid}/referees/1`,
]

test.each(authenticatedPaths)('both headers are required on %s', async (path) => {
  const { get, authHeaders } = createSandboxClient()
  const bothHeaders = authHeaders()
  const { 'X-Service-API-Key': key = '', 'X-Service-User-Email': email = '' } = bothHeaders
  for (const headers of [{}, { 'X-Service-API-Key': key }, { 'X-Service-User-Email': email }]) {
    const answer = await get(path, headers)
    expect(answer.status).toBe(401)
    expect(answer.envelope()).toEqual(refusal('missing authentication headers'))
  }
})

test('both headers are required on POST /v1/requests', async () => {
  const { post, authHeaders } = createSandboxClient()
  const { 'X-Service-API-Key': key = '' } = authHeaders()
  const jsonType = { 'Content-Type': 'application/json' }
  expect((await post(simpleOrder, jsonType)).status).toBe(401)
  expect((await post(simpleOrder, { ...jsonType, 'X-Service-API-Key': key })).status).toBe(401)
})

test('GET /v1/ping needs no authentication', async () => {
  const { get } = createSandboxClient()
  const answer = await get('/v1/ping', {})
  expect(answer.status).toBe(200)
  expect(answer.envelope()).toEqual({ data: { status: 'ok' }, status_message: 'ok', message: '' })
})

test.each(['x'.repeat(32), 'short', 'toString'])('an invalid API key (%s) is a 401', async (key) => {
  const { get, authHeaders } = createSandboxClient()
  const answer = await get('/v1/users', { ...authHeaders(), 'X-Service-API-Key': key })
  expect(answer.status).toBe(401)
  expect(answer.envelope()).toEqual(refusal('invalid API key'))
})

test('a revoked API key is a 401', async () => {
  const { sandbox, get } = createSandboxClient()
  expect((await get('/v1/users')).status).toBe(200)
  sandbox.makePermanentChange('revoke-key')
  const answer = await get('/v1/users')
  expect(answer.status).toBe(401)
  expect(answer.envelope()).toEqual(refusal('invalid API key'))
})

test.each([
  ['an unknown user', 'nobody@example.com'],
  ['an inactive user', 'ivy.inactive@example.com'],
  ['an active user of another organisation', 'stan.stranger@example.net'],
])('%s is a 403 on each endpoint that needs authentication', async (_label, email) => {
  const { get, authHeaders } = createSandboxClient()
  for (const path of authenticatedPaths) {
    const answer = await get(path, authHeaders(email))
    expect(answer.status).toBe(403)
    expect(answer.envelope()).toEqual(refusal('user is not an active member of the organisation'))
  }
})

test('a user gets a 403 after being deactivated', async () => {
  const { sandbox, get, authHeaders } = createSandboxClient()
  expect((await get('/v1/users', authHeaders('max.member@example.com'))).status).toBe(200)
  sandbox.setUserActive('max.member@example.com', false)
  expect((await get('/v1/users', authHeaders('max.member@example.com'))).status).toBe(403)
})

test('an API key has 32 characters and depends on the seed', () => {
  const { apiKey, webhookSecret } = createSandboxClient().sandbox.credentials
  expect(apiKey).toMatch(/^[A-Za-z0-9]{32}$/)
  expect(createSandboxClient().sandbox.credentials.apiKey).toBe(apiKey)
  const otherCredentials = createSandboxClient({ seed: 'another' }).sandbox.credentials
  expect(otherCredentials.apiKey).not.toBe(apiKey)
  expect(otherCredentials.webhookSecret).not.toBe(webhookSecret)
})

test('without a seed, each sandbox has a different key, secret and ids', async () => {
  const [first, second] = [createSandboxClient({ seed: undefined }), createSandboxClient({ seed: undefined })]
  const { apiKey, webhookSecret } = first.sandbox.credentials
  expect(second.sandbox.credentials.apiKey).not.toBe(apiKey)
  expect(second.sandbox.credentials.webhookSecret).not.toBe(webhookSecret)
  await first.order()
  await second.order()
  const listChecks = ({ sandbox }: typeof first) =>
    sandbox.snapshot().requests.flatMap((request) => request.checks)
  const ids = new Set(listChecks(first).map(({ id }) => id))
  expect(ids.size).toBeGreaterThan(0)
  expect(listChecks(second).filter(({ id }) => ids.has(id))).toEqual([])
})

test('the key decides which requests are accessible', async () => {
  const { sandbox, get, order } = createSandboxClient()
  const id = await order()
  const foreignHeaders = {
    'X-Service-API-Key': sandbox.otherOrganisationOwner.apiKey,
    'X-Service-User-Email': sandbox.otherOrganisationOwner.userEmail,
  }
  expect((await get(`/v1/requests/${id}`)).status).toBe(200)
  expect((await get(`/v1/requests/${id}`, foreignHeaders)).status).toBe(404)
})

test('a create by a user whose role does not permit it is a 403', async () => {
  const { post, authHeaders } = createSandboxClient()
  const jsonType = { 'Content-Type': 'application/json' }
  const support = await post(simpleOrder, { ...authHeaders('sam.support@example.com'), ...jsonType })
  expect(support.status).toBe(403)
  expect(support.envelope()).toEqual(refusal('the role of the user does not permit this action'))
  expect((await post(simpleOrder, { ...authHeaders('max.member@example.com'), ...jsonType })).status).toBe(
    201,
  )
})

test('plain HTTP is rejected, except for this machine', async () => {
  const { get } = createSandboxClient()
  expect((await get('http://sandbox.example.com/v1/ping', {})).status).toBe(400)
  expect((await get('https://sandbox.example.com/v1/ping', {})).status).toBe(200)
  expect((await get('http://localhost:8080/v1/ping', {})).status).toBe(200)
  expect((await get('http://[::1]:8080/v1/ping', {})).status).toBe(200)
})

test('an API key does not expire', async () => {
  const { get, clock } = createSandboxClient()
  await clock.advance(24 * hour + minute)
  expect((await get('/v1/users')).status).toBe(200)
})
