import { expect, test } from 'vitest'

import { notPdf, single } from '../../../src/domain/report/pdf.ts'

test('of a header that is given twice the first counts', () => {
  expect([single('a'), single(['a', 'b']), single([]), single(undefined)]).toEqual([
    'a',
    'a',
    undefined,
    undefined,
  ])
})

test('an answer that is no PDF is tried again later, with why', () => {
  expect(notPdf('it ends early')).toMatchObject({ code: 'unavailable' })
  expect(notPdf('it ends early').message).toContain('it ends early')
})
