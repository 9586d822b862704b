import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, newAttempt, personOf, receivedEvent, someTime } from './batches.ts'
import { fileBatch, orderRows, rowsOf } from './files.ts'
import { backends, createTemporaryStores, type TemporaryStores } from './temporary-stores.ts'
import { createId, requestFor } from '../../usecases/batch/unknown-rows.ts'
import type { Recipient } from '../../../src/contract/request.ts'
import type { NewFileBatch } from '../../../src/domain/batch/batch.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

const hour = 60 * 60_000
const service = 'http://localhost:4010'
const createReading = (changes = {}) => ({
  service,
  reader: 'key1 ann@example.com',
  now: someTime,
  ...changes,
})

describe.each(backends)('%s: a request that an event names and no row ordered', (backend) => {
  let setup: TemporaryStores
  let store: Store
  beforeEach(async () => {
    setup = createTemporaryStores(2_000, backend)
    store = await setup.openStore()
  })
  afterEach(() => setup.remove())

  const recordRequest = (recipient: Recipient = personOf('person1@example.com'), changes = {}) =>
    store.unmatched.record(
      createId(9),
      createReading(changes),
      requestFor(1, { recipient: { ...recipient } }),
    )

  /** Adds a batch with person 1. Returns its row, and in `summary` the state, the hold reason and the matching request. */
  async function addBatch(changes: Partial<NewFileBatch> = {}) {
    const batch = fileBatch({ addedAt: someTime, ...changes })
    await store.batches.add(batch, orderRows(1))
    const [row] = await rowsOf(store, batch.id)
    if (row === undefined) throw new Error('no row')
    return { row, summary: [row.state, row.heldFor, row.matches?.requestId] }
  }

  test('is read once, whatever the case of its id', async () => {
    await store.unmatched.record(createId(1), createReading(), requestFor(1))
    const ids = [createId(1).toUpperCase(), createId(3)]
    expect(await store.unmatched.selectIdsToRead(ids, createReading())).toEqual([createId(3)])
    expect(await store.unmatched.selectUnread(ids, createReading())).toEqual([createId(3)])
    expect(
      await store.unmatched.selectIdsToRead(ids, createReading({ service: 'https://other.example.com' })),
    ).toEqual(ids.map((id) => id.toLowerCase()))
  })

  /** One 404, for example of a server that lagged behind the event, made the request unread for ever. */
  test('that was not found is read again, at growing intervals, until its event is an hour old', async () => {
    const ids = [createId(2), createId(3)]
    const receivedAt = someTime
    await store.inbox.add([receivedEvent(createId(2), 'PARTIAL', { receivedAt })], false)
    const findAt = async (minute: number) => {
      const reading = createReading({ now: receivedAt + minute * 60_000 })
      return {
        due: await store.unmatched.selectIdsToRead(ids, reading),
        unread: (await store.unmatched.selectUnread(ids, reading)).length,
      }
    }
    const recordMissing = (minute: number) =>
      store.unmatched.record(createId(2), createReading({ now: receivedAt + minute * 60_000 }), undefined)
    await recordMissing(20)
    expect(await findAt(39)).toEqual({ due: [createId(3)], unread: 2 })
    expect(await findAt(40)).toEqual({ due: [createId(3), createId(2)], unread: 2 })
    await recordMissing(59)
    expect(await findAt(118)).toEqual({ due: [createId(3), createId(2)], unread: 2 })
    await recordMissing(118)
    expect(await findAt(600)).toEqual({ due: [createId(3)], unread: 1 })
    await store.unmatched.record(createId(2), createReading({ now: receivedAt }), requestFor(1))
    expect((await addBatch()).summary).toEqual(['held', 'unmatched_request', createId(2)])
  })

  /** The key of another organisation with the same user made the request unread for ever. */
  test('that one reader did not find is read by another', async () => {
    await store.inbox.add([receivedEvent(createId(2), 'PARTIAL', { receivedAt: someTime - hour })], false)
    await store.unmatched.record(createId(2), createReading(), undefined)
    expect(await store.unmatched.selectIdsToRead([createId(2)], createReading())).toEqual([])
    expect(await store.unmatched.selectUnread([createId(2)], createReading())).toEqual([])
    const otherKey = createReading({ reader: 'key2 ann@example.com' })
    expect(await store.unmatched.selectIdsToRead([createId(2)], otherKey)).toEqual([createId(2)])
    expect(await store.unmatched.selectUnread([createId(2)], otherKey)).toEqual([createId(2)])
  })

  test('counts as one of 30 reads per hour, also if the clock is set back by less than an hour', async () => {
    for (let number = 100; number < 130; number += 1)
      await store.unmatched.record(createId(number), createReading(), requestFor(1))
    expect(
      await store.unmatched.selectIdsToRead([createId(130)], createReading({ now: someTime + hour - 1 })),
    ).toEqual([])
    expect(
      await store.unmatched.selectIdsToRead([createId(130)], createReading({ now: someTime + hour })),
    ).toEqual([createId(130)])
    expect(
      await store.unmatched.selectIdsToRead([createId(130)], createReading({ now: someTime - hour + 1 })),
    ).toEqual([])
  })

  test('holds a new order of its person, also in a store without orders', async () => {
    await recordRequest()
    expect((await addBatch()).summary).toEqual(['held', 'unmatched_request', createId(9)])
  })

  test.each([
    ['the same e-mail', { ...personOf('person1@example.com'), first_name: 'Bob', phone: '+1999' }, 'held'],
    [
      'the same phone',
      { ...personOf('person1@example.com'), first_name: 'Bob', email: 'b@x.example' },
      'held',
    ],
    ['nothing in common', { ...personOf('b@x.example'), phone: '+1999' }, 'pending'],
  ])('a new row with %s is %s', async (_, recipient, state) => {
    await recordRequest(recipient)
    expect((await addBatch()).summary[0]).toBe(state)
  })

  test('of another loopback service does not hold a row', async () => {
    await recordRequest(undefined, { service: 'http://localhost:4999' })
    expect((await addBatch()).summary[0]).toBe('pending')
  })

  test('holds a row at its claim if the request was read after the file was added', async () => {
    const { row, summary } = await addBatch()
    expect(summary[0]).toBe('pending')
    await recordRequest()
    expect(await beginAttempt(store.ledger, row, newAttempt())).toBeUndefined()
    const [rowNow] = await rowsOf(store, row.batchId)
    expect([rowNow?.state, rowNow?.heldFor, rowNow?.matches?.requestId]).toEqual([
      'held',
      'unmatched_request',
      createId(9),
    ])
  })

  test.each([
    ['and the person: it belongs to the account of that row', personOf('person1@example.com'), 'pending'],
    [
      'for another spelling of the person',
      { ...personOf('person1@example.com'), email: 'p@x.example' },
      'held',
    ],
  ])('once a row of its service has the request id %s', async (_, recipient, state) => {
    for (const account of ['one', 'two']) await store.accounts.add(account, 0)
    const batch = fileBatch({ addedAt: someTime, account: 'one' })
    await store.batches.add(batch, orderRows(1))
    const [row] = await rowsOf(store, batch.id)
    const attempt = row && (await beginAttempt(store.ledger, row, newAttempt()))
    if (attempt === undefined) throw new Error('the attempt did not begin')
    const accepted = {
      to: 'accepted',
      at: someTime,
      requestId: createId(9),
      requestStatus: 'RECEIVED',
    } as const
    await store.ledger.move(attempt, accepted)
    await recordRequest(recipient)
    expect((await addBatch({ account: 'two' })).summary[0]).toBe(state)
  })

  test('does not hold a row with --allow-duplicate if it is more than 7 days old', async () => {
    const createdDaysAgo = (count: number) => ({
      created_at: new Date(someTime - count * 24 * hour).toISOString(),
    })
    await store.unmatched.record(createId(9), createReading(), requestFor(1, createdDaysAgo(8)))
    expect((await addBatch({ allowDuplicate: true })).summary[0]).toBe('pending')
    await store.unmatched.record(createId(8), createReading(), requestFor(2, createdDaysAgo(6)))
    const batch = fileBatch({ addedAt: someTime, allowDuplicate: true })
    await store.batches.add(batch, orderRows(1, 2))
    expect((await rowsOf(store, batch.id))[0]).toMatchObject({ state: 'held', heldFor: 'unmatched_request' })
  })

  test.each([
    ['by the e-mail', { email: 'person1@example.com' }],
    ['by the request', { requestId: createId(9) }],
    ['by age', { endedBefore: someTime + 1 }],
  ])('loses its fingerprints once the person is erased completely, %s', async (_, person) => {
    await recordRequest()
    await store.maintenance.purge(person, { dryRun: false, completely: false })
    expect((await addBatch()).summary[0]).toBe('held')
    await store.maintenance.purge(person, { dryRun: false, completely: true })
    const secondBatch = fileBatch({ addedAt: someTime })
    await store.batches.add(secondBatch, orderRows(1))
    expect((await rowsOf(store, secondBatch.id))[0]?.state).toBe('pending')
    expect(await store.unmatched.selectIdsToRead([createId(9)], createReading())).toEqual([])
  })
})
