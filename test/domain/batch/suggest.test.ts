import { expect, test } from 'vitest'

import { suggestColumn } from '../../../src/domain/batch/suggest.ts'

const names = [
  'first_name',
  'last_name',
  'email',
  'phone',
  'package_id',
  'licence.number',
  'visa.number',
  'visa.expiry',
]

test.each([
  ['First Name', 'first_name'],
  ['FIRST-NAME', 'first_name'],
  ['Ｆｉｒｓｔ ｎａｍｅ', 'first_name'],
  ['Surname', 'last_name'],
  ['Vorname', 'first_name'],
  ['E-Mail Address', 'email'],
  ['Mobile', 'phone'],
  ['Package no.', 'package_id'],
  ['Expiry', 'visa.expiry'],
  ['Visa: number', 'visa.number'],
  ['frist_name', 'first_name'],
])('%s is probably %s', (header, column) => {
  expect(suggestColumn(header, names)).toBe(column)
})

test.each(['', '***', 'Notes', 'number'])('%j suggests nothing: it says none, or two', (header) => {
  expect(suggestColumn(header, names)).toBeUndefined()
})

test('another word for a column that the file may not have suggests nothing', () => {
  expect(suggestColumn('Surname', ['email'])).toBeUndefined()
})
