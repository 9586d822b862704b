import { createHmac } from 'node:crypto'

import { expect, test } from 'vitest'

import type { Deliver } from '../../../src/sandbox/service/delivery.ts'
import type { SandboxOptions } from '../../../src/sandbox/control/embedded.ts'
import { fullOrder, hour, minute, simpleOrder, start, visit } from '../visit.ts'

interface Received {
  at: number
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** A sandbox whose events arrive here; `answers` are the receiver's, in order, then always 200. */
function receiver(answers: (number | Error | 'never')[] = [], options: Partial<SandboxOptions> = {}) {
  const received: Received[] = []
  const deliver: Deliver = (url, headers, body, signal) => {
    received.push({ at: where.clock.now(), url, headers, body: Buffer.from(body).toString() })
    const answer = answers[received.length - 1] ?? 200
    if (answer instanceof Error) return Promise.reject(answer)
    if (answer !== 'never') return Promise.resolve(answer)
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  }
  const where = visit({ quota: [], webhookUrl: 'https://hooks.example.com/in', deliver, ...options })
  return { ...where, received }
}

const statuses = (received: Received[]): string[] =>
  received.map(({ body }) => (JSON.parse(body) as { status: string }).status)

test('every change of the overall status sends one event, and nothing else does', async () => {
  const { order, clock, received } = receiver()
  const id = await order(fullOrder)
  await clock.advance(hour)
  expect(received.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { event: 'request.updated', request_id: id, status: 'IN_PROGRESS' },
    { event: 'request.updated', request_id: id, status: 'PARTIAL' },
    { event: 'request.updated', request_id: id, status: 'COMPLETED' },
  ])
})

test('an event goes out when the change happens, read or not', async () => {
  const { order, clock, received, read } = receiver()
  const id = await order(simpleOrder)
  await clock.advance(hour)
  const [first] = received
  expect(first?.at).toBeGreaterThan(start)
  expect(first?.at).toBeLessThan(start + 5 * minute)
  expect((await read(id)).status).toBe('COMPLETED')
})

test('a read that comes first sends no second event', async () => {
  const { order, clock, received, read } = receiver()
  const id = await order(fullOrder)
  for (let at = 0; at < 60; at += 1) {
    await clock.advance(minute)
    await read(id)
  }
  expect(statuses(received)).toEqual(['IN_PROGRESS', 'PARTIAL', 'COMPLETED'])
})

test('the signature is lowercase hex HMAC-SHA256 of the exact body, keyed with the webhook secret', async () => {
  const { order, clock, received, sandbox } = receiver()
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
  '%s is a delivery failure, and it is tried again',
  async (answer) => {
    const { order, clock, received } = receiver([answer])
    await order(simpleOrder)
    await clock.advance(hour)
    expect(statuses(received)).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED'])
    expect(received[0]?.body).toBe(received[1]?.body)
    expect((received[1]?.at ?? 0) - (received[0]?.at ?? 0)).toBe(10_000)
  },
)

test('no answer within 10 seconds is a delivery failure', async () => {
  const { order, clock, received } = receiver(['never'])
  await order(simpleOrder)
  await clock.advance(hour)
  expect(statuses(received)).toEqual(['IN_PROGRESS', 'IN_PROGRESS', 'COMPLETED'])
  expect((received[1]?.at ?? 0) - (received[0]?.at ?? 0)).toBe(20_000)
})

test('retries come after 10 s, 1 min, 5 min, 30 min and 2 h, then the event is given up', async () => {
  const { order, clock, received } = receiver(Array(100).fill(503))
  await order(simpleOrder)
  await clock.advance(24 * hour)
  const times = received.filter(({ body }) => body.includes('IN_PROGRESS')).map(({ at }) => at)
  expect(times.map((at, index) => (at - (times[index - 1] ?? at)) / 1000)).toEqual([
    0, 10, 60, 300, 1800, 7200,
  ])
})

test.each([201, 204])('a %i is an acknowledgement', async (answer) => {
  const { order, clock, received } = receiver([answer])
  await order(simpleOrder)
  await clock.advance(hour)
  expect(statuses(received)).toEqual(['IN_PROGRESS', 'COMPLETED'])
})

test('without a webhook nothing is sent, and one set later gets what changes from then on', async () => {
  const { order, clock, received, sandbox } = receiver()
  sandbox.setWebhook(null)
  await order(simpleOrder)
  await clock.advance(5 * minute)
  sandbox.setWebhook('https://hooks.example.com/other')
  await clock.advance(hour)
  expect(received.map(({ url }) => url)).toEqual(['https://hooks.example.com/other'])
  expect(statuses(received)).toEqual(['COMPLETED'])
})

test('the rule event-on-acceptance adds an event for RECEIVED', async () => {
  const { order, clock, received } = receiver([], { rules: { 'event-on-acceptance': 'yes' } })
  await order(simpleOrder)
  await clock.advance(hour)
  expect(statuses(received)).toEqual(['RECEIVED', 'IN_PROGRESS', 'COMPLETED'])
})

test('after close nothing is sent any more', async () => {
  const { order, clock, received, sandbox } = receiver()
  await order(simpleOrder)
  sandbox.close()
  await clock.advance(hour)
  expect(received).toEqual([])
})

test('setting the webhook twice sends no event twice', async () => {
  const sent: string[] = []
  const where = visit({
    quota: [],
    deliver: (url) => {
      sent.push(url)
      return Promise.resolve(200)
    },
  })
  await where.order()
  where.sandbox.setWebhook('https://hooks.example.com/a')
  where.sandbox.setWebhook('https://hooks.example.com/b')
  await where.sandbox.advance(hour)
  expect(sent).toEqual(['https://hooks.example.com/b', 'https://hooks.example.com/b'])
})
