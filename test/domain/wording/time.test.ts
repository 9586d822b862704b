import { afterEach, expect, test } from 'vitest'

import { localClock, localDay, localTime } from '../../../src/domain/wording/time.ts'

const noon = Date.UTC(2026, 10, 20, 12, 0, 5)

afterEach(() => {
  process.env['TZ'] = 'UTC'
})

test.each([
  ['UTC', '2026-11-20 12:00 +00:00', '2026-11-20', '12:00:05'],
  ['Australia/Sydney', '2026-11-20 23:00 +11:00', '2026-11-20', '23:00:05'],
  ['Asia/Kathmandu', '2026-11-20 17:45 +05:45', '2026-11-20', '17:45:05'],
  ['America/St_Johns', '2026-11-20 08:30 -03:30', '2026-11-20', '08:30:05'],
  ['Pacific/Kiritimati', '2026-11-21 02:00 +14:00', '2026-11-21', '02:00:05'],
])('in the time zone %s the time is %s', (zone, time, day, clock) => {
  process.env['TZ'] = zone
  expect([localTime(noon), localDay(noon), localClock(noon)]).toEqual([time, day, clock])
  expect(localTime(new Date(noon).toISOString())).toBe(time)
})
