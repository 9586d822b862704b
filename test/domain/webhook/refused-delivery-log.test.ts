import { expect, test } from 'vitest'

import { RefusedDeliveryLog } from '../../../src/domain/webhook/refused-delivery-log.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

// The tests of this file are the row `refused-flood` of the fault table (test/resilience/rows.ts).
recordForFaultTable('refused-flood', { mustNotHappen: 'with a line each' })

test('the first ten refused deliveries have a line each, then one line a minute counts them', () => {
  const lines: string[] = []
  const refusedLog = new RefusedDeliveryLog((line) => lines.push(line))
  const addRefusals = (count: number, now: number): string[] => {
    for (let number = 0; number < count; number += 1) refusedLog.add('no signature', now)
    return lines.splice(0)
  }
  expect(addRefusals(4_000, 0)).toEqual(Array.from({ length: 10 }, () => 'Refused a delivery: no signature.'))
  expect(addRefusals(10, 59_999)).toEqual([])
  expect(addRefusals(2, 60_000)).toEqual(['Refused 4001 deliveries more, the last one: no signature.'])
  refusedLog.flush()
  refusedLog.flush()
  expect(lines.splice(0)).toEqual(['Refused a delivery: no signature.'])
  expect(addRefusals(1, 999_999)).toEqual(['Refused a delivery: no signature.'])
})
