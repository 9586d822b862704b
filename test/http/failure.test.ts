import { expect, test } from 'vitest'

import { transportFailure } from '../../src/http/failure.ts'

test.each([
  [
    'CERT_HAS_EXPIRED',
    'its certificate has expired',
    /^Whoever runs it has to renew it\. .*refcheck doctor$/,
  ],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet', /^The clock of this machine .*refcheck doctor$/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is self-signed', /set NODE_EXTRA_CA_CERTS to its file\.$/],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'its certificate is signed by an unknown authority',
    /NODE_USE_SYSTEM_CA=1/,
  ],
])('the error of a certificate (%s) has its own hint, and names a proxy', (code, text, hint) => {
  const context = { url: new URL('https://api.example.com/v1/ping'), sent: false }
  const error = Object.assign(new Error('x'), { code })
  const directFailure = transportFailure(error, { ...context, proxy: undefined })
  expect(directFailure).toMatchObject({ message: `api.example.com: ${text}`, permanent: true })
  expect(directFailure.hint).toMatch(hint)
  expect(transportFailure(error, { ...context, proxy: 'proxy.example.com:3128' }).hint).toBe(
    `${directFailure.hint}\nThe environment sets the proxy proxy.example.com:3128 (HTTPS_PROXY); the certificate may be its own.`,
  )
})

const context = { url: new URL('https://api.example.com/v1/ping'), sent: false, proxy: undefined }
const errorWithCode = (code: string): Error => Object.assign(new Error('x'), { code })

test.each<[string, unknown, string, boolean]>([
  [
    'a certificate code without its own message',
    errorWithCode('CERT_SIGNATURE_FAILURE'),
    'its certificate cannot be verified (CERT_SIGNATURE_FAILURE)',
    true,
  ],
  ['a code of TLS', errorWithCode('EPROTO'), 'the TLS handshake failed (EPROTO)', false],
  ['an unknown code', errorWithCode('ESOMETHING'), 'the exchange failed (ESOMETHING)', false],
  [
    'several addresses that were tried',
    new AggregateError([errorWithCode('ECONNREFUSED'), errorWithCode('ENETUNREACH')]),
    'connection refused',
    false,
  ],
  [
    'an error around the cause',
    new Error('x', { cause: errorWithCode('EPIPE') }),
    'the connection was cut',
    false,
  ],
  ['no code at all', new Error('x'), 'the exchange failed', false],
  ['no error at all', 'x', 'the exchange failed', false],
])('%s is reported in one sentence', (_label, error, text, permanent) => {
  expect(transportFailure(error, context)).toMatchObject({ message: `api.example.com: ${text}`, permanent })
})
