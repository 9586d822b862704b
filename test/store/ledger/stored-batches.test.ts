import { randomUUID } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, addOne, batchOf, beginOne, newAttempt, personOf, rowOf, someTime } from './batches.ts'
import { fileBatch, invalidRow, orderRow, orderRows, rowsOf } from './files.ts'
import { moveOrdersToPast } from '../../harness/postgres-store.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import type { NewRow } from '../../../src/domain/batch/batch.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

const addOptions = { allowDuplicate: false }
const at = someTime + 100

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let store: Store

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  test('all options of a file batch are stored unchanged', async () => {
    const batchWithOptions = {
      ...fileBatch(),
      path: '/people/people.csv',
      resultsFile: '/people/people.results.csv',
      reading: '{"sheet":"People"}',
      account: 'one',
      allowDuplicate: true,
      allowSimilar: true,
      shared: ['agency@example.com', '+61400000001'],
      packageId: 12,
    }
    const batchWithoutPackage = { ...fileBatch(), packageId: undefined }
    for (const [batch, rows] of [
      [batchWithOptions, orderRows(1)],
      [batchWithoutPackage, orderRows(1, 5)],
    ] as const) {
      await store.batches.add(batch, rows)
      const { identity: _, ...options } = batch
      const stored = { account: '', allowSimilar: false, shared: [], ...options }
      expect(await store.batches.find(batch.id)).toMatchObject({
        ...stored,
        kind: 'file',
        halt: undefined,
        queuedAt: undefined,
      })
    }
    await store.batches.recordResultsFile(batchWithOptions.id, '/elsewhere/results.csv')
    expect(await store.batches.find(batchWithOptions.id)).toMatchObject({
      resultsFile: '/elsewhere/results.csv',
      path: batchWithOptions.path,
    })
    expect(await store.batches.find(batchWithoutPackage.id)).toMatchObject({ resultsFile: undefined })
  })

  test('queued batches are listed in the order in which they were queued', async () => {
    const [one, two, three] = [fileBatch(), fileBatch(), fileBatch()]
    for (const [batch, firstNumber] of [
      [one, 1],
      [two, 2],
      [three, 3],
    ] as const)
      await store.batches.add(batch, orderRows(1, firstNumber))
    await store.batches.recordQueued(two.id, at)
    await store.batches.recordQueued(one.id, at + 1)
    expect((await store.batches.listQueued()).map(({ id, queuedAt }) => [id, queuedAt])).toEqual([
      [two.id, at],
      [one.id, at + 1],
    ])
    await store.batches.recordNotQueued(two.id)
    expect((await store.batches.listQueued()).map(({ id }) => id)).toEqual([one.id])
  })

  test('each row is stored unchanged: orders, invalid rows and duplicates within the file', async () => {
    const batch = fileBatch()
    const duplicateRow: NewRow = {
      ...invalidRow(3, 'typed@example.com'),
      state: 'duplicate',
      matchesRow: 1,
    } as NewRow
    await store.batches.add(batch, [
      orderRow(1, 'ann@example.com'),
      invalidRow(2, 'typed@example.com'),
      duplicateRow,
    ])
    expect(await rowsOf(store, batch.id)).toMatchObject([
      {
        row: 1,
        state: 'pending',
        packageId: 12,
        recipient: personOf('ann@example.com'),
        attempts: 0,
        changedAt: someTime,
      },
      {
        row: 2,
        state: 'invalid',
        packageId: undefined,
        person: { email: 'typed@example.com' },
        reason: 'is missing',
        field: 'phone',
        matches: undefined,
      },
      {
        row: 3,
        state: 'duplicate',
        person: { email: 'typed@example.com' },
        matches: { batchId: batch.id, row: 1, state: 'pending' },
      },
    ])
  })

  test('a change stores the values of its new state, and clears the others', async () => {
    const rejectedAttempt = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(rejectedAttempt, {
      to: 'rejected',
      at,
      reason: 'is not accepted',
      field: 'recipient.email',
    })
    expect(await rowOf(store.ledger, rejectedAttempt)).toMatchObject({
      state: 'rejected',
      reason: 'is not accepted',
      field: 'recipient.email',
      requestId: undefined,
      offeredId: undefined,
    })
    const { changedAt } = await rowOf(store.ledger, rejectedAttempt)
    // With PostgreSQL the time is that of the database.
    expect(backend === 'SQLite' ? changedAt === at : changedAt > at).toBe(true)
    const requestId = randomUUID()
    const acceptedAttempt = await beginOne(store.ledger, 'bob@example.com')
    await store.ledger.move(acceptedAttempt, {
      to: 'accepted',
      at,
      requestId: requestId.toUpperCase(),
      requestStatus: 'RECEIVED',
    })
    expect(await rowOf(store.ledger, acceptedAttempt)).toMatchObject({
      requestId,
      requestStatus: 'RECEIVED',
      requestStatusAt: at,
      reason: undefined,
      field: undefined,
      userEmail: 'member@example.com',
    })
    await store.ledger.recordStatus('http://127.0.0.1:4010', requestId.toUpperCase(), 'PARTIAL', at + 1)
    expect(await rowOf(store.ledger, acceptedAttempt)).toMatchObject({ requestStatus: 'PARTIAL' })
  })

  test('a request id belongs to only one order of a service', async () => {
    const requestId = randomUUID()
    const accepted = { to: 'accepted', at, requestId, requestStatus: 'RECEIVED' } as const
    expect(await store.ledger.move(await beginOne(store.ledger, 'ann@example.com'), accepted)).toBe(true)
    const otherAttempt = await beginOne(store.ledger, 'bob@example.com')
    expect(await store.ledger.move(otherAttempt, { ...accepted, requestId: requestId.toUpperCase() })).toBe(
      false,
    )
    expect(await rowOf(store.ledger, otherAttempt)).toMatchObject({ state: 'sending', requestId: undefined })
    const otherServiceAttempt = await beginOne(store.ledger, 'cy@example.com', {
      baseUrl: 'http://127.0.0.1:4010/other',
    })
    expect(await store.ledger.move(otherServiceAttempt, accepted)).toBe(true)
  })

  test('a batch that would order one person twice is refused with an internal error', async () => {
    const twice = batchOf(['ann@example.com', 'ANN@example.com'])
    await expect(store.ledger.add(twice, addOptions)).rejects.toMatchObject({ code: 'internal' })
    expect(await store.batches.find(twice.id)).toBeUndefined()
  })

  describe('a single order', () => {
    const orderWithName = (email: string, first_name: string) => {
      const batch = batchOf([email])
      const [one] = batch.submissions
      return {
        ...batch,
        submissions: one === undefined ? [] : [{ ...one, recipient: { ...personOf(email), first_name } }],
      }
    }

    test('is added despite the similar order that the user was shown, but not despite another one', async () => {
      const first = await addOne(store.ledger, 'ann@example.com')
      const order = orderWithName('ann@example.com', 'Anne')
      const conflict = await store.ledger.add(order, addOptions)
      expect(conflict).toMatchObject({
        becomes: 'held',
        reason: 'similar',
        order: { batchId: first.batchId },
      })
      expect(await store.batches.find(order.id)).toBeUndefined()
      const released = conflict === undefined ? [] : [conflict.order]
      expect(await store.ledger.previewConflict(order, { ...addOptions, released })).toBeUndefined()
      expect(await store.ledger.add(order, { ...addOptions, released })).toBeUndefined()
      // The release is stored: the released order does not conflict when the row is compared again at sending.
      const row = { batchId: order.id, row: 1, state: 'pending', attemptId: undefined } as const
      expect(await beginAttempt(store.ledger, row, newAttempt())).toMatchObject({ state: 'sending' })
      const thirdOrder = orderWithName('ann@example.com', 'Anna')
      expect(await store.ledger.add(thirdOrder, { ...addOptions, released })).toMatchObject({
        order: { batchId: order.id },
      })
    })

    test('of the same person is a duplicate, whatever was released', async () => {
      const first = await addOne(store.ledger, 'ann@example.com')
      const secondOrder = batchOf(['ann@example.com'])
      expect(await store.ledger.add(secondOrder, { ...addOptions, released: [first] })).toMatchObject({
        becomes: 'duplicate',
      })
    })

    test('with allowSimilar is added despite a similar order, and is also sent', async () => {
      await addOne(store.ledger, 'ann@example.com')
      const order = orderWithName('ann@example.com', 'Anne')
      expect(await store.ledger.add(order, { ...addOptions, allowSimilar: true })).toBeUndefined()
      const row = { batchId: order.id, row: 1, state: 'pending', attemptId: undefined } as const
      expect(await beginAttempt(store.ledger, row, newAttempt())).toMatchObject({ state: 'sending' })
    })
  })

  test('the allowDuplicate of a file applies also when its rows are compared at sending', async () => {
    const acceptedAttempt = await beginOne(store.ledger, 'ann@example.com')
    const longAgo = someTime - 9 * 24 * 60 * 60_000
    await store.ledger.move(acceptedAttempt, {
      to: 'accepted',
      at: longAgo,
      requestId: randomUUID(),
      requestStatus: 'COMPLETED',
    })
    if (backend === 'PostgreSQL') await moveOrdersToPast(Date.now() - longAgo)
    const file = fileBatch({ allowDuplicate: true })
    await store.batches.add(file, [orderRow(1, 'ann@example.com')])
    const [row] = await rowsOf(store, file.id)
    expect(row && (await beginAttempt(store.ledger, row, newAttempt()))).toMatchObject({ state: 'sending' })
  })

  test('with allowSimilar, rows that are similar within their file are sent, and a row similar to another file is held', async () => {
    const file = fileBatch({ allowSimilar: true })
    const rows = [
      orderRow(1, 'ann@example.com'),
      {
        ...orderRow(2, 'ann@example.com'),
        recipient: { ...personOf('ann@example.com'), first_name: 'Bob' },
      } as NewRow,
    ]
    await store.batches.add(file, rows)
    for (const row of await rowsOf(store, file.id))
      expect(await beginAttempt(store.ledger, row, newAttempt())).toMatchObject({ state: 'sending' })
    const otherBatch = fileBatch({ allowSimilar: true })
    await store.batches.add(otherBatch, [
      {
        ...orderRow(1, 'ann@example.com'),
        recipient: { ...personOf('ann@example.com'), first_name: 'Cy' },
      } as NewRow,
    ])
    expect(await rowsOf(store, otherBatch.id)).toMatchObject([{ state: 'held', heldFor: 'similar_unknown' }])
  })

  test('recovery changes the rows that no process runs, and no row whose batch has a lease', async () => {
    const leasedRow = await addOne(store.ledger, 'held@example.com')
    const lease = await store.ledger.acquire({ id: leasedRow.batchId, kind: 'single' })
    const waitingRow = await addOne(store.ledger, 'waits@example.com')
    const lostAttempt = await beginOne(store.ledger, 'lost@example.com')
    const file = fileBatch()
    await store.batches.add(file, orderRows(1))
    expect(await store.ledger.recover(at)).toMatchObject([
      { batchId: lostAttempt.batchId, state: 'unknown', changedAt: at },
    ])
    expect((await rowOf(store.ledger, leasedRow)).state).toBe('pending')
    expect((await rowOf(store.ledger, waitingRow)).state).toBe('cancelled')
    expect(await rowsOf(store, file.id)).toMatchObject([{ state: 'pending' }])
    await lease?.release()
    // Recovery has released the leases that it acquired.
    const secondLease = await store.ledger.acquire({ id: lostAttempt.batchId, kind: 'single' })
    expect(secondLease).toBeDefined()
    await secondLease?.release()
  })

  test('the person of a row is recognised by the fingerprints', async () => {
    const row = await addOne(store.ledger, 'ann@example.com')
    const ann = personOf('ann@example.com')
    expect(await store.ledger.personMatch(row, { ...ann, email: 'ANN@example.com' })).toBe('same')
    expect(await store.ledger.personMatch(row, { ...ann, email: 'new@example.com' })).toBe('similar')
    expect(await store.ledger.personMatch(row, { ...ann, phone: '+61499999999' })).toBe('similar')
    expect(await store.ledger.personMatch(row, personOf('bob@example.com'))).toBe('other')
    expect(await store.ledger.personMatch({ batchId: 'nowhere', row: 1 }, ann)).toBe('unknown')
  })
})
