import { expect, test } from 'vitest'

import { bareObject } from '../../../src/contract/parse-json.ts'
import {
  isObjectValue,
  startsLikeJson,
  readItems,
  readPair,
  readStructure,
} from '../../../src/domain/form/field-value.ts'

test('items of a list stand between ;', () => {
  expect(readItems(' Ann ; Bea')).toEqual({ items: ['Ann', 'Bea'] })
  expect(readItems('Ann; ').problem).toMatch(/empty item/)
})

test.each(['none', 'None', 'N/A', '-', 'nil '])('%j alone is nobody’s name: there is nothing', (text) => {
  expect(readItems(text)).toEqual({ problem: 'is no item; leave it empty if there are none' })
  expect(readItems(`${text}; Ann`).items).toHaveLength(2)
})

test.each([
  ['street: 12 High Street', ['street', '12 High Street']],
  ['straße:x', ['straße', 'x']],
  ['12 High Street', undefined],
  ['High Street: 12', undefined],
  ['12: High Street', undefined],
  ['__proto__: x', undefined],
  [': x', undefined],
])('a name and its value: %s', (text, pair) => {
  expect(readPair(text, []).pair).toEqual(pair)
})

test('a name stands once, and has a value', () => {
  expect(readPair('street: x', ['street']).problem).toBe('has the name "street", which is already there')
  expect(readPair('street:', []).problem).toBe('has no value after "street:"')
})

test('JSON is known by its first sign', () => {
  expect([
    startsLikeJson('array', ' ["a"]'),
    startsLikeJson('array', '{}'),
    startsLikeJson('object', '{"a'),
    startsLikeJson('object', 'a'),
  ]).toEqual([true, false, true, false])
  expect(readStructure('array', '["a", 1]')).toEqual({ value: ['a', 1] })
  expect(readStructure('object', '{"a"').problem).toMatch(/^is not JSON/)
})

test('a group takes every name', () => {
  expect([
    isObjectValue({}),
    isObjectValue([]),
    isObjectValue(null),
    isObjectValue('a'),
    isObjectValue(undefined),
  ]).toEqual([true, false, false, false, false])
  expect(JSON.stringify(bareObject([['__proto__', 'a']]))).toBe('{"__proto__":"a"}')
})
