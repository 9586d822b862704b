import { connect } from 'node:net'

import { expect, onTestFinished, test } from 'vitest'

import { signingKey, verify } from '../../src/contract/signature.ts'
import { systemClock } from '../../src/host/clock.ts'
import { createSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'
import { listen } from '../../src/server/listen.ts'
import { jane, simpleOrder } from './visit.ts'

/** A sandbox on a port, under the real clock. */
async function running(options: Partial<SandboxOptions> = {}) {
  const sandbox = createSandbox({ clock: systemClock, ...options })
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

test('what is no proper request gets the envelope too', async () => {
  const { port } = await running()
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    socket.on('close', () => resolve(text))
    socket.write('GET /v1/ping HTTP/1.1\r\nHost: bad host\r\nConnection: close\r\n\r\n')
  })
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toMatch(/Cache-Control: no-store/i)
  expect(answer).toContain(
    '{"data":null,"status_message":"client_error","message":"the request is malformed"}',
  )
})

test('two requests at once get two requests', async () => {
  const { create, sandbox } = await running()
  const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
  const ids = await Promise.all(answers.map(async (answer) => (await answer.text()).slice(0, 70)))
  expect(new Set(ids).size).toBe(20)
  expect(sandbox.requests()).toHaveLength(20)
})

test('setting the webhook twice sends no event twice', async () => {
  let sent = 0
  const { create, sandbox } = await running({
    speed: 36_000,
    deliver: () => {
      sent += 1
      return Promise.resolve(200)
    },
  })
  await create()
  sandbox.setWebhook('https://hooks.example.com/a')
  sandbox.setWebhook('https://hooks.example.com/b')
  const completed = Promise.withResolvers<void>()
  sandbox.log.subscribe((entry) => {
    if (entry.kind === 'delivery' && entry.status === 'COMPLETED') completed.resolve()
  })
  await completed.promise
  expect(sent).toBe(2)
})
