import { afterEach, beforeEach, expect, test } from 'vitest'

import type { ReceivedEvent } from '../../../../src/domain/webhook/events.ts'
import { scratch, type Scratch } from '../scratch.ts'

let setup: Scratch
beforeEach(() => {
  setup = scratch(5_000, 'PostgreSQL')
})
afterEach(() => setup.end())

const event = (number: number): ReceivedEvent => ({
  receivedAt: Date.UTC(2026, 10, 21, 9),
  body: Buffer.from(String(number)),
  signature: 'a'.repeat(64),
  requestId: `${String(number).padStart(8, '0')}-1111-4111-8111-111111111111`,
  status: 'PARTIAL',
  event: 'request.updated',
  oddity: undefined,
})

test('three receivers add the same events in different orders: each once, and a reader of what is new skips none', async () => {
  const [reader, ...receivers] = await Promise.all(Array.from({ length: 4 }, () => setup.store()))
  const events = Array.from({ length: 120 }, (_, number) => event(number))
  let isOver = false
  const seen: number[] = []
  const reading = (async () => {
    for (let last = false; !last;) {
      last = isOver
      for await (const { id } of reader?.inbox.list({ after: seen.at(-1) ?? 0 }) ?? []) seen.push(id)
    }
  })()
  await Promise.all(
    receivers.map(async ({ inbox }, at) => {
      const mine = at === 1 ? events.toReversed() : [...events.slice(at * 30), ...events.slice(0, at * 30)]
      for (let from = 0; from < mine.length; from += 6) await inbox.add(mine.slice(from, from + 6), true)
    }),
  )
  isOver = true
  await reading
  expect(seen).toHaveLength(events.length)
  expect(seen).toEqual(seen.toSorted((one, other) => one - other))
  expect(new Set(seen).size).toBe(events.length)
})

test('a process that waits for events is woken by another process', async () => {
  const [one, other] = await Promise.all([setup.store(), setup.store()])
  const woken = Promise.withResolvers<void>()
  await one.inbox.onArrival?.(() => woken.resolve())
  await other.inbox.add([event(1)], false)
  await expect(woken.promise).resolves.toBeUndefined()
})

test('the quota of one key is one for all machines, by the clock of the database', async () => {
  const stores = await Promise.all(Array.from({ length: 3 }, () => setup.store()))
  const moments = new Set<number>()
  const decide = (state: unknown, now = 0): { state: unknown; waitMs: number } => {
    moments.add(now)
    const taken = (state as number | undefined) ?? 0
    return taken < 20 ? { state: taken + 1, waitMs: 0 } : { state, waitMs: 1 }
  }
  const quotas = stores.flatMap(({ quota }) => Array.from({ length: 15 }, () => quota))
  const waits = await Promise.all(quotas.map((quota) => quota.update({ account: 'key', decide })))
  expect(waits.filter(({ waitMs }) => waitMs === 0)).toHaveLength(20)
  expect(moments.has(0)).toBe(false)
})
