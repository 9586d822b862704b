import { expect, test } from 'vitest'

import { maxTextLength, plainText } from '../../../src/domain/agent/mask.ts'

test.each([
  ['one\ntwo\r\n\tthree\u2028four', 'one two three four'],
  ['\u001B[31mred\u001B[0m \u009B1mbold', '[31mred [0m 1mbold'],
  ['a\u202Ecba\u200B\u2066z\uFEFF', 'acbaz'],
  ['plain\u{E0049}\u{E0047}\u{E004E}', 'plain'],
  ['sel\uFE0Fected\u{E0101}\u3164', 'selected'],
  ['lone \uD800 half', 'lone half'],
  ['Zoë 小龍 🙂', 'Zoë 小龍 🙂'],
  ['\u0000\u0007', ''],
])('%j is read as %j', (text, shown) => {
  expect(plainText(text)).toBe(shown)
})

test('a long text is cut between two characters, and a note states its length', () => {
  const shown = plainText('🙂'.repeat(5_000))
  expect(shown).toBe(`${'🙂'.repeat(maxTextLength)}… (cut: 10000 characters)`)
  expect(plainText('x'.repeat(maxTextLength))).toBe('x'.repeat(maxTextLength))
  expect(plainText(`${' '.repeat(1_000_000)}x`)).toContain('cut: 1000001 characters')
})
