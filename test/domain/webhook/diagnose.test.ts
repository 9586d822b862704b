import { gzipSync } from 'node:zlib'

import fc from 'fast-check'
import { expect, test } from 'vitest'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import { bodyVariants, diagnose } from '../../../src/domain/webhook/diagnose.ts'
import { verifyDelivery } from '../../../src/domain/webhook/verify.ts'
import { explainDelivery } from '../../../src/usecases/webhook/verify.ts'

const secret = 'whsec-of-a-test'
const event = {
  event: 'request.updated',
  request_id: '3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55',
  status: 'ERROR',
  error_reason: 'Prüfung <b>"x"</b> a/b & c failed',
}
const sentBytes = Buffer.from(JSON.stringify(event))
const signature = sign(sentBytes, signingKey(secret))

/** Returns a delivery whose body is `body` and whose signature is valid for `signedBody`. */
function createDelivery(body: string | Uint8Array, signedBody: string | Uint8Array = sentBytes) {
  return {
    body: Buffer.from(body),
    signatures: [sign(Buffer.from(signedBody), signingKey(secret))],
  }
}

const text = sentBytes.toString()
const pretty = JSON.stringify(event, null, 2)
/** The text as Python's json.dumps writes it. */
const python = text.replaceAll('":"', '": "').replaceAll('","', '", "').replace('ü', '\\u00fc')
const html = text
  .replaceAll('&', '&amp;')
  .replaceAll('"', '&quot;')
  .replaceAll('<', '&lt;')
  .replaceAll('>', '&gt;')

test.each([
  ['trailing_newline_added', createDelivery(`${text}\n`)],
  ['trailing_newline_added', createDelivery(`${text}\r\n`)],
  ['trailing_newline_removed', createDelivery(text, `${text}\n`)],
  ['white_space_added', createDelivery(`  ${text} `)],
  ['line_ends_changed', createDelivery(pretty.replaceAll('\n', '\r\n'), pretty)],
  ['line_ends_changed', createDelivery(pretty, pretty.replaceAll('\n', '\r\n'))],
  ['byte_order_mark_added', createDelivery(`\uFEFF${text}`)],
  ['byte_order_mark_added', createDelivery(`\uFEFF${text}\n`)],
  ['byte_order_mark_removed', createDelivery(text, `\uFEFF${text}`)],
  ['encoding_changed', createDelivery(Buffer.from(text, 'utf16le'))],
  ['encoding_changed', createDelivery(Buffer.from(text, 'latin1'))],
  ['encoding_changed', createDelivery(Buffer.from(sentBytes.toString('latin1'), 'utf8'))],
  ['base64_encoded', createDelivery(sentBytes.toString('base64'))],
  ['html_escaped', createDelivery(html)],
  ['html_escaped', createDelivery(`${html}\n`)],
  ['url_escaped', createDelivery(encodeURIComponent(text))],
  ['url_escaped', createDelivery(`payload=${new URLSearchParams({ x: text }).toString().slice(2)}`)],
  ['json_escaped', createDelivery(JSON.stringify(text))],
  ['json_escaped', createDelivery(JSON.stringify(text).slice(1, -1))],
  ['quotes_changed', createDelivery(text.replaceAll('"event"', '“event”'))],
  ['json_reformatted', createDelivery(pretty)],
  ['json_reformatted', createDelivery(`${JSON.stringify(event, null, 4)}\n`)],
  ['json_reformatted', createDelivery(text, python)],
  ['json_reformatted', createDelivery(text, text.replace('ü', '\\u00fc').replaceAll('/', '\\/'))],
  [
    'json_reformatted',
    createDelivery(
      JSON.stringify({
        status: event.status,
        error_reason: event.error_reason,
        request_id: event.request_id,
        event: event.event,
      }),
    ),
  ],
  ['body_compressed', createDelivery(gzipSync(text))],
  ['truncated', createDelivery(text.slice(0, -1))],
  ['truncated', createDelivery(text.slice(0, -2))],
  ['text_added', createDelivery(`${text} -- end of message`)],
])('the change of the body is diagnosed, and the delivery is refused: %s', (cause, delivery) => {
  expect(verifyDelivery(delivery, secret).valid).toBe(false)
  const diagnosis = diagnose(delivery, secret)
  expect(diagnosis?.cause).toBe(cause)
  expect(diagnosis?.message).toMatch(/^It would match .+\.$/)
})

test.each([
  ['signature_upper_case', [signature.toUpperCase()]],
  ['signature_prefixed', [`sha256=${signature}`]],
  ['signature_prefixed', [`t=1700000000,v1=${signature}`]],
  ['signature_white_space', [` ${signature}\r`]],
  ['signature_quoted', [`"${signature}"`]],
  ['signature_base64', [Buffer.from(signature, 'hex').toString('base64')]],
  ['signature_cut', [signature.slice(0, 40)]],
  ['signature_repeated', [`${signature}, ${signature}`]],
  ['signature_repeated', [signature + signature]],
  ['signature_repeated', ['0'.repeat(64), signature]],
])('the change of the signature is diagnosed, and the delivery is refused: %s', (cause, signatures) => {
  expect(verifyDelivery({ body: sentBytes, signatures }, secret).valid).toBe(false)
  expect(diagnose({ body: sentBytes, signatures }, secret)?.cause).toBe(cause)
})

test('two changes at once are both diagnosed', () => {
  const found = diagnose({ body: Buffer.from(`${text}\n`), signatures: [`sha256=${signature}`] }, secret)
  expect(found?.message).toBe(
    'It would match without the newline at its end: an editor, echo or a here-document added it, and with its signature without its prefix.',
  )
})

test.each([
  ['the secret of another profile', 'whsec-of-another', 'the secret of profile "acme"'],
  ['the secret in double quotes', '"00112233445566778899"', 'the secret in double quotes'],
  ['the secret in single quotes', "'00112233445566778899'", 'the secret in single quotes'],
  [
    'the bytes decoded from the hexadecimal secret',
    Buffer.from('00112233445566778899', 'hex'),
    'decoded from hexadecimal',
  ],
])('a signature that was made with another secret is diagnosed: %s', (_name, usedSecret, messagePart) => {
  const ownSecret = '00112233445566778899'
  const delivery = { body: sentBytes, signatures: [sign(sentBytes, signingKey(usedSecret))] }
  const others = [{ name: 'the secret of profile "acme"', secret: 'whsec-of-another' }]
  expect(diagnose(delivery, ownSecret, others)).toEqual({
    cause: 'other_secret',
    message: expect.stringContaining(messagePart),
  })
})

test('a secret that was saved with quotes is diagnosed', () => {
  const signatures = [sign(sentBytes, signingKey('whsec-x'))]
  for (const ownSecret of ['"whsec-x"', "'whsec-x'"]) {
    expect(diagnose({ body: sentBytes, signatures }, ownSecret)?.message).toBe(
      'It would match with the secret without the quotes around it.',
    )
  }
})

test('a gzip body is unpacked only up to the size limit of a delivery', () => {
  const body = gzipSync(Buffer.alloc(8 * 1024 * 1024))
  expect(diagnose({ body, signatures: [signature] }, secret)).toBeUndefined()
  expect(diagnose({ body: Buffer.from([0x1f, 0x8b, 8, 0]), signatures: [signature] }, secret)).toBeUndefined()
})

test('there is no diagnosis if the body has other content or the signature is missing or too short', () => {
  expect(
    diagnose({ body: Buffer.from(text.replace('ERROR', 'OTHER')), signatures: [signature] }, secret),
  ).toBeUndefined()
  expect(diagnose({ body: sentBytes, signatures: [] }, secret)).toBeUndefined()
  expect(diagnose({ body: sentBytes, signatures: [signature.slice(0, 8)] }, secret)).toBeUndefined()
})

test('other secrets are read only if the verification fails', async () => {
  const others = (): never => {
    throw new Error('the other secrets were read')
  }
  expect(await explainDelivery({ body: sentBytes, signatures: [signature] }, secret, others)).toMatchObject({
    valid: true,
  })
})

test('a diagnosis never accepts a delivery and never throws, for any bytes', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((each) => Buffer.from(each)),
  )
  fc.assert(
    fc.property(bytes, fc.array(fc.string({ maxLength: 140 }), { maxLength: 3 }), (body, signatures) => {
      diagnose({ body, signatures }, secret)
      expect(verifyDelivery({ body, signatures }, secret).valid).toBe(false)
    }),
    { numRuns: 500 },
  )
})

test('a deeply nested body is not reformatted', () => {
  const deep = Buffer.from('['.repeat(100_000) + ']'.repeat(100_000))
  expect(diagnose({ body: deep, signatures: [signature] }, secret)).toBeUndefined()
})

const body = '{"event":"request.updated","status":"PARTIAL","name":"Zoë"}'

/** Returns the cause of the variant of the received body that equals the signed text, or undefined. */
function findCause(receivedBody: string | Uint8Array, signed: string): string | undefined {
  for (const { cause, bytes } of bodyVariants(Buffer.from(receivedBody))) {
    if (Buffer.from(bytes).equals(Buffer.from(signed))) return cause
  }
  return undefined
}

test.each([
  ['a newline that an editor added', `${body}\n`, 'trailing_newline_added'],
  ['a CRLF at the end', `${body}\r\n`, 'trailing_newline_added'],
  ['white space around it', ` ${body} `, 'white_space_added'],
  ['a byte order mark', `\uFEFF${body}`, 'byte_order_mark_added'],
  ['base64', Buffer.from(body).toString('base64'), 'base64_encoded'],
])('%s is found', (_what, receivedBody, cause) => {
  expect(findCause(receivedBody, body)).toBe(cause)
})

test('UTF-16 and text encoded twice are found', () => {
  expect(findCause(Buffer.from(body, 'utf16le'), body)).toBe('encoding_changed')
  expect(findCause(Buffer.from(Buffer.from(body).toString('latin1')), body)).toBe('encoding_changed')
})

test('removed newlines, removed byte order marks and changed line ends are found', () => {
  expect(findCause(body, `${body}\n`)).toBe('trailing_newline_removed')
  expect(findCause(body, `\uFEFF${body}`)).toBe('byte_order_mark_removed')
  expect(findCause('a\nb', 'a\r\nb')).toBe('line_ends_changed')
  expect(findCause('a\r\nb', 'a\nb')).toBe('line_ends_changed')
})

test('a large body has only the variants that are fast to compute, and a deeply nested one is not reformatted', () => {
  const large = `{"a":"${'x'.repeat(300_000)}"}`
  expect([...bodyVariants(Buffer.from(large))].length).toBeLessThan(10)
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  expect(() => [...bodyVariants(Buffer.from(deep))]).not.toThrow()
})
