import { expect, test } from 'vitest'

import { bareObject } from '../../../src/contract/parse-json.ts'
import {
  isObjectValue,
  startsLikeJson,
  readItems,
  readPair,
  readStructure,
} from '../../../src/domain/form/field-value.ts'

test('the items of a list are separated by ";"', () => {
  expect(readItems(' Ann ; Bea')).toEqual({ items: ['Ann', 'Bea'] })
  expect(readItems('Ann; ').problem).toMatch(/empty item/)
})

test.each(['none', 'None', 'N/A', '-', 'nil '])(
  '%j alone is refused: a list without items has to be left empty',
  (text) => {
    expect(readItems(text)).toEqual({ problem: 'is no item; leave it empty if there are none' })
    expect(readItems(`${text}; Ann`).items).toHaveLength(2)
  },
)

test.each([
  ['street: 12 High Street', ['street', '12 High Street']],
  ['straße:x', ['straße', 'x']],
  ['12 High Street', undefined],
  ['High Street: 12', undefined],
  ['12: High Street', undefined],
  ['__proto__: x', undefined],
  [': x', undefined],
])('readPair of a name and its value: %s', (text, pair) => {
  expect(readPair(text, []).pair).toEqual(pair)
})

test('a repeated name and a name without a value are refused', () => {
  expect(readPair('street: x', ['street']).problem).toBe('has the name "street", which is already there')
  expect(readPair('street:', []).problem).toBe('has no value after "street:"')
})

test('JSON is recognised by its first character, "[" or "{"', () => {
  expect([
    startsLikeJson('array', ' ["a"]'),
    startsLikeJson('array', '{}'),
    startsLikeJson('object', '{"a'),
    startsLikeJson('object', 'a'),
  ]).toEqual([true, false, true, false])
  expect(readStructure('array', '["a", 1]')).toEqual({ value: ['a', 1] })
  expect(readStructure('object', '{"a"').problem).toMatch(/^is not JSON/)
})

test('only a plain object is a group, and its keys may have any name, "__proto__" included', () => {
  expect([
    isObjectValue({}),
    isObjectValue([]),
    isObjectValue(null),
    isObjectValue('a'),
    isObjectValue(undefined),
  ]).toEqual([true, false, false, false, false])
  expect(JSON.stringify(bareObject([['__proto__', 'a']]))).toBe('{"__proto__":"a"}')
})
