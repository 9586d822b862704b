import { expect, test } from 'vitest'

import {
  toListedRequest,
  statesAtService,
  requestStatusOf,
} from '../../../src/domain/request/listed-request.ts'
import { submissionStates } from '../../../src/domain/submission/states.ts'
import { batchRow } from '../batch/rows.ts'

const createOrder = (changes: Parameters<typeof batchRow>[0] = {}) => ({ ...batchRow(changes), packageId: 7 })

test('only orders that may exist at the service are listed', () => {
  const unlistedStates = submissionStates.filter((state) => !statesAtService.includes(state))
  expect(unlistedStates).toEqual(['pending', 'rejected', 'held', 'invalid', 'duplicate', 'cancelled'])
})

test('the status is that of the request, or the state of the order if there is none', () => {
  expect(requestStatusOf(createOrder({ state: 'accepted', requestStatus: 'PARTIAL' }))).toBe('PARTIAL')
  expect(requestStatusOf(createOrder({ state: 'unknown' }))).toBe('unknown')
})

test('unknown values are null; the time is that of the attempt, or of adding the row', () => {
  expect(toListedRequest(createOrder({ state: 'unknown', addedAt: 1000, reason: 'cut' }))).toMatchObject({
    request_id: null,
    status: null,
    status_read_at: null,
    ordered_at: '1970-01-01T00:00:01.000Z',
    reason: 'cut',
  })
  const acceptedOrder = createOrder({
    state: 'accepted',
    requestId: 'r-1',
    requestStatus: 'COMPLETED',
    requestStatusAt: 3000,
    attemptedAt: 2000,
  })
  expect(toListedRequest(acceptedOrder)).toMatchObject({
    request_id: 'r-1',
    status: 'COMPLETED',
    status_read_at: '1970-01-01T00:00:03.000Z',
    ordered_at: '1970-01-01T00:00:02.000Z',
    reason: null,
  })
  expect(toListedRequest(createOrder({ recipient: undefined })).recipient).toBeNull()
})
