import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { isLoopbackHost, isLoopbackUrl, maskUrl } from '../../src/contract/url.ts'

test.each([
  ['localhost', true],
  ['LOCALHOST', true],
  ['127.0.0.1', true],
  ['127.255.1.2', true],
  ['::1', true],
  ['[::1]', true],
  ['128.0.0.1', false],
  ['127.0.0.1.example.com', false],
  ['localhost.example.com', false],
  ['::2', false],
  ['', false],
])('the host %j is loopback: %s', (host, isLoopback) => {
  expect(isLoopbackHost(host)).toBe(isLoopback)
})

test.each([
  ['http://127.0.0.1:4010/v1', true],
  ['http://[::1]:4010', true],
  ['https://api.example.com/localhost', false],
  ['localhost', false],
])('the URL %j has a loopback host: %s', (url, isLoopback) => {
  expect(isLoopbackUrl(url)).toBe(isLoopback)
})

test.each([
  ['https://api.example.com/v1/users', 'https://api.example.com/v1/users'],
  [
    'https://api.example.com/v1/packages?status=active&id=7',
    'https://api.example.com/v1/packages?status=active&id=7',
  ],
  ['https://api.example.com/v1/reports/1?t=SECRET', 'https://api.example.com/v1/reports/1?t=***'],
  [
    'https://api.example.com/v1/reports/1?a=1&t=SECRET&id=7',
    'https://api.example.com/v1/reports/1?a=***&t=***&id=7',
  ],
  [
    'https://api.example.com/v1/reports/1?t=SECRET;t=SECRET',
    'https://api.example.com/v1/reports/1?t=***;t=***',
  ],
  ['https://api.example.com/v1/reports/1?t=SEC?t=RET', 'https://api.example.com/v1/reports/1?t=***'],
  ['https://api.example.com/v1/reports/1?SECRET', 'https://api.example.com/v1/reports/1?***'],
  ['https://api.example.com/v1/users#', 'https://api.example.com/v1/users#'],
  ['https://api.example.com/v1/users#x', 'https://api.example.com/v1/users#***'],
  ['https://api.example.com/v1/reports/1#t=SECRET', 'https://api.example.com/v1/reports/1#***'],
  ['https://api.example.com/v1/reports/1%3Ft=SECRET', 'https://api.example.com/v1/reports/1%3Ft=***'],
  ['https://api.example.com/v1/reports/1;t=SECRET', 'https://api.example.com/v1/reports/1;t=***'],
  [
    'https://api.example.com/v1/packages?status=SECRET%20&id=',
    'https://api.example.com/v1/packages?status=***&id=',
  ],
  ['https://user:SECRET@api.example.com/x', 'https://***@api.example.com/x'],
  ['https://a@SECRET@api.example.com/x', 'https://***@api.example.com/x'],
  ['https:\\\\user:SECRET@api.example.com', 'https:\\\\***@api.example.com'],
  ['user:SECRET@api.example.com', 'user:***@api.example.com'],
  ['//user:SECRET@api.example.com', '//***@api.example.com'],
  ['https://api.example.com/people/@handle', 'https://api.example.com/people/@handle'],
  ['http://127.0.0.1:4010/hook?', 'http://127.0.0.1:4010/hook?'],
  ['?t=SECRET', '?t=***'],
  ['', ''],
])('the URL %s is masked as %s', (url, masked) => {
  expect(maskUrl(url)).toBe(masked)
})

/** A secret is long enough that no other part of a URL contains it by chance. */
const secrets = fc.stringMatching(/^[A-Za-z0-9_~.%+/=-]{12,40}$/)
const texts = fc.string({ unit: 'binary', maxLength: 20 })

test('a token is masked in every part of a URL that may be a query', () => {
  fc.assert(
    fc.property(
      secrets,
      texts,
      texts,
      fc.constantFrom('?', '&', ';'),
      (token, textBefore, textAfter, separator) => {
        const url = `https://api.example.com/v1/reports/1?${textBefore}${separator}t=${token}&${textAfter}`
        expect(maskUrl(url)).not.toContain(token)
      },
    ),
  )
})

test('the user name and the password of a URL are masked', () => {
  fc.assert(
    fc.property(secrets, (password) => {
      expect(maskUrl(`https://user:${encodeURIComponent(password)}@host.test/x`)).toBe(
        'https://***@host.test/x',
      )
    }),
  )
})

test('masking a masked URL changes nothing, and the origin is preserved', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
      const masked = maskUrl(url)
      expect(maskUrl(masked)).toBe(masked)
      const { origin } = new URL(url)
      expect(new URL(masked).origin).toBe(origin)
    }),
  )
})

test.each(['@', 'a@', '?', '&t=', ';t', '%3f', '%3ft', '#', '/', '\\', 'a:', 't='])(
  '%j repeated a million times is masked before the test times out, which a regular expression that takes quadratic time would not manage',
  (piece) => {
    expect(maskUrl(piece.repeat(1_000_000)).length).toBeGreaterThan(0)
  },
)
