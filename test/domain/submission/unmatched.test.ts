import { expect, test } from 'vitest'

import { isUnmatched, unmatchedOrder } from '../../../src/domain/submission/submission.ts'

test('an unmatched request is an accepted order in row 0 of a batch with the id of the request', () => {
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
