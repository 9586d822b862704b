import { expect, test } from 'vitest'

import {
  isAccepted,
  type Reply,
  shortly,
  shownUrl,
  unreachable,
} from '../../../src/domain/webhook/delivery.ts'

test.each([
  [199, false],
  [200, true],
  [204, true],
  [299, true],
  [300, false],
  [null, false],
])('an answer of %s takes the event: %s', (status, taken) => {
  expect(isAccepted({ status })).toBe(taken)
})

test('what a receiver said is one line, cut, without the secret', () => {
  expect(shortly(Buffer.from(' a\n\tb s3cret '), 's3cret')).toBe('a b ***')
  expect(shortly(Buffer.from('a b'), '')).toBe('a b')
  expect(shortly(Buffer.from('x'.repeat(120)), '')).toBe('x'.repeat(120))
  expect(shortly(Buffer.from('x'.repeat(121)), '')).toBe(`${'x'.repeat(120)}…`)
})

const reply = (failure: string): Reply => ({
  status: null,
  milliseconds: 0,
  failure,
  reached: false,
  said: '',
})

test('nobody there: the host alone is named, and what to do about a certificate is another thing', () => {
  const gone = unreachable('https://me.example:8443/hook?token=t', reply('connection refused'))
  expect(gone).toMatchObject({ code: 'unavailable', message: 'me.example:8443: connection refused' })
  const untrusted = unreachable('https://me.example/', reply('its certificate is self-signed'))
  expect(untrusted.hint).toContain('NODE_EXTRA_CA_CERTS')
  expect(gone.hint).not.toContain('NODE_EXTRA_CA_CERTS')
})

test('a URL is shown without its query', () => {
  expect(shownUrl('https://me.example/hook?token=t#x')).toBe('https://me.example/hook')
})
