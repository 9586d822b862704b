import { expect, test } from 'vitest'

import { redactArgument } from '../../../src/domain/wording/redact-argument.ts'

test.each([
  ['list', 'list'],
  ['3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55', '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55'],
  ['EqQm4LRGWP4mk2aEguhezNLhRkBuyRra', '…'],
  ['EqQm4LRGWP4mk2aEguhe', '…'],
  ['https://hr.example.com/hooks', 'https://hr.example.com/hooks'],
  ['EqQm4LRGWP4mk2aEguh', 'EqQm4LRGWP4mk2aEguh'],
  ['a/b\\c"d(e&f=g%h<i>j\'k0123456789', '…'],
  ['a sentence that is rather long and surely no key', 'a sentence that is rather long and surely no key'],
])('what may be a key is not repeated: %j', (argument, shown) => {
  expect(redactArgument(argument)).toBe(shown)
})

test('a long argument is cut', () => {
  const words = 'word '.repeat(12)
  expect(redactArgument(words)).toBe(words)
  expect(redactArgument(`${words}x`)).toBe(`${words}…`)
})
