import fc from 'fast-check'
import { expect, test } from 'vitest'

import { sign, signingKey } from '../../../src/contract/signature.ts'
import { parseCapturedRequest, readHar, readLog } from '../../../src/domain/webhook/capture.ts'
import { verifyDelivery } from '../../../src/domain/webhook/verify.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'

const secret = 'whsec-of-a-test'
const body =
  '{"event":"request.updated","request_id":"3f2b8c1e","status":"ERROR","error_reason":"café\\n<b>"}'
const length = Buffer.byteLength(body)
const signature = sign(Buffer.from(body), signingKey(secret))

/** Returns the bytes in the chunked encoding, with chunks of 20 bytes. */
function encodeChunked(bytes: Buffer, end: string): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 20) {
    const piece = bytes.subarray(at, at + 20)
    text += `${piece.length.toString(16)}${end}${piece.toString('latin1')}${end}`
  }
  return `${text}0${end}${end}`
}

/** The body as Latin-1 text, which preserves its bytes. */
const latin1Body = Buffer.from(body).toString('latin1')
const head = `POST /hook HTTP/1.1\r\nHost: x\r\nX-Service-Signature: ${signature}\r\n`
const requestWithLength = `${head}Content-Length: ${length}\r\n\r\n${latin1Body}`
const chunkedRequest = `${head}Transfer-Encoding: chunked\r\n\r\n${encodeChunked(Buffer.from(body), '\r\n')}`

function quoteLines(text: string): string {
  return text
    .split('\r\n')
    .map((line) => `> ${line}`)
    .join('\r\n')
}

test.each([
  ['raw, with a length', requestWithLength],
  ['raw, something after the length', `${requestWithLength}\r\n\r\nPOST / HTTP/1.1\r\n\r\n`],
  ['chunked', chunkedRequest],
  ['chunked, LF line ends', chunkedRequest.replaceAll('\r\n', '\n')],
  [
    'chunked, with an extension and a trailer',
    chunkedRequest.replace('14\r\n', '14;a=b\r\n').replace(/0\r\n\r\n$/, '0\r\nX-Sum: 1\r\n\r\n'),
  ],
  [
    'a header for chunks, with a body that is decoded already',
    `${head}Transfer-Encoding: chunked\r\n\r\n${latin1Body}`,
  ],
  [
    'nc -v, which first prints the address of the caller',
    `Listening on 0.0.0.0 8080\nConnection received on localhost 41234\n${requestWithLength}`,
  ],
  ['a byte order mark before the request', `\u00ef\u00bb\u00bf${requestWithLength}`],
  ['every line with "> "', quoteLines(requestWithLength)],
  [
    'curl -v, with the body between its own messages',
    `*   Trying 127.0.0.1:8080...\n* Connected\n${quoteLines(requestWithLength.slice(0, -latin1Body.length)).replace(/> $/, '')}${latin1Body}\n* upload sent off\n< HTTP/1.1 204\n<\n`,
  ],
  ['the HTTP/2 of curl', quoteLines(requestWithLength.replace('HTTP/1.1', 'HTTP/2'))],
  [
    'a request bin, with titles',
    `Request Details\nPOST https://bin.example/abc\nDate  2026-11-20\n\nHeaders\nhost\tbin.example\nX-Service-Signature\t${signature}\ncontent-length  ${length}\n\nRaw Body\n${latin1Body}\n`,
  ],
  [
    'headers alone, no request line',
    `X-Service-Signature: ${signature}\nContent-Length: ${length}\n\n${latin1Body}\n`,
  ],
  [
    'a header that comes twice the same',
    requestWithLength.replace('Host: x', `Host: x\r\nContent-Length: ${length}`),
  ],
])('a captured request: %s', (_name, text) => {
  const delivery = parseCapturedRequest(Buffer.from(text, 'latin1'))
  expect(Buffer.from(delivery.body).toString()).toBe(body)
  expect(verifyDelivery(delivery, secret).valid).toBe(true)
})

test('Content-Length counts bytes, and the body has exactly that many', () => {
  const short = requestWithLength.replace(`Content-Length: ${length}`, `Content-Length: ${length - 1}`)
  const delivery = parseCapturedRequest(Buffer.from(short, 'latin1'))
  expect(delivery.body.byteLength).toBe(length - 1)
  expect(verifyDelivery(delivery, secret).valid).toBe(false)
})

test('a captured request may have an empty body', () => {
  const delivery = parseCapturedRequest(Buffer.from(`${head}Content-Length: 0\r\n\r\n`))
  expect(delivery.body.byteLength).toBe(0)
})

test.each([
  [
    'curl -v without a body',
    quoteLines(`${head}Content-Length: ${length}\r\n\r\n`).replace(/> $/, ''),
    'is incomplete',
    'The output of curl -v has no body',
  ],
  ['chunks that do not add up', chunkedRequest.replace('14\r\n', '15\r\n'), 'chunks', 'raw bytes'],
  ['chunks without an end', chunkedRequest.slice(0, -8), 'chunks', 'raw bytes'],
  [
    'two lengths',
    requestWithLength.replace('Host: x', 'Content-Length: 3'),
    'several lengths',
    'one request alone',
  ],
  ['UTF-16, as PowerShell writes it', `\u00ff\u00fe${requestWithLength}`, 'UTF-16', 'Out-File'],
])('a capture is refused: %s', (_name, text, message, hint) => {
  const parse = (): unknown => parseCapturedRequest(Buffer.from(text, 'latin1'))
  expect(parse).toThrow(InvalidInputError)
  expect(parse).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(message) as string,
      hint: expect.stringContaining(hint) as string,
    }),
  )
})

/** Returns the error of `read`, unless it is an InvalidInputError. */
function findUnexpectedError(read: () => unknown): unknown {
  try {
    read()
  } catch (error) {
    return error instanceof InvalidInputError ? undefined : error
  }
  return undefined
}

test('any bytes are either read or refused with an InvalidInputError', () => {
  const pieces = fc.constantFrom(
    head,
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    '\r\n\r\n',
    '> ',
    '\n',
    '5\r\n',
    '{"log":{"entries":[',
    '{}',
    ']}}',
    'Headers\n',
    'Body\n',
    '\t',
    'x'.repeat(70_000),
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.array(pieces, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''))),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify({ log: { entries: [{ request: value }] } }))),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
  )
  fc.assert(
    fc.property(bytes, (given) => {
      const reads = [() => parseCapturedRequest(given), () => [...readLog(given)], () => [...readHar(given)]]
      expect(reads.map((read) => findUnexpectedError(read))).toEqual([undefined, undefined, undefined])
    }),
    { numRuns: 1000 },
  )
})

test('only spaces and tabs around a header value are removed', () => {
  const delivery = parseCapturedRequest(
    Buffer.from(`X-Service-Signature: \t a\u00a0b \u00a0 \r\n\r\n`, 'latin1'),
  )
  expect(delivery.signatures).toEqual(['a\u00a0b \u00a0'])
})
