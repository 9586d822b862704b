import { expect, test } from 'vitest'

import { placed } from '../../../src/domain/batch/placed.ts'

test('a list takes what comes by numbers, without holes', () => {
  expect(placed(undefined, true, ['7'], 'a')).toEqual(['a'])
  expect(placed(['a'], true, ['1'], 'b')).toEqual(['a', 'b'])
})

test('an object takes what comes by names, as deep as they say', () => {
  expect(placed(undefined, false, ['a', 'b'], 1)).toEqual({ a: { b: 1 } })
  expect(placed({ a: { b: 1 } }, false, ['a', 'c'], 2)).toEqual({ a: { b: 1, c: 2 } })
})

test('there is no place for a name in a list, a part of a value, or a second value of one name', () => {
  expect(placed(undefined, true, ['x'], 'a')).toBeUndefined()
  expect(placed(undefined, true, ['12345'], 'a')).toBeUndefined()
  expect(placed(undefined, true, ['1', 'x'], 'a')).toBeUndefined()
  expect(placed('text', true, ['1'], 'a')).toBeUndefined()
  expect(placed({ a: 1 }, false, ['a', 'b'], 2)).toBeUndefined()
  expect(placed({ a: 1 }, false, ['a'], 2)).toBeUndefined()
  expect(placed(['a'], false, ['a'], 2)).toBeUndefined()
})

test('a name like a property of every object is a name like any other', () => {
  expect(Object.keys(placed(undefined, false, ['constructor'], 1) ?? {})).toEqual(['constructor'])
})
