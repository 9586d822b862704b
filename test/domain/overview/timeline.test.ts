import { expect, test } from 'vitest'

import { timelineOf } from '../../../src/domain/overview/people.ts'

const toMs = (text: string): number => new Date(text).getTime()

test('without orders there is no timeline', () => {
  expect(timelineOf([], [])).toBe(undefined)
})

test('a single day is divided by the hour, including hours without events', () => {
  expect(
    timelineOf([toMs('2026-11-20T09:59:59'), toMs('2026-11-20T09:00:00')], [toMs('2026-11-20T11:30:00')]),
  ).toEqual({
    unit: 'hour',
    buckets: [
      { label: '09:00', orderCount: 2, completionCount: 0 },
      { label: '10:00', orderCount: 0, completionCount: 0 },
      { label: '11:00', orderCount: 0, completionCount: 1 },
    ],
  })
})

test.each([
  ['2026-11-20T00:00:00', '2026-11-21T00:00:01', 'day', 2, '11-20'],
  ['2026-10-16T12:00:00', '2026-11-20T12:00:00', 'day', 36, '10-16'],
  ['2026-06-03T12:00:00', '2026-11-20T12:00:00', 'week', 25, '06-01'],
  ['2024-12-31T12:00:00', '2026-11-20T12:00:00', 'month', 24, '2024-12'],
])('the time from %s to %s is divided by the %s', (first, last, expectedUnit, bucketCount, label) => {
  const found = timelineOf([toMs(first)], [toMs(last)])
  expect(found).toMatchObject({ unit: expectedUnit })
  expect(found?.buckets).toHaveLength(bucketCount)
  expect(found?.buckets[0]).toEqual({ label, orderCount: 1, completionCount: 0 })
  expect(found?.buckets.at(-1)).toMatchObject({ orderCount: 0, completionCount: 1 })
})
