import { expect, test } from 'vitest'

import { formFields } from '../../../src/domain/form/fields.ts'
import { answerInWords, reviewRows, valueInWords } from '../../../src/domain/form/review.ts'
import { plainSchema } from './sample-schema.ts'

test('every field of the form has its row, with an answer where there is one', () => {
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

test('a value as a person reads it', () => {
  expect([true, false, 1.5, ['a'], { b: null }, null].map(valueInWords)).toEqual([
    'yes',
    'no',
    '1.5',
    '["a"]',
    '{"b":null}',
    'null',
  ])
  expect([['a', 'b c'], [], [1]].map(answerInWords)).toEqual(['a; b c', 'none', '[1]'])
  expect(valueInWords('x'.repeat(200))).toBe('x'.repeat(200))
})
