import { expect, test } from 'vitest'

import { parseMoment } from '../../src/cli/flags/values.ts'
import { parseDuration } from '../../src/domain/wording/time.ts'

const now = Date.UTC(2026, 10, 20, 12)

test.each([
  ['30s', 30_000],
  ['250ms', 250],
  ['2h', 7_200_000],
  ['1m30s', 90_000],
  ['1d', 86_400_000],
  ['0s', 0],
  ['5', undefined],
  ['s', undefined],
  ['1.5h', undefined],
  ['-1s', undefined],
  ['1e3s', undefined],
  ['', undefined],
])('duration %j is %j ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each([
  ['2026-11-01', Date.UTC(2026, 10, 1)],
  ['2026-11-01T09:30:00Z', Date.UTC(2026, 10, 1, 9, 30)],
  ['2026-11-01T09:30+10:00', Date.UTC(2026, 9, 31, 23, 30)],
  ['2024-02-29', Date.UTC(2024, 1, 29)],
  ['7d', now - 7 * 86_400_000],
  ['2026-02-30', undefined],
  ['2025-02-29', undefined],
  ['2026-13-01', undefined],
  ['2026-11-01T25:00Z', undefined],
  ['20261101', undefined],
  ['now', undefined],
])('moment %j is %j ms since 1970', (text, expected) => {
  expect(parseMoment(text, now)).toBe(expected)
})
