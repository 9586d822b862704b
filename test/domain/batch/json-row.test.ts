import { expect, test } from 'vitest'

import { jsonRow } from '../../../src/domain/batch/cell-value.ts'

const entries = (value: unknown) => jsonRow(JSON.stringify(value)).entries

test('names stay as they are, and objects become dotted names', () => {
  expect(entries({ email: 'a', recipient: { phone: 'b' }, licence: { points: 1 } })).toEqual([
    ['email', 'a'],
    ['recipient.phone', 'b'],
    ['licence.points', 1],
  ])
})

test('an object under a dotted name is a value', () => {
  expect(entries({ 'licence.issuer': { name: 'State' } })).toEqual([['licence.issuer', { name: 'State' }]])
})

test('additional information of a request’s body is taken apart by its codes', () => {
  const information = [
    { code: 'a', fields: { x: 1 } },
    { code: 'b', fields: { y: [2] } },
  ]
  expect(entries({ additional_information: information })).toEqual([
    ['a.x', 1],
    ['b.y', [2]],
  ])
})

test.each([[[{ code: 'a' }]], [[{ code: 1, fields: {} }]], [[{ code: 'a', fields: {}, more: 1 }]], [['a']]])(
  'information in another form is a fault: %j',
  (information) => {
    expect(jsonRow(JSON.stringify({ additional_information: information })).fault).toBeDefined()
  },
)

test('a column that is said twice, in two forms, is a fault that names it', () => {
  const { fault } = jsonRow('{"recipient":{"email":"a"},"recipient.email":"b"}')
  expect(fault?.reason).toContain('"recipient.email"')
})

test('what is no JSON is a fault at its place', () => {
  expect(jsonRow('{"a":1,}').fault).toMatchObject({ offset: 7 })
})
