import { expect, test } from 'vitest'

import { isUnmatched, unmatchedOrder } from '../../../src/domain/submission/unmatched.ts'

test('a request that no row ordered is an accepted order of a batch of its own, in a row that no batch has', () => {
  const order = unmatchedOrder({
    service: 'https://api.example.com',
    requestId: 'r-1',
    createdAt: 5,
    packageId: 7,
    status: 'COMPLETED',
  })
  expect(order).toMatchObject({
    batchId: 'r-1',
    row: 0,
    state: 'accepted',
    requestId: 'r-1',
    requestStatus: 'COMPLETED',
    changedAt: 5,
    recipient: undefined,
  })
  expect(isUnmatched(order)).toBe(true)
  expect(isUnmatched({ row: 1 })).toBe(false)
})
