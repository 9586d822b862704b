import { expect, test } from 'vitest'

import type { FieldValue } from '../../../src/contract/request.ts'
import { formFields, formatAnswer, reviewRows, formatValue } from '../../../src/domain/form/fields.ts'
import { plainSchema } from './sample-schema.ts'

test('reviewRows has a row for every field, with its answer or undefined', () => {
  const fields = formFields(plainSchema)
  const [first] = fields
  const rows = reviewRows(fields, new Map(first === undefined ? [] : [[first, 'Ann']]))
  expect(rows.map(({ column, value }) => [column, value])).toEqual([
    ['first_name', 'Ann'],
    ['last_name', undefined],
    ['email', undefined],
    ['phone', undefined],
  ])
})

test('formatValue shows yes and no for booleans, and JSON for lists and objects', () => {
  expect([true, false, 1.5, ['a'], { b: null }, null].map(formatValue)).toEqual([
    'yes',
    'no',
    '1.5',
    '["a"]',
    '{"b":null}',
    'null',
  ])
  expect(formatValue('x'.repeat(200))).toBe('x'.repeat(200))
})

test('formatAnswer shows a whole answer as text and not as JSON', () => {
  const address = { street: '12 High Street', state: 'VIC', since: 1990, own: true, unit: null }
  const answers = [['a', 'b c'], [], [1], {}, address, [{ a: ['b', 'c'] }, { a: 'd' }]]
  expect(answers.map((answer) => formatAnswer(answer as FieldValue))).toEqual([
    'a; b c',
    'none',
    '1',
    'none',
    'street: 12 High Street; state: VIC; since: 1990; own: yes; unit: empty',
    '(a: (b; c)); (a: d)',
  ])
})
