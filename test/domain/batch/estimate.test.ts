import { expect, test } from 'vitest'

import { quotaSeconds } from '../../../src/domain/batch/estimate.ts'

const documented = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

test('what fits into every window takes no time by quota', () => {
  expect(quotaSeconds(0, documented)).toBe(0)
  expect(quotaSeconds(60, documented)).toBe(0)
})

test('beyond a window its rate counts, and the longest window decides', () => {
  expect(quotaSeconds(61, documented)).toBe(61)
  expect(quotaSeconds(1000, documented)).toBe(1000)
  expect(quotaSeconds(1001, documented)).toBeCloseTo(3603.6)
  expect(quotaSeconds(5000, documented)).toBe(5 * 3600)
})

test('without windows nothing waits', () => {
  expect(quotaSeconds(100_000, [])).toBe(0)
})
