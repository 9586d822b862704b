import { expect, test } from 'vitest'

import { readingOrder } from '../../../src/domain/batch/reading-order.ts'
import { knownFields, targetOf, unused } from '../../../src/domain/batch/targets.ts'
import { sampleSchema } from '../form/sample-schema.ts'

const fields = knownFields([sampleSchema])
const order = (...names: string[]): number[] =>
  readingOrder(names.map((name) => targetOf(name, fields) ?? unused)).map(({ at }) => at)

test('columns are read as they stand; the package, and what is unused, are not among them', () => {
  expect(order('email', 'nothing', 'package_id', 'phone')).toEqual([0, 3])
})

test('parts of one list are read by their numbers, where the first of them stands', () => {
  expect(order('ncc_acic.aliases.10', 'email', 'ncc_acic.aliases.2', 'ncc_acic.aliases.1')).toEqual([
    3, 2, 0, 1,
  ])
})
