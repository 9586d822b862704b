import { expect, test } from 'vitest'

import { maxNesting, hasMoreValues, parseJson, parseJsonBytes } from '../../src/contract/parse-json.ts'

/** Text enough that its nesting is looked at. */
const padding = ' '.repeat(100_001)
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}${padding}`

test('as deep as is allowed is read, one level more is not', () => {
  expect(() => parseJson(nested(maxNesting))).not.toThrow()
  expect(() => parseJson(nested(maxNesting + 1))).toThrow('is nested deeper than 100 levels')
})

test.each(['{"a":', '[{"a":', '['])('millions of %s are refused before they are held', (unit) => {
  expect(() => parseJson(unit.repeat(32_000_000 / unit.length))).toThrow('is nested deeper')
})

test.each([
  ['brackets within a text', JSON.stringify({ a: '[{'.repeat(60_000) })],
  ['brackets after an escaped quote', JSON.stringify([`"${'['.repeat(110_000)}\\`])],
  ['many values side by side', `[${'[{"a":[]}],'.repeat(20_000)}0]`],
])('%s are no nesting', (_what, text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text))
})

test('what is short is JSON.parse’s own, and what is none is a SyntaxError', () => {
  expect(parseJson('{"a": [1]}')).toEqual({ a: [1] })
  for (const text of ['', '{', `{${padding}`]) expect(() => parseJson(text)).toThrow(SyntaxError)
})

test('bytes are read as UTF-8, and what is no JSON is nothing', () => {
  expect(parseJsonBytes(Buffer.from('{"a": "Zoë"}'))).toEqual({ a: 'Zoë' })
  expect(parseJsonBytes(Buffer.from('null'))).toBeNull()
  for (const bytes of [[], [0x7b], [0x22, 0xff, 0x22]])
    expect(parseJsonBytes(Uint8Array.from(bytes))).toBeUndefined()
})

test.each([
  ['[1, {"a": 2, "b": []}, "x"]', 7],
  ['{"a,[{": ",", "b": "\\",,"}', 3],
])('%s counts as %i values at most', (text, count) => {
  expect(hasMoreValues(Buffer.from(text), count)).toBe(false)
  expect(hasMoreValues(Buffer.from(text), count - 1)).toBe(true)
})
