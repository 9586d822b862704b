import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, addOne, batchOf, newAttempt, someTime } from './batches.ts'
import { fileBatch, orderRow, rowsOf } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import type { Change } from '../../../src/domain/submission/states.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let store: Store
  const byPerson = { at: someTime, by: 'a person' }
  const guard = { allowDuplicate: false }

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  test('two services that are declared to be one are compared as one, and a third one is not', async () => {
    const [a, b, c] = ['https://a.example.com', 'https://b.example.com', 'https://c.example.com'] as const
    await addOne(store.ledger, 'ann@example.com', { baseUrl: b })
    const addAgain = (baseUrl: string) => store.ledger.add(batchOf(['ann@example.com'], { baseUrl }), guard)
    expect((await addAgain(a))?.reason).toBe('other_service')
    await store.heldRows.recordSameService([a, b], true, byPerson)
    expect((await addAgain(a))?.reason).toBe('same')
    expect((await addAgain(c))?.reason).toBe('other_service')
    await store.heldRows.recordSameService([b, a], false, byPerson)
    expect(await addAgain(a)).toBeUndefined()
  })

  test('the package of a moved batch stays related to its earlier package, in both directions', async () => {
    const { id, ...batch } = fileBatch()
    await store.batches.add({ id, ...batch }, [orderRow(1, 'ann@example.com')])
    expect(await store.heldRows.moveRows(id, 13, await store.heldRows.readMovable(id), someTime)).toBe(1)
    // The batches of this test have package 12.
    const conflict = await store.ledger.add(batchOf(['ann@example.com']), guard)
    expect(conflict).toMatchObject({
      becomes: 'duplicate',
      reason: 'same',
      order: { batchId: id, packageId: 13 },
    })
  })

  /** Adds a batch of one person whose order the service rejects, under package 12. */
  async function addRejected(email: string): Promise<string> {
    const batch = fileBatch()
    await store.batches.add(batch, [orderRow(1, email)])
    await moveFirstRow(batch.id, { to: 'rejected', at: someTime, reason: 'is missing', field: 'phone' })
    return batch.id
  }

  async function moveFirstRow(batchId: string, change: Change): Promise<void> {
    const row = await store.batches.findNextPending(batchId)
    const attempt = row && (await beginAttempt(store.ledger, row, newAttempt()))
    if (attempt === undefined) throw new Error('the attempt did not begin')
    await store.ledger.move(attempt, change)
  }

  /** Adds a file with one person, and orders the person. */
  async function orderLater(
    email: string,
    packageId: number,
    requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55',
  ): Promise<void> {
    const batch = fileBatch({ name: 'later.csv', packageId })
    await store.batches.add(batch, [{ ...orderRow(1, email), packageId }])
    await moveFirstRow(batch.id, {
      to: 'accepted',
      at: someTime + 1,
      requestId,
      requestStatus: 'RECEIVED',
    })
  }

  const later = { matches: { state: 'accepted', laterBatch: 'later.csv' } }

  test.each([
    ['under the same package', 12, [], later],
    ['under the package that probably replaced it', 13, [[12, 13]], later],
    ['under another package', 13, [], { matches: undefined }],
  ] as const)(
    'a rejected row whose person is ordered later %s',
    async (_, packageId, successors, expected) => {
      const id = await addRejected('ann@example.com')
      await store.heldRows.recordLikelySuccessors('http://127.0.0.1:4010', successors, someTime)
      await orderLater('ann@example.com', packageId)
      expect(await rowsOf(store, id)).toMatchObject([{ state: 'rejected', ...expected }])
      const count = expected.matches === undefined ? 0 : 1
      expect(await store.heldRows.countConflicts(id)).toMatchObject({
        orderedBefore: { count, rejectedCount: count, cancelledCount: 0 },
      })
    },
  )

  test('a rejected row whose person may have been ordered has that order, until an accepted one exists', async () => {
    const id = await addRejected('ann@example.com')
    const batch = fileBatch({ name: 'later.csv' })
    await store.batches.add(batch, [orderRow(1, 'ann@example.com')])
    await moveFirstRow(batch.id, { to: 'unknown', at: someTime + 1, reason: 'the connection was cut' })
    expect(await rowsOf(store, id)).toMatchObject([
      { matches: { state: 'unknown', laterBatch: 'later.csv' } },
    ])
    expect(await store.heldRows.countConflicts(id)).toMatchObject({
      unknown: { count: 1, batchId: batch.id },
      orderedBefore: { count: 0 },
    })
    await orderLater('ann@example.com', 13)
    await store.heldRows.recordLikelySuccessors('http://127.0.0.1:4010', [[12, 13]], someTime)
    expect(await rowsOf(store, id)).toMatchObject([later])
  })

  test('an order of another person, or from before the row was added, is no later order', async () => {
    await orderLater('old@example.com', 12)
    const batch = fileBatch({ addedAt: someTime + 1e9, allowDuplicate: true })
    await store.batches.add(batch, [orderRow(1, 'old@example.com'), orderRow(2, 'ann@example.com')])
    await store.batches.cancelWaiting(batch.id, someTime + 1e9, 'cancelled before it was sent')
    await orderLater('bob@example.com', 12, '11111111-9d1b-4e0a-8a34-2f6b0f6c1d55')
    expect((await rowsOf(store, batch.id)).map(({ matches }) => matches?.laterBatch)).toEqual([
      undefined,
      undefined,
    ])
  })

  test('if the store was restored to a state without the batch, a move changes nothing', async () => {
    const { id, ...batch } = fileBatch()
    await store.batches.add({ id, ...batch }, [orderRow(1, 'ann@example.com')])
    const rows = await store.heldRows.readMovable(id)
    expect(await store.heldRows.moveRows('00000000-0000-4000-8000-000000000000', 13, rows, someTime)).toBe(0)
  })

  test('a person who is erased while a batch is moved stays erased', async () => {
    const { id, ...batch } = fileBatch()
    await store.batches.add({ id, ...batch }, [orderRow(1, 'ann@example.com')])
    const row = await store.batches.findNextPending(id)
    const attempt = row && (await beginAttempt(store.ledger, row, newAttempt()))
    if (attempt === undefined) throw new Error('the attempt did not begin')
    await store.ledger.move(attempt, { to: 'rejected', at: someTime, reason: 'is missing', field: 'phone' })
    const movable = await store.heldRows.readMovable(id)
    expect(movable).toHaveLength(1)
    await store.maintenance.purge({ email: 'ann@example.com' }, { dryRun: false, completely: false })
    expect(await store.heldRows.moveRows(id, 13, movable, someTime)).toBe(0)
    for await (const body of store.batches.bodies(id)) expect(body).toBeUndefined()
  })
})
