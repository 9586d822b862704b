import type { Socket } from 'node:net'

import { expect, test } from 'vitest'

import { recordForFaultTable } from '../harness/faults/fault-row.ts'
import { answer, enveloped, startRawServer } from '../http/raw-server.ts'
import { expectNoProcessFaults } from '../http/setup.ts'
import { apiKey, requestId, startApi, type TestApi } from './setup.ts'

/** An answer of the service has an envelope, and data of the documented shape (section "Resources and their fields"). */

// The tests of this file whose titles match are the row `answer-limits` of the fault table (test/resilience/rows.ts).
recordForFaultTable('answer-limits', { mustNotHappen: 'shown whole', titles: /without an end/ })
expectNoProcessFaults()

/** Makes one call to a server that always answers with these bytes. */
async function callAgainst<T>(bytes: Buffer, call: (api: TestApi) => Promise<T>): Promise<T> {
  await using server = await startRawServer({ onRequest: (socket: Socket) => socket.write(bytes) })
  await using api = startApi(server.origin)
  return await call(api)
}

const request = {
  request_id: requestId,
  package_id: 7,
  status: 'PARTIAL',
  created_at: '2026-11-20T12:00:00Z',
  requester: { email: 'casey@example.com' },
  recipient: { first_name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+61400000000' },
  checks: [
    {
      id: null,
      type: 'reference',
      status: 'IN_PROGRESS',
      references: [
        {
          referee_id: 12,
          referee_name: null,
          referee_email: null,
          status: 'COMPLETED',
          report_pdf_url: null,
        },
        {
          referee_id: 'r-1',
          referee_name: 'B',
          referee_email: 'b@example.com',
          status: 'X',
          report_pdf_url: 'u',
        },
      ],
    },
    {
      id: requestId,
      type: 'background',
      status: 'COMPLETED',
      partner_name: null,
      check_name: 'C',
      report_pdf_url: 'u',
    },
  ],
}

test('a request is returned unchanged; a referee_id may be a string or an integer', async () => {
  expect(await callAgainst(enveloped(200, request), (api) => api.getRequest(requestId))).toEqual(request)
})

test('unknown keys and unknown statuses are accepted and returned', async () => {
  const newerRequest = {
    ...request,
    status: 'ON_HOLD',
    priority: 'high',
    checks: [{ id: null, type: 'biometric', status: 'QUEUED', score: 3 }],
  }
  expect(await callAgainst(enveloped(200, newerRequest), (api) => api.getRequest(requestId))).toEqual(
    newerRequest,
  )
})

test('an envelope with keys of a later version is accepted', async () => {
  const body = JSON.stringify({ data: { status: 'up' }, status_message: 'ok', message: '', trace_id: 'x' })
  expect(await callAgainst(answer(200, {}, body), (api) => api.ping())).toMatchObject({ status: 'up' })
})

test('a byte order mark before the JSON is ignored', async () => {
  const body = `\uFEFF${JSON.stringify({ data: { users: [] }, status_message: 'ok', message: '' })}`
  expect(await callAgainst(answer(200, {}, body), (api) => api.listUsers())).toEqual([])
})

const user = {
  id: 'u',
  first_name: 'A',
  last_name: 'B',
  email: 'e',
  role: 'member',
  teams: [],
  job_title: '',
}

test.each<[string, unknown, (api: TestApi) => Promise<unknown>, string]>([
  ['a number as a status', { ...request, status: 3 }, (api) => api.getRequest(requestId), 'data.status'],
  [
    'a request_id that is no UUID',
    { ...request, request_id: '1' },
    (api) => api.getRequest(requestId),
    'data.request_id',
  ],
  [
    'a package_id of text',
    { ...request, package_id: '7' },
    (api) => api.getRequest(requestId),
    'data.package_id',
  ],
  [
    'a fraction as package_id',
    { ...request, package_id: 7.5 },
    (api) => api.getRequest(requestId),
    'data.package_id',
  ],
  ['checks that are no list', { ...request, checks: {} }, (api) => api.getRequest(requestId), 'data.checks'],
  [
    'a check without a status',
    { ...request, checks: [{ id: null, type: 'x' }] },
    (api) => api.getRequest(requestId),
    'data.checks.0.status',
  ],
  [
    'a referee_id that is true',
    {
      ...request,
      checks: [
        {
          id: null,
          type: 'reference',
          status: 'X',
          references: [
            { referee_id: true, referee_name: null, referee_email: null, status: 'X', report_pdf_url: null },
          ],
        },
      ],
    },
    (api) => api.getRequest(requestId),
    'data.checks.0.references.0.referee_id',
  ],
  ['no recipient', { ...request, recipient: null }, (api) => api.getRequest(requestId), 'data.recipient'],
  ['a list where an object belongs', [], (api) => api.listPackages(), 'data'],
  ['data of null', null, (api) => api.listUsers(), 'data'],
  ['packages that are missing', {}, (api) => api.listPackages(), 'data.packages'],
  [
    'a user without an e-mail',
    { users: [user, { ...user, email: null }] },
    (api) => api.listUsers(),
    'data.users.1.email',
  ],
  [
    'permissions that are no list',
    { users: [{ ...user, permissions: 'all' }] },
    (api) => api.listUsers(),
    'data.users.0.permissions',
  ],
  ['a ping without a status', {}, (api) => api.ping(), 'data.status'],
])('the error for %s names the path of the field', async (_name, data, call, field) => {
  await expect(callAgainst(enveloped(200, data), call)).rejects.toMatchObject({
    code: 'unavailable',
    status: 200,
    field,
    message: expect.stringContaining(`the service’s answer does not have the documented shape: ${field}: `),
  })
})

const foreignAnswers: [string, Buffer][] = [
  ['an empty body', answer(200)],
  ['a login page', answer(200, { 'content-type': 'text/html' }, '<!doctype html><title>Sign in</title>')],
  ['JSON without the envelope', answer(200, {}, '{"users":[]}')],
  ['an envelope without a message', answer(200, {}, '{"data":{"users":[]},"status_message":"ok"}')],
  [
    'an envelope whose message is no text',
    answer(200, {}, '{"data":{"users":[]},"status_message":"ok","message":1}'),
  ],
  ['a list', answer(200, {}, '[]')],
  ['null', answer(200, {}, 'null')],
  ['half of its JSON', answer(200, {}, '{"data":{"users":[]},"status_message":"ok","mess')],
  ['two JSON documents', answer(200, {}, '{"data":{"users":[]},"status_message":"ok","message":""}{}')],
  [
    'invalid UTF-8',
    answer(
      200,
      {},
      Buffer.concat([
        Buffer.from('{"data":{"users":[]},"status_message":"ok","message":"'),
        Buffer.from([0xc3, 0x28]),
        Buffer.from('"}'),
      ]),
    ),
  ],
  [
    'UTF-16',
    answer(200, {}, Buffer.from('{"data":{"users":[]},"status_message":"ok","message":""}', 'utf16le')),
  ],
]

test.each(foreignAnswers)(
  'a 200 with %s is reported as an answer that does not come from the service',
  async (_name, bytes) => {
    await expect(callAgainst(bytes, (api) => api.listUsers())).rejects.toMatchObject({
      code: 'unavailable',
      status: 200,
      message:
        'the answer does not come from the service: it has no envelope {data, status_message, message}',
      hint: 'Check the base URL: something other than the service may have answered.',
    })
  },
)

test('a 502 with HTML is reported as a failure of the service, after 4 attempts', async () => {
  await using server = await startRawServer({
    onRequest: (socket) => socket.write(answer(502, { 'content-type': 'text/html' }, '<h1>Bad Gateway</h1>')),
  })
  await using api = startApi(server.origin)
  await expect(api.listUsers()).rejects.toMatchObject({
    code: 'unavailable',
    status: 502,
    message: 'the service failed (502)',
  })
  expect(server.requests).toHaveLength(4)
  expect(api.retries.map((event) => event.kind)).toEqual(['retry', 'retry', 'retry'])
})

test.each([401, 403, 404])(
  'a %i with HTML is reported as an answer that does not come from the service',
  async (status) => {
    await expect(
      callAgainst(answer(status, { 'content-type': 'text/html' }, '<h1>No</h1>'), (api) => api.listUsers()),
    ).rejects.toMatchObject({
      code: 'unavailable',
      status,
      message: expect.stringContaining('does not come from the service'),
    })
  },
)

test('a 2xx status that the document does not have is an error', async () => {
  await expect(callAgainst(enveloped(202, { users: [] }), (api) => api.listUsers())).rejects.toMatchObject({
    code: 'unavailable',
    status: 202,
  })
})

test('fields called __proto__ and constructor are fields, and no prototype changes', async () => {
  const field = '{"type":"string","required":true,"description":"d"}'
  const part = '{"type":"string","required":true}'
  const data = `{"id":7,"fields":{"recipient":{"first_name":${part},"last_name":${part},"email":${part},"phone":${part}},
    "additional_information":[{"display_name":"D","code":"c","fields":{"__proto__":${field},"constructor":${field},"toString":${field}}}]}}`
  const bytes = answer(200, {}, `{"data":${data},"status_message":"ok","message":""}`)
  const schema = await callAgainst(bytes, (api) => api.packageSchema(7))
  const fields = schema.fields.additional_information[0]?.fields ?? {}
  expect(Object.keys(fields)).toEqual(['__proto__', 'constructor', 'toString'])
  expect(Object.getPrototypeOf(fields)).toBeNull()
  expect(({} as Record<string, unknown>)['required']).toBeUndefined()
  expect(Object.hasOwn(Object.prototype, 'type')).toBe(false)
})

test('a wrong field of a schema is named by its path', async () => {
  const part = { type: 'string', required: true }
  const data = {
    id: 7,
    fields: {
      recipient: { first_name: part, last_name: part, email: part, phone: part },
      additional_information: [
        { display_name: 'D', code: 'c', fields: { start: { ...part, description: 5 } } },
      ],
    },
  }
  await expect(callAgainst(enveloped(200, data), (api) => api.packageSchema(7))).rejects.toMatchObject({
    field: 'data.fields.additional_information.0.fields.start.description',
  })
})

test.each([
  ['the end of the part that is read', 150_000],
  ['the end of the part that is used', 100_000],
])(
  'only the start of a message without an end is used, and no part of a key at %s',
  async (_where, position) => {
    const start = 'x '.repeat(position / 2 - 8)
    const message = `${start}${apiKey}${' %2525'.repeat(200_000)}`
    const body = JSON.stringify({ data: null, status_message: 'client_error', message })
    const bytes = answer(400, { 'content-type': 'application/json' }, body)
    const error = await callAgainst(bytes, (api) => api.listPackages()).catch((failure: unknown) => failure)
    const text = String(error)
    expect(text.length).toBeLessThanOrEqual(101_000)
    expect(text).not.toContain(apiKey.slice(0, 8))
  },
)
