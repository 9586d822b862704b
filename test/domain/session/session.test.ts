import { assert, pre, property, string, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'

import {
  checkApiKey,
  checkWebhookSecret,
  maskKey,
  parseBaseUrl,
  isSameOrigin,
  checkProfileName,
} from '../../../src/domain/session/session.ts'
import { checkEmail } from '../../../src/domain/session/users.ts'
import { key } from '../../usecases/session/setup.ts'
import { isLoopbackHost, isLoopbackUrl } from '../../../src/contract/url.ts'

const invalidInputError = (message: string): unknown =>
  expect.objectContaining({ code: 'invalid_input', message, hint: expect.stringMatching(/./) })

test.each([key, `${key}\n`, `${key}\r\n`])(
  'a key of 32 characters is accepted with or without a line break at the end',
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
])('the key %.40j is refused: %s', (text, message) => {
  expect(() => checkApiKey(text)).toThrow(invalidInputError(message))
})

test('the error for an invalid key contains no part of the key', () => {
  assert(
    property(stringMatching(/^[!-~]{33,60}$/), (text) => {
      let refusal = ''
      try {
        checkApiKey(text)
      } catch (error) {
        refusal = JSON.stringify(error, Object.getOwnPropertyNames(error))
      }
      expect(refusal).toContain(`has ${text.length} characters`)
      expect(refusal).not.toContain(JSON.stringify(text.slice(0, 12)).slice(1, -1))
    }),
  )
})

test('exactly the texts of 32 printable ASCII characters are accepted as keys', () => {
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
])('%.30s is accepted as an e-mail', (text) => {
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
])('the e-mail %.40j is refused: %s', (text, message) => {
  expect(() => checkEmail(text)).toThrow(invalidInputError(message))
})

test('a webhook secret may be any single line', () => {
  expect(checkWebhookSecret('whsec_ä b\n')).toBe('whsec_ä b')
  expect(checkWebhookSecret(' ')).toBe(' ')
})

test.each([
  ['', 'the webhook secret is empty'],
  ['\r\n', 'the webhook secret is empty'],
  ['one\ntwo', 'the webhook secret contains a line break or another control character'],
  ['one\n\n', 'the webhook secret contains a line break or another control character'],
  ['one\0', 'the webhook secret contains a line break or another control character'],
])('the webhook secret %j is refused: %s', (text, message) => {
  expect(() => checkWebhookSecret(text)).toThrow(invalidInputError(message))
})

test('a masked key has only its last four characters', () => {
  expect(maskKey(key)).toBe('****pQRS')
})

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['https://api.example.com///', 'https://api.example.com'],
  ['HTTPS://API.Example.COM:443', 'https://api.example.com'],
  ['https://api.example.com:8443/checks/', 'https://api.example.com:8443/checks'],
  ['https://gate.example.com/@tenant', 'https://gate.example.com/@tenant'],
  ['  https://api.example.com\n', 'https://api.example.com'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ['http://127.0.0.1:4010', 'http://127.0.0.1:4010'],
  ['http://127.9.8.7', 'http://127.9.8.7'],
  ['http://127.1:80/', 'http://127.0.0.1'],
  ['http://localhost:4010/', 'http://localhost:4010'],
  ['http://[::1]:4010', 'http://[::1]:4010'],
  ['https://10.0.0.1', 'https://10.0.0.1'],
])('the base URL %j is stored as %s', (text, stored) => {
  expect(parseBaseUrl(text)).toBe(stored)
})

test.each([
  ['', 'is empty'],
  ['  ', 'is empty'],
  ['api.example.com', 'does not start with https://'],
  ['//api.example.com', 'does not start with https://'],
  ['https://', 'is not a complete address'],
  ['https://[::1', 'is not a complete address'],
  ['https://api.example.com:99999', 'is not a complete address'],
  ['localhost:4010', 'does not start with https://'],
  ['ftp://api.example.com', 'does not start with https://'],
  ['file:///etc/passwd', 'does not start with https://'],
  ['javascript:alert(1)', 'does not start with https://'],
  ['http://api.example.com', 'would call api.example.com unencrypted: https is required'],
  ['http://localhost.example.com', 'would call localhost.example.com unencrypted: https is required'],
  ['http://10.0.0.1', 'would call 10.0.0.1 unencrypted: https is required'],
  ['http://0.0.0.0', 'would call 0.0.0.0 unencrypted: https is required'],
  ['http://127.0.0.1.example.com', 'would call 127.0.0.1.example.com unencrypted: https is required'],
  ['http://[::ffff:127.0.0.1]', 'would call [::ffff:7f00:1] unencrypted: https is required'],
  ['https://ana:hunter2@api.example.com', 'has a user name or a password in it'],
  ['https://ana@api.example.com', 'has a user name or a password in it'],
  ['https://@api.example.com', 'has a user name or a password in it'],
  ['http://127.0.0.1@evil.example', 'has a user name or a password in it'],
  ['https:/ana:hunter2@api.example.com', 'has a user name or a password in it'],
  ['https://api.example.com/?key=hunter2', 'has a query'],
  ['https://api.example.com?', 'has a query'],
  ['https://api.example.com/#top', 'has a fragment'],
  ['https://api.example.com#', 'has a fragment'],
  ['https://api.example.com/v1', 'ends in /v1: leave /v1 out'],
  ['https://api.example.com/checks/v1/', 'ends in /v1: leave /v1 out'],
  ['https:\\\\api.example.com', 'contains a space, a control character or a backslash'],
  ['https://api.exam\nple.com', 'contains a space, a control character or a backslash'],
  ['https://api.example.com /', 'contains a space, a control character or a backslash'],
  ['https://api.example.com/\0', 'contains a space, a control character or a backslash'],
  [`https://api.example.com/${'a'.repeat(100_000)}`, 'is longer than 2048 characters'],
])('the base URL %.60j is refused, because it %s', (text, why) => {
  expect(() => parseBaseUrl(text, 'REFCHECK_BASE_URL')).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      message: `REFCHECK_BASE_URL ${why}`,
      hint: expect.stringMatching(/./),
    }),
  )
})

test('a text that may be a password or a key is not in the error', () => {
  for (const text of [
    'https://ana:hunter2@x.example',
    'https://x.example/?key=hunter2',
    'hunter2',
    'x:hunter2',
  ]) {
    expect(() => parseBaseUrl(text)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    )
  }
})

test.each([
  ['http://127.0.0.1', true],
  ['http://127.255.0.9:1/x', true],
  ['http://[::1]', true],
  ['http://LOCALHOST', true],
  ['http://0x7f.1', true],
  ['http://localhost.', false],
  ['http://128.0.0.1', false],
  ['http://[::2]', false],
  ['http://sandbox.localhost.example', false],
])('%s is a loopback URL: %s; isLoopbackHost returns the same for its host', (url, isLoopback) => {
  expect(isLoopbackUrl(url)).toBe(isLoopback)
  expect(isLoopbackHost(new URL(url).hostname)).toBe(isLoopback)
})

test('a text that is not a URL is not a loopback URL', () => {
  expect(isLoopbackUrl('127.0.0.1')).toBe(false)
})

test.each([
  ['https://a.example', 'https://a.example/path', true],
  ['https://a.example', 'https://a.example:443', true],
  ['https://a.example', 'http://a.example', false],
  ['https://a.example', 'https://a.example:8443', false],
  ['https://a.example', 'https://b.a.example', false],
  ['https://a.example', '', false],
])('%s and %s have the same origin: %s', (one, other, isSame) => {
  expect(isSameOrigin(one, other)).toBe(isSame)
})

test.each(['default', 'Work-2', 'a', '_', '007', 'toString', 'x'.repeat(64)])(
  '"%s" is a valid profile name',
  (name) => {
    expect(checkProfileName(name)).toBe(name)
  },
)

test.each([
  '',
  '.',
  '..',
  'a.b',
  '../../etc',
  'a/b',
  'a\\b',
  '__proto__',
  'constructor',
  'prototype',
  'a b',
  'a\n',
  'a\0',
  'größe',
  '[0]',
  'x'.repeat(65),
])('%j is not a valid profile name', (name) => {
  expect(() => checkProfileName(name)).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      hint: 'Use letters, digits, - and _, at most 64 characters.',
    }),
  )
})

test('a name of 100,000 characters is refused and is not in the error', () => {
  expect(() => checkProfileName('a'.repeat(100_000))).toThrow(/^"…" is not a valid name for a profile$/)
})
