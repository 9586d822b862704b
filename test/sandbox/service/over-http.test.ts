import { connect } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { signingKey, verify } from '../../../src/contract/signature.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/control/embedded.ts'
import { listen } from '../../../src/server/listen.ts'
import { jane, simpleOrder } from '../visit.ts'

/** A sandbox on a port, under the real clock. */
async function running(options: Partial<SandboxOptions> = {}) {
  const sandbox = createSandbox({ clock: systemClock, seed: 'refcheck', ...options })
  const listener = await listen((request, connection) => sandbox.fetch(request, connection), {
    onError: (error) => sandbox.refuse(error),
  })
  onTestFinished(async () => {
    await listener.close()
    sandbox.close()
  })
  const headers = {
    'X-Service-API-Key': sandbox.credentials.apiKey,
    'X-Service-User-Email': sandbox.credentials.userEmail,
    'Content-Type': 'application/json',
  }
  const create = (body: object = simpleOrder) =>
    fetch(`${listener.url}/v1/requests`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { sandbox, url: listener.url, port: listener.port, headers, create }
}

test('events travel over HTTP, signed over the bytes that arrive, and are sent again until acknowledged', async () => {
  const arrived: { status: string; valid: boolean; type: string | null }[] = []
  const done = Promise.withResolvers<void>()
  const receiver = await listen(async (request) => {
    const body = Buffer.from(await request.arrayBuffer())
    const key = signingKey(sandbox.credentials.webhookSecret)
    const { status } = JSON.parse(body.toString()) as { status: string }
    arrived.push({
      status,
      valid: verify(body, request.headers.get('X-Service-Signature') ?? '', key),
      type: request.headers.get('Content-Type'),
    })
    if (status === 'COMPLETED') done.resolve()
    return new Response(null, { status: 204 })
  })
  onTestFinished(receiver.close)
  const { create, sandbox } = await running({ speed: 36_000, webhookUrl: `${receiver.url}/in` })
  expect((await create()).status).toBe(201)
  await done.promise
  expect(arrived).toEqual([
    { status: 'IN_PROGRESS', valid: true, type: 'application/json' },
    { status: 'COMPLETED', valid: true, type: 'application/json' },
  ])
})

test('a receiver that is not there is a failed delivery, and says so', async () => {
  const { port, close } = await listen(() => new Response(null))
  await close()
  const { create, sandbox } = await running({
    speed: 36_000,
    webhookUrl: `http://127.0.0.1:${port}`,
    rules: { 'webhook-retries': 'never' },
  })
  const attempted = Promise.withResolvers<string>()
  sandbox.log.subscribe((entry) => {
    if (entry.kind === 'delivery') attempted.resolve(entry.outcome)
  })
  await create()
  expect(await attempted.promise).not.toMatch(/^\d+$/)
})

test('report URLs lead back to the port the client called', async () => {
  const { create, url, headers } = await running({ speed: 1e9 })
  const recipient = { ...jane, email: 'jane+instant@example.com' }
  const created = (await (await create({ ...simpleOrder, recipient })).json()) as {
    data: { request_id: string }
  }
  const read = await fetch(`${url}/v1/requests/${created.data.request_id}`, { headers })
  const [report = ''] = /http[^"]*\/v1\/reports\/[^"]*/.exec(await read.text()) ?? []
  expect(report.startsWith(`${url}/v1/reports/`)).toBe(true)
  const answer = await fetch(report)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('Content-Type')).toBe('application/pdf')
})

const close = 'Connection: close\r\n\r\n'

async function answerTo(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString()
    })
    socket.on('close', () => resolve(answer))
    socket.write(text)
  })
}

test.each([
  ['a bad Host', `GET /v1/ping HTTP/1.1\r\nHost: bad host\r\n${close}`],
  ['no Host', `GET /v1/ping HTTP/1.1\r\n${close}`],
  ['an unknown method', `FOO /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\n${close}`],
  ['a NUL in a header', `GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n${close}`],
  [
    'a header that is too large',
    `GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'a'.repeat(20_000)}\r\n${close}`,
  ],
  ['something else than HTTP', 'hello\r\n\r\n'],
])('what is no proper request gets the envelope too: %s', async (_what, text) => {
  const { port } = await running()
  const answer = await answerTo(port, text)
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  for (const header of ['Cache-Control: no-store', 'Pragma: no-cache', 'Expires: 0', 'Connection: close']) {
    expect(answer.toLowerCase()).toContain(`\r\n${header.toLowerCase()}\r\n`)
  }
  expect(
    answer.endsWith(
      '\r\n\r\n{"data":null,"status_message":"client_error","message":"the request is malformed"}',
    ),
  ).toBe(true)
})

test('an unknown expectation is passed over: a 417 is not in the matrix', async () => {
  const { port } = await running()
  const answer = await answerTo(
    port,
    `GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: wonders\r\n${close}`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})

test('two requests at once get two requests', async () => {
  const { create, sandbox } = await running()
  const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
  const ids = await Promise.all(answers.map(async (answer) => (await answer.text()).slice(0, 70)))
  expect(new Set(ids).size).toBe(20)
  expect(sandbox.requests()).toHaveLength(20)
})
