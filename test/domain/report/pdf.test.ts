import { expect, test } from 'vitest'

import {
  pdfEnd,
  pdfStart,
  notPdfError,
  headerValue,
  pdfTailBytes,
} from '../../../src/domain/report/source.ts'

test('of a header that is given twice the first counts', () => {
  expect([headerValue('ab'), headerValue(['ab', 'b']), headerValue([]), headerValue(undefined)]).toEqual([
    'ab',
    'ab',
    undefined,
    undefined,
  ])
})

test('an answer that is no PDF is tried again later, with why', () => {
  expect(notPdfError('it ends early')).toMatchObject({ code: 'unavailable' })
  expect(notPdfError('it ends early').message).toContain('it ends early')
})

test('the marks of a PDF, and where readers look for the second', () => {
  expect([pdfStart, pdfEnd, pdfTailBytes]).toEqual(['%PDF-', '%%EOF', 1024])
})
