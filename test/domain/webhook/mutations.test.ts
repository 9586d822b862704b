import { expect, test } from 'vitest'

import { runCampaign, createDice } from './mutations.ts'
import { recordForFaultTable } from '../../harness/faults/fault-row.ts'

// The tests of this file whose titles contain "mutated" are the row `forged` of the fault table (test/resilience/rows.ts).
const faultRow = recordForFaultTable('forged', { mustNotHappen: 'accepted', titles: /mutated/ })

/** The full campaign is run by: node test/bench/webhook-mutations/run.ts */
test('of 5,000 mutated deliveries none is accepted and none makes the verification throw', () => {
  const { deliveries, accepted, crashes, kindCount } = runCampaign(5000, 20261121)
  faultRow.countCases(deliveries, deliveries - accepted.length - crashes.length)
  faultRow.addNote(`${kindCount} kinds, ${crashes.length} crashes, seed 20261121`)
  expect({ accepted, crashes }).toEqual({ accepted: [], crashes: [] })
  expect(deliveries).toBe(5000)
  expect(kindCount).toBeGreaterThan(50)
})

test('a seed gives the same numbers every time', () => {
  const [one, other] = [createDice(7), createDice(7)]
  expect(Array.from({ length: 5 }, () => one(100))).toEqual(Array.from({ length: 5 }, () => other(100)))
})
