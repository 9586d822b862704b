import { Agent, MockAgent } from 'undici'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import {
  type Client,
  type ClientOptions,
  createClient,
  InterruptedError,
  InvalidInputError,
  type NewRequest,
  OutcomeUnknownError,
  RefcheckError,
} from '../../src/exports/client.ts'
import { type RequestStatus } from '../../src/contract/statuses.ts'
import { type Sandbox, startSandbox } from '../../src/exports/sandbox.ts'

const order: NewRequest = {
  package_id: 102,
  recipient: { first_name: 'Priya', last_name: 'Shah', email: 'priya@example.com', phone: '+61412345678' },
}
const unknownId = '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ clock: 'manual', quota: [] })
})
beforeEach(() => sandbox.reset())
afterAll(() => sandbox.close())

async function withClient<T>(
  work: (client: Client) => Promise<T>,
  options?: Partial<ClientOptions>,
): Promise<T> {
  const { baseUrl, apiKey, userEmail } = sandbox
  const client = createClient({ baseUrl, apiKey, userEmail, ...options })
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Returns the error of a call that must fail. */
async function catchError(call: () => unknown): Promise<RefcheckError> {
  try {
    await call()
  } catch (error) {
    if (error instanceof RefcheckError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** Reads a report to its end. */
async function drain(report: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of report) if (chunk.length === 0) throw new Error('an empty chunk')
}

test.each<[option: string, options: object]>([
  ['baseUrl', { baseUrl: undefined }],
  ['baseUrl', { baseUrl: 4280 }],
  ['apiKey', { apiKey: null }],
  ['userEmail', { userEmail: '' }],
  ['userEmail', { userEmail: 'olive' }],
  ['userEmail', { userEmail: 'a@example.com\r\nx: y' }],
  ['timeoutMs', { timeoutMs: -1 }],
  ['timeoutMs', { timeoutMs: Number.NaN }],
  ['timeoutMs', { timeoutMs: '5' }],
  ['onRetry', { onRetry: true }],
  ['onRequest', { onRequest: {} }],
  ['onResponse', { onResponse: 'log' }],
  ['dispatcher', { dispatcher: {} }],
  ['dispatcher', { dispatcher: null }],
])('an invalid option is refused, and the error names it: %s of %j', async (option, options) => {
  const { baseUrl, apiKey, userEmail } = sandbox
  const error = await catchError(() => createClient({ baseUrl, apiKey, userEmail, ...options }))
  expect(error).toBeInstanceOf(InvalidInputError)
  expect(error).toMatchObject({ code: 'invalid_input', field: option })
  expect(error.message).toContain(option)
})

test.each<[field: string, call: (client: Client) => unknown]>([
  ['packageId', (client) => client.packageSchema(1.5)],
  ['requestId', (client) => client.getRequest(undefined as unknown as string)],
  ['status', (client) => client.listPackages({ status: 'gone' as 'active' })],
  ['signal', (client) => client.listUsers({ signal: {} as AbortSignal })],
  ['waitMs', (client) => client.createRequest(order, { waitMs: -1 })],
  ['body', (client) => client.createRequest(undefined as unknown as NewRequest)],
  [
    'recipient.phone',
    (client) => client.createRequest({ ...order, recipient: { ...order.recipient, phone: '12' } }),
  ],
])('an invalid argument is refused, and nothing is sent: %s', async (field, call) => {
  const error = await withClient((client) => catchError(() => call(client)))
  expect(error).toMatchObject({ code: 'invalid_input', field, hint: 'Nothing was sent.' })
  expect(sandbox.calls()).toEqual([])
})

test('an abort is an InterruptedError whose cause is the reason, before and during a call', async () => {
  const errorBefore = await withClient((client) =>
    catchError(() => client.createRequest(order, { signal: AbortSignal.abort() })),
  )
  expect(errorBefore).toBeInstanceOf(InterruptedError)
  expect(errorBefore).toMatchObject({ code: 'interrupted', cause: { name: 'AbortError' } })
  expect(sandbox.calls()).toEqual([])

  sandbox.inject({ on: 'GET *', fault: { kind: 'hang', when: 'before' } })
  const controller = new AbortController()
  const errorDuring = await withClient(
    (client) => catchError(() => client.listUsers({ signal: controller.signal })),
    { onRequest: () => setImmediate(() => controller.abort('enough')) },
  )
  expect(errorDuring).toMatchObject({ code: 'interrupted', cause: 'enough' })
})

test('an abort of an order in flight is an unknown outcome', async () => {
  sandbox.inject({ on: 'POST /v1/requests', fault: { kind: 'hang', when: 'after' } })
  const controller = new AbortController()
  await withClient(async (client) => {
    const call = catchError(() => client.createRequest(order, { signal: controller.signal }))
    await expect.poll(() => sandbox.requests().length).toBe(1)
    controller.abort()
    expect(await call).toBeInstanceOf(OutcomeUnknownError)
  })
})

test('a closed client is a UsageError', async () => {
  const client = await withClient(async (openClient) => openClient)
  expect(await catchError(() => client.ping())).toMatchObject({
    code: 'usage',
    message: 'the client is closed',
  })
})

test('a 429 for an order is thrown at once; with waitMs the client waits, and makes the order once', async () => {
  const throttle = (): unknown =>
    sandbox.inject({
      on: 'POST /v1/requests',
      fault: { kind: 'status', status: 429, when: 'before', retryAfter: '1' },
      times: 1,
    })
  throttle()
  const error = await withClient((client) => catchError(() => client.createRequest(order)))
  expect(error).toMatchObject({ code: 'throttled', retryAfter: 1 })
  expect(sandbox.requests()).toEqual([])

  throttle()
  const retries: unknown[] = []
  const created = await withClient((client) => client.createRequest(order, { waitMs: 5_000 }), {
    onRetry: (retry) => retries.push(retry),
  })
  expect(retries).toEqual([{ reason: 'the quota is used up', seconds: 1 }])
  expect(sandbox.requests().map(({ request_id }) => request_id)).toEqual([created.request_id])
})

test('onRequest and onResponse see every exchange, without the key and without tokens', async () => {
  const exchanges: unknown[] = []
  const reportUrl = await withClient(
    async (client) => {
      sandbox.inject({
        on: 'GET /v1/users',
        fault: { kind: 'status', status: 503, when: 'before' },
        times: 1,
      })
      await client.listUsers()
      const { request_id } = await client.createRequest(order)
      await sandbox.advance(3_600_000)
      const { checks } = await client.getRequest(request_id)
      const url = checks[0]?.report_pdf_url ?? ''
      for await (const chunk of client.report({ url })) expect(chunk.length).toBeGreaterThan(0)
      return url
    },
    {
      onRequest: (request) => exchanges.push(request),
      onResponse: ({ milliseconds, ...response }) => {
        expect(milliseconds).toBeGreaterThanOrEqual(0)
        exchanges.push(response)
      },
    },
  )
  const text = JSON.stringify(exchanges)
  expect(text).not.toContain(sandbox.apiKey)
  expect(text).not.toContain(new URL(reportUrl).searchParams.get('t'))
  const users = `${sandbox.baseUrl}/v1/users`
  expect(exchanges.slice(0, 4)).toEqual([
    { method: 'GET', url: users },
    { method: 'GET', url: users, status: 503, failure: undefined },
    { method: 'GET', url: users },
    { method: 'GET', url: users, status: 200, failure: undefined },
  ])
  expect(exchanges).toHaveLength(10)
  expect(exchanges.at(-1)).toMatchObject({ url: `${reportUrl.split('?')[0]}?t=***`, status: 200 })
})

test('a callback that throws changes nothing, and the process is warned', async () => {
  const warnings: string[] = []
  const onWarning = (warning: Error): unknown => warnings.push(warning.message)
  process.on('warning', onWarning)
  const throwing = (): never => {
    throw new Error('a bug of the caller')
  }
  await withClient((client) => client.createRequest(order), { onRequest: throwing, onResponse: throwing })
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', onWarning)
  expect(warnings).toEqual(['a bug of the caller', 'a bug of the caller'])
  expect(sandbox.requests()).toHaveLength(1)
})

test('a dispatcher of undici sends every call, and is left open', async () => {
  const agent = new MockAgent()
  agent.disableNetConnect()
  const pool = agent.get('https://api.example.com')
  const json = { headers: { 'content-type': 'application/json' } }
  const answer = (data: object): object => ({ data, status_message: 'success', message: '' })
  const userEmails: unknown[] = []
  pool.intercept({ path: '/v1/requests', method: 'POST' }).reply(
    201,
    (call) => {
      userEmails.push((call.headers as Record<string, string>)['X-Service-User-Email'])
      return answer({ request_id: unknownId, status: 'RECEIVED' })
    },
    json,
  )
  pool.intercept({ path: '/v1/requests', method: 'POST' }).replyWithError(new Error('cut'))
  const baseUrl = 'https://api.example.com'
  await withClient(
    async (client) => {
      const { request_id, status } = await client.createRequest(order)
      const typedStatus: RequestStatus | (string & {}) = status
      expect([request_id, typedStatus]).toEqual([unknownId, 'RECEIVED'])
      expect(await catchError(() => client.createRequest(order))).toBeInstanceOf(RefcheckError)
    },
    { baseUrl, dispatcher: agent },
  )
  expect(userEmails).toEqual([sandbox.userEmail])
  agent.assertNoPendingInterceptors()
  await agent.close()

  const openAgent = new Agent()
  await withClient((client) => client.ping(), { dispatcher: openAgent })
  expect(openAgent.closed).toBe(false)
  await openAgent.close()
})

test('hints name options and methods, never commands and flags', async () => {
  const calls: [path: string, call: (client: Client) => unknown][] = [
    ['GET *', (client) => client.getRequest(unknownId)],
    ['GET *', (client) => client.packageSchema(102)],
    ['GET *', (client) => drain(client.report({ checkId: unknownId }))],
    ['GET *', (client) => drain(client.report({ url: `${sandbox.baseUrl}/v1/reports/${unknownId}?t=x` }))],
    ['GET *', (client) => drain(client.report({ url: 'https://other.example/' }))],
    ['POST *', (client) => client.createRequest(order)],
  ]
  const hints = new Set<string | undefined>()
  for (const status of [302, 400, 401, 403, 404, 429, 500]) {
    for (const message of ['The package', 'Not a member', '']) {
      for (const [on, call] of calls) {
        const removeFault = sandbox.inject({
          on,
          fault: { kind: 'status', status, when: 'before', message, retryAfter: '90' },
        })
        const error = await withClient((client) => catchError(() => call(client)), { timeoutMs: 0 })
        for (let each: unknown = error; each instanceof RefcheckError; each = each.cause) hints.add(each.hint)
        removeFault()
      }
    }
  }
  const errorOfRefusedPort = await catchError(() =>
    createClient({ ...sandbox, baseUrl: 'http://127.0.0.1:1', timeoutMs: 0 }).listUsers(),
  )
  hints.add(errorOfRefusedPort.hint)
  expect([...hints].filter((hint) => hint !== undefined && /refcheck |REFCHECK_|--[a-z]/.test(hint))).toEqual(
    [],
  )
  expect([...hints]).toEqual(
    expect.arrayContaining([
      'Try again in a moment. Check whether the service is up with client.ping().',
      'A newer key revokes the older one. Pass the current key as the option apiKey.',
      'List the packages that can be ordered with client.listPackages().',
      'Call it again in 90 s, or wait longer: timeoutMs for reads, waitMs for orders.',
    ]),
  )
}, 60_000)
