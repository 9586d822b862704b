import { expect, test } from 'vitest'

import { RefusedLines } from '../../../src/domain/webhook/refused-lines.ts'
import { faultRow } from '../../harness/faults/fault-row.ts'

faultRow('refused-flood', 'with a line each')

test('the first ten refused deliveries have a line each, then one line a minute counts them', () => {
  const lines = new RefusedLines()
  const printed = (count: number, now: number): string[] =>
    Array.from({ length: count }, () => lines.refused('no signature', now)).filter(
      (line) => line !== undefined,
    )
  expect(printed(4_000, 0)).toEqual(Array.from({ length: 10 }, () => 'Refused a delivery: no signature.'))
  expect(printed(10, 59_999)).toEqual([])
  expect(printed(2, 60_000)).toEqual(['Refused 4001 deliveries more, the last one: no signature.'])
  expect(lines.rest()).toBe('Refused a delivery: no signature.')
  expect(lines.rest()).toBeUndefined()
  expect(printed(1, 999_999)).toEqual(['Refused a delivery: no signature.'])
})
