import { expect, test } from 'vitest'

import { splitCommandLine } from '../../../src/domain/wording/pasted-command.ts'
import { UsageError } from '../../../src/errors/kinds.ts'

test.each([
  ['a b  c', ['a', 'b', 'c']],
  [" 'a b' c ", ['a b', 'c']],
  [String.raw`"a \"b\" \\ \n"`, [String.raw`a "b" \ \n`]],
  [String.raw`a\ b`, ['a b']],
  [String.raw`'a\b'`, [String.raw`a\b`]],
  ["it''s", ['its']],
  ["''", ['']],
  ['$HOME * | ;', ['$HOME', '*', '|', ';']],
])('the words of %s', (text, words) => {
  expect(splitCommandLine(text, '--exec')).toEqual(words)
})

test.each(['', '  ', "'a", '"a', String.raw`"a\"`])('%j is refused: no command, or an open quote', (text) => {
  expect(() => splitCommandLine(text, '--exec')).toThrow(UsageError)
  expect(() => splitCommandLine(text, '--exec')).toThrow(/^--exec/)
})
