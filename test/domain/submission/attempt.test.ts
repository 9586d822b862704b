import { expect, test } from 'vitest'

import { changedElsewhere, longestPauseMs } from '../../../src/domain/submission/outcome.ts'

test('an order is not sent more than five seconds after it was journaled (src/docs/ordering.md, section 2)', () => {
  expect(longestPauseMs).toBe(5000)
})

test('an order that somebody else changed is an internal error: locks exclude it', () => {
  expect(changedElsewhere()).toMatchObject({ code: 'internal' })
})
