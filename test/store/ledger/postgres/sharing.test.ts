import { afterEach, beforeEach, expect, test } from 'vitest'

import { beginAttempt, addOne, newAttempt, someTime } from '../batches.ts'
import { connectTo } from './connect.ts'
import { fileBatch, orderRows } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { queryDatabase } from '../../../harness/postgres.ts'
import { sharedStore } from '../../../harness/postgres-store.ts'
import type { RowVersion } from '../../../../src/domain/submission/submission.ts'
import type { Store } from '../../../../src/store/ledger/store.ts'

let setup: TemporaryStores

beforeEach(() => {
  setup = createTemporaryStores(50, 'PostgreSQL')
})
afterEach(() => setup.remove())

const unlimitedQuota = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

const expireLeases = async (): Promise<unknown> =>
  queryDatabase(await sharedStore(), 'UPDATE refcheck.runners SET leased_until = 0')

/** Ends the database sessions that have an advisory lock. */
const endRunners = `
SELECT pg_terminate_backend(pid, 10000) FROM pg_locks
WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** Starts a runner that has a row in flight. */
async function startRunner(): Promise<Store> {
  const store = await setup.openStore()
  const batch = { id: 'b6f1c0de-0000-4000-8000-000000000001', kind: 'file' } as const
  await store.ledger.acquire(batch)
  await beginAttempt(store.ledger, await addOne(store.ledger, 'a@example.com', batch), newAttempt())
  return store
}

test('a row whose runner has ended becomes unknown when the lease expires, and not before', async () => {
  const endedRunner = await startRunner()
  const otherStore = await setup.openStore()
  await endedRunner.close()
  expect(await otherStore.ledger.recover(someTime)).toEqual([])
  await expireLeases()
  expect(await otherStore.ledger.recover(someTime)).toMatchObject([{ state: 'unknown' }])
})

test('a lease ends by the clock of the database, even if the clock of this machine is wrong', async () => {
  const endedRunner = await startRunner()
  const otherStore = await setup.openStore()
  await endedRunner.close()
  const minute = 60_000
  expect(await otherStore.ledger.recover(Date.now() + 16 * minute)).toEqual([])
  await queryDatabase(
    await sharedStore(),
    `UPDATE refcheck.runners SET leased_until = (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1`,
  )
  expect(await otherStore.ledger.recover(Date.now() - 16 * minute)).toHaveLength(1)
})

test('a row whose runner stalls longer than its lease is not changed while its connection is open', async () => {
  const stalledRunner = await startRunner()
  const otherStore = await setup.openStore()
  await expireLeases()
  expect(await otherStore.ledger.recover(someTime)).toEqual([])
  await stalledRunner.close()
  expect(await otherStore.ledger.recover(someTime)).toHaveLength(1)
})

test('an order with an unknown outcome pauses each other runner once, but not the runner that sent it', async () => {
  const [one, other] = [await setup.openStore(), await setup.openStore()]
  const batch = fileBatch()
  await one.batches.add(batch, orderRows(4))
  for (const { batches } of [one, other]) expect(await batches.acquire(batch.id, 'sending')).toBeDefined()
  const first: RowVersion = { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined }
  const claimRow = ({ ledger }: Store) => ledger.beginInQuota(first, newAttempt(), unlimitedQuota, true)
  const { attempt } = await claimRow(one)
  expect(attempt).toMatchObject({ row: 1 })
  if (attempt === undefined) return
  expect(await one.ledger.move(attempt, { to: 'unknown', at: someTime, reason: 'cut' })).toBe(true)
  expect(await claimRow(other)).toMatchObject({ isBreakerOpen: true, attempt: undefined })
  expect((await claimRow(other)).attempt).toMatchObject({ row: 2 })
  expect((await claimRow(one)).attempt).toMatchObject({ row: 3 })
})

test('processes that send can share a batch with each other, but not with a process that changes it', async () => {
  const [one, other] = [await setup.openStore(), await setup.openStore()]
  const batch = fileBatch()
  await one.batches.add(batch, orderRows(1))
  const sending = await one.batches.acquire(batch.id, 'sending')
  expect(await other.batches.acquire(batch.id)).toBeUndefined()
  expect((await other.batches.find(batch.id))?.holder).toMatchObject({ pid: process.pid })
  const secondLease = await other.batches.acquire(batch.id, 'sending')
  expect(secondLease).toBeDefined()
  await sending?.release()
  await secondLease?.release()
  expect((await other.batches.find(batch.id))?.holder).toBeUndefined()
  expect(await other.batches.acquire(batch.id)).toBeDefined()
  expect(await one.batches.acquire(batch.id, 'sending')).toBeUndefined()
})

test('one process acquires 40 batches in parallel, each after a different number of reads', async () => {
  const files = Array.from({ length: 40 }, () => fileBatch())
  const formerStore = await setup.openStore()
  for (const file of files) await formerStore.batches.add(file, orderRows(1))
  await formerStore.close()
  const freshStore = await setup.openStore()
  const acquisitions = files.map(async ({ id }, times) => {
    for (let time = 0; time < times; time += 1) await freshStore.batches.listQueued()
    return freshStore.batches.acquire(id, 'sending')
  })
  const leases = await Promise.all(acquisitions)
  expect(leases.filter((lease) => lease === undefined)).toEqual([])
  expect(await queryDatabase(await sharedStore(), 'SELECT count(*)::int AS n FROM refcheck.runs')).toEqual([
    { n: 40 },
  ])
})

test('if one process acquires a batch twice at once, only one of the calls gets the lease', async () => {
  const store = await setup.openStore()
  const batch = fileBatch()
  await store.batches.add(batch, orderRows(1))
  const leases = await Promise.all([store.batches.acquire(batch.id), store.batches.acquire(batch.id)])
  expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1)
})

test('a batch whose lease could not be recorded can be acquired later', async () => {
  const store = await setup.openStore()
  const batch = fileBatch()
  await store.batches.add(batch, orderRows(1))
  const url = await sharedStore()
  await queryDatabase(url, 'ALTER TABLE refcheck.runs ADD CONSTRAINT is_full CHECK (since < 0)')
  try {
    await expect(store.batches.acquire(batch.id, 'sending')).rejects.toThrow('an internal rule of the store')
  } finally {
    await queryDatabase(url, 'ALTER TABLE refcheck.runs DROP CONSTRAINT is_full')
  }
  expect(await store.batches.acquire(batch.id, 'sending')).toBeDefined()
})

test('a lease whose connection was lost is lost only if another process has acquired it meanwhile', async () => {
  const [one, other] = [await setup.openStore(), await setup.openStore()]
  const [forwardingLease, batchLease] = [
    await one.inbox.leaseForwarding(),
    await one.batches.acquire(fileBatch().id),
  ]
  const url = await sharedStore()
  await other.inbox.listDue(1, 1)
  await queryDatabase(url, endRunners)
  const otherForwardingLease = await other.inbox.leaseForwarding()
  // The first statement may fail, because its connection has ended.
  await one.inbox.listDue(1, 1).catch(() => one.inbox.listDue(1, 1))
  expect([forwardingLease?.isLost?.(), batchLease?.isLost?.(), otherForwardingLease?.isLost?.()]).toEqual([
    true,
    false,
    false,
  ])
})

test('if two processes add the first account of a store at the same time, the second is refused', async () => {
  const store = await setup.openStore()
  const url = await sharedStore()
  const selectWaiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  let second: Promise<unknown> | undefined
  await connectTo(url).transaction(async (sql) => {
    await sql.run(`INSERT INTO refcheck.meta (name, value) VALUES ('first_account', '')`)
    await sql.run(`INSERT INTO refcheck.accounts (name, added_at) VALUES ('acme', 0)`)
    second = store.batches.add(fileBatch({ account: 'acmee' }), orderRows(1)).catch((error: unknown) => error)
    const isOver = second.then(() => true)
    const isWaiting = async () => (await queryDatabase(url, selectWaiting)).length > 0
    while (!(await Promise.race([isOver, isWaiting()])));
  })
  expect(await second).toMatchObject({ message: 'the store has no account "acmee"; it has acme' })
  expect(await store.batches.list()).toEqual([])
})
