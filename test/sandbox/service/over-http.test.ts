import { connect } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { signingKey, verify } from '../../../src/contract/signature.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/control/embedded.ts'
import { listen } from '../../../src/server/listen.ts'
import { jane, simpleOrder } from '../sandbox-client.ts'

/** Starts a sandbox that listens on a port, with the system clock. */
async function startSandbox(options: Partial<SandboxOptions> = {}) {
  const sandbox = createSandbox({ clock: systemClock, seed: 'refcheck', ...options })
  const listener = await listen((request, connection) => sandbox.fetch(request, connection), {
    onError: (error) => sandbox.respondToFailure(error),
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

test('events are sent over HTTP, with a signature that is valid for the received bytes', async () => {
  const receivedEvents: { status: string; isValid: boolean; type: string | null }[] = []
  const completed = Promise.withResolvers<void>()
  const receiver = await listen(async (request) => {
    const body = Buffer.from(await request.arrayBuffer())
    const key = signingKey(sandbox.credentials.webhookSecret)
    const { status } = JSON.parse(body.toString()) as { status: string }
    receivedEvents.push({
      status,
      isValid: verify(body, request.headers.get('X-Service-Signature') ?? '', key),
      type: request.headers.get('Content-Type'),
    })
    if (status === 'COMPLETED') completed.resolve()
    return new Response(null, { status: 204 })
  })
  onTestFinished(receiver.close)
  const { create, sandbox } = await startSandbox({ speed: 36_000, webhookUrl: `${receiver.url}/in` })
  expect((await create()).status).toBe(201)
  await completed.promise
  expect(receivedEvents).toEqual([
    { status: 'IN_PROGRESS', isValid: true, type: 'application/json' },
    { status: 'COMPLETED', isValid: true, type: 'application/json' },
  ])
})

test('a delivery to a receiver that does not listen is logged with an error instead of a status', async () => {
  const { port, close } = await listen(() => new Response(null))
  await close()
  const { create, sandbox } = await startSandbox({
    speed: 36_000,
    webhookUrl: `http://127.0.0.1:${port}`,
    rules: { 'webhook-retries': 'never' },
  })
  const deliveryOutcome = Promise.withResolvers<string>()
  sandbox.log.subscribe((entry) => {
    if (entry.kind === 'delivery') deliveryOutcome.resolve(entry.outcome)
  })
  await create()
  expect(await deliveryOutcome.promise).not.toMatch(/^\d+$/)
})

test('report URLs have the host and port that the client called', async () => {
  const { create, url, headers } = await startSandbox({ speed: 1e9 })
  const recipient = { ...jane, email: 'jane+instant@example.com' }
  const createdEnvelope = (await (await create({ ...simpleOrder, recipient })).json()) as {
    data: { request_id: string }
  }
  const answer = await fetch(`${url}/v1/requests/${createdEnvelope.data.request_id}`, { headers })
  const [reportUrl = ''] = /http[^"]*\/v1\/reports\/[^"]*/.exec(await answer.text()) ?? []
  expect(reportUrl.startsWith(`${url}/v1/reports/`)).toBe(true)
  const download = await fetch(reportUrl)
  expect(download.status).toBe(200)
  expect(download.headers.get('Content-Type')).toBe('application/pdf')
})

const closeHeader = 'Connection: close\r\n\r\n'

async function sendRaw(port: number, text: string): Promise<string> {
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
  ['a bad Host', `GET /v1/ping HTTP/1.1\r\nHost: bad host\r\n${closeHeader}`],
  ['no Host', `GET /v1/ping HTTP/1.1\r\n${closeHeader}`],
  ['an unknown method', `FOO /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\n${closeHeader}`],
  ['a NUL in a header', `GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n${closeHeader}`],
  [
    'a header that is too large',
    `GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'a'.repeat(20_000)}\r\n${closeHeader}`,
  ],
  ['a text that is not HTTP', 'hello\r\n\r\n'],
])('an invalid HTTP request (%s) gets an error in the envelope', async (_label, text) => {
  const { port } = await startSandbox()
  const answer = await sendRaw(port, text)
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

test('an unknown Expect header is ignored, because the API document has no status 417', async () => {
  const { port } = await startSandbox()
  const answer = await sendRaw(
    port,
    `GET /v1/ping HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: wonders\r\n${closeHeader}`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})

test('twenty creates at the same time create twenty requests', async () => {
  const { create, sandbox } = await startSandbox()
  const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
  const ids = await Promise.all(answers.map(async (answer) => (await answer.text()).slice(0, 70)))
  expect(new Set(ids).size).toBe(20)
  expect(sandbox.requests()).toHaveLength(20)
})
