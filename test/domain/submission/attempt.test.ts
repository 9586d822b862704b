import { changedElsewhereError } from '../../../src/domain/submission/states.ts'
import { expect, test } from 'vitest'

import { maxPauseMs } from '../../../src/domain/submission/outcome.ts'

test('an order is not sent more than five seconds after it was journaled (src/docs/ordering.md, section 2)', () => {
  expect(maxPauseMs).toBe(5000)
})

test('an order that another process changed is an internal error: locks exclude it', () => {
  expect(changedElsewhereError()).toMatchObject({ code: 'internal' })
})
