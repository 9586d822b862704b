import { setTimeout as pause } from 'node:timers/promises'

import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { beginAttempt, batchOf, newAttempt, someTime } from '../batches.ts'
import { fileBatch, orderRows, statesOf } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { sharedStore } from '../../../harness/postgres-store.ts'
import type { RowVersion } from '../../../../src/domain/submission/submission.ts'

let setup: TemporaryStores
beforeEach(() => {
  setup = createTemporaryStores(10_000, 'PostgreSQL')
})
afterEach(() => setup.remove())

const lockAccount = `SELECT pg_advisory_xact_lock(hashtextextended('refcheck account ', 0))`
const countWaiting = `
SELECT count(*)::int AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** Starts all of `work` while another transaction has locked the account, and releases the lock once all wait for it. */
async function runAtOnce<T>(work: readonly (() => Promise<T>)[]): Promise<T[]> {
  const client = new Client({ connectionString: await sharedStore() })
  await client.connect()
  try {
    await client.query('BEGIN')
    await client.query(lockAccount)
    const running = work.map((each) => each())
    for (const deadline = Date.now() + 8_000; ; await pause(5)) {
      const { rows } = await client.query<{ waiting: number }>(countWaiting)
      if (rows[0]?.waiting === work.length) break
      if (Date.now() > deadline) throw new Error(`${rows[0]?.waiting} wait for the lock of the account`)
    }
    await client.query('COMMIT')
    return await Promise.all(running)
  } finally {
    await client.end()
  }
}

test('if two processes add the same person, the second finds the row that the first added', async () => {
  const stores = [await setup.openStore(), await setup.openStore()]
  const conflicts = await runAtOnce(
    stores.map(
      ({ ledger }) =>
        () =>
          ledger.add(batchOf(['ann@example.com']), { allowDuplicate: false }),
    ),
  )
  expect(conflicts.filter((conflict) => conflict === undefined)).toHaveLength(1)
})

test('if two processes add files with the same person, the second finds the row that the first added', async () => {
  const stores = [await setup.openStore(), await setup.openStore()]
  const files = [fileBatch(), fileBatch()]
  await runAtOnce(
    stores.map(
      ({ batches }, index) =>
        () =>
          batches.add(files[index] ?? fileBatch(), orderRows(1)),
    ),
  )
  const states: string[] = []
  for (const { id } of files) states.push(...(await statesOf(await setup.openStore(), id)))
  expect(states.sort()).toEqual(['duplicate', 'pending'])
})

test('if two processes begin an order of the same person, the second finds the attempt that the first began', async () => {
  const stores = [await setup.openStore(), await setup.openStore()]
  const urls = ['https://old.example.com', 'https://new.example.com'] as const
  const byOwner = { at: someTime, by: 'owner@example.com' }
  const { heldRows, batches } = await setup.openStore()
  // Both rows of one person are pending only if their services were declared to be one after both were added.
  await heldRows.recordSameService(urls, false, byOwner)
  const files = urls.map((baseUrl) => fileBatch({ baseUrl }))
  for (const file of files) await batches.add(file, orderRows(1))
  await heldRows.recordSameService(urls, true, byOwner)
  for (const { ledger } of stores)
    await (await ledger.acquire({ id: fileBatch().id, kind: 'single' }))?.release()
  const rows = files.map(({ id }): RowVersion => ({
    batchId: id,
    row: 1,
    state: 'pending',
    attemptId: undefined,
  }))
  const attempts = await runAtOnce(
    rows.map(
      (row, index) => async () => stores[index] && beginAttempt(stores[index].ledger, row, newAttempt()),
    ),
  )
  expect(attempts.filter((attempt) => attempt !== undefined)).toHaveLength(1)
})
