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
])('each certificate has a hint of its own, and a proxy is named: %s', (code, text, hint) => {
  const about = { url: new URL('https://api.example.com/v1/ping'), sent: false }
  const error = Object.assign(new Error('x'), { code })
  const straight = transportFailure(error, { ...about, proxy: undefined })
  expect(straight).toMatchObject({ message: `api.example.com: ${text}`, permanent: true })
  expect(straight.hint).toMatch(hint)
  expect(transportFailure(error, { ...about, proxy: 'proxy.example.com:3128' }).hint).toBe(
    `${straight.hint}\nThe environment sets the proxy proxy.example.com:3128 (HTTPS_PROXY); the certificate may be its own.`,
  )
})

const about = { url: new URL('https://api.example.com/v1/ping'), sent: false, proxy: undefined }
const coded = (code: string): Error => Object.assign(new Error('x'), { code })

test.each<[string, unknown, string, boolean]>([
  [
    'a code of a certificate without a sentence of its own',
    coded('CERT_SIGNATURE_FAILURE'),
    'its certificate cannot be verified (CERT_SIGNATURE_FAILURE)',
    true,
  ],
  ['a code of TLS', coded('EPROTO'), 'the TLS handshake failed (EPROTO)', false],
  ['an unknown code', coded('ESOMETHING'), 'the exchange failed (ESOMETHING)', false],
  [
    'several addresses that were tried',
    new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]),
    'connection refused',
    false,
  ],
  ['an error around the cause', new Error('x', { cause: coded('EPIPE') }), 'the connection was cut', false],
  ['no code at all', new Error('x'), 'the exchange failed', false],
  ['no error at all', 'x', 'the exchange failed', false],
])('%s in one sentence', (_what, error, text, permanent) => {
  expect(transportFailure(error, about)).toMatchObject({ message: `api.example.com: ${text}`, permanent })
})
