import { expect, test } from 'vitest'

import type { RequestResource } from '../../../src/contract/request.ts'
import { differencesToConfirm } from '../../../src/domain/batch/reconciliation.ts'

const day = 24 * 60 * 60_000
const addedAt = Date.UTC(2026, 10, 20)
const recipient = { first_name: 'Ana', last_name: 'Silva', email: 'ana@example.com', phone: '+61400000001' }
const order = { batchId: 'b-1', row: 2, packageId: 102, userEmail: 'member@example.com', recipient }
const times = { addedAt, attemptedAt: undefined, changedAt: addedAt }
const row = { ...order, ...times, state: 'held' as const, matches: undefined }

function requestCreatedAt(time: number): RequestResource {
  const requester = { first_name: 'Eve', last_name: 'Other', email: 'other@example.com' }
  const request = { request_id: 'r-1', package_id: 102, status: 'RECEIVED', recipient, requester }
  return { ...request, created_at: new Date(time).toISOString() } as unknown as RequestResource
}

test('a request of another user is the order of a held row; if it is older than the row by more than a day, it is confirmed', () => {
  expect(differencesToConfirm(row, requestCreatedAt(addedAt - day + 1), [], 0)).toEqual([])
  expect(differencesToConfirm(row, requestCreatedAt(addedAt - day - 1), [], 0)).toEqual(['age'])
})

test('the age of a request is not asked about if the row is held because of that request', () => {
  const matches = { requestId: 'r-1' } as never
  expect(differencesToConfirm({ ...row, matches }, requestCreatedAt(addedAt - 30 * day), [], 0)).toEqual([])
})
