import { randomUUID } from 'node:crypto'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, addOne, newAttempt, someTime } from './batches.ts'
import { fileBatch, invalidRow, officeRows, orderRow, orderRows, rowsOf } from './files.ts'
import { moveOrdersToPast } from '../../harness/postgres-store.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import type { NewFileBatch } from '../../../src/domain/batch/batch.ts'
import type { QuotaClaim } from '../../../src/domain/quota/windows.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

describe.each(backends)('%s', (backend) => {
  let setup: TemporaryStores
  let store: Store

  beforeEach(async () => {
    setup = createTemporaryStores(50, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  const readStates = async (batchId: string): Promise<string[]> =>
    (await rowsOf(store, batchId)).map(({ row, state }) => `${row} ${state}`)

  async function acceptRow(batchId: string, row: number, requestId = randomUUID()): Promise<void> {
    const found = (await rowsOf(store, batchId)).find((each) => each.row === row)
    if (found === undefined) throw new Error('no such row')
    const attempt = await beginAttempt(store.ledger, found, newAttempt())
    if (attempt === undefined) throw new Error('the attempt did not begin')
    await store.ledger.move(attempt, {
      to: 'accepted',
      at: someTime + 20,
      requestId,
      requestStatus: 'RECEIVED',
      answerStatus: 201,
    })
  }

  test('starting batches while another batch is sent does not close the store: each attempt is in its log', async () => {
    const batch = fileBatch()
    await store.batches.add(batch, orderRows(30))
    const otherBatches = [fileBatch(), fileBatch()]
    for (const [index, other] of otherBatches.entries())
      await store.batches.add(other, [orderRow(1, `b${index}@example.com`)])
    const sending = { isOver: false }
    const sendAll = async (): Promise<void> => {
      for (let row = await store.batches.findNextPending(batch.id); row !== undefined;) {
        expect(await beginAttempt(store.ledger, row, newAttempt())).toBeDefined()
        row = await store.batches.findNextPending(batch.id)
      }
      sending.isOver = true
    }
    const startOthers = async (): Promise<void> => {
      for (let turn = 0; !sending.isOver; turn += 1) {
        const lease = await store.batches.acquire(otherBatches[turn % 2]?.id ?? '')
        await lease?.release()
        for (let wait = turn % 7; wait > 0; wait -= 1) await new Promise(setImmediate)
      }
    }
    await Promise.all([sendAll(), startOthers()])
    expect((await store.rollbacks.examine()).closing).toBeUndefined()
  })

  describe('adding a file', () => {
    test('stores the rows with their numbers and data', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, [
        orderRow(1, 'a@example.com'),
        invalidRow(2, 'b@'),
        orderRow(4, 'c@example.com'),
      ])
      expect(await rowsOf(store, batch.id)).toMatchObject([
        { row: 1, state: 'pending', packageId: 12, recipient: { email: 'a@example.com' }, attempts: 0 },
        {
          row: 2,
          state: 'invalid',
          packageId: undefined,
          recipient: undefined,
          person: { first_name: undefined, last_name: undefined, email: 'b@', phone: undefined },
          reason: 'is missing',
          field: 'phone',
        },
        { row: 4, state: 'pending' },
      ])
      expect(await store.batches.find(batch.id)).toMatchObject({
        id: batch.id,
        kind: 'file',
        name: 'people.csv',
        packageId: 12,
        counts: { total: 3, pending: 2, invalid: 1, accepted: 0 },
        halt: undefined,
        holder: undefined,
      })
    })

    test('adds all rows or none: a row that breaks a rule of the store prevents all others', async () => {
      const batch = fileBatch()
      await expect(
        store.batches.add(batch, [orderRow(1, 'a@example.com'), orderRow(1, 'b@example.com')]),
      ).rejects.toThrow('an internal rule of the store')
      expect(await store.batches.find(batch.id)).toBeUndefined()
      expect(await store.batches.list()).toEqual([])
    })

    test('a person who is in the file twice is ordered once', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, [orderRow(1, 'a@example.com'), orderRow(2, 'a@example.com')])
      expect(await readStates(batch.id)).toEqual(['1 pending', '2 duplicate'])
      expect((await rowsOf(store, batch.id))[1]?.matches).toMatchObject({
        batchId: batch.id,
        row: 1,
        requestId: undefined,
      })
    })

    test('a person whom another batch or a single order has ordered is a duplicate that names the earlier order', async () => {
      const single = await addOne(store.ledger, 'a@example.com')
      const first = fileBatch()
      await store.batches.add(first, [orderRow(1, 'b@example.com')])
      await acceptRow(first.id, 1, '11111111-1111-4111-8111-111111111111')
      const batch = fileBatch()
      await store.batches.add(batch, [
        orderRow(1, 'a@example.com'),
        orderRow(2, 'b@example.com'),
        orderRow(3, 'c@example.com'),
      ])
      expect(await readStates(batch.id)).toEqual(['1 duplicate', '2 duplicate', '3 pending'])
      expect((await rowsOf(store, batch.id)).map(({ matches }) => matches)).toMatchObject([
        { batchId: single.batchId, row: 1, requestId: undefined },
        { batchId: first.id, row: 1, requestId: '11111111-1111-4111-8111-111111111111' },
        undefined,
      ])
    })

    test('with allowDuplicate an accepted order can be repeated, and an order with an unknown outcome cannot', async () => {
      const first = fileBatch()
      await store.batches.add(first, [orderRow(1, 'a@example.com'), orderRow(2, 'b@example.com')])
      await acceptRow(first.id, 1)
      const row = (await rowsOf(store, first.id))[1]
      const attempt = row && (await beginAttempt(store.ledger, row, newAttempt()))
      if (attempt === undefined) throw new Error('the attempt did not begin')
      await store.ledger.move(attempt, { to: 'unknown', at: someTime + 30, reason: 'cut off' })
      const eightDaysMs = 8 * 24 * 60 * 60_000
      if (backend === 'PostgreSQL') await moveOrdersToPast(Date.now() - someTime)
      const secondBatch = fileBatch({ allowDuplicate: true, addedAt: someTime + eightDaysMs })
      await store.batches.add(secondBatch, [orderRow(1, 'a@example.com'), orderRow(2, 'b@example.com')])
      expect(await readStates(secondBatch.id)).toEqual(['1 pending', '2 duplicate'])
    })

    test('a preview has the same counts, reports conflicts, and adds nothing', async () => {
      const first = fileBatch()
      await store.batches.add(first, [orderRow(1, 'b@example.com')])
      const batch = fileBatch()
      const rows = [
        orderRow(1, 'a@example.com'),
        orderRow(2, 'a@example.com'),
        orderRow(3, 'b@example.com'),
        invalidRow(4),
      ]
      const preview = await store.batches.preview(batch, rows)
      expect(preview.counts).toMatchObject({ total: 4, pending: 1, duplicate: 2, invalid: 1 })
      expect(preview.conflicts).toMatchObject([
        { row: { row: 2 }, conflict: { becomes: 'duplicate', order: { batchId: batch.id, row: 1 } } },
        { row: { row: 3 }, conflict: { order: { batchId: first.id, row: 1, state: 'pending' } } },
      ])
      expect(await store.batches.find(batch.id)).toBeUndefined()
      await store.batches.add(batch, rows)
      expect(await store.batches.countRows(batch.id)).toEqual(preview.counts)
    })

    test('a store in memory refuses batches for a service on another machine', async () => {
      const memoryStore = await setup.openStore(':memory:')
      await expect(
        memoryStore.batches.add(fileBatch({ baseUrl: 'https://api.example.com' }), orderRows(1)),
      ).rejects.toThrow('a store in memory, which would forget the order')
    })

    test('a file is found by its identity, and a second batch of the same file is not added', async () => {
      const batch = fileBatch({ identity: 'this file' })
      await store.batches.add(batch, orderRows(1))
      expect((await store.batches.findByIdentity('this file'))?.id).toBe(batch.id)
      expect(await store.batches.findByIdentity('another file')).toBeUndefined()
      const secondBatch = fileBatch({ identity: 'this file' })
      expect((await store.batches.add(secondBatch, orderRows(1, 50)))?.id).toBe(batch.id)
      expect(await store.batches.find(secondBatch.id)).toBeUndefined()
      expect(await store.batches.countRows(batch.id)).toMatchObject({ total: 1 })
    })
  })

  describe('finding', () => {
    test('by the beginning of an id, if only one batch has it', async () => {
      const one = fileBatch({ id: 'aaaa1111-0000-4000-8000-000000000000' })
      const two = fileBatch({ id: 'aaaa2222-0000-4000-8000-000000000000' })
      await store.batches.add(one, orderRows(1))
      await store.batches.add(two, orderRows(1, 50))
      expect((await store.batches.find('aaaa1'))?.id).toBe(one.id)
      expect((await store.batches.find(two.id))?.id).toBe(two.id)
      expect(await store.batches.find('aaaa')).toBeUndefined()
      expect(await store.batches.find('bbbb')).toBeUndefined()
    })

    test('a list has the newest batch first, and includes single orders only on request', async () => {
      const single = await addOne(store.ledger, 'single@example.com')
      const oldBatch = fileBatch({ addedAt: someTime - 1000 })
      const freshBatch = fileBatch({ addedAt: someTime + 1000 })
      await store.batches.add(oldBatch, orderRows(1))
      await store.batches.add(freshBatch, orderRows(1, 50))
      expect((await store.batches.list()).map(({ id }) => id)).toEqual([freshBatch.id, oldBatch.id])
      expect((await store.batches.list({ includesSingleOrders: true })).map(({ id }) => id)).toEqual([
        freshBatch.id,
        single.batchId,
        oldBatch.id,
      ])
    })
  })

  describe('rows', () => {
    test('are returned in the order of the file, filtered by state, in pages', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(1200))
      await acceptRow(batch.id, 700)
      const rowNumbers: number[] = []
      for await (const { row } of store.batches.rows(batch.id, {
        states: ['pending'],
        after: 10,
        limit: 1000,
      })) {
        rowNumbers.push(row)
      }
      expect(rowNumbers.length).toBe(1000)
      expect(rowNumbers).not.toContain(700)
      expect([rowNumbers[0], rowNumbers.at(-1)]).toEqual([11, 1011])
    })

    test('may change while they are read', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(1001))
      let readCount = 0
      for await (const { row } of store.batches.rows(batch.id)) {
        readCount += 1
        if (row === 1) await acceptRow(batch.id, 2)
      }
      expect(readCount).toBe(1001)
    })

    test('the first pending row is sent next, and the listed bodies are those that will be sent', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, [
        invalidRow(1),
        orderRow(2, 'a@example.com'),
        orderRow(3, 'b@example.com'),
      ])
      expect((await store.batches.findNextPending(batch.id))?.row).toBe(2)
      expect((await store.batches.findNextPending(batch.id, 2))?.row).toBe(3)
      await acceptRow(batch.id, 2)
      expect((await store.batches.findNextPending(batch.id))?.row).toBe(3)
      const bodies: string[] = []
      for await (const { row, body } of store.batches.bodies(batch.id))
        bodies.push(`${row} ${Buffer.from(body).toString()}`)
      expect(bodies).toEqual(['2 {"for":"a@example.com"}', '3 {"for":"b@example.com"}'])
    })
  })

  describe('halting and resuming', () => {
    test('the reason of a halt is stored until the batch resumes', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(1))
      const halt = { at: someTime, code: 'forbidden', message: 'no credits', hint: 'Buy some.' }
      await store.batches.recordHalt(batch.id, halt)
      expect((await store.batches.find(batch.id))?.halt).toEqual(halt)
      await store.batches.recordHalt(batch.id, undefined)
      expect((await store.batches.find(batch.id))?.halt).toBeUndefined()
    })

    test('one process has the lease of a batch, and others can read which process and since when', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(1))
      const lease = await store.batches.acquire(batch.id)
      const otherStore = await setup.openStore()
      expect(await otherStore.batches.acquire(batch.id)).toBeUndefined()
      expect((await otherStore.batches.find(batch.id))?.holder).toMatchObject({ pid: process.pid })
      await lease?.release()
      expect((await otherStore.batches.find(batch.id))?.holder).toBeUndefined()
      const next = await otherStore.batches.acquire(batch.id)
      expect(next).toBeDefined()
      await next?.release()
    })

    test('rows of a runner that died become unknown, and the others stay pending', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(3))
      const first = await store.batches.findNextPending(batch.id)
      if (first !== undefined) await beginAttempt(store.ledger, first, newAttempt())
      expect(await store.ledger.recover(someTime + 100)).toMatchObject([{ row: 1, state: 'unknown' }])
      expect(await readStates(batch.id)).toEqual(['1 unknown', '2 pending', '3 pending'])
    })

    const unlimitedQuota: QuotaClaim = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }

    test('a row that has to wait for the quota stays pending, and the outcome of the row before it is recorded', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(2))
      const [one, two] = await rowsOf(store, batch.id)
      if (one === undefined || two === undefined) throw new Error('no rows')
      const exhaustedQuota: QuotaClaim = { account: 'key', decide: () => ({ state: {}, waitMs: 1500 }) }
      expect(await store.ledger.beginInQuota(one, newAttempt(), exhaustedQuota)).toEqual({
        waitMs: 1500,
        attempt: undefined,
      })
      const { attempt } = await store.ledger.beginInQuota(one, newAttempt(), unlimitedQuota)
      if (attempt === undefined) throw new Error('the attempt did not begin')
      const rejected = { to: 'rejected', at: someTime + 20, reason: 'no', answerStatus: 400 } as const
      expect(await store.ledger.moveAndBegin(attempt, rejected, two, newAttempt(), exhaustedQuota)).toEqual({
        isMoved: true,
        attempt: undefined,
      })
      expect(await readStates(batch.id)).toEqual(['1 rejected', '2 pending'])
    })

    test('the outcome of a row and the attempt of the next row are recorded in one transaction', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(2))
      const [one, two] = await rowsOf(store, batch.id)
      const attempt = one && (await beginAttempt(store.ledger, one, newAttempt()))
      if (attempt === undefined || two === undefined) throw new Error('the attempt did not begin')
      const accepted = {
        to: 'accepted',
        at: someTime + 20,
        requestId: randomUUID(),
        requestStatus: 'RECEIVED',
        answerStatus: 201,
      } as const
      const result = await store.ledger.moveAndBegin(attempt, accepted, two, newAttempt(), unlimitedQuota)
      expect(result).toMatchObject({ isMoved: true, attempt: { row: 2, state: 'sending' } })
      expect(await readStates(batch.id)).toEqual(['1 accepted', '2 sending'])
      expect(await store.ledger.moveAndBegin(attempt, accepted, two, newAttempt(), unlimitedQuota)).toEqual({
        isMoved: false,
        attempt: undefined,
        conflict: undefined,
      })
    })

    test('rows that are similar to one another are sent if the batch allows it, for all rows or by a shared value', async () => {
      const office = officeRows('office@example.com', ['Ann', 'Bob'])
      const choices: [Partial<NewFileBatch>, string][] = [
        [{}, '2 held'],
        [{ allowSimilar: false, shared: ['other@example.com'] }, '2 held'],
        [{ allowSimilar: true }, '2 pending'],
        [{ shared: ['office@example.com'] }, '2 pending'],
      ]
      for (const [index, [allowed, second]] of choices.entries()) {
        await store.accounts.add(`account ${index}`, 0)
        const batch = fileBatch({ account: `account ${index}`, ...allowed })
        await store.batches.add(batch, office)
        expect(await readStates(batch.id)).toEqual(['1 pending', second])
      }
    })

    test('cancelling changes rows that were not sent, and no rows that were ordered', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(3))
      await acceptRow(batch.id, 1)
      expect(await store.batches.cancelWaiting(batch.id, someTime + 50, 'cancelled')).toBe(2)
      expect(await readStates(batch.id)).toEqual(['1 accepted', '2 cancelled', '3 cancelled'])
    })

    test('rejected rows are queued again, except a row whose person was ordered meanwhile', async () => {
      const batch = fileBatch()
      await store.batches.add(batch, orderRows(3))
      for (const row of await rowsOf(store, batch.id)) {
        const attempt = await beginAttempt(store.ledger, row, newAttempt())
        if (attempt !== undefined) {
          await store.ledger.move(attempt, {
            to: 'rejected',
            at: someTime + 20,
            reason: 'no',
            answerStatus: 400,
          })
        }
      }
      const otherBatch = fileBatch()
      await store.batches.add(otherBatch, orderRows(1))
      expect(await store.batches.requeue(batch.id, someTime + 60, [1, 2])).toBe(1)
      expect(await readStates(batch.id)).toEqual(['1 duplicate', '2 pending', '3 rejected'])
      expect(await store.batches.requeue(batch.id, someTime + 70)).toBe(1)
      expect(await readStates(batch.id)).toEqual(['1 duplicate', '2 pending', '3 pending'])
    })
  })
})
