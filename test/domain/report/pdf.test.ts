import { expect, test } from 'vitest'

import {
  pdfEnd,
  pdfStart,
  notPdfError,
  headerValue,
  pdfTailBytes,
} from '../../../src/domain/report/source.ts'

test('the first value of a repeated header is used', () => {
  expect([headerValue('ab'), headerValue(['ab', 'b']), headerValue([]), headerValue(undefined)]).toEqual([
    'ab',
    'ab',
    undefined,
    undefined,
  ])
})

test('an answer that is not a PDF is an unavailable error with the reason', () => {
  expect(notPdfError('it ends early')).toMatchObject({ code: 'unavailable' })
  expect(notPdfError('it ends early').message).toContain('it ends early')
})

test('a PDF starts with %PDF- and has %%EOF within its last 1024 bytes', () => {
  expect([pdfStart, pdfEnd, pdfTailBytes]).toEqual(['%PDF-', '%%EOF', 1024])
})
