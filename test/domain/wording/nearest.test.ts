import { expect, test } from 'vitest'

import { nearest } from '../../../src/domain/wording/text.ts'

const known = ['email', 'phone', 'first_name']

test.each([
  ['emal', 'email'],
  ['EMAIL', 'email'],
  ['phon', 'phone'],
  ['firstname', 'first_name'],
])('%s was probably meant to be %s', (word, meant) => {
  expect(nearest(word, known)).toBe(meant)
})

test('a third of its letters may be wrong, one at least', () => {
  expect(nearest('xxail', known)).toBeUndefined()
  expect(nearest('ab', ['ac'])).toBe('ac')
  expect(nearest('ab', ['cd'])).toBeUndefined()
})

test('of two as near the first is taken, and nothing long is compared', () => {
  expect(nearest('cat', ['bat', 'hat'])).toBe('bat')
  expect(nearest('x'.repeat(64), ['x'.repeat(64)])).toBe('x'.repeat(64))
  expect(nearest('x'.repeat(65), ['x'.repeat(65)])).toBeUndefined()
  expect(nearest('email', [])).toBeUndefined()
})
