import { expect, test } from 'vitest'

import { isLoopbackHost, isLoopbackUrl } from '../../../src/contract/loopback.ts'
import { parseBaseUrl, sameOrigin } from '../../../src/domain/session/base-url.ts'

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
])('%j is kept as %s', (text, kept) => {
  expect(parseBaseUrl(text)).toBe(kept)
})

test.each([
  ['', 'is empty'],
  ['  ', 'is empty'],
  ['api.example.com', 'is not a URL'],
  ['//api.example.com', 'is not a URL'],
  ['https://', 'is not a URL'],
  ['https://[::1', 'is not a URL'],
  ['https://api.example.com:99999', 'is not a URL'],
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
  ['https://api.example.com/v1', 'ends in /v1'],
  ['https://api.example.com/checks/v1/', 'ends in /v1'],
  ['https:\\\\api.example.com', 'contains a space, a control character or a backslash'],
  ['https://api.exam\nple.com', 'contains a space, a control character or a backslash'],
  ['https://api.example.com /', 'contains a space, a control character or a backslash'],
  ['https://api.example.com/\0', 'contains a space, a control character or a backslash'],
  [`https://api.example.com/${'a'.repeat(100_000)}`, 'is longer than 2048 characters'],
])('%.60j %s', (text, why) => {
  expect(() => parseBaseUrl(text, 'REFCHECK_BASE_URL')).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      message: `REFCHECK_BASE_URL ${why}`,
      hint: expect.stringMatching(/./),
    }),
  )
})

test('what may be a password or a key pasted by mistake is not repeated', () => {
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
])('%s on this machine: %s, and the wire agrees', (url, here) => {
  expect(isLoopbackUrl(url)).toBe(here)
  expect(isLoopbackHost(new URL(url).hostname)).toBe(here)
})

test('what is no URL is not this machine', () => {
  expect(isLoopbackUrl('127.0.0.1')).toBe(false)
})

test.each([
  ['https://a.example', 'https://a.example/path', true],
  ['https://a.example', 'https://a.example:443', true],
  ['https://a.example', 'http://a.example', false],
  ['https://a.example', 'https://a.example:8443', false],
  ['https://a.example', 'https://b.a.example', false],
  ['https://a.example', '', false],
])('%s and %s are one origin: %s', (one, other, same) => {
  expect(sameOrigin(one, other)).toBe(same)
})
