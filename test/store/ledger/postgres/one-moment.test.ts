import { afterEach, beforeEach, expect, test } from 'vitest'

import { addOne, someTime } from '../batches.ts'
import { fileBatch, orderRows } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { startProxy } from './filtering-proxy.ts'
import { sharedStore } from '../../../harness/postgres-store.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'

let setup: TemporaryStores
beforeEach(() => {
  setup = createTemporaryStores(2_000, 'PostgreSQL')
})
afterEach(() => setup.remove())

/** Opens a store. Before its first statement with this text reaches the server, another process commits `change`. */
async function openChangedBefore(statement: string, change: () => Promise<unknown>): Promise<Store> {
  let isChanged = false
  const url = await startProxy(await sharedStore(), (text, [, upstream]) => {
    if (isChanged || !text.includes(statement)) return true
    isChanged = true
    void change().finally(() => upstream.write(Buffer.from(text, 'latin1')))
    return false
  })
  return setup.openStore(url)
}

test('the counts of a store are from one snapshot, whatever another process adds meanwhile', async () => {
  const otherStore = await setup.openStore()
  const store = await openChangedBefore('AS batches', () => addOne(otherStore.ledger, 'ann@example.com'))
  expect(await store.maintenance.info()).toMatchObject({ batches: 0, rows: { pending: 0 } })
  expect(await store.maintenance.info()).toMatchObject({ batches: 1, rows: { pending: 1 } })
})

test('a plan is from one snapshot: a decision about two services meanwhile affects all of the plan or nothing', async () => {
  const otherStore = await setup.openStore()
  const [one, another] = ['https://one.example.com', 'https://another.example.com'] as const
  await addOne(otherStore.ledger, 'person1@example.com', { baseUrl: one })
  const recordSame = () =>
    otherStore.heldRows.recordSameService([one, another], true, { at: someTime, by: 'a person' })
  const preview = async ({ batches }: Store) =>
    (await batches.preview(fileBatch({ baseUrl: another }), orderRows(1))).counts
  const before = await preview(otherStore)
  const store = await openChangedBefore('FROM joined_services', recordSame)
  expect(await preview(store)).toEqual(before)
  expect(await preview(store)).not.toEqual(before)
})
