import { expect, test } from 'vitest'

import { duplicateOf, settleHint } from '../../../src/domain/submission/duplicate.ts'
import type { Submission } from '../../../src/domain/submission/submission.ts'
import { batchRow } from '../batch/rows.ts'

const match = (over: Partial<Submission>): Submission => ({
  ...batchRow({ attemptedAt: Date.UTC(2026, 10, 20, 12) }),
  packageId: 7,
  ...over,
})

test('each kind of match is told with whom it is for, and how to go on', () => {
  const accepted = duplicateOf(match({ state: 'accepted', requestId: 'r-1', requestStatus: 'PARTIAL' }))
  expect(accepted.code).toBe('duplicate')
  expect(accepted.message).toMatch(/package 7 .*"ann@example\.com".*r-1.*PARTIAL/)
  expect(accepted.hint).toMatch(/--allow-duplicate.*refcheck request get r-1$/)
  expect(duplicateOf(match({ state: 'pending' })).hint).toContain('--allow-duplicate')
})

test('an order in flight or unknown is never sent past: --allow-duplicate is not offered', () => {
  expect(duplicateOf(match({ state: 'sending' })).hint).not.toContain('add --allow-duplicate')
  const unknown = duplicateOf(match({ state: 'unknown' }))
  expect(unknown.hint).not.toContain('add --allow-duplicate')
  expect(unknown.hint).toContain('refcheck batch reconcile')
})

test('a person who was removed is not named', () => {
  expect(duplicateOf(match({ state: 'accepted', recipient: undefined })).message).not.toContain('@')
})

test('an id that the answer named is told, before the command that settles it', () => {
  expect(settleHint('r-9')).toContain('request r-9')
  expect(settleHint(undefined)).not.toContain('named')
})
