import { afterEach, beforeEach, expect, test } from 'vitest'

import { beginAttempt, addOne, newAttempt, rowOf, someTime } from '../batches.ts'
import { fileBatch, orderRows } from '../files.ts'
import { type TemporaryStores, createTemporaryStores } from '../temporary-stores.ts'
import { queryDatabase } from '../../../harness/postgres.ts'
import { sharedStore } from '../../../harness/postgres-store.ts'
import { startProxy } from './filtering-proxy.ts'

let setup: TemporaryStores

beforeEach(() => {
  setup = createTemporaryStores(50, 'PostgreSQL')
})
afterEach(() => setup.remove())

const unlimitedQuota = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }
const accepted = {
  to: 'accepted',
  at: someTime + 20,
  requestId: '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55',
  requestStatus: 'RECEIVED',
} as const

/**
 * Opens a store whose connection is cut at the first COMMIT after `arm`: `before` the server receives it, or `after` the
 * server has sent `until`.
 */
async function cutAtCommit(when: 'before' | 'after', until = 'COMMIT') {
  let isArmed = false
  const proxyUrl = await startProxy(await sharedStore(), (text, [client, upstream]) => {
    if (!isArmed || !text.includes('COMMIT')) return true
    isArmed = false
    if (when === 'before') {
      setImmediate(() => client.destroy())
      return false
    }
    upstream.unpipe(client).resume()
    upstream.on('data', (bytes) => {
      if (bytes.includes(until)) client.destroy()
    })
    return true
  })
  const store = await setup.openStore(proxyUrl)
  return { store, ledger: store.ledger, arm: () => (isArmed = true) }
}

/** Makes the COMMIT of every claim take half a second. */
const slowCommit = `
CREATE FUNCTION refcheck.slowly() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER slowly AFTER UPDATE ON refcheck.submissions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (NEW.state = 'sending') EXECUTE FUNCTION refcheck.slowly()`

test('a breaker that another runner opened is reported once, though the COMMIT of the claim that finds it is cut', async () => {
  const { store, ledger, arm } = await cutAtCommit('before')
  const otherStore = await setup.openStore()
  const batch = fileBatch()
  await otherStore.batches.add(batch, orderRows(3))
  for (const { batches } of [store, otherStore]) await batches.acquire(batch.id, 'sending')
  const first = { batchId: batch.id, row: 1, state: 'pending', attemptId: undefined } as const
  const { attempt } = await otherStore.ledger.beginInQuota(first, newAttempt(), unlimitedQuota, true)
  if (attempt === undefined) throw new Error('the first row was not claimed')
  await otherStore.ledger.move(attempt, { to: 'unknown', at: someTime, reason: 'cut' })
  arm()
  expect((await ledger.beginInQuota(first, newAttempt(), unlimitedQuota, true)).attempt).toBeUndefined()
  expect(await ledger.beginInQuota(first, newAttempt(), unlimitedQuota, true)).toMatchObject({
    isBreakerOpen: true,
  })
  expect((await ledger.beginInQuota(first, newAttempt(), unlimitedQuota, true)).attempt).toMatchObject({
    row: 2,
  })
})

for (const when of ['before', 'after'] as const) {
  test(`a claim whose COMMIT is cut ${when} the server has it is not sent, and may begin again`, async () => {
    const { ledger, arm } = await cutAtCommit(when)
    const row = await addOne(ledger, 'a@example.com', { kind: 'file' })
    await beginAttempt(ledger, await addOne(ledger, 'b@example.com', { kind: 'file' }), newAttempt())
    arm()
    expect(await ledger.beginInQuota(row, newAttempt(), unlimitedQuota, true)).toMatchObject({
      attempt: undefined,
      isTaken: true,
    })
    const stored = await rowOf(ledger, row)
    expect(stored).toMatchObject({ state: 'pending', attempts: when === 'after' ? 1 : 0 })
    expect((await ledger.beginInQuota(stored, newAttempt(), unlimitedQuota, true)).attempt).toMatchObject({
      state: 'sending',
    })
  })

  test(`an outcome whose COMMIT is cut ${when} the server has it is recorded once`, async () => {
    const { ledger, arm } = await cutAtCommit(when)
    const attempt = await beginAttempt(
      ledger,
      await addOne(ledger, 'a@example.com', { kind: 'file' }),
      newAttempt(),
    )
    if (attempt === undefined) throw new Error('the attempt did not begin')
    arm()
    expect(await ledger.move(attempt, accepted)).toBe(true)
    expect(await rowOf(ledger, attempt)).toMatchObject({ state: 'accepted', requestId: accepted.requestId })
  })

  test(`an order whose COMMIT is cut ${when} the server has it is added once`, async () => {
    const { ledger, arm } = await cutAtCommit(when)
    arm()
    await addOne(ledger, 'a@example.com', { kind: 'file' })
    expect(await ledger.list({})).toHaveLength(1)
  })
}

test('a claim whose connection is cut before its COMMIT has ended is awaited, and then undone', async () => {
  // "UPDATE 1" is the answer to the statement that is sent together with the COMMIT; the connection is cut after it.
  const { ledger, arm } = await cutAtCommit('after', 'UPDATE 1')
  const row = await addOne(ledger, 'a@example.com', { kind: 'file' })
  // Another key, because the claim that is cut changes the use of this key's quota.
  const otherQuota = { ...unlimitedQuota, account: 'another key' }
  await ledger.beginInQuota(await addOne(ledger, 'b@example.com', { kind: 'file' }), newAttempt(), otherQuota)
  const url = await sharedStore()
  await queryDatabase(url, slowCommit)
  try {
    arm()
    expect(await ledger.beginInQuota(row, newAttempt(), unlimitedQuota, true)).toMatchObject({
      attempt: undefined,
      isTaken: true,
    })
    expect(await rowOf(ledger, row)).toMatchObject({ state: 'pending', attempts: 1 })
  } finally {
    await queryDatabase(url, 'DROP FUNCTION refcheck.slowly CASCADE')
  }
})

test('an outcome is recorded even if the attempt of the next row cannot begin', async () => {
  const { ledger } = await setup.openStore()
  const attempt = await beginAttempt(
    ledger,
    await addOne(ledger, 'a@example.com', { kind: 'file' }),
    newAttempt(),
  )
  const next = await addOne(ledger, 'b@example.com', { kind: 'file' })
  if (attempt === undefined) throw new Error('the attempt did not begin')
  const url = await sharedStore()
  await queryDatabase(
    url,
    "ALTER TABLE refcheck.submissions ADD CONSTRAINT none_goes CHECK (state <> 'sending') NOT VALID",
  )
  try {
    expect(await ledger.moveAndBegin(attempt, accepted, next, newAttempt(), unlimitedQuota)).toEqual({
      isMoved: true,
      attempt: undefined,
      conflict: undefined,
    })
    expect(await rowOf(ledger, attempt)).toMatchObject({ state: 'accepted', requestId: accepted.requestId })
    expect(await rowOf(ledger, next)).toMatchObject({ state: 'pending' })
  } finally {
    await queryDatabase(url, 'ALTER TABLE refcheck.submissions DROP CONSTRAINT none_goes')
  }
})
