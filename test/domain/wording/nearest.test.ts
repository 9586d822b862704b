import { expect, test } from 'vitest'

import { findNearestWord } from '../../../src/domain/wording/text.ts'

const known = ['email', 'phone', 'first_name']

test.each([
  ['emal', 'email'],
  ['EMAIL', 'email'],
  ['phon', 'phone'],
  ['firstname', 'first_name'],
])('the nearest word to %s is %s', (word, nearestWord) => {
  expect(findNearestWord(word, known)).toBe(nearestWord)
})

test('up to a third of the letters may differ, and at least one', () => {
  expect(findNearestWord('xxail', known)).toBeUndefined()
  expect(findNearestWord('ab', ['ac'])).toBe('ac')
  expect(findNearestWord('ab', ['cd'])).toBeUndefined()
})

test('of two equally near words the first is returned, and words of more than 64 characters are not compared', () => {
  expect(findNearestWord('cat', ['bat', 'hat'])).toBe('bat')
  expect(findNearestWord('x'.repeat(64), ['x'.repeat(64)])).toBe('x'.repeat(64))
  expect(findNearestWord('x'.repeat(65), ['x'.repeat(65)])).toBeUndefined()
  expect(findNearestWord('email', [])).toBeUndefined()
})
