import { expect, test } from 'vitest'

import { formFields } from '../../../src/domain/form/fields.ts'
import { plainSchema, sampleSchema, schemaOf } from './sample-schema.ts'

test('the four fields of the recipient come first and are always required', () => {
  const fields = formFields(plainSchema)
  expect(fields.map(({ column, required, group, code }) => [column, required, group, code])).toEqual(
    ['first_name', 'last_name', 'email', 'phone'].map((name) => [name, true, 'Recipient', undefined]),
  )
})

test('the fields of the checks follow in the order of the schema', () => {
  const columns = formFields(sampleSchema)
    .slice(4)
    .map(({ column }) => column)
  expect(columns.slice(0, 4)).toEqual([
    'ncc_acic.date_of_birth',
    'ncc_acic.years_resident',
    'ncc_acic.aliases',
    'licence.licence_number',
  ])
  expect(formFields(sampleSchema)[4]).toMatchObject({
    group: 'Check ncc_acic',
    type: 'string',
    required: true,
  })
})

test.each([
  ['date_of_birth', 'Date of birth'],
  ['dateOfBirth', 'Date of birth'],
  ['abn', 'Abn'],
  ['ABN_number', 'ABN number'],
  ['street-name', 'Street name'],
  ['_', '_'],
])('the label of the field %s is %s', (name, label) => {
  expect(formFields(schemaOf({ a: { [name]: ['string', false] } })).at(-1)?.label).toBe(label)
})
