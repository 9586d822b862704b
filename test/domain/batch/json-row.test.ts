import { expect, test } from 'vitest'

import { jsonRow } from '../../../src/domain/batch/cell-value.ts'

const readEntries = (value: unknown) => jsonRow(JSON.stringify(value)).entries

test('keys of plain values stay unchanged, and keys of objects become dotted names', () => {
  expect(readEntries({ email: 'a', recipient: { phone: 'b' }, licence: { points: 1 } })).toEqual([
    ['email', 'a'],
    ['recipient.phone', 'b'],
    ['licence.points', 1],
  ])
})

test('an object under a dotted name is read as one value', () => {
  expect(readEntries({ 'licence.issuer': { name: 'State' } })).toEqual([
    ['licence.issuer', { name: 'State' }],
  ])
})

test('additional_information of a request body becomes columns with the code as prefix', () => {
  const information = [
    { code: 'a', fields: { x: 1 } },
    { code: 'b', fields: { y: [2] } },
  ]
  expect(readEntries({ additional_information: information })).toEqual([
    ['a.x', 1],
    ['b.y', [2]],
  ])
})

test.each([[[{ code: 'a' }]], [[{ code: 1, fields: {} }]], [[{ code: 'a', fields: {}, more: 1 }]], [['a']]])(
  'additional_information in any other form is a fault: %j',
  (information) => {
    expect(jsonRow(JSON.stringify({ additional_information: information })).fault).toBeDefined()
  },
)

test('a column that is given in two forms is a fault that names the column', () => {
  const { fault } = jsonRow('{"recipient":{"email":"a"},"recipient.email":"b"}')
  expect(fault?.reason).toContain('"recipient.email"')
})

test('invalid JSON is a fault with its offset', () => {
  expect(jsonRow('{"a":1,}').fault).toMatchObject({ offset: 7 })
})
