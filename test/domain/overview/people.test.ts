import { expect, test } from 'vitest'

import { personRow, statusCounts } from '../../../src/domain/overview/people.ts'

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

test('an accepted order has its request’s status, RECEIVED until one is read', () => {
  expect(personRow(row, user)).toEqual({
    name: 'Ana Silva',
    email: 'ana@example.com',
    package_id: 102,
    user,
    status: 'RECEIVED',
    ordered_at: '1970-01-01T00:00:01.000Z',
    heard_at: '1970-01-01T00:00:02.000Z',
    request_id: 'r1',
    batch_id: 'b1',
    row: 3,
  })
  expect(personRow({ ...row, requestStatus: 'PARTIAL', requestStatusAt: 3000 }, user)).toMatchObject({
    status: 'PARTIAL',
    heard_at: '1970-01-01T00:00:03.000Z',
  })
})

test('a row that was not accepted has its state; one that never was a whole order what could be read', () => {
  const invalid = {
    ...row,
    state: 'invalid',
    recipient: undefined,
    email: 'bad',
    packageId: undefined,
  } as const
  const found = personRow({ ...invalid, requestId: undefined, attemptedAt: undefined }, user)
  expect(found).toMatchObject({ name: '', email: 'bad', package_id: null, status: 'invalid' })
  expect(found).toMatchObject({ ordered_at: null, heard_at: null, request_id: null })
})

test('statuses are counted in the order of a chart, one that is not known last', () => {
  const of = (status: string): { status: string } => ({ status })
  expect(statusCounts([of('NEW'), of('ERROR'), of('pending'), of('COMPLETED'), of('ERROR')])).toEqual([
    ['COMPLETED', 1],
    ['pending', 1],
    ['ERROR', 2],
    ['NEW', 1],
  ])
})
