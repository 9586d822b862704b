import { expect, test } from 'vitest'

import { reportKey } from '../../src/contract/report-key.ts'

test('the check and the referee tell reports apart, and no id can look like two', () => {
  const keys = [
    reportKey('a', undefined),
    reportKey('a', 'b'),
    reportKey('b', undefined),
    reportKey('a","b', undefined),
    reportKey(null, undefined),
  ]
  expect(new Set(keys).size).toBe(keys.length)
  expect(reportKey('a', null)).toBe(reportKey('a', undefined))
})
