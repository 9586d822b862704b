import { Buffer, isUtf8 } from 'node:buffer'

import { assert, property, uint8Array } from 'fast-check'
import { expect, test } from 'vitest'

import { findInvalidByte, parseBodyFile } from '../../../src/domain/form/json-text.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'

const joinBytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf8') : Buffer.from(part))),
  )

function findRefusal(input: Uint8Array): string {
  try {
    parseBodyFile(input, 'body.json')
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message
    throw error
  }
  return 'not refused'
}

test('JSON in UTF-8 is accepted with and without a byte order mark', () => {
  expect(parseBodyFile(joinBytes('{"a": "é"}'))).toEqual({ a: 'é' })
  expect(parseBodyFile(joinBytes([0xef, 0xbb, 0xbf], '{"a": "é"}'))).toEqual({ a: 'é' })
})

test.each<[string, Uint8Array, string]>([
  ['nothing', joinBytes(), 'body.json is empty'],
  ['white space', joinBytes(' \n'), 'body.json is empty'],
  [
    'a duplicate name',
    joinBytes('{"é": 1,\n "a": 1, "a": 2}'),
    'body.json, line 2, column 10 (byte 19): "a" is given twice (first at line 2, column 2)',
  ],
  [
    'a trailing comma',
    joinBytes('{"a": 1,}'),
    'body.json, line 1, column 9 (byte 8): has "}" where a name in double quotes is expected',
  ],
  [
    'a fault after a byte order mark',
    joinBytes([0xef, 0xbb, 0xbf], '{]'),
    'body.json, line 1, column 2 (byte 4): has "]" where a name in double quotes is expected',
  ],
  [
    'two byte order marks',
    joinBytes('\uFEFF\uFEFF{}'),
    'body.json, line 1, column 1 (byte 3): has "\uFEFF" where a value is expected',
  ],
  ['NUL', joinBytes('{"a": "', [0], '"}'), 'body.json contains a NUL character (byte 7)'],
  ['Windows-1252', joinBytes('{"a": "Zo', [0xeb], '"}'), 'body.json is not valid UTF-8 (byte 9)'],
  ['a character cut off at the end', joinBytes('{"a', [0xe2, 0x82]), 'body.json is not valid UTF-8 (byte 3)'],
  ['a surrogate in UTF-8', joinBytes('"', [0xed, 0xa0, 0x80], '"'), 'body.json is not valid UTF-8 (byte 1)'],
  ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le'), 'body.json is in UTF-16 (byte 0)'],
  ['UTF-16, big end first', Buffer.from('\uFEFF{}', 'utf16le').swap16(), 'body.json is in UTF-16 (byte 0)'],
])('%s is refused with the position', (_name, input, message) => {
  expect(findRefusal(input)).toBe(message)
})

test('findInvalidByte returns the length of the longest valid prefix', () => {
  assert(
    property(uint8Array({ maxLength: 12 }), (input) => {
      const at = findInvalidByte(input) ?? input.length
      const ends = [1, 2, 3, 4].map((length) => at + length).filter((end) => end <= input.length)
      expect(isUtf8(input.subarray(0, at))).toBe(true)
      expect(ends.some((end) => isUtf8(input.subarray(at, end)))).toBe(false)
      expect(at === input.length).toBe(isUtf8(input))
    }),
    { numRuns: 1000 },
  )
})
