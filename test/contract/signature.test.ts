import { expect, test } from 'vitest'

import { sign, signingKey, verify } from '../../src/contract/signature.ts'

/** RFC 4231, test case 2: a key and data anybody can check with another tool. */
const key = signingKey('Jefe')
const body = Buffer.from('what do ya want for nothing?')
const published = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'

test('signs the exact bytes as lowercase hex HMAC-SHA256 (RFC 4231, case 2)', () => {
  expect(sign(body, key)).toBe(published)
})

test.each([
  ['the signature itself', published, true],
  ['upper case', published.toUpperCase(), false],
  ['a prefix', `sha256=${published}`, false],
  ['cut by one', published.slice(0, -1), false],
  ['one character more', `${published}0`, false],
  ['white space before', ` ${published.slice(0, -1)}`, false],
  ['a new line after', `${published}\n`, false],
  ['another body’s signature', sign(Buffer.from('x'), key), false],
  ['nothing', '', false],
  ['a digit whose low byte alone is right', published.replace('5', String.fromCharCode(0x135)), false],
  ['a last character of two bytes', `${published.slice(0, -1)}\u0133`, false],
  ['a character outside the plane', `${published.slice(0, -2)}\u{1F642}`, false],
  ['64 characters that are not hex', 'z'.repeat(64), false],
])('verify: %s → %s', (_name, signature, valid) => {
  expect(verify(body, signature, key)).toBe(valid)
})

test('an empty secret never makes a key', () => {
  expect(() => signingKey('')).toThrow(RangeError)
})

test('one signature after another leaves nothing behind', () => {
  for (const tail of ['\u0133', '\u{1F642}', 'é', '\uD800']) {
    expect(verify(body, published, key)).toBe(true)
    expect(verify(body, published.slice(0, 64 - tail.length) + tail, key)).toBe(false)
  }
})

test('one body after another is compared with its own signature', () => {
  const other = Buffer.from('another body')
  expect(verify(body, published, key)).toBe(true)
  expect(verify(other, published, key)).toBe(false)
  expect(verify(other, sign(other, key), key)).toBe(true)
  expect(verify(body, sign(other, key), key)).toBe(false)
})

test('a secret is its UTF-8 bytes, as text or as bytes', () => {
  expect(sign(body, signingKey('ключ'))).toBe(sign(body, signingKey(Buffer.from('ключ', 'utf8'))))
})
