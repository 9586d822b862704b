import { afterEach, beforeEach, expect, test } from 'vitest'

import type { ReceivedEvent } from '../../../../src/domain/webhook/events.ts'
import { createTemporaryStores, type TemporaryStores } from '../temporary-stores.ts'

let setup: TemporaryStores
beforeEach(() => {
  setup = createTemporaryStores(5_000, 'PostgreSQL')
})
afterEach(() => setup.remove())

const event = (number: number): ReceivedEvent => ({
  receivedAt: Date.UTC(2026, 10, 21, 9),
  body: Buffer.from(String(number)),
  signature: 'a'.repeat(64),
  requestId: `${String(number).padStart(8, '0')}-1111-4111-8111-111111111111`,
  status: 'PARTIAL',
  event: 'request.updated',
  oddity: undefined,
})

test('if three receivers add the same events in different orders, each is stored once, and a reader of new events skips none', async () => {
  const [reader, ...receivers] = await Promise.all(Array.from({ length: 4 }, () => setup.openStore()))
  const events = Array.from({ length: 120 }, (_, number) => event(number))
  let isOver = false
  const readIds: number[] = []
  const reading = (async () => {
    for (let last = false; !last;) {
      last = isOver
      for await (const { id } of reader?.inbox.list({ after: readIds.at(-1) ?? 0 }) ?? []) readIds.push(id)
    }
  })()
  await Promise.all(
    receivers.map(async ({ inbox }, index) => {
      const ownOrder =
        index === 1 ? events.toReversed() : [...events.slice(index * 30), ...events.slice(0, index * 30)]
      for (let from = 0; from < ownOrder.length; from += 6)
        await inbox.add(ownOrder.slice(from, from + 6), true)
    }),
  )
  isOver = true
  await reading
  expect(readIds).toHaveLength(events.length)
  expect(readIds).toEqual(readIds.toSorted((one, other) => one - other))
  expect(new Set(readIds).size).toBe(events.length)
})

test('a process that waits for events is woken by another process', async () => {
  const [one, other] = await Promise.all([setup.openStore(), setup.openStore()])
  const woken = Promise.withResolvers<void>()
  await one.inbox.onArrival?.(() => woken.resolve())
  await other.inbox.add([event(1)], false)
  await expect(woken.promise).resolves.toBeUndefined()
})

test('all machines share the quota of one key, by the clock of the database', async () => {
  const stores = await Promise.all(Array.from({ length: 3 }, () => setup.openStore()))
  const times = new Set<number>()
  const decide = (state: unknown, now = 0): { state: unknown; waitMs: number } => {
    times.add(now)
    const usedCalls = (state as number | undefined) ?? 0
    return usedCalls < 20 ? { state: usedCalls + 1, waitMs: 0 } : { state, waitMs: 1 }
  }
  const quotas = stores.flatMap(({ quota }) => Array.from({ length: 15 }, () => quota))
  const waits = await Promise.all(quotas.map((quota) => quota.update({ account: 'key', decide })))
  expect(waits.filter(({ waitMs }) => waitMs === 0)).toHaveLength(20)
  expect(times.has(0)).toBe(false)
})
