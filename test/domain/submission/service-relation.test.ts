import { expect, test } from 'vitest'

import { compareServices } from '../../../src/domain/submission/conflicts.ts'

const staging = 'https://gw.example.com/staging'
const prod = 'https://gw.example.com/prod'

test.each([
  ['the same URL with a final slash', prod, `${prod}/`, undefined, 'one'],
  ['the names of this machine', 'http://127.0.0.1:4010', 'http://localhost:4010', undefined, 'one'],
  ['another port of this machine', 'http://127.0.0.1:4010', 'http://localhost:4011', true, 'other'],
  ['a rehearsal on this machine', 'http://localhost:4010', prod, undefined, 'other'],
  ['another path', staging, prod, undefined, 'undecided'],
  ['another path that the user declared as the same', staging, prod, true, 'one'],
  ['another path that the user declared as different', staging, prod, false, 'other'],
])('compareServices for %s', (_what, one, other, decision, relation) => {
  expect(compareServices(one, other, () => decision)).toBe(relation)
})
