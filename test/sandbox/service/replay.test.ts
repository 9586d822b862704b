import { expect, test } from 'vitest'

import {
  hour,
  minute,
  fullOrder,
  jane,
  simpleOrder,
  startTime,
  createSandboxClient,
} from '../sandbox-client.ts'
import { seededRandom } from '../../../src/sandbox/service/seeded-random.ts'
import { Log } from '../../../src/sandbox/service/log.ts'

/** Returns all answers and events of a simulated day, each as a text with all its bytes. */
async function recordDay(seed: string | number): Promise<string[]> {
  const exchanges: string[] = []
  const client = createSandboxClient({
    seed,
    rules: 'seeded',
    webhookUrl: 'https://hooks.example.com/in',
    deliver: (url, headers, body) => {
      exchanges.push(
        `${client.clock.now()} ${url} ${JSON.stringify(headers)} ${Buffer.from(body).toString()}`,
      )
      return Promise.resolve(exchanges.length % 3 === 0 ? 500 : 200)
    },
  })
  const recordGet = async (path: string): Promise<string> => {
    const answer = await client.get(path)
    exchanges.push(
      `${answer.status} ${JSON.stringify([...answer.headers])} ${answer.bytes.toString('latin1')}`,
    )
    return answer.bytes.toString()
  }
  await recordGet('/v1/users')
  const ids = [await client.order(fullOrder), await client.order(simpleOrder)]
  for (const tag of ['mixed', 'error', 'event-twice']) {
    ids.push(await client.order({ ...fullOrder, recipient: { ...jane, email: `j+${tag}@example.com` } }))
  }
  for (let step = 0; step < 12; step += 1) {
    await client.clock.advance(7 * minute)
    for (const id of ids) await recordGet(`/v1/requests/${id}`)
  }
  const [url] = /http[^"]*\/v1\/reports\/[^"]*/.exec(await recordGet(`/v1/requests/${ids[0]}`)) ?? []
  await recordGet(url ?? '')
  await client.clock.advance(6 * hour)
  return exchanges
}

test('the same calls with the same seed get the same bytes', async () => {
  const first = await recordDay('a seed')
  expect(first.length).toBeGreaterThan(70)
  expect(await recordDay('a seed')).toEqual(first)
})

test('another seed gives other answers', async () => {
  expect(await recordDay(1)).not.toEqual(await recordDay(2))
})

test('after a reset the same calls get the same answers', async () => {
  const client = createSandboxClient()
  const first = await client.order()
  await client.clock.advance(hour)
  client.sandbox.reset()
  expect(client.clock.now()).toBe(startTime)
  expect(await client.order()).toBe(first)
})

test('in a simulated month a hundred requests complete, and each event is delivered at its second attempt', async () => {
  let deliveryCount = 0
  const attemptedEvents = new Set<string>()
  const client = createSandboxClient({
    quota: [],
    webhookUrl: 'https://hooks.example.com/in',
    deliver: (_url, headers) => {
      const { 'X-Service-Signature': event = '' } = headers
      const status = attemptedEvents.has(event) ? 200 : 500
      deliveryCount += 1
      attemptedEvents.add(event)
      return Promise.resolve(status)
    },
  })
  for (let count = 0; count < 100; count += 1) await client.order(fullOrder)
  const startedAt = performance.now()
  await client.sandbox.advance(30 * 24 * hour)
  const durationMs = performance.now() - startedAt
  process.stdout.write(`a simulated month: ${Math.round(durationMs)} ms, ${deliveryCount} deliveries\n`)
  expect(client.sandbox.overview()).toMatchObject({
    requests: { COMPLETED: 100 },
    deliveries: { waiting: 0, given_up: 0, delivered: 300 },
  })
})

test('a random value depends on its name and the seed, not on earlier draws', () => {
  const first = seededRandom(7)
  const second = seededRandom('7')
  const draws = [first.uuid('a'), first.fraction('b', 1), first.text(32, 'c')]
  expect([second.text(32, 'c'), second.fraction('b', 1), second.uuid('a')]).toEqual(draws.toReversed())
  expect(first.uuid('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(first.fraction('b', 1)).toBeGreaterThanOrEqual(0)
  expect(first.fraction('b', 1)).toBeLessThan(1)
  expect(first.uuid('a')).not.toBe(first.uuid('a', ''))
})

test('the log contains only the newest entries, up to its limit', () => {
  const log = new Log(3)
  for (let n = 0; n < 5; n += 1) log.add(n, { kind: 'status', request_id: String(n), status: 'RECEIVED' })
  expect(log.entries().map(({ n }) => n)).toEqual([2, 3, 4])
  expect(log.entries(4).map(({ n }) => n)).toEqual([4])
  expect(log.entries(9)).toEqual([])
})

test('without a seed, ids of requests, checks and events are not reused after a reset', async () => {
  const client = createSandboxClient({
    seed: undefined,
    webhookUrl: 'https://hooks.example.com/in',
    deliver: () => Promise.resolve(200),
  })
  const createIdsAndReset = async (): Promise<string[]> => {
    await client.order(fullOrder)
    await client.clock.advance(hour)
    const { sandbox } = client
    const requests = sandbox.requests()
    const checks = requests.flatMap((request) => request.checks ?? [])
    const ids = [...requests.map(({ request_id }) => request_id), ...checks.map(({ id }) => id)]
    const events = sandbox.deliveries().map(({ id }) => id)
    sandbox.reset()
    return [...ids, ...events].filter((id) => id !== null)
  }
  const ids = [...(await createIdsAndReset()), ...(await createIdsAndReset())]
  expect(ids.length).toBeGreaterThan(8)
  expect(new Set(ids).size).toBe(ids.length)
})
