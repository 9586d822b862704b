import { randomUUID } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, addOne, batchOf, beginOne, newAttempt, personOf, rowOf, someTime } from './batches.ts'
import { fileBatch, invalidRow, orderRow, orderRows, rowsOf } from './files.ts'
import { moveOrdersToPast } from '../../harness/postgres-store.ts'
import { backends, scratch, type Scratch } from './scratch.ts'
import type { NewRow } from '../../../src/domain/batch/batch.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

const guard = { allowDuplicate: false }
const at = someTime + 100

describe.each(backends)('%s', (backend) => {
  let setup: Scratch
  let store: Store

  beforeEach(async () => {
    setup = scratch(50, backend)
    store = await setup.store()
  })
  afterEach(() => setup.end())

  test('all that was said of a file is kept as it was said', async () => {
    const whole = {
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
    const bare = { ...fileBatch(), packageId: undefined }
    for (const [batch, rows] of [
      [whole, orderRows(1)],
      [bare, orderRows(1, 5)],
    ] as const) {
      await store.batches.add(batch, rows)
      const { identity: _, ...given } = batch
      const stored = { account: '', allowSimilar: false, shared: [], ...given }
      expect(await store.batches.find(batch.id)).toMatchObject({
        ...stored,
        kind: 'file',
        halt: undefined,
        queuedAt: undefined,
      })
    }
    await store.batches.recordResultsFile(whole.id, '/elsewhere/results.csv')
    expect(await store.batches.find(whole.id)).toMatchObject({
      resultsFile: '/elsewhere/results.csv',
      path: whole.path,
    })
    expect(await store.batches.find(bare.id)).toMatchObject({ resultsFile: undefined })
  })

  test('batches that are left for a worker, the oldest first', async () => {
    const [one, two, three] = [fileBatch(), fileBatch(), fileBatch()]
    for (const [each, from] of [
      [one, 1],
      [two, 2],
      [three, 3],
    ] as const)
      await store.batches.add(each, orderRows(1, from))
    await store.batches.recordQueued(two.id, at)
    await store.batches.recordQueued(one.id, at + 1)
    expect((await store.batches.listQueued()).map(({ id, queuedAt }) => [id, queuedAt])).toEqual([
      [two.id, at],
      [one.id, at + 1],
    ])
    await store.batches.recordQueued(two.id, undefined)
    expect((await store.batches.listQueued()).map(({ id }) => id)).toEqual([one.id])
  })

  test('each row is kept as it came: orders, invalid ones, and duplicates of the file’s own', async () => {
    const batch = fileBatch()
    const own: NewRow = { ...invalidRow(3, 'typed@example.com'), state: 'duplicate', matchesRow: 1 } as NewRow
    await store.batches.add(batch, [orderRow(1, 'ann@example.com'), invalidRow(2, 'typed@example.com'), own])
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
        email: 'typed@example.com',
        reason: 'is missing',
        field: 'phone',
        matches: undefined,
      },
      {
        row: 3,
        state: 'duplicate',
        email: 'typed@example.com',
        matches: { batchId: batch.id, row: 1, state: 'pending' },
      },
    ])
  })

  test('a change keeps what belongs to it, and no more', async () => {
    const refused = await beginOne(store.ledger, 'ann@example.com')
    await store.ledger.move(refused, {
      to: 'rejected',
      at,
      reason: 'is not accepted',
      field: 'recipient.email',
    })
    expect(await rowOf(store.ledger, refused)).toMatchObject({
      state: 'rejected',
      reason: 'is not accepted',
      field: 'recipient.email',
      requestId: undefined,
      offeredId: undefined,
    })
    const { changedAt } = await rowOf(store.ledger, refused)
    // A database has a clock of its own.
    expect(backend === 'SQLite' ? changedAt === at : changedAt > at).toBe(true)
    const requestId = randomUUID()
    const ordered = await beginOne(store.ledger, 'bob@example.com')
    await store.ledger.move(ordered, {
      to: 'accepted',
      at,
      requestId: requestId.toUpperCase(),
      requestStatus: 'RECEIVED',
    })
    expect(await rowOf(store.ledger, ordered)).toMatchObject({
      requestId,
      requestStatus: 'RECEIVED',
      requestStatusAt: at,
      reason: undefined,
      field: undefined,
      userEmail: 'member@example.com',
    })
    await store.ledger.recordStatus('http://127.0.0.1:4010', requestId.toUpperCase(), 'PARTIAL', at + 1)
    expect(await rowOf(store.ledger, ordered)).toMatchObject({ requestStatus: 'PARTIAL' })
  })

  test('a request is one order’s alone, at one service', async () => {
    const requestId = randomUUID()
    const accepted = { to: 'accepted', at, requestId, requestStatus: 'RECEIVED' } as const
    expect(await store.ledger.move(await beginOne(store.ledger, 'ann@example.com'), accepted)).toBe(true)
    const other = await beginOne(store.ledger, 'bob@example.com')
    expect(await store.ledger.move(other, { ...accepted, requestId: requestId.toUpperCase() })).toBe(false)
    expect(await rowOf(store.ledger, other)).toMatchObject({ state: 'sending', requestId: undefined })
    const elsewhere = await beginOne(store.ledger, 'cy@example.com', {
      baseUrl: 'http://127.0.0.1:4010/other',
    })
    expect(await store.ledger.move(elsewhere, accepted)).toBe(true)
  })

  test('a batch that would order one person twice is refused as a fault of ours', async () => {
    const twice = batchOf(['ann@example.com', 'ANN@example.com'])
    await expect(store.ledger.add(twice, guard)).rejects.toMatchObject({ code: 'internal' })
    expect(await store.batches.find(twice.id)).toBeUndefined()
  })

  describe('a single order', () => {
    const like = (email: string, first_name: string) => {
      const batch = batchOf([email])
      const [one] = batch.submissions
      return {
        ...batch,
        submissions: one === undefined ? [] : [{ ...one, recipient: { ...personOf(email), first_name } }],
      }
    }

    test('goes past the similar order that the person was shown, and past no other', async () => {
      const first = await addOne(store.ledger, 'ann@example.com')
      const order = like('ann@example.com', 'Anne')
      const stop = await store.ledger.add(order, guard)
      expect(stop).toMatchObject({ becomes: 'held', reason: 'similar', order: { batchId: first.batchId } })
      expect(await store.batches.find(order.id)).toBeUndefined()
      const released = stop === undefined ? [] : [stop.order]
      expect(await store.ledger.previewConflict(order, { ...guard, released })).toBeUndefined()
      expect(await store.ledger.add(order, { ...guard, released })).toBeUndefined()
      // What was shown is kept: it is no reason to stop when the row is compared again, as it is sent.
      const own = { batchId: order.id, row: 1, state: 'pending', attemptId: undefined } as const
      expect(await beginAttempt(store.ledger, own, newAttempt())).toMatchObject({ state: 'sending' })
      const third = like('ann@example.com', 'Anna')
      expect(await store.ledger.add(third, { ...guard, released })).toMatchObject({
        order: { batchId: order.id },
      })
    })

    test('that is the same person is stopped, whatever was shown', async () => {
      const first = await addOne(store.ledger, 'ann@example.com')
      const again = batchOf(['ann@example.com'])
      expect(await store.ledger.add(again, { ...guard, released: [first] })).toMatchObject({
        becomes: 'duplicate',
      })
    })

    test('is allowed to be similar where a person said so beforehand, and that is kept with it', async () => {
      await addOne(store.ledger, 'ann@example.com')
      const order = like('ann@example.com', 'Anne')
      expect(await store.ledger.add(order, { ...guard, allowSimilar: true })).toBeUndefined()
      const own = { batchId: order.id, row: 1, state: 'pending', attemptId: undefined } as const
      expect(await beginAttempt(store.ledger, own, newAttempt())).toMatchObject({ state: 'sending' })
    })
  })

  test('a file that may order again holds that with it: it is compared so when it is sent', async () => {
    const ordered = await beginOne(store.ledger, 'ann@example.com')
    const long = someTime - 9 * 24 * 60 * 60_000
    await store.ledger.move(ordered, {
      to: 'accepted',
      at: long,
      requestId: randomUUID(),
      requestStatus: 'COMPLETED',
    })
    if (backend === 'PostgreSQL') await moveOrdersToPast(Date.now() - long)
    const file = fileBatch({ allowDuplicate: true })
    await store.batches.add(file, [orderRow(1, 'ann@example.com')])
    const [row] = await rowsOf(store, file.id)
    expect(row && (await beginAttempt(store.ledger, row, newAttempt()))).toMatchObject({ state: 'sending' })
  })

  test('rows of a file that are allowed to be similar go when they are sent, and others’ are held', async () => {
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
    const other = fileBatch({ allowSimilar: true })
    await store.batches.add(other, [
      {
        ...orderRow(1, 'ann@example.com'),
        recipient: { ...personOf('ann@example.com'), first_name: 'Cy' },
      } as NewRow,
    ])
    expect(await rowsOf(store, other.id)).toMatchObject([{ state: 'held', heldFor: 'similar_unknown' }])
  })

  test('what no process holds any more is ended; what a process holds is not', async () => {
    const held = await addOne(store.ledger, 'held@example.com')
    const lease = await store.ledger.acquire({ id: held.batchId, kind: 'single' })
    const waits = await addOne(store.ledger, 'waits@example.com')
    const lost = await beginOne(store.ledger, 'lost@example.com')
    const file = fileBatch()
    await store.batches.add(file, orderRows(1))
    expect(await store.ledger.recover(at)).toMatchObject([
      { batchId: lost.batchId, state: 'unknown', changedAt: at },
    ])
    expect((await rowOf(store.ledger, held)).state).toBe('pending')
    expect((await rowOf(store.ledger, waits)).state).toBe('cancelled')
    expect(await rowsOf(store, file.id)).toMatchObject([{ state: 'pending' }])
    await lease?.release()
    // It lets go of what it looked at.
    const again = await store.ledger.acquire({ id: lost.batchId, kind: 'single' })
    expect(again).toBeDefined()
    await again?.release()
  })

  test('the person of a row is known by its fingerprints', async () => {
    const row = await addOne(store.ledger, 'ann@example.com')
    const ann = personOf('ann@example.com')
    expect(await store.ledger.personMatch(row, { ...ann, email: 'ANN@example.com' })).toBe('same')
    expect(await store.ledger.personMatch(row, { ...ann, email: 'new@example.com' })).toBe('similar')
    expect(await store.ledger.personMatch(row, { ...ann, phone: '+61499999999' })).toBe('similar')
    expect(await store.ledger.personMatch(row, personOf('bob@example.com'))).toBe('other')
    expect(await store.ledger.personMatch({ batchId: 'nowhere', row: 1 }, ann)).toBe('unknown')
  })
})
