import { expect, test } from 'vitest'

import { quotaExceededError } from '../../../src/domain/quota/windows.ts'

test('the wait is rounded up to whole seconds, so that the next try is not too early', () => {
  expect(quotaExceededError(1)).toMatchObject({ code: 'throttled', retryAfter: 1 })
  expect(quotaExceededError(2000).retryAfter).toBe(2)
  expect(quotaExceededError(2001).retryAfter).toBe(3)
  expect(quotaExceededError(2001).message).toContain('3 s')
})
