import { expect, test } from 'vitest'

import {
  heldReasonTexts,
  duplicateError,
  reconcileHint,
  sharedText,
} from '../../../src/domain/submission/duplicate.ts'
import { conflictReasons, type Conflict } from '../../../src/domain/submission/conflicts.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'
import { batchRow } from '../batch/rows.ts'

const createOrder = (changes: Partial<Submission>): Submission => ({
  ...batchRow({ attemptedAt: Date.UTC(2026, 10, 20, 12) }),
  packageId: 7,
  ...changes,
})

const createConflict = (changes: Partial<Submission>, conflict: Partial<Conflict> = {}): Conflict => ({
  becomes: 'duplicate',
  reason: 'same',
  shares: [],
  order: createOrder(changes),
  moreCount: 0,
  ...conflict,
})
const serviceUrl = 'https://api.example.com'
const errorFor = (changes: Submission) => duplicateError(createConflict(changes), serviceUrl)

test('the error for a duplicate names the person and the next command', () => {
  const accepted = errorFor(createOrder({ state: 'accepted', requestId: 'r-1', requestStatus: 'PARTIAL' }))
  expect(accepted.code).toBe('duplicate')
  expect(accepted.message).toMatch(/package 7 .*"ann@example\.com".*r-1.*PARTIAL/)
  expect(accepted.hint).toMatch(/--allow-duplicate.*refcheck request get r-1/)
  expect(errorFor(createOrder({ state: 'pending' })).hint).toContain('refcheck batch resume b-1')
})

test('--allow-duplicate is not offered for an order that is in flight or unknown', () => {
  expect(errorFor(createOrder({ state: 'sending' })).hint).not.toContain('add --allow-duplicate')
  const unknown = errorFor(createOrder({ state: 'unknown' }))
  expect(unknown.hint).not.toContain('add --allow-duplicate')
  expect(unknown.hint).toMatch(/refcheck batch reconcile b-1$/)
})

test('the hint for a dropped order has the command that reconciles its row', () => {
  const dropped = errorFor(createOrder({ state: 'dropped', row: 3 }))
  expect(dropped.message).toMatch(/with an unknown outcome, and dropped$/)
  expect(dropped.hint).toMatch(/refcheck batch reconcile b-1 --row 3$/)
})

test('the hint for an order at another URL has a complete command for each answer', () => {
  const conflict = createConflict({ baseUrl: 'https://old.example.com' }, { reason: 'other_service' })
  expect(duplicateError(conflict, serviceUrl).hint?.split('\n').slice(1)).toEqual([
    'They are the same: refcheck store same-service https://old.example.com https://api.example.com',
    'They are different: refcheck store same-service https://old.example.com https://api.example.com --different',
  ])
})

test('the error does not name an erased person', () => {
  expect(errorFor(createOrder({ state: 'accepted', recipient: undefined })).message).not.toContain('@')
})

test('the hint contains the request id that the answer of the service offered', () => {
  const unknown = createOrder({ state: 'unknown' })
  expect(reconcileHint({ ...unknown, offeredId: 'r-9' })).toContain('request r-9')
  expect(reconcileHint({ ...unknown, offeredId: undefined })).not.toContain('named')
})

test('the error has the matching order as data for scripts', () => {
  const error = duplicateError(createConflict({ state: 'accepted', requestId: 'r-1' }), serviceUrl)
  expect(error.order).toEqual({ requestId: 'r-1', batchId: 'b-1', row: 1, match: 'exact' })
  const similar = duplicateError(
    createConflict({ state: 'accepted' }, { reason: 'similar', shares: ['email', 'phone'] }),
    serviceUrl,
  )
  expect(similar.order?.match).toBe('similar')
  expect(similar.message).toContain('the same e-mail and phone')
  expect(similar.hint).toContain('--allow-similar')
})

test('every conflict reason has a text and a hint', () => {
  for (const reason of conflictReasons) {
    expect(heldReasonTexts[reason]).not.toBe('')
    expect(duplicateError(createConflict({}, { reason }), serviceUrl).hint).not.toBe('')
  }
  expect(sharedText([])).toBe('details')
})
