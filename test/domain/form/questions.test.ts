import { expect, test } from 'vitest'

import { formFields, reviewRows } from '../../../src/domain/form/fields.ts'
import { sampleSchema, schemaOf } from './sample-schema.ts'

test('the form has the recipient first, then the checks in the order of the schema', () => {
  const questions = formFields(sampleSchema)
  expect(questions.map(({ column }) => column)).toEqual([
    'first_name',
    'last_name',
    'email',
    'phone',
    'ncc_acic.date_of_birth',
    'ncc_acic.years_resident',
    'ncc_acic.aliases',
    'licence.licence_number',
    'licence.points',
    'licence.commercial',
    'licence.issuer',
    'notes.remark',
  ])
  expect(questions[4]).toEqual({
    column: 'ncc_acic.date_of_birth',
    code: 'ncc_acic',
    name: 'date_of_birth',
    group: 'Check ncc_acic',
    label: 'Date of birth',
    type: 'string',
    required: true,
    description: 'Date of birth (YYYY-MM-DD)',
  })
})

test.each([
  ['date_of_birth', 'Date of birth'],
  ['dateOfBirth', 'Date of birth'],
  ['licence-number', 'Licence number'],
  ['VEVO_reference', 'VEVO reference'],
  ['__proto__', 'Proto'],
  ['___', '___'],
])('the label of %s is "%s"', (name, label) => {
  const schema = schemaOf(
    JSON.parse(`{"x": {"${name}": ["string", false]}}`) as Parameters<typeof schemaOf>[0],
  )
  expect(formFields(schema).at(-1)?.label).toBe(label)
})

test('a check without a display name is named by its code', () => {
  const schema = schemaOf({ x: { y: ['string', false] } })
  for (const check of schema.fields.additional_information) check.display_name = ' '
  expect(formFields(schema).at(-1)?.group).toBe('x')
})

test('a review has a row for every field, with undefined for fields without an answer', () => {
  const fields = formFields(sampleSchema)
  const answers = new Map(
    fields.flatMap((field) => {
      const answer = { first_name: 'Ann', 'licence.commercial': false, 'ncc_acic.aliases': ['A', 1] }[
        field.column
      ]
      return answer === undefined ? [] : [[field, answer] as const]
    }),
  )
  const rows = reviewRows(fields, answers)
  expect(rows.map(({ column, value }) => [column, value]).filter(([, value]) => value !== undefined)).toEqual(
    [
      ['first_name', 'Ann'],
      ['ncc_acic.aliases', 'A; 1'],
      ['licence.commercial', 'no'],
    ],
  )
  expect(rows).toHaveLength(fields.length)
  expect(rows.at(-1)).toEqual({
    group: 'Check notes',
    label: 'Remark',
    required: false,
    column: 'notes.remark',
    value: undefined,
  })
})
