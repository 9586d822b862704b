import { expect, test } from 'vitest'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import { parseCapturedRequest } from '../../../src/domain/webhook/capture.ts'
import {
  withDiagnosis,
  createInvalidDeliveriesError,
  signBody,
  verifyDelivery,
} from '../../../src/domain/webhook/verify.ts'
import { BadSignatureError, InvalidInputError } from '../../../src/errors/kinds.ts'

const secret = 'whsec-of-a-test'
const body = Buffer.from(
  '{"event":"request.updated","request_id":"3f2b8c1e-5d4a-4c7b-9e21-0a6f8d3b7c55","status":"PARTIAL"}',
)
const signature = sign(body, signingKey(secret))

test('a valid signature returns the event', () => {
  expect(verifyDelivery({ body, signatures: [signature] }, secret)).toEqual({
    valid: true,
    event: JSON.parse(body.toString()) as unknown,
    failure: undefined,
  })
})

test.each([
  ['is no UTF-8', Buffer.from('"\xff"', 'latin1')],
  ['is no JSON', Buffer.from('{')],
])('a body that %s may have a valid signature, and has no event', (_what, unreadableBody) => {
  expect(
    verifyDelivery({ body: unreadableBody, signatures: [signBody(unreadableBody, secret)] }, secret),
  ).toMatchObject({
    valid: true,
    event: null,
  })
})

test.each([
  ['no signature', [], 'the signature is missing'],
  ['two signatures', [signature, signature], 'there are several signatures'],
  ['an empty one', [''], 'the signature is empty'],
  ['a prefix', [`sha256=${signature}`], 'the signature has a prefix, "sha256="'],
  ['upper case', [signature.toUpperCase()], 'the signature is written in upper case'],
  ['white space', [` ${signature}`], 'the signature has white space around it'],
  ['cut', [signature.slice(1)], 'the signature has 63 characters instead of 64'],
  ['not hex', ['g'.repeat(64)], 'the signature contains characters that are not hexadecimal'],
  ['another body’s', ['0'.repeat(64)], 'the signature does not match the body'],
])('a delivery is refused with the reason: %s', (_name, signatures, message) => {
  const { valid, event, failure } = verifyDelivery({ body, signatures }, secret)
  expect({ valid, event, message: failure?.message }).toEqual({ valid: false, event: null, message })
})

test('a body with one changed byte at any position is refused', () => {
  for (let at = 0; at < body.length; at += 1) {
    const edited = Buffer.from(body)
    edited[at] = (edited[at] ?? 0) ^ 1
    expect(verifyDelivery({ body: edited, signatures: [signature] }, secret).valid).toBe(false)
  }
})

const head = `POST /hook HTTP/1.1\r\nHost: x\r\nX-Service-Signature: ${signature}\r\n`

test.each([
  ['CRLF', `${head}Content-Length: ${body.length}\r\n\r\n${body.toString()}`],
  ['LF alone', `${head}Content-Length: ${body.length}\r\n\r\n${body.toString()}`.replaceAll('\r\n', '\n')],
  ['a newline added at the end', `${head}content-length: ${body.length}\r\n\r\n${body.toString()}\n`],
  ['no length', `${head}\r\n${body.toString()}`],
  ['another case of the header', `${head.replace('X-Service', 'x-sERVICE')}\r\n${body.toString()}`],
])('a captured request with %s', (_name, text) => {
  const delivery = parseCapturedRequest(Buffer.from(text))
  expect(verifyDelivery(delivery, secret).valid).toBe(true)
})

test('all signature headers of a captured request are read', () => {
  const delivery = parseCapturedRequest(
    Buffer.from(`${head}X-Service-Signature: ${signature}\r\n\r\n${body.toString()}`),
  )
  expect(delivery.signatures).toHaveLength(2)
})

test.each([
  ['headers without end', 'POST / HTTP/1.1\r\nHost: x\r\n', 'no empty line'],
  [
    'a body that is cut',
    `${head}Content-Length: 999\r\n\r\n{}`,
    'Content-Length is 999 bytes, but there are 2',
  ],
])('a capture is refused: %s', (_name, text, message) => {
  expect(() => parseCapturedRequest(Buffer.from(text))).toThrow(InvalidInputError)
  expect(() => parseCapturedRequest(Buffer.from(text))).toThrow(message)
})

test('a diagnosis replaces the hint; without a diagnosis the hint stays', () => {
  const failure = new BadSignatureError('the signature is missing', { hint: 'Add --signature.' })
  expect(withDiagnosis(failure, undefined).failure).toBe(failure)
  const diagnosis = { cause: 'bom_added', message: 'A byte order mark was added.' }
  expect(withDiagnosis(failure, diagnosis).failure).toMatchObject({
    message: 'the signature is missing',
    hint: 'A byte order mark was added.',
  })
})

test.each([
  [1, 1, '1 of 1 delivery is not valid'],
  [1, 2, '1 of 2 deliveries is not valid'],
  [2, 2, '2 of 2 deliveries are not valid'],
])('the error for %i invalid of %i deliveries', (failed, total, message) => {
  expect(createInvalidDeliveriesError(failed, total).message).toBe(message)
})

test('signing an empty body is refused', () => {
  expect(() => signBody(new Uint8Array(), secret)).toThrow('there is nothing to sign: the body is empty')
})
