import { expect, test } from 'vitest'

import { pauseBeforeRead, safetyPause } from '../../../src/domain/request/goal.ts'

test('a tenth of the time that it has stood still, from a second to two minutes', () => {
  expect(pauseBeforeRead(0)).toBe(1000)
  expect(pauseBeforeRead(10_000)).toBe(1000)
  expect(pauseBeforeRead(10_001)).toBe(1001)
  expect(pauseBeforeRead(600_000)).toBe(60_000)
  expect(pauseBeforeRead(1_200_000)).toBe(120_000)
  expect(pauseBeforeRead(Infinity)).toBe(120_000)
})

test('reads of a request that stands still for a day stay few', () => {
  let reads = 0
  for (let stood = 0; stood < 86_400_000; stood += pauseBeforeRead(stood)) reads += 1
  expect(reads).toBeLessThan(800)
})

test('with a receiver the reads of a thousand requests use half of the hour’s quota at most', () => {
  const every = Math.max(safetyPause.minMs, 1000 * safetyPause.perRequestMs)
  expect((1000 * 3_600_000) / every).toBeLessThanOrEqual(500)
})
