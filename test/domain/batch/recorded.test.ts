import { expect, test } from 'vitest'

import type { RequestResource } from '../../../src/contract/request.ts'
import { confirmation, toConfirm } from '../../../src/domain/batch/recorded.ts'
import { DuplicateError, InvalidInputError } from '../../../src/errors/kinds.ts'
import { ann, batchRow } from './rows.ts'

const at = Date.UTC(2026, 10, 20, 12)
const row = { ...batchRow({ row: 2, state: 'unknown', attemptedAt: at, changedAt: at }), packageId: 7 }

const request = (over: Partial<RequestResource> = {}): RequestResource => ({
  request_id: 'r-1',
  package_id: 7,
  status: 'RECEIVED',
  created_at: new Date(at).toISOString(),
  requester: { email: 'owner@example.com' },
  recipient: ann,
  checks: [],
  ...over,
})

test('a request that fits in all is recorded without a question', () => {
  expect(toConfirm(row, request(), [], undefined)).toEqual([])
  expect(toConfirm(row, request(), [{ batchId: 'b-1', row: 2 }], undefined)).toEqual([])
})

test('what differs has to be confirmed', () => {
  expect(toConfirm(row, request({ requester: { email: 'other@example.com' } }), [], undefined)).toEqual([
    'requester',
  ])
})

test('a request of another person, of another package, or of another order is refused', () => {
  const stranger = { first_name: 'Bo', last_name: 'Ng', email: 'bo@example.com', phone: '+61499999999' }
  expect(() => toConfirm(row, request({ recipient: stranger }), [], undefined)).toThrow(InvalidInputError)
  expect(() => toConfirm(row, request({ package_id: 8 }), [], undefined)).toThrow(InvalidInputError)
  for (const other of [
    { batchId: 'b-1', row: 3 },
    { batchId: 'b-2', row: 2 },
  ]) {
    expect(() => toConfirm(row, request(), [other], undefined)).toThrow(DuplicateError)
  }
})

test('a person is asked with both sides, and with what differs', () => {
  const text = confirmation(row, request({ recipient: { ...ann, first_name: 'Anne' } }), ['person'])
  for (const part of ['r-1', 'Anne Lee', 'Ann Lee', 'row 2', '2026-11-20 12:00 +00:00'])
    expect(text).toContain(part)
  expect(confirmation({ ...row, recipient: undefined }, request(), ['person'])).not.toContain('undefined')
})

test('the question shows both sides and when the row was sent, where that is known', () => {
  const other = request({ requester: { email: 'other@example.com' } })
  const asked = confirmation(row, other, ['requester'])
  expect(asked).toContain('sent 2026-11-20')
  expect(asked).toContain('Different: another requester.')
  expect(confirmation({ ...row, attemptedAt: undefined }, other, ['requester'])).toContain(
    'sent at an unknown time',
  )
})
