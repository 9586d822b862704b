import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { beginAttempt, newAttempt, personOf, someTime } from './batches.ts'
import { fileBatch, orderRows, rowsOf } from './files.ts'
import { backends, scratch, type Scratch } from './scratch.ts'
import { idOf, requestFor } from '../../usecases/batch/unknown-rows.ts'
import type { Recipient } from '../../../src/contract/request.ts'
import type { Store } from '../../../src/store/ledger/store.ts'

const hour = 60 * 60_000
const service = 'http://localhost:4010'
const reading = (changes = {}) => ({ service, reader: 'Ann@example.com', now: someTime, ...changes })

describe.each(backends)('%s: a request that an event names and no row ordered', (backend) => {
  let setup: Scratch
  let store: Store
  beforeEach(async () => {
    setup = scratch(2_000, backend)
    store = await setup.store()
  })
  afterEach(() => setup.end())

  const read = (recipient: Recipient = personOf('person1@example.com'), changes = {}) =>
    store.unmatched.record(idOf(9), reading(changes), requestFor(1, { recipient: { ...recipient } }))

  /** Takes a file of person 1 in; why its row is held, and what it matches. */
  async function addBatch(allow: { allowDuplicate?: boolean } = {}) {
    const batch = fileBatch({ addedAt: someTime, ...allow })
    await store.batches.add(batch, orderRows(1))
    const [row] = await rowsOf(store, batch.id)
    if (row === undefined) throw new Error('no row')
    return { row, is: [row.state, row.heldFor, row.matches?.requestId] }
  }

  test('is read once, whatever the case of its id; of a user who cannot read it by that user', async () => {
    await store.unmatched.record(idOf(1), reading(), requestFor(1))
    await store.unmatched.record(idOf(2), reading(), undefined)
    const ids = [idOf(1).toUpperCase(), idOf(2), idOf(3)]
    expect(await store.unmatched.selectIdsToRead(ids, reading())).toEqual([idOf(3)])
    expect(await store.unmatched.selectIdsToRead(ids, reading({ reader: 'ANN@example.com' }))).toEqual([
      idOf(3),
    ])
    expect(await store.unmatched.selectIdsToRead(ids, reading({ reader: 'ben@example.com' }))).toEqual([
      idOf(2),
      idOf(3),
    ])
    expect(
      await store.unmatched.selectIdsToRead(ids, reading({ service: 'https://other.example.com' })),
    ).toEqual(ids.map((id) => id.toLowerCase()))
  })

  test('counts in the ten reads of an hour; a clock that was set back frees no place', async () => {
    for (let at = 10; at < 20; at += 1) await store.unmatched.record(idOf(at), reading(), requestFor(1))
    expect(await store.unmatched.selectIdsToRead([idOf(20)], reading({ now: someTime + hour - 1 }))).toEqual(
      [],
    )
    expect(await store.unmatched.selectIdsToRead([idOf(20)], reading({ now: someTime + hour }))).toEqual([
      idOf(20),
    ])
    expect(await store.unmatched.selectIdsToRead([idOf(20)], reading({ now: 0 }))).toEqual([])
  })

  test('holds a new order of its person, in a store that has no order yet as well', async () => {
    await read()
    expect((await addBatch()).is).toEqual(['held', 'unmatched_request', idOf(9)])
  })

  test.each([
    ['the same e-mail', { ...personOf('person1@example.com'), first_name: 'Bob', phone: '+1999' }, 'held'],
    [
      'the same phone',
      { ...personOf('person1@example.com'), first_name: 'Bob', email: 'b@x.example' },
      'held',
    ],
    ['nothing in common', { ...personOf('b@x.example'), phone: '+1999' }, 'pending'],
  ])('for somebody with %s: %s', async (_, recipient, state) => {
    await read(recipient)
    expect((await addBatch()).is[0]).toBe(state)
  })

  test('of another loopback service holds nothing', async () => {
    await read(undefined, { service: 'http://localhost:4999' })
    expect((await addBatch()).is[0]).toBe('pending')
  })

  test('holds a row at its claim, where it was read after the file was taken in', async () => {
    const { row, is } = await addBatch()
    expect(is[0]).toBe('pending')
    await read()
    expect(await beginAttempt(store.ledger, row, newAttempt())).toBeUndefined()
    const [now] = await rowsOf(store, row.batchId)
    expect([now?.state, now?.heldFor, now?.matches?.requestId]).toEqual([
      'held',
      'unmatched_request',
      idOf(9),
    ])
  })

  test('holds nothing once a row of its service has it', async () => {
    const { row } = await addBatch()
    await read()
    const other = fileBatch({ addedAt: someTime })
    await store.batches.add(other, orderRows(1, 5))
    const [unknown] = await rowsOf(store, other.id)
    const attempt = unknown && (await beginAttempt(store.ledger, unknown, newAttempt()))
    if (attempt === undefined) throw new Error('it begins')
    const accepted = { to: 'accepted', at: someTime, requestId: idOf(9), requestStatus: 'RECEIVED' } as const
    await store.ledger.move(attempt, accepted)
    expect(await beginAttempt(store.ledger, row, newAttempt())).toBeDefined()
  })

  test('--allow-duplicate passes one that is older than 7 days, and no newer one', async () => {
    const days = (count: number) => ({ created_at: new Date(someTime - count * 24 * hour).toISOString() })
    await store.unmatched.record(idOf(9), reading(), requestFor(1, days(8)))
    expect((await addBatch({ allowDuplicate: true })).is[0]).toBe('pending')
    await store.unmatched.record(idOf(8), reading(), requestFor(2, days(6)))
    const batch = fileBatch({ addedAt: someTime, allowDuplicate: true })
    await store.batches.add(batch, orderRows(1, 2))
    expect((await rowsOf(store, batch.id))[0]).toMatchObject({ state: 'held', heldFor: 'unmatched_request' })
  })

  test.each([
    ['by the e-mail', { email: 'person1@example.com' }],
    ['by the request', { requestId: idOf(9) }],
    ['by age', { endedBefore: someTime + 1 }],
  ])('is kept without its fingerprints once the person is removed completely, %s', async (_, who) => {
    await read()
    await store.maintenance.purge(who, { dryRun: false, completely: false })
    expect((await addBatch()).is[0]).toBe('held')
    await store.maintenance.purge(who, { dryRun: false, completely: true })
    const again = fileBatch({ addedAt: someTime })
    await store.batches.add(again, orderRows(1))
    expect((await rowsOf(store, again.id))[0]?.state).toBe('pending')
    expect(await store.unmatched.selectIdsToRead([idOf(9)], reading())).toEqual([])
  })
})
