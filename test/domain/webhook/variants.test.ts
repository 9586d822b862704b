import { expect, test } from 'vitest'

import { bodyVariants } from '../../../src/domain/webhook/variants.ts'

const body = '{"event":"request.updated","status":"PARTIAL","name":"Zoë"}'

/** The cause under which the bytes that were signed are found in what arrived. */
function causeOf(arrived: string | Uint8Array, signed: string): string | undefined {
  for (const { cause, bytes } of bodyVariants(Buffer.from(arrived))) {
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
])('%s is found', (_what, arrived, cause) => {
  expect(causeOf(arrived, body)).toBe(cause)
})

test('UTF-16 and text encoded twice are found', () => {
  expect(causeOf(Buffer.from(body, 'utf16le'), body)).toBe('encoding_changed')
  expect(causeOf(Buffer.from(Buffer.from(body).toString('latin1')), body)).toBe('encoding_changed')
})

test('what was taken off is found too', () => {
  expect(causeOf(body, `${body}\n`)).toBe('trailing_newline_removed')
  expect(causeOf(body, `\uFEFF${body}`)).toBe('byte_order_mark_removed')
  expect(causeOf('a\nb', 'a\r\nb')).toBe('line_ends_changed')
  expect(causeOf('a\r\nb', 'a\nb')).toBe('line_ends_changed')
})

test('a large body has the cheap changes alone, and a deep one is not written again', () => {
  const large = `{"a":"${'x'.repeat(300_000)}"}`
  expect([...bodyVariants(Buffer.from(large))].length).toBeLessThan(10)
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  expect(() => [...bodyVariants(Buffer.from(deep))]).not.toThrow()
})
