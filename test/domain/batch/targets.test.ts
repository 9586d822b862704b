import { expect, test } from 'vitest'

import { columnNames, knownFields, targetName, targetOf } from '../../../src/domain/batch/targets.ts'
import { plainSchema, sampleSchema, schemaOf } from '../form/sample-schema.ts'

const fields = knownFields([sampleSchema])

test.each([
  ['first_name', 'recipient', 'first_name'],
  ['recipient.phone', 'recipient', 'phone'],
  ['package_id', 'package_id', 'package_id'],
  ['ncc_acic.date_of_birth', 'field', 'ncc_acic.date_of_birth'],
])('%s is the %s %s', (name, kind, column) => {
  expect(targetOf(name, fields)).toMatchObject({ kind, column })
})

test('parts of lists and objects have a path, of texts none', () => {
  expect(targetOf('licence.issuer.address.city', fields)).toMatchObject({ path: ['address', 'city'] })
  expect(targetOf('ncc_acic.aliases.1', fields)).toMatchObject({ path: ['1'] })
  expect(targetOf('ncc_acic.date_of_birth.year', fields)).toBeUndefined()
})

test.each([
  '',
  'First_name',
  'recipient.name',
  'recipient.package_id',
  'licence.issuer.',
  'licence.issuer..x',
  'nope.x',
])('%j is no column', (name) => {
  expect(targetOf(name, fields)).toBeUndefined()
})

test('a path has eight parts at most', () => {
  const deep = (parts: number) => ['licence.issuer', ...Array.from({ length: parts }, () => 'x')].join('.')
  expect(targetOf(deep(8), fields)).toBeDefined()
  expect(targetOf(deep(9), fields)).toBeUndefined()
})

test('of two fields the longer name wins, whichever comes first', () => {
  const both = knownFields([schemaOf({ a: { b: ['object', false], 'b.c': ['string', false] } })])
  expect(targetOf('a.b.c', both)).toMatchObject({ name: 'b.c', path: [] })
})

test('fields of several packages are known once each, the recipient’s four always', () => {
  expect(knownFields([sampleSchema, sampleSchema])).toHaveLength(fields.length)
  expect(knownFields([plainSchema])).toEqual([])
  expect(columnNames([])).toEqual(['first_name', 'last_name', 'email', 'phone', 'package_id'])
})

test('one name for one target, whichever way it is written', () => {
  for (const name of ['recipient.email', 'email']) {
    expect(targetName(targetOf(name, fields) ?? { kind: 'unused', column: '' })).toBe('email')
  }
  const part = targetOf('licence.issuer.name', fields)
  expect(part && targetName(part)).toBe('licence.issuer.name')
})
