import { expect, test } from 'vitest'

import type { FormField } from '../../../src/domain/form/fields.ts'
import { findImplausible } from '../../../src/domain/form/implausible.ts'

const today = '2026-11-20'
const createField = (name: string, type: string, description: string): FormField => {
  const position = { column: `id.${name}`, code: 'id', group: 'Check', label: name, required: true }
  return { ...position, name, type, description }
}
const birthDateField = createField('date_of_birth', 'string', 'As an ISO date, for example 1990-04-30.')
const expiryDateField = createField('valid', 'string', 'Expiry date of the visa (YYYY-MM-DD)')
const addressField = createField('home', 'object', 'Address')

test.each([
  [birthDateField, '2026-11-20', undefined],
  [birthDateField, '2026-11-21', 'Check: date_of_birth: 2026-11-21 is in the future'],
  [birthDateField, '1906-11-20', undefined],
  [birthDateField, '1906-11-19', 'Check: date_of_birth: 1906-11-19 is more than 120 years ago'],
  [birthDateField, '20/11/2062', undefined],
  [{ ...birthDateField, description: 'Anything' }, '2062-01-01', undefined],
  [{ ...birthDateField, name: 'start' }, '2062-01-01', undefined],
  [expiryDateField, '2026-11-19', 'Check: valid: 2026-11-19 is in the past'],
  [expiryDateField, '2026-11-20', undefined],
  [addressField, {}, 'Check: home is empty'],
  [addressField, { street: ' ', unit: [null] }, 'Check: home is empty'],
  [addressField, { street: '1' }, undefined],
  [addressField, { floor: 0 }, undefined],
])('findImplausible for %j with the value %j', (field, value, reason) => {
  expect(findImplausible(field, value, today)).toBe(reason)
})
