import { createHmac } from 'node:crypto'

import { expect, test } from 'vitest'

import type { Deliver } from '../../../src/sandbox/service/delivery.ts'
import type { SandboxOptions } from '../../../src/sandbox/control/embedded.ts'
import { fullOrder, hour, minute, simpleOrder, startTime, createSandboxClient } from '../sandbox-client.ts'

interface ReceivedEvent {
  time: number
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** Creates a sandbox whose events are added to `received`. They get the `answers` in order, and then 200. */
function createReceiver(answers: (number | Error | 'never')[] = [], options: Partial<SandboxOptions> = {}) {
  const received: ReceivedEvent[] = []
  const deliver: Deliver = (url, headers, body, signal) => {
    received.push({ time: client.clock.now(), url, headers, body: Buffer.from(body).toString() })
    const answer = answers[received.length - 1] ?? 200
    if (answer instanceof Error) return Promise.reject(answer)
    if (answer !== 'never') return Promise.resolve(answer)
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  const client = createSandboxClient({
    quota: [],
    webhookUrl: 'https://hooks.example.com/in',
    deliver,
    ...options,
  })
  return { ...client, received }
}

const listStatuses = (received: ReceivedEvent[]): string[] =>
  received.map(({ body }) => (JSON.parse(body) as { status: string }).status)

test('each change of the overall status sends one event, and other changes send none', async () => {
  const { order, clock, received } = createReceiver()
  const id = await order(fullOrder)
  await clock.advance(hour)
  expect(received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { event: 'request.updated', request_id: id, status: 'IN_PROGRESS' },
    { event: 'request.updated', request_id: id, status: 'PARTIAL' },
    { event: 'request.updated', request_id: id, status: 'COMPLETED' },
  ])
})

test('an event is sent when the status changes, even if the request is not read', async () => {
  const { order, clock, received, read } = createReceiver()
  const id = await order(simpleOrder)
  await clock.advance(hour)
  const [first] = received
  expect(first?.time).toBeGreaterThan(startTime)
  expect(first?.time).toBeLessThan(startTime + 5 * minute)
  expect((await read(id)).status).toBe('COMPLETED')
})

test('reads of a request between its changes send no further events', async () => {
  const { order, clock, received, read } = createReceiver()
  const id = await order(fullOrder)
  for (let minutes = 0; minutes < 60; minutes += 1) {
    await clock.advance(minute)
    await read(id)
  }
  expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'PARTIAL', 'COMPLETED'])
})

test('the signature is lowercase hex HMAC-SHA256 of the exact body, keyed with the webhook secret', async () => {
  const { order, clock, received, sandbox } = createReceiver()
  await order(simpleOrder)
  await clock.advance(hour)
  expect(received).toHaveLength(2)
  for (const { url, headers, body } of received) {
    expect(url).toBe('https://hooks.example.com/in')
    expect(headers).toEqual({
      'Content-Type': 'application/json',
      'X-Service-Signature': createHmac('sha256', sandbox.credentials.webhookSecret)
        .update(body)
        .digest('hex'),
    })
  }
})

test.each([300, 404, 500, new Error('reset')])(
  'the answer %s is a delivery failure, and the event is sent again',
  async (answer) => {
    const { order, clock, received } = createReceiver([answer])
    await order(simpleOrder)
    await clock.advance(hour)
    expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED'])
    expect(received[0]?.body).toBe(received[1]?.body)
    expect((received[1]?.time ?? 0) - (received[0]?.time ?? 0)).toBe(10_000)
  },
)

test('no answer within 10 seconds is a delivery failure', async () => {
  const { order, clock, received } = createReceiver(['never'])
  await order(simpleOrder)
  await clock.advance(hour)
  expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED'])
  expect((received[1]?.time ?? 0) - (received[0]?.time ?? 0)).toBe(20_000)
})

test('an event is sent again after 10 s, 1 min, 5 min, 30 min and 2 h, and then given up', async () => {
  const { order, clock, received } = createReceiver(Array(100).fill(503))
  await order(simpleOrder)
  await clock.advance(24 * hour)
  const times = received.filter(({ body }) => body.includes('IN_PROGRESS')).map(({ time }) => time)
  expect(times.map((time, index) => (time - (times[index - 1] ?? time)) / 1000)).toEqual([
    0, 10, 60, 300, 1800, 7200,
  ])
})

test.each([201, 204])('a %i is an acknowledgement', async (answer) => {
  const { order, clock, received } = createReceiver([answer])
  await order(simpleOrder)
  await clock.advance(hour)
  expect(listStatuses(received)).toEqual(['IN_PROGRESS', 'COMPLETED'])
})

test('without a webhook no event is sent, and a webhook that is set later gets only later changes', async () => {
  const { order, clock, received, sandbox } = createReceiver()
  sandbox.setWebhook(null)
  await order(simpleOrder)
  await clock.advance(5 * minute)
  sandbox.setWebhook('https://hooks.example.com/other')
  await clock.advance(hour)
  expect(received.map(({ url }) => url)).toEqual(['https://hooks.example.com/other'])
  expect(listStatuses(received)).toEqual(['COMPLETED'])
})

test('the rule event-on-acceptance adds an event for RECEIVED', async () => {
  const { order, clock, received } = createReceiver([], { rules: { 'event-on-acceptance': 'yes' } })
  await order(simpleOrder)
  await clock.advance(hour)
  expect(listStatuses(received)).toEqual(['RECEIVED', 'IN_PROGRESS', 'COMPLETED'])
})

test('after close no event is sent', async () => {
  const { order, clock, received, sandbox } = createReceiver()
  await order(simpleOrder)
  sandbox.close()
  await clock.advance(hour)
  expect(received).toEqual([])
})

test('setting the webhook twice sends no event twice', async () => {
  const urls: string[] = []
  const client = createSandboxClient({
    quota: [],
    deliver: (url) => {
      urls.push(url)
      return Promise.resolve(200)
    },
  })
  await client.order()
  client.sandbox.setWebhook('https://hooks.example.com/a')
  client.sandbox.setWebhook('https://hooks.example.com/b')
  await client.sandbox.advance(hour)
  expect(urls).toEqual(['https://hooks.example.com/b', 'https://hooks.example.com/b'])
})
