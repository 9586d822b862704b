import { assert, pre, property, string, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'

import { checkApiKey, checkWebhookSecret, maskKey } from '../../../src/domain/session/credentials.ts'
import { checkEmail } from '../../../src/domain/session/user-email.ts'
import { key } from '../../usecases/session/setup.ts'

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'invalid_input', message, hint: expect.stringMatching(/./) })

test.each([key, `${key}\n`, `${key}\r\n`])(
  'a key of 32 characters, with or without a pipe’s line break',
  (text) => {
    expect(checkApiKey(text)).toBe(key)
  },
)

test.each([
  ['', 'the API key is empty'],
  ['\n', 'the API key is empty'],
  [key.slice(1), 'the API key has 31 characters instead of 32'],
  [`${key}x`, 'the API key has 33 characters instead of 32'],
  [`${key}\n\n`, 'the API key has 33 characters instead of 32'],
  [`"${key}"`, 'the API key has 34 characters instead of 32'],
  ['x'.repeat(100_000), 'the API key has 100000 characters instead of 32'],
  [
    ` ${key.slice(1)}`,
    'the API key has 32 characters, but number 1 is a space, a line break or not plain ASCII',
  ],
  [
    `${key.slice(0, 15)}\n${key.slice(16)}`,
    'the API key has 32 characters, but number 16 is a space, a line break or not plain ASCII',
  ],
  [
    `${key.slice(0, 31)}ü`,
    'the API key has 32 characters, but number 32 is a space, a line break or not plain ASCII',
  ],
  [
    `${key.slice(0, 31)}\0`,
    'the API key has 32 characters, but number 32 is a space, a line break or not plain ASCII',
  ],
])('%.40j: %s', (text, message) => {
  expect(() => checkApiKey(text)).toThrow(invalid(message))
})

test('a refused key is never in the error, not even a piece of it', () => {
  assert(
    property(stringMatching(/^[!-~]{33,60}$/), (text) => {
      let said = ''
      try {
        checkApiKey(text)
      } catch (error) {
        said = JSON.stringify(error, Object.getOwnPropertyNames(error))
      }
      expect(said).toContain(`has ${text.length} characters`)
      expect(said).not.toContain(JSON.stringify(text.slice(0, 12)).slice(1, -1))
    }),
  )
})

test('every 32 characters of printable ASCII are a key, nothing else is', () => {
  assert(
    property(stringMatching(/^[!-~]{32}$/), (text) => {
      expect(checkApiKey(text)).toBe(text)
    }),
  )
  assert(
    property(string({ unit: 'binary', maxLength: 40 }), (text) => {
      pre(!/^[!-~]{32}(\r?\n)?$/.test(text))
      expect(() => checkApiKey(text)).toThrow(/^the API key /)
    }),
  )
})

test.each([
  'ana@example.com',
  'Ana.Lee+refs@mail.example.com.au',
  `${'a'.repeat(64)}@${'b.'.repeat(90)}example`,
])('%.30s is an e-mail', (text) => {
  expect(checkEmail(text)).toBe(text)
})

test.each([
  ['', 'the e-mail is empty'],
  ['ana@example.com\n', 'the e-mail contains a line break or another control character'],
  [
    'ana@example.com\r\nX-Service-API-Key: x',
    'the e-mail contains a line break or another control character',
  ],
  ['ana\0@example.com', 'the e-mail contains a line break or another control character'],
  [`${'a'.repeat(243)}@example.com`, 'the e-mail has 255 characters; at most 254 are allowed'],
  ['a'.repeat(100_000), 'the e-mail has 100000 characters; at most 254 are allowed'],
  ['ana@', 'the e-mail "ana@" is not valid'],
  ['ana @example.com', 'the e-mail "ana @example.com" is not valid'],
  ['Ana <ana@example.com>', 'the e-mail "Ana <ana@example.com>" is not valid'],
  ['änä@example.com', 'the e-mail "änä@example.com" is not valid'],
  [key, 'the e-mail is not valid'],
])('%.40j: %s', (text, message) => {
  expect(() => checkEmail(text)).toThrow(invalid(message))
})

test('a webhook secret is any one line', () => {
  expect(checkWebhookSecret('whsec_ä b\n')).toBe('whsec_ä b')
  expect(checkWebhookSecret(' ')).toBe(' ')
})

test.each([
  ['', 'the webhook secret is empty'],
  ['\r\n', 'the webhook secret is empty'],
  ['one\ntwo', 'the webhook secret contains a line break or another control character'],
  ['one\n\n', 'the webhook secret contains a line break or another control character'],
  ['one\0', 'the webhook secret contains a line break or another control character'],
])('a webhook secret %j: %s', (text, message) => {
  expect(() => checkWebhookSecret(text)).toThrow(invalid(message))
})

test('of a key only the last four characters are shown', () => {
  expect(maskKey(key)).toBe('****pQRS')
})
