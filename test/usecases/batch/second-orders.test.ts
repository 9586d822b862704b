import { afterEach, beforeEach, expect, test } from 'vitest'

import { addBatch } from './runner.ts'
import {
  createId,
  clockAfterMinutes,
  memoryStore,
  requestFor,
  createRunner,
  sendRow,
  addUnknownRows,
} from './unknown-rows.ts'
import { receivedEvent } from '../../store/ledger/batches.ts'
import { orderRows, rowsOf } from '../../store/ledger/files.ts'
import type { NewFileBatch } from '../../../src/domain/batch/batch.ts'
import { NotFoundError, UnavailableError } from '../../../src/errors/kinds.ts'
import type { Store } from '../../../src/store/ledger/store.ts'
import {
  acknowledgeSecondOrder,
  findSecondOrders as findUnmatched,
} from '../../../src/usecases/batch/reconcile.ts'

const findSecondOrders = async (...given: Parameters<typeof findUnmatched>) =>
  (await findUnmatched(...given)).secondOrders

let store: Store

beforeEach(async () => {
  store = await memoryStore()
})
afterEach(() => store.close())

/** Adds an accepted order of person 1 with the id of request 1, and returns the batch id. */
async function addAcceptedOrder(changes: Partial<NewFileBatch> = {}): Promise<string> {
  const batch = await addBatch(store, { rows: orderRows(1), ...changes })
  const [row] = await rowsOf(store, batch.id)
  if (row === undefined) throw new Error('no row')
  await sendRow(store, row, { to: 'accepted', requestId: createId(1), requestStatus: 'RECEIVED' })
  return batch.id
}

const unmatched = requestFor(1, { request_id: createId(9) })
const reads = { [createId(9)]: unmatched }
const expectedDuplicates = (batchId: string) => [
  {
    requestId: createId(9),
    createdAt: unmatched.created_at,
    packageId: 12,
    shares: [],
    order: { requestId: createId(1), batchId, row: 1, packageId: 12 },
  },
]

test('an unmatched request for a person who was ordered with this store is reported until it is acknowledged', async () => {
  const batchId = await addAcceptedOrder()
  const { ports, api } = createRunner(store, { reads })
  expect(await findSecondOrders(ports, [createId(9)])).toEqual(expectedDuplicates(batchId))
  // The request is read once, and is still reported without an event.
  expect(await findSecondOrders(ports, [])).toEqual(expectedDuplicates(batchId))
  expect(api.readIds).toEqual([createId(9)])
  expect(await acknowledgeSecondOrder(ports, createId(9))).toBe(true)
  expect(await findSecondOrders(ports, [createId(9)])).toEqual([])
  expect(api.readIds).toEqual([createId(9)])
  expect(await acknowledgeSecondOrder(ports, createId(8))).toBe(false)
})

test('an order of this store is not a possible duplicate and is not read', async () => {
  await addAcceptedOrder()
  const { ports, api } = createRunner(store)
  expect(await findSecondOrders(ports, [createId(1)])).toEqual([])
  expect(api.readIds).toEqual([])
})

test('a request that has become the order of a row is no longer reported', async () => {
  await addAcceptedOrder()
  const { ports } = createRunner(store, { reads })
  expect(await findSecondOrders(ports, [createId(9)])).toHaveLength(1)
  const { rows } = await addUnknownRows(store, { rows: orderRows(1, 5) })
  const decision = { by: 'refcheck', why: 'an event showed it' }
  const [row] = rows
  const change = {
    to: 'accepted',
    at: 1,
    requestId: createId(9),
    requestStatus: 'RECEIVED',
    decision,
  } as const
  expect(row && (await store.ledger.move(row, change))).toBe(true)
  expect(await findSecondOrders(ports, [])).toEqual([])
})

test.each([
  ['another person', requestFor(2, { request_id: createId(9) })],
  ['another package', { ...unmatched, package_id: 13 }],
])('a request for %s is not a possible duplicate, and is read once', async (_, request) => {
  await addAcceptedOrder()
  const { ports, api } = createRunner(store, { reads: { [createId(9)]: request } })
  expect(await findSecondOrders(ports, [createId(9)])).toEqual([])
  expect(await findSecondOrders(ports, [createId(9)])).toEqual([])
  expect(api.readIds).toEqual([createId(9)])
})

/** In the opposite sequence such a request held the order. */
test.each([
  ['another spelling', { first_name: 'Anne' }, ['email']],
  ['another e-mail', { email: 'anne@example.com' }, ['phone']],
])('a request for a person in %s is reported, also if the package was moved', async (_, changes, shares) => {
  const batchId = await addAcceptedOrder()
  const recipient = { ...unmatched.recipient, ...changes }
  const { ports } = createRunner(store, {
    reads: {
      [createId(9)]: { ...unmatched, recipient },
      [createId(8)]: { ...unmatched, recipient, package_id: 13 },
    },
  })
  const expected = { ...expectedDuplicates(batchId)[0], shares }
  expect(await findSecondOrders(ports, [createId(9), createId(8)])).toEqual([expected])
  const moved = await addBatch(store, { rows: orderRows(5) })
  await store.heldRows.moveRows(moved.id, 13, await store.heldRows.readMovable(moved.id), 0)
  expect(await findSecondOrders(ports, [])).toEqual([
    { ...expected, requestId: createId(8), packageId: 13 },
    expected,
  ])
  expect(await acknowledgeSecondOrder(ports, createId(8))).toBe(true)
  expect(await findSecondOrders(ports, [])).toEqual([expected])
})

test('a similar person whose order was released is not reported', async () => {
  const { ports } = createRunner(store, {
    reads: { [createId(9)]: { ...unmatched, recipient: { ...unmatched.recipient, first_name: 'Anne' } } },
  })
  await findSecondOrders(ports, [createId(9)])
  const batch = await addBatch(store, { rows: orderRows(1) })
  await release(batch.id)
  const [row] = await rowsOf(store, batch.id)
  if (row) await sendRow(store, row, { to: 'accepted', requestId: createId(1), requestStatus: 'RECEIVED' })
  expect(await findSecondOrders(ports, [])).toEqual([])
})

test('a request for a person ordered at another service, or never accepted, is not a possible duplicate', async () => {
  await addAcceptedOrder({ baseUrl: 'http://127.0.0.1:4010/other' })
  await addUnknownRows(store)
  expect(await findSecondOrders(createRunner(store, { reads }).ports, [createId(9)])).toEqual([])
})

const release = (batchId: string) =>
  store.heldRows.release(batchId, { kind: 'rows', rows: [1] }, { at: 0, by: 'ann' })

/** Adds an accepted order of person 1 with the id of request 2, a day after the batches of other tests. */
async function addLaterOrder(changes: Partial<NewFileBatch>): Promise<string> {
  const batch = await addBatch(store, { rows: orderRows(1), addedAt: Date.UTC(2026, 10, 22), ...changes })
  await release(batch.id)
  const [row] = await rowsOf(store, batch.id)
  if (row) await sendRow(store, row, { to: 'accepted', requestId: createId(2), requestStatus: 'RECEIVED' })
  return batch.id
}

test('the newest of several orders for a person is named', async () => {
  await addAcceptedOrder()
  const later = await addLaterOrder({ allowDuplicate: true })
  const [second, ...others] = await findSecondOrders(createRunner(store, { reads }).ports, [createId(9)])
  expect(second?.order).toMatchObject({ requestId: createId(2), batchId: later })
  expect(others).toEqual([])
})

/** The order of another account removed the entry of the first one from its status. */
test('an order of each account for the person is named', async () => {
  const first = await addAcceptedOrder({ account: 'one' })
  await store.accounts.add('two', 0)
  const later = await addLaterOrder({ account: 'two' })
  const found = await findSecondOrders(createRunner(store, { reads }).ports, [createId(9)])
  expect(found.map(({ order }) => order.batchId)).toEqual([first, later])
})

test('a request that this user cannot read is not reported, and another user can read it', async () => {
  const batchId = await addAcceptedOrder()
  await store.inbox.add([receivedEvent(createId(9), 'PARTIAL', { receivedAt: 0 })], false)
  const missing = { reads: { [createId(9)]: new NotFoundError('no such request') } }
  const { ports, api } = createRunner(store, missing)
  expect(await findSecondOrders(ports, [createId(9)])).toEqual([])
  expect(await findSecondOrders(ports, [createId(9)])).toEqual([])
  expect(api.readIds).toHaveLength(1)
  const other = createRunner(store, { reads, api: { userEmail: 'other@example.com' } })
  expect(await findSecondOrders(other.ports, [createId(9)])).toEqual(expectedDuplicates(batchId))
})

test('if the service is unreachable, known requests are reported and the others are read later', async () => {
  const batchId = await addAcceptedOrder()
  const serviceDown = { reads: { ...reads, [createId(8)]: new UnavailableError('down') } }
  const { ports, api } = createRunner(store, serviceDown)
  await findSecondOrders(ports, [createId(9)])
  expect(await findSecondOrders(ports, [createId(8), createId(7)])).toEqual(expectedDuplicates(batchId))
  expect(api.readIds).toEqual([createId(9), createId(8)])
  expect(
    await findSecondOrders(createRunner(store, { reads: { [createId(8)]: unmatched } }).ports, [createId(8)]),
  ).toHaveLength(2)
})

test('Ctrl-C and unexpected errors are thrown', async () => {
  await addAcceptedOrder()
  const down = new UnavailableError('down')
  const stop = new AbortController()
  const serviceDown = () => {
    stop.abort()
    return Promise.reject(down)
  }
  const { ports } = createRunner(store, { signal: stop.signal, api: { getRequest: serviceDown } })
  await expect(findSecondOrders(ports, [createId(9)])).rejects.toBe(down)
  const surprise = new TypeError('a fault of ours')
  const failingRunner = createRunner(store, { reads: { [createId(9)]: surprise } })
  await expect(findSecondOrders(failingRunner.ports, [createId(9)])).rejects.toBe(surprise)
})

test('at most 30 calls an hour, each within the quota', async () => {
  await addAcceptedOrder()
  const all = Object.fromEntries(
    Array.from({ length: 32 }, (_, at) => [
      createId(200 + at),
      requestFor(2, { request_id: createId(200 + at) }),
    ]),
  )
  const { ports, api } = createRunner(store, { reads: all })
  await findSecondOrders(ports, Object.keys(all))
  expect(api.readIds).toHaveLength(30)
  const { windows } = await ports.governor.status()
  expect(windows[0]).toMatchObject({ used: 30 })
  const next = createRunner(store, { reads: all, clock: clockAfterMinutes(61) })
  await findSecondOrders(next.ports, Object.keys(all))
  expect(next.api.readIds).toHaveLength(2)
})
