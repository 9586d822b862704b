import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, onTestFinished, test } from 'vitest'

import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox } from '../../../src/sandbox/control/embedded.ts'
import { sandboxOpenApi } from '../../../src/sandbox/control/openapi.ts'
import { listen } from '../../../src/server/listen.ts'
import { fullOrder, hour, jane, simpleOrder, start, visit, type Visit } from '../visit.ts'

async function control(
  where: Visit,
  path: string,
  body?: object,
): Promise<{ status: number; data: unknown }> {
  const answer = await where.sandbox.fetch(
    new Request(`http://127.0.0.1:4010/_sandbox/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    }),
  )
  return { status: answer.status, data: await answer.json() }
}

test('advance moves the clock of a running sandbox, and everything with it', async () => {
  const where = visit()
  const id = await where.order()
  const { status, data } = await control(where, 'advance', { ms: hour })
  expect(status).toBe(200)
  expect(data).toMatchObject({ now: start + hour, clock: 'manual', requests: { COMPLETED: 1 } })
  expect((await where.read(id)).status).toBe('COMPLETED')
})

test('a sandbox on the real clock cannot be advanced', async () => {
  const sandbox = createSandbox({ clock: systemClock })
  onTestFinished(() => sandbox.close())
  const { status, data } = await control({ ...visit(), sandbox }, 'advance', { ms: 1 })
  expect(status).toBe(400)
  expect(data).toEqual({
    error: {
      code: 'usage',
      message: 'this sandbox runs on the real clock, so it cannot be advanced',
      hint: 'To move the clock, start it with: refcheck sandbox start --clock manual',
    },
  })
})

test('inject and clear-faults', async () => {
  const where = visit()
  const fault = { kind: 'status', status: 503, when: 'before' }
  expect((await control(where, 'inject', { on: 'GET *', times: 5, fault })).status).toBe(200)
  expect((await where.get('/v1/ping')).status).toBe(503)
  await control(where, 'clear-faults', {})
  expect((await where.get('/v1/ping')).status).toBe(200)
  await control(where, 'inject', { scenario: 'instant' })
  const id = await where.order()
  await control(where, 'advance', { ms: 5000 })
  expect((await where.read(id)).status).toBe('COMPLETED')
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
  const { status, data } = await control(visit(), path, body)
  expect(status).toBe(400)
  expect((data as { error: { message: string } }).error.message).toMatch(message)
})

test('rules and scenarios are listed, and a rule is switched', async () => {
  const where = visit()
  expect((await control(where, 'scenarios')).data).toContainEqual({
    tag: 'stuck',
    changes: 'progress',
    what: 'Stays RECEIVED for ever.',
  })
  const { data } = await control(where, 'rules', { 'body-limit': 'none' })
  expect(data).toContainEqual(expect.objectContaining({ name: 'body-limit', current: 'none' }))
  expect((await control(where, 'rules')).data).toEqual(data)
})

test('switches are thrown, by hand or at the Nth call', async () => {
  const where = visit()
  await control(where, 'switch', { switch: 'no-credits' })
  expect((await where.post(simpleOrder)).status).toBe(403)
  await control(where, 'credits', { credits: null })
  await control(where, 'inject', {
    on: 'POST /v1/requests',
    after: 2,
    fault: { kind: 'switch', switch: 'revoke-key' },
  })
  const statuses: number[] = []
  for (let call = 0; call < 4; call += 1) statuses.push((await where.post(simpleOrder)).status)
  expect(statuses).toEqual([201, 201, 401, 401])
  const { data } = await control(where, 'renew-key', {})
  expect(data).toEqual({ api_key: where.sandbox.credentials.apiKey })
  expect((await where.post(simpleOrder)).status).toBe(201)
})

test.each([
  ['deactivate-user', 403, 'user is not an active member of the organisation'],
  ['no-credits', 403, 'organisation has no credits remaining'],
  ['expire-trial', 403, 'organisation trial has expired'],
  ['deactivate-subscription', 403, 'organisation subscription is not active'],
] as const)('the switch %s makes a create a %i: %s', async (name, status, message) => {
  const where = visit()
  await control(where, 'switch', { switch: name })
  const answer = await where.post(simpleOrder)
  expect(answer.status).toBe(status)
  expect(answer.envelope().message).toBe(message)
})

test('a user is deactivated and activated again', async () => {
  const where = visit()
  const email = 'max.member@example.com'
  await control(where, 'user', { email, active: false })
  expect((await where.get('/v1/users', where.signedIn(email))).status).toBe(403)
  await control(where, 'user', { email, active: true })
  expect((await where.get('/v1/users', where.signedIn(email))).status).toBe(200)
})

test('a package replaced by a successor: the old one INACTIVE with its schema, a new id with a new required field', async () => {
  const where = visit()
  const before = (await where.get('/v1/packages/102/schema')).envelope()
  const { data } = await control(where, 'replace-package', { id: 102 })
  const { id } = data as { id: number }
  expect((await where.get('/v1/packages/102/schema')).envelope()).toEqual(before)
  expect((await where.post(simpleOrder)).envelope().message).toBe('package_id: package is not ACTIVE')
  expect((await where.get(`/v1/packages?id=${id}`)).envelope().data).toMatchObject({
    packages: [{ id, status: 'ACTIVE', name: 'Identity check only' }],
  })
  expect((await where.post({ ...simpleOrder, package_id: id })).envelope().message).toBe(
    'additional_information[0].fields.consent_method: is required by check code consent',
  )
})

test('hasten brings the next turn of a request, or of one of its checks, forward', async () => {
  const where = visit()
  const id = await where.order({ ...simpleOrder })
  await control(where, 'hasten', { request_id: id })
  expect((await where.read(id)).status).toBe('IN_PROGRESS')
  const [check] = (await where.read(id)).checks
  await control(where, 'hasten', { request_id: id, check_id: check?.id })
  const after = await where.read(id)
  expect(after.status).toBe('COMPLETED')
  expect((await where.get(after.checks[0]?.report_pdf_url ?? '', {})).status).toBe(200)
  expect((await control(where, 'hasten', { request_id: id })).status).toBe(400)
})

test('an event is delivered again on demand, the same bytes', async () => {
  const bodies: string[] = []
  const where = visit({
    webhookUrl: 'https://hooks.example.com/in',
    deliver: (_url, _headers, body) => {
      bodies.push(Buffer.from(body).toString())
      return Promise.resolve(200)
    },
  })
  await where.order()
  await control(where, 'advance', { ms: hour })
  const deliveries = (await control(where, 'deliveries')).data as { id: string; state: string }[]
  expect(deliveries.map(({ state }) => state)).toEqual(['delivered', 'delivered'])
  const { data } = await control(where, 'redeliver', { delivery_id: deliveries[0]?.id })
  expect(data).toMatchObject({ status: 'IN_PROGRESS', outcome: '200' })
  expect((await control(where, 'redeliver', { delivery_id: 'x' })).data).toMatchObject({
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
])('"an HTTPS endpoint URL": the webhook %j is refused, and the old one stays', async (url, message) => {
  const where = visit({ webhookUrl: 'https://hooks.example.com/in' })
  const { status, data } = await control(where, 'webhook', { url })
  expect([status, data]).toMatchObject([400, { error: { code: 'usage', message } }])
  expect(where.sandbox.overview().webhook_url).toBe('https://hooks.example.com/in')
  expect(() => visit({ webhookUrl: url })).toThrow(message)
})

test('the webhook is set and taken away', async () => {
  const where = visit()
  await control(where, 'webhook', { url: 'https://hooks.example.com/in' })
  expect(where.sandbox.overview().webhook_url).toBe('https://hooks.example.com/in')
  await control(where, 'webhook', { url: null })
  expect(where.sandbox.overview().webhook_url).toBeNull()
})

test('snapshot, restore and reset', async () => {
  const where = visit()
  const id = await where.order()
  const snapshot = (await control(where, 'snapshot')).data as object
  await control(where, 'advance', { ms: hour })
  await where.order()
  await control(where, 'restore', snapshot)
  expect(where.clock.now()).toBe(start)
  expect((await where.read(id)).status).toBe('RECEIVED')
  expect(where.sandbox.requests()).toHaveLength(1)
  await control(where, 'reset', {})
  expect((await control(where, 'requests')).data).toEqual([])
})

test('restore keeps all that a snapshot says', async () => {
  const where = visit({ webhookUrl: 'https://hooks.example.com/in', deliver: () => Promise.resolve(500) })
  for (const tag of ['', '+error', '+declined', '+event-twice']) {
    await where.order({ ...fullOrder, recipient: { ...jane, email: `jane${tag}@example.com` } })
  }
  await control(where, 'advance', { ms: hour / 4 })
  const snapshot = (await control(where, 'snapshot')).data as object
  await control(where, 'reset', {})
  await control(where, 'restore', snapshot)
  expect((await control(where, 'snapshot')).data).toEqual(snapshot)
})

test.each([
  ['nothing', {}, 'version'],
  ['another version', { version: 2 }, 'version'],
  ['no organisation', { organisations: [] }, 'organisations'],
  ['a request that is none', { requests: [1] }, 'requests.0'],
  ['a step of an unknown kind', { steps: [{ at: 1, does: 'explode' }] }, 'requests.0.steps.0.does'],
  ['a quota that is none', { quota: { key: 'full' } }, 'quota.key'],
])('restore refuses %s and leaves what is there', async (what, part, where) => {
  const here = visit()
  const id = await here.order()
  const snapshot = (await control(here, 'snapshot')).data as { requests: object[] }
  const requests = 'steps' in part ? [{ ...snapshot.requests[0], ...part }] : snapshot.requests
  const { status, data } = await control(
    here,
    'restore',
    what === 'nothing' ? {} : { ...snapshot, requests, ...part },
  )
  expect([status, data]).toEqual([
    400,
    {
      error: {
        code: 'invalid_input',
        message: `this is not a snapshot of a sandbox: ${where} is wrong`,
        hint: 'Nothing was changed. Make a snapshot with: refcheck sandbox snapshot > FILE',
      },
    },
  ])
  expect((await here.read(id)).status).toBe('RECEIVED')
})

test('control is no part of the service: it needs no key, is never counted and strikes no fault', async () => {
  const where = visit({ quota: [{ calls: 1, seconds: 60 }] })
  where.sandbox.inject({ on: '*', fault: { kind: 'status', status: 500, when: 'before' } })
  for (let call = 0; call < 3; call += 1) expect((await control(where, 'state')).status).toBe(200)
  where.sandbox.clearFaults()
  expect((await where.get('/v1/users')).status).toBe(200)
  expect((await control(where, 'state')).data).toMatchObject({
    quota: [{ calls: 1, seconds: 60, used: 1, ends_at: start + 60_000 }],
  })
  expect((await control(where, 'nothing')).status).toBe(404)
})

test('control answers its own machine only, and no foreign page', async () => {
  const { sandbox } = visit()
  const ask = async (url: string, headers: Record<string, string>, remoteAddress: string) => {
    const connection = { remoteAddress, cut: () => {}, cutShort: () => {} }
    return (await sandbox.fetch(new Request(url, { headers }), connection)).status
  }
  const url = 'http://127.0.0.1:4010/_sandbox/state'
  expect(await ask(url, {}, '127.0.0.1')).toBe(200)
  expect(await ask(url, {}, '::ffff:127.0.0.1')).toBe(200)
  expect(await ask(url, { Origin: 'http://127.0.0.1:4010' }, '::1')).toBe(200)
  expect(await ask(url, { Origin: 'https://example.com' }, '127.0.0.1')).toBe(403)
  expect(await ask('http://rebound.example.com:4010/_sandbox/state', {}, '127.0.0.1')).toBe(403)
  expect(await ask(url, {}, '192.0.2.7')).toBe(403)
})

test('a change needs JSON, which no form of a page can send', async () => {
  const { sandbox } = visit()
  const answer = await sandbox.fetch(
    new Request('http://127.0.0.1:1/_sandbox/reset', { method: 'POST', body: '{}' }),
  )
  expect(answer.status).toBe(400)
})

test('works over a real connection', async () => {
  const where = visit()
  const { url, close } = await listen((request, connection) => where.sandbox.fetch(request, connection))
  onTestFinished(close)
  const answer = await fetch(`${url}/_sandbox/advance`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ms: 1000 }),
  })
  expect(await answer.json()).toMatchObject({ now: start + 1000 })
})

test('the log keeps calls, statuses and deliveries, without tokens, and tells subscribers', async () => {
  const where = visit({
    webhookUrl: 'https://hooks.example.com/in',
    deliver: () => Promise.resolve(200),
  })
  const received: number[] = []
  const stop = where.sandbox.log.subscribe(({ n }) => received.push(n))
  const id = await where.order()
  await where.clock.advance(hour)
  const url = (await where.read(id)).checks[0]?.report_pdf_url ?? ''
  await where.get(url, {})
  stop()
  await where.get('/v1/ping')
  const { data } = await control(where, 'log')
  const entries = data as { n: number; kind: string; path?: string }[]
  expect(entries.map(({ n }) => n)).toEqual(entries.map((_entry, index) => index))
  expect(received).toEqual(entries.slice(0, -1).map(({ n }) => n))
  const count = (kind: string): number => entries.filter((entry) => entry.kind === kind).length
  expect([count('call'), count('status'), count('delivery')]).toEqual([4, 3, 2])
  expect(JSON.stringify(entries)).not.toContain(new URL(url).searchParams.get('t'))
  expect((await control(where, `log?from=${entries.length - 1}`)).data).toHaveLength(1)
})

test('every control is documented in its OpenAPI, and answers as that says', async () => {
  const where = visit({ webhookUrl: 'https://hooks.example.com/in', deliver: () => Promise.resolve(200) })
  const id = await where.order()
  await control(where, 'advance', { ms: hour })
  const snapshot = (await control(where, 'snapshot')).data as object
  const orders: Record<string, object> = {
    advance: { ms: 1 },
    inject: { scenario: 'declined' },
    rules: { 'body-limit': 'none' },
    switch: { switch: 'no-credits' },
    user: { email: 'max.member@example.com', active: true },
    credits: { credits: null },
    plan: { trial: 'none', subscription: 'active' },
    webhook: { url: 'https://hooks.example.com/in' },
    'replace-package': { id: 102 },
    hasten: { request_id: await where.order() },
    redeliver: { delivery_id: id },
    trigger: { story: 'completed' },
    restore: snapshot,
  }
  const document = sandboxOpenApi('http://127.0.0.1:4010')
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true })
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema(document, 'openapi')
  const named = (schema: object): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object
  const paths = Object.entries(document['paths'] as Record<string, Record<string, Operation>>)
  const controls = paths.filter(([path]) => path.startsWith('/_sandbox/'))
  expect(controls.length).toBeGreaterThan(18)
  for (const [path, operations] of controls) {
    const name = path.replace('/_sandbox/', '')
    for (const [method, operation] of Object.entries(operations)) {
      const order = method === 'post' ? (orders[name] ?? {}) : undefined
      const given = named(operation.requestBody?.content['application/json'].schema ?? {})
      expect([name, ajv.validate(given, order)]).toEqual([name, true])
      const { status, data } = await control(where, name, order)
      expect([method, name, status]).toEqual([method, name, 200])
      const answer = named(operation.responses['200'].content['application/json'].schema)
      expect([name, ajv.validate(answer, data), ajv.errors]).toEqual([name, true, null])
    }
  }
})

interface Content {
  content: { 'application/json': { schema: object } }
}
interface Operation {
  requestBody?: Content
  responses: { 200: Content }
}

test('a read of the log waits for what comes next', async () => {
  const where = visit()
  const coming = control(where, 'log?from=0&wait=30')
  await where.get('/v1/ping')
  expect((await coming).data).toMatchObject([{ n: 0, kind: 'call', path: '/v1/ping' }])
})
