import { expect, test } from 'vitest'

import { badRows, type BatchCheck, checked, count } from '../../../src/domain/batch/check.ts'
import { Duplicates } from '../../../src/domain/batch/duplicates.ts'
import type { RowReading } from '../../../src/domain/batch/row-reading.ts'
import { problem, rowReading } from './rows.ts'

const nothing = (): BatchCheck => ({
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

function counted(...readings: RowReading[]): BatchCheck {
  const check = nothing()
  for (const reading of readings) count(check, reading)
  return check
}

const bad = (row: number, column = 'email'): RowReading =>
  rowReading({ row, body: undefined, problems: [problem(row, column)] })

test('valid and invalid rows are counted, and only valid ones are orders of their package', () => {
  const check = counted(rowReading(), rowReading({ row: 2, packageId: 8 }), bad(3), rowReading({ row: 4 }))
  expect(check).toMatchObject({ rows: 4, valid: 3, invalid: 1 })
  expect([...check.packages]).toEqual([
    [7, 2],
    [8, 1],
  ])
  expect(check.problems).toMatchObject([{ row: 3, column: 'email' }])
})

test('a duplicate stays valid, and is no order; one that is invalid as well is told as both', () => {
  const check = counted(rowReading(), rowReading({ row: 2, duplicateOf: 1 }), {
    ...bad(3),
    duplicateOf: 1,
  })
  expect(check).toMatchObject({ rows: 3, valid: 2, invalid: 1 })
  expect(check.duplicates).toEqual([
    [1, 2],
    [1, 3],
  ])
  expect([...check.packages]).toEqual([[7, 1]])
})

test('a row without a package is no order of any', () => {
  expect(counted(rowReading({ packageId: undefined })).packages.size).toBe(0)
})

test('every change is kept', () => {
  const changes = [{ row: 1, line: 2, column: 'phone', from: '+61 4', to: '+614' }]
  const check = counted(...Array.from({ length: 600 }, (_, at) => rowReading({ row: at + 1, changes })))
  expect(check.changes).toHaveLength(600)
})

test('rows are compared by package and person', () => {
  const seen = new Duplicates()
  const of = (over: Partial<RowReading>) => checked(rowReading(over), seen).duplicateOf
  expect(of({ row: 1 })).toBeUndefined()
  expect(of({ row: 2 })).toBe(1)
  expect(of({ row: 3, packageId: 8 })).toBeUndefined()
})

test('bad rows are one failure that names the first column; sound ones are none', () => {
  expect(badRows(counted(rowReading()), 'people.csv')).toBeUndefined()
  const one = badRows(counted(rowReading(), bad(2, 'phone')), 'people.csv')
  expect(one).toMatchObject({ code: 'invalid_input', field: 'phone' })
  expect(one?.message).toMatch(/^people\.csv: 1 of 2 rows is /)
  expect(badRows(counted(bad(1), bad(2)), 'people.csv')?.message).toMatch(/^people\.csv: 2 of 2 rows are /)
})

test('who orders is told how the valid rows alone are ordered, where there are any', () => {
  const hint = (check: BatchCheck, canSkip: boolean) =>
    badRows(check, 'people.csv', undefined, canSkip)?.hint ?? ''
  expect(hint(counted(rowReading(), bad(2)), true)).toContain('add --on-invalid skip')
  expect(hint(counted(rowReading(), bad(2)), false)).not.toContain('--on-invalid')
  expect(hint(counted(bad(1)), true)).not.toContain('--on-invalid')
})
