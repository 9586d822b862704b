import { expect, test } from 'vitest'

import {
  countOrders,
  removeDuplicates,
  countPeople,
  personRow,
  statusCounts,
} from '../../../src/domain/overview/people.ts'

const user = { baseUrl: 'https://api.example.com', userEmail: 'owner@example.com' }

const row = {
  batchId: 'b1',
  row: 3,
  state: 'accepted',
  packageId: 102,
  requestId: 'r1',
  requestStatus: undefined,
  requestStatusAt: undefined,
  recipient: { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' },
  attemptedAt: 1000,
  addedAt: 0,
  changedAt: 2000,
} as const

test('an accepted order has the status of its request, which is RECEIVED until it is read', () => {
  expect(personRow(row, user)).toEqual({
    name: 'Ana Silva',
    email: 'ana@example.com',
    package_id: 102,
    user,
    status: 'RECEIVED',
    is_repeat: false,
    is_ordered_again: false,
    ordered_at: '1970-01-01T00:00:01.000Z',
    read_at: '1970-01-01T00:00:02.000Z',
    request_id: 'r1',
    batch_id: 'b1',
    row: 3,
    same_as_row: null,
    perhaps_ordered_by: null,
  })
  expect(personRow({ ...row, requestStatus: 'PARTIAL', requestStatusAt: 3000 }, user)).toMatchObject({
    status: 'PARTIAL',
    read_at: '1970-01-01T00:00:03.000Z',
  })
})

test('a row that was not accepted has its state, and an invalid row the values that could be read', () => {
  const invalid = {
    ...row,
    state: 'invalid',
    recipient: undefined,
    person: { first_name: 'Ann', email: 'bad' },
    packageId: undefined,
  } as const
  const found = personRow({ ...invalid, requestId: undefined, attemptedAt: undefined }, user)
  expect(found).toMatchObject({ name: 'Ann', email: 'bad', package_id: null, status: 'invalid' })
  expect(found).toMatchObject({ ordered_at: null, read_at: null, request_id: null })
})

test('a duplicate has the id of the request that it repeats, and both count as one person', () => {
  const duplicate = {
    ...row,
    state: 'duplicate',
    requestId: undefined,
    row: 4,
    attemptedAt: undefined,
  } as const
  const first = personRow(row, user)
  const repeatedRow = personRow({ ...duplicate, matches: { requestId: 'r1', batchId: 'b1', row: 3 } }, user)
  expect(repeatedRow).toMatchObject({ status: 'duplicate', request_id: 'r1', same_as_row: 3 })
  expect(removeDuplicates([first, repeatedRow])).toEqual([first])
  // A duplicate stays if the row that it repeats is in another file.
  expect(removeDuplicates([repeatedRow])).toEqual([repeatedRow])
  const earlier = { ...row, batchId: 'b0', row: 1, requestStatus: 'PARTIAL' }
  const others = [duplicate, { ...duplicate, row: 5 }].map((each) =>
    personRow({ ...each, matches: { requestId: 'r1', batchId: 'b0', row: 1 } }, user, earlier),
  )
  expect(others[0]).toMatchObject({ status: 'PARTIAL', is_repeat: true, same_as_row: null })
  expect(removeDuplicates(others)).toEqual([others[0]])
  expect(
    countPeople([
      first,
      repeatedRow,
      { ...first, email: 'ANA@example.com', row: 5 },
      { ...first, email: 'bo@example.com' },
    ]),
  ).toBe(2)
  expect(
    countPeople([
      { ...first, email: '' },
      { ...first, email: '', row: 4 },
    ]),
  ).toBe(2)
})

test('a row that is left out or dropped has no order and does not count as one', () => {
  const others = { requestId: undefined, matches: { requestId: 'r9', batchId: 'b2', row: 1 } }
  const leftOut = personRow({ ...row, ...others, state: 'cancelled', attemptedAt: undefined }, user)
  expect(leftOut).toMatchObject({ status: 'left out', request_id: null, ordered_at: null })
  const dropped = personRow({ ...row, ...others, state: 'dropped' }, user)
  expect(dropped).toMatchObject({ status: 'dropped', request_id: null, ordered_at: null })
  const held = personRow({ ...row, ...others, state: 'held' }, user)
  expect(held).toMatchObject({ status: 'held', request_id: null })
  const cancelled = personRow({ ...row, requestStatus: 'CANCELLED' }, user)
  expect(cancelled).toMatchObject({ status: 'CANCELLED', request_id: 'r1' })
  expect(countOrders([leftOut, dropped, held, cancelled])).toBe(2)
})

test('statuses are counted in the order of the chart, with unknown ones last', () => {
  const withStatus = (status: string): { status: string } => ({ status })
  expect(
    statusCounts([
      withStatus('NEW'),
      withStatus('ERROR'),
      withStatus('pending'),
      withStatus('COMPLETED'),
      withStatus('ERROR'),
    ]),
  ).toEqual([
    ['COMPLETED', 1],
    ['pending', 1],
    ['ERROR', 2],
    ['NEW', 1],
  ])
})
