import { expect, test } from 'vitest'

import { createEmptyCounts } from '../../../src/domain/batch/batch.ts'
import { bodyForPackage, moveError } from '../../../src/domain/batch/package-replacement.ts'
import { schemaOf } from '../form/sample-schema.ts'
import { ann } from './rows.ts'

const batch = {
  id: '3f2b8c1e',
  allowDuplicate: false,
  allowSimilar: true,
  counts: { ...createEmptyCounts(), pending: 2 },
}

const body = new TextEncoder().encode(JSON.stringify({ package_id: 7, recipient: ann }))

test('a row that fits the successor gets the package id of the successor, and its body is otherwise unchanged', () => {
  const schema = schemaOf({})
  const moved = bodyForPackage(body, schema)
  expect(JSON.parse(new TextDecoder().decode(moved.body))).toEqual({ package_id: schema.id, recipient: ann })
})

test('if a row lacks a field that the successor requires, nothing is moved', () => {
  const { problems = [] } = bodyForPackage(body, schemaOf({ consent: { method: ['string', true] } }))
  expect(problems.map(({ column }) => column)).toEqual(['consent.method'])
  expect(moveError(batch, 8, [])).toBeUndefined()
  const error = moveError(batch, 8, [{ row: 3, problems }])
  expect(error?.message).toBe('1 row is invalid for package 8: consent.method is required, in row 3')
  expect(error?.hint).toMatch(
    /^Nothing was moved.*refcheck batch export .* --state pending,held,rejected --output rest.csv$/m,
  )
  expect(error?.hint).toMatch(/set their package_id to 8.*: refcheck batch run rest.csv --allow-similar$/m)
  expect(error?.hint).toMatch(/refcheck batch cancel .*$/)
  const ofOneRow = { ...batch, counts: { ...batch.counts, pending: 1 } }
  expect(moveError(ofOneRow, 8, [{ row: 3, problems }])?.hint).toMatch(/refcheck batch run rest.csv$/m)
})

test('a problem of many rows is listed once with its column and first rows; several problems become a list', () => {
  const missing = {
    path: 'additional_information[0].fields.method',
    column: 'consent.method',
    problem: 'is required',
  }
  const many = Array.from({ length: 5 }, (_, at) => ({ row: at + 1, problems: [missing] }))
  expect(moveError(batch, 8, many)?.message).toMatch(
    /^5 rows are .*: consent\.method is required, in rows 1, 2, 3 and 2 more$/,
  )
  expect(moveError(batch, 8, many.slice(0, 3))?.message).toMatch(/in rows 1, 2, 3$/)
  const phone = { path: 'recipient.phone', column: 'phone', problem: 'has no +', value: '0400' }
  const errorOfBoth = moveError(batch, 8, [{ row: 1, problems: [missing, phone] }])
  expect(errorOfBoth?.problems).toEqual([
    {
      field: missing.path,
      value: undefined,
      problem: 'is required',
      text: 'consent.method is required, in row 1',
    },
    { field: phone.path, value: undefined, problem: 'has no +', text: 'phone has no +, in row 1' },
  ])
  expect(moveError(batch, 8, many)?.problems).toBeUndefined()
})
