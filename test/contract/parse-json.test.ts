import { expect, test } from 'vitest'

import { maxNesting, hasMoreValues, parseJson, parseJsonBytes } from '../../src/contract/parse-json.ts'

/** Makes a text so long that its nesting is checked. */
const padding = ' '.repeat(100_001)
const nestedArrays = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}${padding}`

test('a text with the maximal nesting is parsed, and one with a further level is refused', () => {
  expect(() => parseJson(nestedArrays(maxNesting))).not.toThrow()
  expect(() => parseJson(nestedArrays(maxNesting + 1))).toThrow('is nested deeper than 100 levels')
})

test.each(['{"a":', '[{"a":', '['])('millions of %s are refused', (unit) => {
  expect(() => parseJson(unit.repeat(32_000_000 / unit.length))).toThrow('is nested deeper')
})

test.each([
  ['brackets within a text', JSON.stringify({ a: '[{'.repeat(60_000) })],
  ['brackets after an escaped quote', JSON.stringify([`"${'['.repeat(110_000)}\\`])],
  ['many values on the same level', `[${'[{"a":[]}],'.repeat(20_000)}0]`],
])('%s do not count as nesting', (_label, text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text))
})

test('a short text is parsed as JSON.parse does, and invalid JSON is a SyntaxError', () => {
  expect(parseJson('{"a": [1]}')).toEqual({ a: [1] })
  for (const text of ['', '{', `{${padding}`]) expect(() => parseJson(text)).toThrow(SyntaxError)
})

test('bytes are parsed as UTF-8, and the result is undefined if they are not JSON', () => {
  expect(parseJsonBytes(Buffer.from('{"a": "Zoë"}'))).toEqual({ a: 'Zoë' })
  expect(parseJsonBytes(Buffer.from('null'))).toBeNull()
  for (const bytes of [[], [0x7b], [0x22, 0xff, 0x22]])
    expect(parseJsonBytes(Uint8Array.from(bytes))).toBeUndefined()
})

test.each([
  ['[1, {"a": 2, "b": []}, "x"]', 7],
  ['{"a,[{": ",", "b": "\\",,"}', 3],
])('the number of values in %s is at most %i', (text, count) => {
  expect(hasMoreValues(Buffer.from(text), count)).toBe(false)
  expect(hasMoreValues(Buffer.from(text), count - 1)).toBe(true)
})
