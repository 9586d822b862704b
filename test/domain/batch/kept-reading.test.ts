import { expect, test } from 'vitest'

import { keptReading } from '../../../src/domain/batch/kept-reading.ts'

test('a kept reading reads back as it was kept', () => {
  const reading = { sheet: 'S', header_row: 2, encoding: 'utf-8', hidden: 'skip', default_country: 'AU' }
  expect(keptReading(reading)).toEqual(reading)
  expect(keptReading({})).toEqual({})
})

test('what is of another kind is left out, and what is no object is none', () => {
  expect(keptReading({ sheet: 1, header_row: 0, encoding: null, hidden: 'maybe', more: 1 })).toEqual({})
  expect(keptReading({ header_row: 1.5 })).toEqual({})
  for (const value of [undefined, null, 'x', 1]) expect(keptReading(value)).toBeUndefined()
})
