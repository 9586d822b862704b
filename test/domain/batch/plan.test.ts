import { expect, test } from 'vitest'

import type { BatchCheck } from '../../../src/domain/batch/check.ts'
import { newRow } from '../../../src/domain/batch/new-row.ts'
import { keptPlan, parsePlan, planAgain, planOf, requireUnchanged } from '../../../src/domain/batch/plan.ts'
import type { Stop } from '../../../src/domain/submission/match.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'
import { batchRow, countsOf, rowReading } from './rows.ts'

const check = (over: Partial<BatchCheck> = {}): BatchCheck => ({
  rows: 3,
  valid: 3,
  invalid: 0,
  leftOut: 0,
  problems: [],
  duplicates: [[1, 3]],
  lines: [],
  changes: [],
  unlikely: [],
  packages: new Map([
    [7, 1],
    [8, 2],
  ]),
  ...over,
})

const order = { ...batchRow({ requestId: 'r-1' }), packageId: 7 }
const stop: Stop = { becomes: 'duplicate', reason: 'same', shares: [], order, more: 0 }
const plan = (pending: number, over: Partial<BatchCheck> = {}) =>
  planOf(
    check(over),
    {
      counts: countsOf({ pending, duplicate: 1 }),
      packages: new Map([
        [7, 1],
        [8, 2],
      ]),
      stops: [{ row: newRow(rowReading({ row: 2 })), stop }],
      phones: [],
      people: [],
    },
    { batchId: 'b-9', seconds: pending > 1 ? 180 : 0, now: 1000 },
  )

test('a plan says what would be sent, of which packages the most, and until when by quota', () => {
  expect(plan(3)).toMatchObject({
    packages: [
      { package_id: 8, orders: 2 },
      { package_id: 7, orders: 1 },
    ],
    seconds: 180,
    endsAt: 181_000,
  })
  expect(plan(1)).toMatchObject({ seconds: 0, endsAt: 1000 })
})

const reading = { sheet: null, map: {}, ignore: [], default_country: null }
const allowed = { allow_duplicate: false, allow_similar: false, shared: [], ignore_results: false }
const facts = {
  file: '/people.csv',
  sha256: 'ab',
  base_url: 'https://a.example',
  package_id: null,
  reading,
  ...allowed,
}

test('a kept plan reads back as itself', () => {
  const kept = keptPlan(plan(3), facts)
  expect(kept).toMatchObject({
    refcheck_plan: 1,
    duplicates: [[1, 3]],
    ordered_before: [{ row: 2, request_id: 'r-1', batch_id: 'b-1' }],
  })
  expect(parsePlan(JSON.stringify(kept), 'plan.json')).toEqual(kept)
})

test.each(['', 'x', 'null', '[]', '{}', '{"refcheck_plan":2}', '{"refcheck_plan":1,"file":"a"}'])(
  'what is no plan is refused by its name: %j',
  (text) => {
    expect(() => parsePlan(text, 'plan.json')).toThrow(InvalidInputError)
    expect(() => parsePlan(text, 'plan.json')).toThrow(/plan\.json/)
  },
)

test('a plan is for a file as it was', () => {
  const kept = keptPlan(plan(3), facts)
  expect(() => requireUnchanged(kept, 'ab', '')).not.toThrow()
  expect(() => requireUnchanged(kept, 'ac', '')).toThrow(/people\.csv/)
  expect(planAgain({ ...kept, package_id: 7, shared: ['hr@example.com'] }, 'my plan.json')).toBe(
    "Plan again with: refcheck batch plan /people.csv --package 7 --shared hr@example.com --output 'my plan.json' --overwrite",
  )
})
