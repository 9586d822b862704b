import { expect, test } from 'vitest'

import type { BatchCheck } from '../../../src/domain/batch/check.ts'
import type { Plan } from '../../../src/domain/batch/plan.ts'
import { unsent } from '../../../src/domain/batch/unsent.ts'
import { countsOf, problem } from './rows.ts'

const plan = (pending: number, over: Partial<BatchCheck> = {}): Plan => ({
  counts: countsOf({ pending, duplicate: 1 }),
  packages: [],
  matches: [],
  repeated: 1,
  held: [],
  batchId: 'b-9',
  phones: [],
  people: [],
  unlikely: [],
  seconds: 0,
  endsAt: 0,
  check: {
    rows: 3,
    valid: 3,
    invalid: 0,
    leftOut: 0,
    problems: [],
    duplicates: [],
    lines: [],
    changes: [],
    unlikely: [],
    packages: new Map(),
    ...over,
  },
})

test('why a planned file is not begun: bad rows, unless they are skipped, or nothing to send', () => {
  const bad = { invalid: 1, problems: [problem(1)] }
  expect(unsent(plan(1), 'people.csv', { skip: false })).toBeUndefined()
  expect(unsent(plan(1, bad), 'people.csv', { skip: false })).toMatchObject({ field: 'email' })
  expect(unsent(plan(1, bad), 'people.csv', { skip: true })).toBeUndefined()
  expect(unsent(plan(0), 'people.csv', { skip: true })?.code).toBe('duplicate')
})
