import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { batchOf, newAttempt, someTime } from './batches.ts'
import { fileBatch, officeRows, orderRows, rowsOf } from './files.ts'
import { backends, scratch, type Scratch } from './scratch.ts'
import type { BatchRow, NewFileBatch } from '../../../src/domain/batch/batch.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

const urls = ['https://old.example.com', 'https://new.example.com'] as const
const by = { at: someTime, by: 'owner@example.com' }

describe.each(backends)('%s: a pending row that matches an order by now', (backend) => {
  let place: Scratch
  let store: Store
  let pending: BatchRow

  const first = async (batchId: string): Promise<BatchRow> => {
    const { value: row } = await store.batches.rows(batchId).next()
    if (row === undefined) throw new Error('it has a row')
    return row
  }

  /** Ordered at one URL, pending at another; only then it is said that the two are one service. */
  beforeEach(async () => {
    place = scratch(50, backend)
    store = await place.store()
    await store.waiting.sayService(urls, false, by)
    const [old, fresh] = urls.map((baseUrl) => fileBatch({ baseUrl })) as [
      ReturnType<typeof fileBatch>,
      ReturnType<typeof fileBatch>,
    ]
    await store.batches.add(old, orderRows(1))
    const attempt = await store.ledger.begin(await first(old.id), newAttempt())
    if (attempt === undefined) throw new Error('it begins')
    const requestId = '3f0c6f0e-9d1b-4e0a-8a34-2f6b0f6c1d55'
    await store.ledger.move(attempt, { to: 'accepted', at: someTime, requestId, requestStatus: 'RECEIVED' })
    await store.batches.add(fresh, orderRows(1))
    pending = await first(fresh.id)
    if (pending.state !== 'pending') throw new Error('nothing stands in its way yet')
    await store.waiting.sayService(urls, true, by)
  })
  afterEach(() => place.end())

  const becomes = async () => (await first(pending.batchId)).state

  test('is compared in the step that takes it to sending, and is a duplicate instead', async () => {
    expect(await store.ledger.begin(pending, newAttempt())).toBeUndefined()
    expect(await becomes()).toBe('duplicate')
  })

  test('is so with a place in the quota too', async () => {
    const room = { account: 'key', decide: () => ({ state: {}, waitMs: 0 }) }
    const begun = await store.ledger.beginInQuota(pending, newAttempt(), room)
    expect(begun).toMatchObject({ attempt: undefined, stop: { becomes: 'duplicate' } })
    expect(await becomes()).toBe('duplicate')
  })

  test('is so of a single order too, which keeps what was allowed along with it and no more', async () => {
    const guard = { allowDuplicate: false }
    const [, baseUrl] = urls
    const order = batchOf(['person1@example.com'], { baseUrl })
    await store.waiting.cancelRow(pending.batchId, 1, someTime, 'cancelled')
    await store.waiting.sayService(urls, false, by)
    expect(await store.ledger.add(order, guard)).toBeUndefined()
    await store.waiting.sayService(urls, true, by)
    const row = { batchId: order.id, row: 1, state: 'pending', attemptId: undefined } as const
    expect(await store.ledger.begin(row, newAttempt())).toBeUndefined()
    expect(await store.ledger.list({ batchId: order.id })).toMatchObject([{ state: 'duplicate' }])
    const again = batchOf(['person1@example.com'], { baseUrl })
    expect(await store.ledger.add(again, { allowDuplicate: true })).toBeUndefined()
    expect(await store.ledger.begin({ ...row, batchId: again.id }, newAttempt())).toMatchObject({
      state: 'sending',
    })
  })
})

/** What a file says of its own rows, which share one e-mail. */
const allowances: [string, Partial<NewFileBatch>][] = [
  ['--allow-similar', { allowSimilar: true }],
  ['--shared', { shared: ['office@example.com'] }],
]

describe.each(backends)('%s: a row that is similar to one of its own file', (backend) => {
  let place: Scratch
  let store: Store

  beforeEach(async () => {
    place = scratch(50, backend)
    store = await place.store()
  })
  afterEach(() => place.end())

  /** Three colleagues of an office with one e-mail, the first of whom is in flight. */
  async function office(changes: Partial<NewFileBatch>) {
    const batch = fileBatch(changes)
    await store.batches.add(batch, officeRows('office@example.com', ['Ann', 'Bob', 'Cy']))
    const [first, second, third] = await rowsOf(store, batch.id)
    const attempt = first && (await store.ledger.begin(first, newAttempt()))
    if (attempt === undefined || second === undefined || third === undefined) throw new Error('it begins')
    return { batchId: batch.id, attempt, second, third }
  }

  test.each(allowances)(
    '%s: "held until that is settled or dropped" while its outcome is unknown; beside one in flight it goes',
    async (_, changes) => {
      const { batchId, attempt, second, third } = await office(changes)
      expect(await store.ledger.begin(second, newAttempt())).toMatchObject({ row: 2, state: 'sending' })
      await store.ledger.move(attempt, { to: 'unknown', at: someTime, reason: 'cut' })
      expect(await store.ledger.begin(third, newAttempt())).toBeUndefined()
      const held = { row: 3, state: 'held', heldFor: 'similar_unknown', matches: { row: 1 } }
      expect((await rowsOf(store, batchId))[2]).toMatchObject(held)
      await store.waiting.lookAgain(batchId, someTime)
      expect((await rowsOf(store, batchId))[2]).toMatchObject(held)
      await store.ledger.move(
        { ...attempt, state: 'unknown' },
        {
          to: 'dropped',
          at: someTime,
          reason: 'given up',
          decision: { by: 'owner@example.com', why: 'given up' },
        },
      )
      await store.waiting.lookAgain(batchId, someTime)
      expect((await rowsOf(store, batchId))[2]).toMatchObject({ row: 3, state: 'pending' })
    },
  )
})
