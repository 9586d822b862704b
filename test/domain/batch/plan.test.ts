import { expect, test, describe } from 'vitest'

import {
  type BatchCheck,
  toStoredPlan,
  parsePlan,
  planAgainHint,
  createPlan,
  requireUnchanged,
  invalidRowsError,
  markDuplicate,
  countRow,
  type Plan,
  planFailure,
  changeKind,
  Duplicates,
} from '../../../src/domain/batch/plan.ts'
import { newRow } from '../../../src/domain/batch/new-row.ts'
import type { Conflict } from '../../../src/domain/submission/conflicts.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'
import { batchRow, countsOf, rowReading, problem } from './rows.ts'
import type { RowReading } from '../../../src/domain/batch/row.ts'

describe('a plan', () => {
  const createCheck = (over: Partial<BatchCheck> = {}): BatchCheck => ({
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
  const conflict: Conflict = { becomes: 'duplicate', reason: 'same', shares: [], order, moreCount: 0 }
  const planOrders = (pending: number, over: Partial<BatchCheck> = {}) =>
    createPlan(
      createCheck(over),
      {
        counts: countsOf({ pending, duplicate: 1 }),
        packages: new Map([
          [7, 1],
          [8, 2],
        ]),
        conflicts: [{ row: newRow(rowReading({ row: 2 })), conflict }],
        phoneSharers: [],
        namesakesInFile: [],
        namesakes: [],
        people: [],
      },
      { batchId: 'b-9', seconds: pending > 1 ? 180 : 0, now: 1000, packageNames: new Map([[8, 'Driver']]) },
    )

  test('a plan lists the packages by number of orders, and the end that the quota allows', () => {
    expect(planOrders(3)).toMatchObject({
      packages: [
        { package_id: 8, name: 'Driver', orders: 2 },
        { package_id: 7, name: undefined, orders: 1 },
      ],
      seconds: 180,
      endsAt: 181_000,
    })
    expect(planOrders(1)).toMatchObject({ seconds: 0, endsAt: 1000 })
  })

  const reading = { sheet: null, map: {}, ignore: [], default_country: null }
  const allowed = { allow_duplicate: false, allow_similar: false, shared: [], ignore_results: false }
  const planFacts = {
    file: '/people.csv',
    sha256: 'ab',
    base_url: 'https://a.example',
    package_id: null,
    reading,
    ...allowed,
  }

  test('a stored plan is read back unchanged', () => {
    const stored = toStoredPlan(planOrders(3), planFacts)
    expect(stored).toMatchObject({
      refcheck_plan: 1,
      duplicates: [[1, 3]],
      ordered_before: [{ row: 2, request_id: 'r-1', batch_id: 'b-1' }],
    })
    expect(parsePlan(JSON.stringify(stored), 'plan.json')).toEqual(stored)
  })

  test.each(['', 'x', 'null', '[]', '{}', '{"refcheck_plan":2}', '{"refcheck_plan":1,"file":"a"}'])(
    'a file that is not a plan is refused with its name: %j',
    (text) => {
      expect(() => parsePlan(text, 'plan.json')).toThrow(InvalidInputError)
      expect(() => parsePlan(text, 'plan.json')).toThrow(/plan\.json/)
    },
  )

  test('a plan is refused if the file has changed since', () => {
    const stored = toStoredPlan(planOrders(3), planFacts)
    expect(() => requireUnchanged(stored, 'ab', '')).not.toThrow()
    expect(() => requireUnchanged(stored, 'ac', '')).toThrow(/people\.csv/)
    expect(planAgainHint({ ...stored, package_id: 7, shared: ['hr@example.com'] }, 'my plan.json')).toBe(
      "Plan again with: refcheck batch plan /people.csv --package 7 --shared hr@example.com --output 'my plan.json' --overwrite",
    )
  })
})

const emptyCheck = (): BatchCheck => ({
  rows: 0,
  valid: 0,
  invalid: 0,
  leftOut: 0,
  problems: [],
  duplicates: [],
  lines: [],
  changes: [],
  unlikely: [],
  packages: new Map(),
})

function countRows(...readings: RowReading[]): BatchCheck {
  const check = emptyCheck()
  for (const reading of readings) countRow(check, reading)
  return check
}

const invalidReading = (row: number, column = 'email'): RowReading =>
  rowReading({ row, body: undefined, problems: [problem(row, column)] })

test('valid and invalid rows are counted, and only valid ones are orders of their package', () => {
  const check = countRows(
    rowReading(),
    rowReading({ row: 2, packageId: 8 }),
    invalidReading(3),
    rowReading({ row: 4 }),
  )
  expect(check).toMatchObject({ rows: 4, valid: 3, invalid: 1 })
  expect([...check.packages]).toEqual([
    [7, 2],
    [8, 1],
  ])
  expect(check.problems).toMatchObject([{ row: 3, column: 'email' }])
})

test('a duplicate row counts as valid but not as an order; an invalid duplicate is counted as both', () => {
  const check = countRows(rowReading(), rowReading({ row: 2, duplicateOf: 1 }), {
    ...invalidReading(3),
    duplicateOf: 1,
  })
  expect(check).toMatchObject({ rows: 3, valid: 2, invalid: 1 })
  expect(check.duplicates).toEqual([
    [1, 2],
    [1, 3],
  ])
  expect([...check.packages]).toEqual([[7, 1]])
})

test('a row without a package is not an order of any package', () => {
  expect(countRows(rowReading({ packageId: undefined })).packages.size).toBe(0)
})

test('every change is stored', () => {
  const changes = [{ row: 1, line: 2, column: 'phone', from: '+61 4', to: '+614' }]
  const check = countRows(...Array.from({ length: 600 }, (_, at) => rowReading({ row: at + 1, changes })))
  expect(check.changes).toHaveLength(600)
})

test('a row is a duplicate if package and person are equal', () => {
  const previousRows = new Duplicates()
  const findDuplicateOf = (over: Partial<RowReading>) =>
    markDuplicate(rowReading(over), previousRows).duplicateOf
  expect(findDuplicateOf({ row: 1 })).toBeUndefined()
  expect(findDuplicateOf({ row: 2 })).toBe(1)
  expect(findDuplicateOf({ row: 3, packageId: 8 })).toBeUndefined()
})

test('invalid rows cause one error that names the first column; valid rows cause none', () => {
  expect(invalidRowsError(countRows(rowReading()), 'people.csv')).toBeUndefined()
  const one = invalidRowsError(countRows(rowReading(), invalidReading(2, 'phone')), 'people.csv')
  expect(one).toMatchObject({ code: 'invalid_input', field: 'phone' })
  expect(one?.message).toMatch(/^people\.csv: 1 of 2 rows is /)
  expect(invalidRowsError(countRows(invalidReading(1), invalidReading(2)), 'people.csv')?.message).toMatch(
    /^people\.csv: 2 of 2 rows are /,
  )
})

test('the hint contains --on-invalid skip if there are valid rows', () => {
  const hintFor = (check: BatchCheck, canSkip: boolean) =>
    invalidRowsError(check, 'people.csv', undefined, canSkip)?.hint ?? ''
  expect(hintFor(countRows(rowReading(), invalidReading(2)), true)).toContain('add --on-invalid skip')
  expect(hintFor(countRows(rowReading(), invalidReading(2)), false)).not.toContain('--on-invalid')
  expect(hintFor(countRows(invalidReading(1)), true)).not.toContain('--on-invalid')
})

describe('the error of a file that is not sent', () => {
  const buildPlan = (pending: number, over: Partial<BatchCheck> = {}): Plan => ({
    counts: countsOf({ pending, duplicate: 1 }),
    packages: [],
    matches: [],
    repeated: [],
    held: [],
    batchId: 'b-9',
    phoneSharers: [],
    changes: [],
    namesakesInFile: [],
    namesakes: [],
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

  test('a planned file is refused if it has invalid rows that are not skipped, or no rows to send', () => {
    const invalid = { invalid: 1, problems: [problem(1)] }
    expect(planFailure(buildPlan(1), 'people.csv', { skip: false })).toBeUndefined()
    expect(planFailure(buildPlan(1, invalid), 'people.csv', { skip: false })).toMatchObject({
      field: 'email',
    })
    expect(planFailure(buildPlan(1, invalid), 'people.csv', { skip: true })).toBeUndefined()
    expect(planFailure(buildPlan(0), 'people.csv', { skip: true })?.code).toBe('duplicate')
  })
})

test.each([
  [' Ann ', 'Ann', 'space'],
  ["'+61400000000", '+61400000000', 'apostrophe'],
  ['+61 400-000-000', '+61400000000', 'phone'],
  [' +61 400', '+61400', 'phone'],
  ['0400 000 000', '+61400000000', 'country'],
  ['1,234', '1234', 'number'],
])('the kind of the change from %j to %j is %s', (from, to, kind) => {
  expect(changeKind({ from, to })).toBe(kind)
})
