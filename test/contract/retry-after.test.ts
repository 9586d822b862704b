import { expect, test } from 'vitest'

import { parseRetryAfter } from '../../src/contract/headers.ts'
import { recordForFaultTable } from '../harness/faults/fault-row.ts'

// The tests of this file are the row `retry-after` of the fault table (test/resilience/rows.ts).
recordForFaultTable('retry-after', { mustNotHappen: 'values misread' })

test.each([
  ['0', 1, true],
  ['1', 1, true],
  ['42', 42, true],
  [' 42 ', 42, true],
  ['3660', 3660, true],
  ['3661', 60, false],
  ['9999999999999', 60, false],
  ['-1', 60, false],
  ['1.5', 60, false],
  ['1e3', 60, false],
  ['0x10', 60, false],
  ['NaN', 60, false],
  ['Infinity', 60, false],
  ['', 60, false],
  [' ', 60, false],
  [undefined, 60, false],
  ['12abc', 60, false],
  ['1, 2', 60, false],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 60, false],
  ['٣', 60, false],
])('Retry-After %j is a wait of %i s, isStated: %s', (header, seconds, isStated) => {
  expect(parseRetryAfter(header)).toEqual({ seconds, isStated })
})
