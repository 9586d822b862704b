import { expect, test } from 'vitest'

import { findNearestWord } from '../../../src/domain/wording/text.ts'

const known = ['email', 'phone', 'first_name']

test.each([
  ['emal', 'email'],
  ['EMAIL', 'email'],
  ['phon', 'phone'],
  ['firstname', 'first_name'],
])('%s was probably meant to be %s', (word, meant) => {
  expect(findNearestWord(word, known)).toBe(meant)
})

test('a third of its letters may be wrong, one at least', () => {
  expect(findNearestWord('xxail', known)).toBeUndefined()
  expect(findNearestWord('ab', ['ac'])).toBe('ac')
  expect(findNearestWord('ab', ['cd'])).toBeUndefined()
})

test('of two as near the first is taken, and nothing long is compared', () => {
  expect(findNearestWord('cat', ['bat', 'hat'])).toBe('bat')
  expect(findNearestWord('x'.repeat(64), ['x'.repeat(64)])).toBe('x'.repeat(64))
  expect(findNearestWord('x'.repeat(65), ['x'.repeat(65)])).toBeUndefined()
  expect(findNearestWord('email', [])).toBeUndefined()
})
