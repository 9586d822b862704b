import { expect, test } from 'vitest'

import { fieldTypes, packageSchema, recipientFields } from '../../src/contract/package-schema.ts'
import { packageStatuses } from '../../src/contract/package.ts'

const fieldDefinition = { type: 'string', required: true }
const recipient = {
  first_name: fieldDefinition,
  last_name: fieldDefinition,
  email: fieldDefinition,
  phone: fieldDefinition,
}
const schemaWith = (fields: unknown) => ({
  id: 7,
  fields: { recipient, additional_information: [{ display_name: 'Licence', code: 'x', fields }] },
})

test('field types, recipient fields and package statuses are those of the API document', () => {
  expect(fieldTypes).toEqual(['string', 'integer', 'number', 'boolean', 'array', 'object'])
  expect(recipientFields).toEqual(['first_name', 'last_name', 'email', 'phone'])
  expect(packageStatuses).toEqual(['ACTIVE', 'INACTIVE', 'DISABLED'])
})

test('fields have the names that the service gives them, even __proto__', () => {
  const fields = JSON.parse(
    '{"__proto__": {"type": "string", "required": true, "description": "a"}, "number": {"type": "integer", "required": false, "description": "b"}}',
  ) as unknown
  const [check] = packageSchema.parse(schemaWith(fields)).fields.additional_information
  expect(Object.keys(check?.fields ?? {})).toEqual(['__proto__', 'number'])
  expect(Object.getPrototypeOf(check?.fields)).toBeNull()
  expect(check?.fields['number']).toEqual({ type: 'integer', required: false, description: 'b' })
})

test.each([
  [null, 'expected object'],
  [[], 'expected object'],
  ['text', 'expected object'],
  [{ number: { type: 'integer', required: 'yes', description: 'b' } }, 'expected boolean'],
])('the fields %j are refused with the path of the error', (fields, message) => {
  const issue = packageSchema.safeParse(schemaWith(fields)).error?.issues[0]
  expect(issue?.message).toContain(message)
  const innerPath = message === 'expected boolean' ? ['number', 'required'] : []
  expect(issue?.path).toEqual(['fields', 'additional_information', 0, 'fields', ...innerPath])
})
