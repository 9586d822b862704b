import { expect, test } from 'vitest'

import { hour, minute, fullOrder, jane, simpleOrder, start, visit } from '../visit.ts'
import { seededRandom } from '../../../src/sandbox/service/seeded-random.ts'
import { Log } from '../../../src/sandbox/service/log.ts'

/** Everything a client and a receiver get to see of a busy day, byte by byte. */
async function day(seed: string | number): Promise<string[]> {
  const bytes: string[] = []
  const where = visit({
    seed,
    rules: 'seeded',
    webhookUrl: 'https://hooks.example.com/in',
    deliver: (url, headers, body) => {
      bytes.push(`${where.clock.now()} ${url} ${JSON.stringify(headers)} ${Buffer.from(body).toString()}`)
      return Promise.resolve(bytes.length % 3 === 0 ? 500 : 200)
    },
  })
  const keep = async (path: string): Promise<string> => {
    const answer = await where.get(path)
    bytes.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${answer.bytes.toString('latin1')}`)
    return answer.bytes.toString()
  }
  await keep('/v1/users')
  const ids = [await where.order(fullOrder), await where.order(simpleOrder)]
  for (const tag of ['mixed', 'error', 'event-twice']) {
    ids.push(await where.order({ ...fullOrder, recipient: { ...jane, email: `j+${tag}@example.com` } }))
  }
  for (let at = 0; at < 12; at += 1) {
    await where.clock.advance(7 * minute)
    for (const id of ids) await keep(`/v1/requests/${id}`)
  }
  const [url] = /http[^"]*\/v1\/reports\/[^"]*/.exec(await keep(`/v1/requests/${ids[0]}`)) ?? []
  await keep(url ?? '')
  await where.clock.advance(6 * hour)
  return bytes
}

test('the same seed replays byte for byte', async () => {
  const first = await day('a seed')
  expect(first.length).toBeGreaterThan(70)
  expect(await day('a seed')).toEqual(first)
})

test('another seed is another day', async () => {
  expect(await day(1)).not.toEqual(await day(2))
})

test('after a reset the same calls get the same answers', async () => {
  const where = visit()
  const first = await where.order()
  await where.clock.advance(hour)
  where.sandbox.reset()
  expect(where.clock.now()).toBe(start)
  expect(await where.order()).toBe(first)
})

test('a month with a hundred requests and failing deliveries goes by at once', async () => {
  let deliveries = 0
  const tried = new Set<string>()
  const where = visit({
    quota: [],
    webhookUrl: 'https://hooks.example.com/in',
    deliver: (_url, headers) => {
      const { 'X-Service-Signature': event = '' } = headers
      const status = tried.has(event) ? 200 : 500
      deliveries += 1
      tried.add(event)
      return Promise.resolve(status)
    },
  })
  for (let count = 0; count < 100; count += 1) await where.order(fullOrder)
  const began = performance.now()
  await where.sandbox.advance(30 * 24 * hour)
  const took = performance.now() - began
  process.stdout.write(`a simulated month: ${Math.round(took)} ms, ${deliveries} deliveries\n`)
  expect(where.sandbox.overview()).toMatchObject({
    requests: { COMPLETED: 100 },
    deliveries: { waiting: 0, given_up: 0, delivered: 300 },
  })
})

test('a random draw by name does not depend on what was asked before', () => {
  const one = seededRandom(7)
  const other = seededRandom('7')
  const wanted = [one.uuid('a'), one.fraction('b', 1), one.text(32, 'c')]
  expect([other.text(32, 'c'), other.fraction('b', 1), other.uuid('a')]).toEqual(wanted.toReversed())
  expect(one.uuid('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(one.fraction('b', 1)).toBeGreaterThanOrEqual(0)
  expect(one.fraction('b', 1)).toBeLessThan(1)
  expect(one.uuid('a')).not.toBe(one.uuid('a', ''))
})

test('the log holds the latest entries and no more', () => {
  const log = new Log(3)
  for (let n = 0; n < 5; n += 1) log.add(n, { kind: 'status', request_id: String(n), status: 'RECEIVED' })
  expect(log.entries().map(({ n }) => n)).toEqual([2, 3, 4])
  expect(log.entries(4).map(({ n }) => n)).toEqual([4])
  expect(log.entries(9)).toEqual([])
})

test('without a seed a reset gives out no id of a request, check or event again', async () => {
  const where = visit({
    seed: undefined,
    webhookUrl: 'https://hooks.example.com/in',
    deliver: () => Promise.resolve(200),
  })
  const life = async (): Promise<string[]> => {
    await where.order(fullOrder)
    await where.clock.advance(hour)
    const { sandbox } = where
    const requests = sandbox.requests()
    const checks = requests.flatMap((request) => request.checks ?? [])
    const ids = [...requests.map(({ request_id }) => request_id), ...checks.map(({ id }) => id)]
    const events = sandbox.deliveries().map(({ id }) => id)
    sandbox.reset()
    return [...ids, ...events].filter((id) => id !== null)
  }
  const ids = [...(await life()), ...(await life())]
  expect(ids.length).toBeGreaterThan(8)
  expect(new Set(ids).size).toBe(ids.length)
})
