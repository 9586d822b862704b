import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { addOne, batchOf, someTime } from '../batches.ts'
import { createTemporaryStores, type TemporaryStores } from '../temporary-stores.ts'

let setup: TemporaryStores
const at = someTime + 20

beforeEach(() => {
  setup = createTemporaryStores()
})
afterEach(() => setup.remove())

test('the fingerprint does not reveal the person without the key', async () => {
  await addOne(await setup.openLedger(), 'a@example.com')
  const otherStore = await setup.openLedger('other.sqlite')
  await addOne(otherStore, 'a@example.com')
  const fingerprints = [setup.path, otherStore.location].map((path) => {
    const database = new DatabaseSync(path)
    const row = database.prepare('SELECT fingerprint FROM submissions').get()
    database.close()
    return row?.['fingerprint'] as string
  })
  expect(fingerprints[0]).toMatch(/^[0-9a-f]{64}$/)
  expect(fingerprints[0]).not.toBe(fingerprints[1])
})

test('a store in memory knows its own leases', async () => {
  const memory = await setup.openLedger(':memory:')
  const batch = batchOf(['a@example.com'])
  const lease = await memory.acquire(batch)
  await memory.add(batch, { allowDuplicate: false })
  expect(await memory.acquire(batch)).toBeUndefined()
  await memory.recover(at)
  expect(await memory.list({ states: ['pending'] })).toHaveLength(1)
  await lease?.release()
  await memory.recover(at)
  expect(await memory.list({ states: ['cancelled'] })).toHaveLength(1)
})
