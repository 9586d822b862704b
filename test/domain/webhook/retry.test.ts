import { expect, test } from 'vitest'

import { firstRetryMs, longestRetryMs, longestWait, retryAfter } from '../../../src/domain/webhook/retry.ts'

test('a failed forward is tried again within a second (cli-contract), and no event is put off for longer than two waits', () => {
  expect(firstRetryMs).toBeLessThan(1000)
  expect(longestWait).toBe(2 * longestRetryMs)
})

test('each pause is twice the one before, up to the longest; the last attempt that is allowed drops the event', () => {
  expect([1, 2, 3, 7, 8, 9, 1000].map((attempts) => retryAfter(attempts))).toEqual([
    500, 1000, 2000, 32_000, 60_000, 60_000, 60_000,
  ])
  expect([1, 2, 3].map((attempts) => retryAfter(attempts, 2))).toEqual([500, 'dropped', 'dropped'])
})
