import { expect, test } from 'vitest'

import { retentionStart } from '../../../src/domain/wording/time.ts'

const now = Date.parse('2026-03-31T10:00:00Z')

test.each([
  ['30d', '2026-03-01T10:00:00.000Z'],
  ['1mo', '2026-02-28T10:00:00.000Z'],
  ['24mo', '2024-03-31T10:00:00.000Z'],
  ['25mo', '2024-02-29T10:00:00.000Z'],
  ['7y', '2019-03-31T10:00:00.000Z'],
])('the retention %s starts at %s', (text, since) => {
  expect(new Date(retentionStart(text, now) ?? 0).toISOString()).toBe(since)
})

test.each(['', '0d', '1', '1w', '-1d', '1.5y', '1e3d', ' 1d', '100000d', '24 mo'])(
  '%j is not a retention',
  (text) => {
    expect(retentionStart(text, now)).toBeUndefined()
  },
)
