import { expect, test } from 'vitest'

import { cutText } from '../../../src/domain/wording/text.ts'

test.each([
  ['abc', 'abc'],
  ['abcd', 'abc…'],
  ['ab cd', 'ab…'],
  ['ab👩d', 'ab…'],
  ['abe\u0301', 'ab…'],
  [`a${'\u0301'.repeat(99)}`, 'a\u0301\u0301…'],
  ['👩\u200D👩', '👩\u200D…'],
])('%j cut to three units is %j', (text, cut) => {
  expect(cutText(text, 3)).toBe(cut)
})
