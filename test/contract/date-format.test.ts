import { expect, test } from 'vitest'

import { dateExists, dateRule, looksLikeIsoDate } from '../../src/contract/date-format.ts'

test.each([
  ['Date of birth (YYYY-MM-DD)', 'iso'],
  ['yyyy-mm-dd', 'iso'],
  ['Date of birth as an ISO date, for example 1990-04-30.', 'iso'],
  ['ISO 8601 date of issue', 'iso'],
  ['ISO-8601 date', 'iso'],
  ['Issue date, in ISO 8601', 'iso'],
  ['Date of birth', 'mentioned'],
  ['Employment dates, YYYY-MM-DD to YYYY-MM-DD', 'mentioned'],
  ['Start, as YYYY-MM-DD or YYYY', 'mentioned'],
  ['Date of birth, DD/MM/YYYY', undefined],
  ['Date as MM/DD/YYYY', undefined],
  ['ISO 8601 date-time of arrival', undefined],
  ['ISO 8601 timestamp', undefined],
  ['YYYY-MM-DDThh:mm', undefined],
  ['Whether the candidate has a mandate', undefined],
  ['An update of the address', undefined],
  ['', undefined],
])('the date rule of the description %j is %s', (description, rule) => {
  expect(dateRule(description)).toBe(rule)
})

test('only the beginning of a description is read', () => {
  expect(dateRule(`${' '.repeat(1996)}date`)).toBe('mentioned')
  expect(dateRule(`${' '.repeat(1997)}date`)).toBeUndefined()
})

test.each([
  ['2026-11-20', true],
  ['2026-13-99', true],
  ['2026-11-2', false],
  ['2026-11-200', false],
  ['20261120xx', false],
  ['2026-11-20\n', false],
])('%j has the form of an ISO date: %s', (text, hasIsoForm) => {
  expect(looksLikeIsoDate(text)).toBe(hasIsoForm)
})

test('each day of a year and of a leap year exists, and no other date does', () => {
  for (const year of [1400, 1900, 1904, 2000, 2024, 2026, 2100]) {
    for (let month = 0; month <= 13; month += 1) {
      for (let day = 0; day <= 32; day += 1) {
        const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
        const date = new Date(Date.UTC(year, month - 1, day))
        const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
        expect([text, dateExists(text)]).toEqual([text, isReal])
      }
    }
  }
})
