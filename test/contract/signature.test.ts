import { expect, test } from 'vitest'

import { sign, signingKey, verify } from '../../src/contract/signature.ts'

/** Key, data and signature of RFC 4231, test case 2. */
const key = signingKey('Jefe')
const body = Buffer.from('what do ya want for nothing?')
const publishedSignature = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'

test('signs the exact bytes as lowercase hex HMAC-SHA256 (RFC 4231, case 2)', () => {
  expect(sign(body, key)).toBe(publishedSignature)
})

test.each([
  ['the signature itself', publishedSignature, true],
  ['the signature in upper case', publishedSignature.toUpperCase(), false],
  ['the signature with a prefix', `sha256=${publishedSignature}`, false],
  ['the signature without its last character', publishedSignature.slice(0, -1), false],
  ['the signature with one more character', `${publishedSignature}0`, false],
  ['white space before', ` ${publishedSignature.slice(0, -1)}`, false],
  ['a new line after', `${publishedSignature}\n`, false],
  ['the signature of another body', sign(Buffer.from('x'), key), false],
  ['an empty text', '', false],
  [
    'a digit of which only the low byte is right',
    publishedSignature.replace('5', String.fromCharCode(0x135)),
    false,
  ],
  ['a last character of two bytes', `${publishedSignature.slice(0, -1)}\u0133`, false],
  ['a character outside the basic plane', `${publishedSignature.slice(0, -2)}\u{1F642}`, false],
  ['64 characters that are not hex', 'z'.repeat(64), false],
])('verify: %s is valid: %s', (_label, signature, isValid) => {
  expect(verify(body, signature, key)).toBe(isValid)
})

test('an empty secret is refused as a key', () => {
  expect(() => signingKey('')).toThrow(RangeError)
})

test('a signature is verified independently of the signatures verified before', () => {
  for (const tail of ['\u0133', '\u{1F642}', 'é', '\uD800']) {
    expect(verify(body, publishedSignature, key)).toBe(true)
    expect(verify(body, publishedSignature.slice(0, 64 - tail.length) + tail, key)).toBe(false)
  }
})

test('each body is compared with its own signature', () => {
  const otherBody = Buffer.from('another body')
  expect(verify(body, publishedSignature, key)).toBe(true)
  expect(verify(otherBody, publishedSignature, key)).toBe(false)
  expect(verify(otherBody, sign(otherBody, key), key)).toBe(true)
  expect(verify(body, sign(otherBody, key), key)).toBe(false)
})

test('a secret in text form is the key of its UTF-8 bytes', () => {
  expect(sign(body, signingKey('ключ'))).toBe(sign(body, signingKey(Buffer.from('ключ', 'utf8'))))
})
