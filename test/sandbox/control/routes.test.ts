import { expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { listen } from '../../../src/server/listen.ts'
import {
  callControl,
  createSandboxClient,
  fullOrder,
  hour,
  jane,
  simpleOrder,
  startTime,
} from '../sandbox-client.ts'

test('advance moves the clock of a running sandbox, and its requests make progress', async () => {
  const client = createSandboxClient()
  const id = await client.order()
  const { status, data } = await callControl(client, 'advance', { ms: hour })
  expect(status).toBe(200)
  expect(data).toMatchObject({ now: startTime + hour, clock: 'manual', requests: { COMPLETED: 1 } })
  expect((await client.read(id)).status).toBe('COMPLETED')
})

test('a sandbox on the real clock cannot be advanced', async () => {
  const sandbox = createSandbox({ clock: systemClock })
  onTestFinished(() => sandbox.close())
  const { status, data } = await callControl({ ...createSandboxClient(), sandbox }, 'advance', { ms: 1 })
  expect(status).toBe(400)
  expect(data).toEqual({
    error: {
      code: 'usage',
      message: 'this sandbox runs on the real clock, so it cannot be advanced',
      hint: 'To move the clock, start it with: refcheck sandbox start --clock manual',
    },
  })
})

test('inject adds a fault or a scenario, and clear-faults removes the faults', async () => {
  const client = createSandboxClient()
  const fault = { kind: 'status', status: 503, when: 'before' }
  expect((await callControl(client, 'inject', { on: 'GET *', times: 5, fault })).status).toBe(200)
  expect((await client.get('/v1/ping')).status).toBe(503)
  await callControl(client, 'clear-faults', {})
  expect((await client.get('/v1/ping')).status).toBe(200)
  await callControl(client, 'inject', { scenario: 'instant' })
  const id = await client.order()
  await callControl(client, 'advance', { ms: 5000 })
  expect((await client.read(id)).status).toBe('COMPLETED')
})

test.each([
  ['inject', { on: 'GET *', fault: { kind: 'earthquake' } }, /^fault\.kind: must be one of: status, cut/],
  ['inject', { on: 'GET *', fault: { kind: 'cut' } }, /^fault\.when: .*before/],
  ['inject', { on: '', fault: { kind: 'no-id' } }, /^on: /],
  ['inject', { scenario: 'stuck', times: 0 }, /^times: /],
  ['inject', { scenario: 'sunny' }, /^no scenario named "sunny"$/],
  ['advance', { ms: -1 }, /^ms: /],
  ['advance', {}, /^ms: /],
  ['rules', { weather: 'fine' }, /^no rule named "weather"$/],
  ['switch', { switch: 'lights' }, /^switch: /],
  ['user', { email: 'nobody@example.com', active: false }, /^the sandbox has no user "nobody@example.com"$/],
  ['redeliver', { delivery_id: 'x' }, /^there is no webhook URL to deliver to$/],
  ['hasten', { request_id: 'x' }, /^no request "x"$/],
  ['replace-package', { id: 999 }, /^the sandbox has no package 999$/],
])('%s refuses %j', async (path, body, message) => {
  const { status, data } = await callControl(createSandboxClient(), path, body)
  expect(status).toBe(400)
  expect((data as { error: { message: string } }).error.message).toMatch(message)
})

test('rules and scenarios are listed, and a rule is switched', async () => {
  const client = createSandboxClient()
  expect((await callControl(client, 'scenarios')).data).toContainEqual({
    tag: 'stuck',
    changes: 'progress',
    what: 'Stays RECEIVED for ever.',
  })
  const { data } = await callControl(client, 'rules', { 'body-limit': 'none' })
  expect(data).toContainEqual(expect.objectContaining({ name: 'body-limit', current: 'none' }))
  expect((await callControl(client, 'rules')).data).toEqual(data)
})

test('a permanent change (a switch) is made by a control call, or by a fault at the Nth call', async () => {
  const client = createSandboxClient()
  await callControl(client, 'switch', { switch: 'no-credits' })
  expect((await client.post(simpleOrder)).status).toBe(403)
  await callControl(client, 'credits', { credits: null })
  await callControl(client, 'inject', {
    on: 'POST /v1/requests',
    after: 2,
    fault: { kind: 'switch', switch: 'revoke-key' },
  })
  const statuses: number[] = []
  for (let call = 0; call < 4; call += 1) statuses.push((await client.post(simpleOrder)).status)
  expect(statuses).toEqual([201, 201, 401, 401])
  const { data } = await callControl(client, 'renew-key', {})
  expect(data).toEqual({ api_key: client.sandbox.credentials.apiKey })
  expect((await client.post(simpleOrder)).status).toBe(201)
})

test.each([
  ['deactivate-user', 403, 'user is not an active member of the organisation'],
  ['no-credits', 403, 'organisation has no credits remaining'],
  ['expire-trial', 403, 'organisation trial has expired'],
  ['deactivate-subscription', 403, 'organisation subscription is not active'],
] as const)('the switch %s makes a create a %i: %s', async (name, status, message) => {
  const client = createSandboxClient()
  await callControl(client, 'switch', { switch: name })
  const answer = await client.post(simpleOrder)
  expect(answer.status).toBe(status)
  expect(answer.envelope().message).toBe(message)
})

test('a user is deactivated and activated again', async () => {
  const client = createSandboxClient()
  const email = 'max.member@example.com'
  await callControl(client, 'user', { email, active: false })
  expect((await client.get('/v1/users', client.authHeaders(email))).status).toBe(403)
  await callControl(client, 'user', { email, active: true })
  expect((await client.get('/v1/users', client.authHeaders(email))).status).toBe(200)
})

test('replace-package makes a package INACTIVE and adds a successor with a new id and a new required field', async () => {
  const client = createSandboxClient()
  const schemaBefore = (await client.get('/v1/packages/102/schema')).envelope()
  const { data } = await callControl(client, 'replace-package', { id: 102 })
  const { id } = data as { id: number }
  expect((await client.get('/v1/packages/102/schema')).envelope()).toEqual(schemaBefore)
  expect((await client.post(simpleOrder)).envelope().message).toBe('package_id: package is not ACTIVE')
  expect((await client.get(`/v1/packages?id=${id}`)).envelope().data).toMatchObject({
    packages: [{ id, status: 'ACTIVE', name: 'Identity check only' }],
  })
  expect((await client.post({ ...simpleOrder, package_id: id })).envelope().message).toBe(
    'additional_information[0].fields.consent_method: is required by check code consent',
  )
})

test('hasten makes the next status change of a request, or of one of its checks, immediately', async () => {
  const client = createSandboxClient()
  const id = await client.order({ ...simpleOrder })
  await callControl(client, 'hasten', { request_id: id })
  expect((await client.read(id)).status).toBe('IN_PROGRESS')
  const [check] = (await client.read(id)).checks
  await callControl(client, 'hasten', { request_id: id, check_id: check?.id })
  const completedRequest = await client.read(id)
  expect(completedRequest.status).toBe('COMPLETED')
  expect((await client.get(completedRequest.checks[0]?.report_pdf_url ?? '', {})).status).toBe(200)
  expect((await callControl(client, 'hasten', { request_id: id })).status).toBe(400)
})

test('redeliver sends the same bytes of an event again', async () => {
  const bodies: string[] = []
  const client = createSandboxClient({
    webhookUrl: 'https://hooks.example.com/in',
    deliver: (_url, _headers, body) => {
      bodies.push(Buffer.from(body).toString())
      return Promise.resolve(200)
    },
  })
  await client.order()
  await callControl(client, 'advance', { ms: hour })
  const deliveries = (await callControl(client, 'deliveries')).data as { id: string; state: string }[]
  expect(deliveries.map(({ state }) => state)).toEqual(['delivered', 'delivered'])
  const { data } = await callControl(client, 'redeliver', { delivery_id: deliveries[0]?.id })
  expect(data).toMatchObject({ status: 'IN_PROGRESS', outcome: '200' })
  expect((await callControl(client, 'redeliver', { delivery_id: 'x' })).data).toMatchObject({
    error: { message: 'no event "x"' },
  })
  expect(bodies).toHaveLength(3)
  expect(bodies[2]).toBe(bodies[0])
})

test.each([
  ['nonsense', 'the webhook is not a URL'],
  ['', 'the webhook is not a URL'],
  ['ftp://127.0.0.1/in', 'the webhook ftp://127.0.0.1 is not https'],
  ['http://hooks.example.com/in?token=hidden', 'the webhook http://hooks.example.com is not https'],
  ['https://me:hidden@hooks.example.com/in', 'the webhook at hooks.example.com has a user name in its URL'],
])('the webhook URL %j is refused, and the previous one stays', async (url, message) => {
  const client = createSandboxClient({ webhookUrl: 'https://hooks.example.com/in' })
  const { status, data } = await callControl(client, 'webhook', { url })
  expect([status, data]).toMatchObject([400, { error: { code: 'usage', message } }])
  expect(client.sandbox.overview().webhook_url).toBe('https://hooks.example.com/in')
  expect(() => createSandboxClient({ webhookUrl: url })).toThrow(message)
})

test('the webhook is set and removed', async () => {
  const client = createSandboxClient()
  await callControl(client, 'webhook', { url: 'https://hooks.example.com/in' })
  expect(client.sandbox.overview().webhook_url).toBe('https://hooks.example.com/in')
  await callControl(client, 'webhook', { url: null })
  expect(client.sandbox.overview().webhook_url).toBeNull()
})

test('restore returns to the state of a snapshot, and reset removes all requests', async () => {
  const client = createSandboxClient()
  const id = await client.order()
  const snapshot = (await callControl(client, 'snapshot')).data as object
  await callControl(client, 'advance', { ms: hour })
  await client.order()
  await callControl(client, 'restore', snapshot)
  expect(client.clock.now()).toBe(startTime)
  expect((await client.read(id)).status).toBe('RECEIVED')
  expect(client.sandbox.requests()).toHaveLength(1)
  await callControl(client, 'reset', {})
  expect((await callControl(client, 'requests')).data).toEqual([])
})

test('a snapshot made after a restore is equal to the restored one', async () => {
  const client = createSandboxClient({
    webhookUrl: 'https://hooks.example.com/in',
    deliver: () => Promise.resolve(500),
  })
  for (const tag of ['', '+error', '+declined', '+event-twice']) {
    await client.order({ ...fullOrder, recipient: { ...jane, email: `jane${tag}@example.com` } })
  }
  await callControl(client, 'advance', { ms: hour / 4 })
  const snapshot = (await callControl(client, 'snapshot')).data as object
  await callControl(client, 'reset', {})
  await callControl(client, 'restore', snapshot)
  expect((await callControl(client, 'snapshot')).data).toEqual(snapshot)
})

test.each([
  ['an empty object', {}, 'version'],
  ['another version', { version: 2 }, 'version'],
  ['no organisation', { organisations: [] }, 'organisations'],
  ['an invalid request', { requests: [1] }, 'requests.0'],
  ['a step of an unknown kind', { steps: [{ at: 1, does: 'explode' }] }, 'requests.0.steps.0.does'],
  ['an invalid quota', { quota: { key: 'full' } }, 'quota.key'],
])('restore refuses %s and does not change the sandbox', async (label, part, path) => {
  const client = createSandboxClient()
  const id = await client.order()
  const snapshot = (await callControl(client, 'snapshot')).data as { requests: object[] }
  const requests = 'steps' in part ? [{ ...snapshot.requests[0], ...part }] : snapshot.requests
  const { status, data } = await callControl(
    client,
    'restore',
    label === 'an empty object' ? {} : { ...snapshot, requests, ...part },
  )
  expect([status, data]).toEqual([
    400,
    {
      error: {
        code: 'invalid_input',
        message: `this is not a snapshot of a sandbox: ${path} is wrong`,
        hint: 'Nothing was changed. Make a snapshot with: refcheck sandbox snapshot > FILE',
      },
    },
  ])
  expect((await client.read(id)).status).toBe('RECEIVED')
})

test('a control call needs no key, does not count against the quota and triggers no fault', async () => {
  const client = createSandboxClient({ quota: [{ calls: 1, seconds: 60 }] })
  client.sandbox.inject({ on: '*', fault: { kind: 'status', status: 500, when: 'before' } })
  for (let call = 0; call < 3; call += 1) expect((await callControl(client, 'state')).status).toBe(200)
  client.sandbox.clearFaults()
  expect((await client.get('/v1/users')).status).toBe(200)
  expect((await callControl(client, 'state')).data).toMatchObject({
    quota: [{ calls: 1, seconds: 60, used: 1, ends_at: startTime + 60_000 }],
  })
  expect((await callControl(client, 'nothing')).status).toBe(404)
})

test('control is refused for another machine, a foreign page and a foreign Host', async () => {
  const { sandbox } = createSandboxClient()
  const fetchStatus = async (url: string, headers: Record<string, string>, remoteAddress: string) => {
    const connection = { remoteAddress, cut: () => {}, sendPartAndClose: () => {} }
    return (await sandbox.fetch(new Request(url, { headers }), connection)).status
  }
  const url = 'http://127.0.0.1:4010/_sandbox/state'
  expect(await fetchStatus(url, {}, '127.0.0.1')).toBe(200)
  expect(await fetchStatus(url, {}, '::ffff:127.0.0.1')).toBe(200)
  expect(await fetchStatus(url, { Origin: 'http://127.0.0.1:4010' }, '::1')).toBe(200)
  expect(await fetchStatus(url, { Origin: 'https://example.com' }, '127.0.0.1')).toBe(403)
  expect(await fetchStatus('http://rebound.example.com:4010/_sandbox/state', {}, '127.0.0.1')).toBe(403)
  expect(await fetchStatus(url, {}, '192.0.2.7')).toBe(403)
})

test('a control call must have the content type JSON, which no HTML form can send', async () => {
  const { sandbox } = createSandboxClient()
  const answer = await sandbox.fetch(
    new Request('http://127.0.0.1:1/_sandbox/reset', { method: 'POST', body: '{}' }),
  )
  expect(answer.status).toBe(400)
})

test('control works over a real connection', async () => {
  const client = createSandboxClient()
  const { url, close } = await listen((request, connection) => client.sandbox.fetch(request, connection))
  onTestFinished(close)
  const answer = await fetch(`${url}/_sandbox/advance`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ms: 1000 }),
  })
  expect(await answer.json()).toMatchObject({ now: startTime + 1000 })
})

test('the log contains calls, statuses and deliveries, without report tokens, and notifies subscribers', async () => {
  const client = createSandboxClient({
    webhookUrl: 'https://hooks.example.com/in',
    deliver: () => Promise.resolve(200),
  })
  const received: number[] = []
  const unsubscribe = client.sandbox.log.subscribe(({ n }) => received.push(n))
  const id = await client.order()
  await client.clock.advance(hour)
  const url = (await client.read(id)).checks[0]?.report_pdf_url ?? ''
  await client.get(url, {})
  unsubscribe()
  await client.get('/v1/ping')
  const { data } = await callControl(client, 'log')
  const entries = data as { n: number; kind: string; path?: string }[]
  expect(entries.map(({ n }) => n)).toEqual(entries.map((_entry, index) => index))
  expect(received).toEqual(entries.slice(0, -1).map(({ n }) => n))
  const count = (kind: string): number => entries.filter((entry) => entry.kind === kind).length
  expect([count('call'), count('status'), count('delivery')]).toEqual([4, 3, 2])
  expect(JSON.stringify(entries)).not.toContain(new URL(url).searchParams.get('t'))
  expect((await callControl(client, `log?from=${entries.length - 1}`)).data).toHaveLength(1)
})

test('a read of the log with `wait` returns the next entry when it is added', async () => {
  const client = createSandboxClient()
  const pendingRead = callControl(client, 'log?from=0&wait=30')
  await client.get('/v1/ping')
  expect((await pendingRead).data).toMatchObject([{ n: 0, kind: 'call', path: '/v1/ping' }])
})
