import { expect, test } from 'vitest'

import { pauseBeforeRead, pauseWithReceiver } from '../../../src/domain/request/goal.ts'

test('the pause is a tenth of the time since the last change, from one second to two minutes', () => {
  expect(pauseBeforeRead(0)).toBe(1000)
  expect(pauseBeforeRead(10_000)).toBe(1000)
  expect(pauseBeforeRead(10_001)).toBe(1001)
  expect(pauseBeforeRead(600_000)).toBe(60_000)
  expect(pauseBeforeRead(1_200_000)).toBe(120_000)
  expect(pauseBeforeRead(Infinity)).toBe(120_000)
})

test('a request that does not change for a day is read fewer than 800 times', () => {
  let reads = 0
  for (let unchangedMs = 0; unchangedMs < 86_400_000; unchangedMs += pauseBeforeRead(unchangedMs)) reads += 1
  expect(reads).toBeLessThan(800)
})

test('while a webhook receiver runs, the reads of 1,000 requests use at most half of a quota of 1,000 calls an hour', () => {
  const pauseMs = Math.max(pauseWithReceiver.minMs, 1000 * pauseWithReceiver.perRequestMs)
  expect((1000 * 3_600_000) / pauseMs).toBeLessThanOrEqual(500)
})
