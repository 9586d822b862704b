import { expect, test } from 'vitest'

import { decodeChunked } from '../../../src/domain/webhook/capture.ts'

const decodeText = (text: string): string | undefined => {
  const bytes = decodeChunked(Buffer.from(text, 'latin1'))
  return bytes && Buffer.from(bytes).toString('latin1')
}

test.each([
  ['one chunk', '3\r\nabc\r\n0\r\n\r\n', 'abc'],
  ['several, in hexadecimal', 'A\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n', '0123456789x'],
  ['LF alone', '3\nabc\n0\n\n', 'abc'],
  ['extensions and trailers', '3;name=value\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n', 'abc'],
  ['line ends in the data', '4\r\n\r\n\r\n\r\n0\r\n', '\r\n\r\n'],
  ['nothing', '0\r\n\r\n', ''],
])('decodeChunked of %s', (_what, text, expected) => {
  expect(decodeText(text)).toBe(expected)
})

test.each([
  ['no size', 'abc\r\n'],
  ['an invalid size', 'x\r\nabc\r\n0\r\n'],
  ['no line end after the data', '3\r\nabcd\r\n0\r\n'],
  ['an end before the end of the data', '9\r\nabc'],
  ['no last chunk', '3\r\nabc\r\n'],
  ['a size above the limit of a body', 'FFFFFFFF\r\nabc\r\n0\r\n'],
  ['more chunks than a delivery has', `${'1\na\n'.repeat(100_001)}0\n`],
])('%s is not decoded', (_what, text) => {
  expect(decodeText(text)).toBeUndefined()
})
