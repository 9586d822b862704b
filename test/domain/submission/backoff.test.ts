import { expect, test } from 'vitest'

import { backoffMs } from '../../../src/domain/batch/run-policy.ts'

test('each wait is twice the previous one; half of it is fixed and half random', () => {
  expect([1, 2, 3].map((attempt) => backoffMs(attempt, 0))).toEqual([250, 500, 1000])
  expect([1, 2, 3].map((attempt) => backoffMs(attempt, 0.999_999))).toEqual([500, 1000, 2000])
})

test('no wait is longer than thirty seconds', () => {
  expect(backoffMs(7, 0.999_999)).toBe(30_000)
  expect(backoffMs(6, 0.999_999)).toBe(16_000)
  expect(backoffMs(1000, 0)).toBe(15_000)
})
