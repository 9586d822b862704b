import { expect, test } from 'vitest'

import type { FormField } from '../../../src/domain/form/fields.ts'
import { findImplausible } from '../../../src/domain/form/implausible.ts'

const today = '2026-11-20'
const fieldOf = (name: string, type: string, description: string): FormField => {
  const position = { column: `id.${name}`, code: 'id', group: 'Check', label: name, required: true }
  return { ...position, name, type, description }
}
const born = fieldOf('date_of_birth', 'string', 'As an ISO date, for example 1990-04-30.')
const expires = fieldOf('valid', 'string', 'Expiry date of the visa (YYYY-MM-DD)')
const home = fieldOf('home', 'object', 'Address')

test.each([
  [born, '2026-11-20', undefined],
  [born, '2026-11-21', 'Check: date_of_birth: 2026-11-21 is in the future'],
  [born, '1906-11-20', undefined],
  [born, '1906-11-19', 'Check: date_of_birth: 1906-11-19 is more than 120 years ago'],
  [born, '20/11/2062', undefined],
  [{ ...born, description: 'Anything' }, '2062-01-01', undefined],
  [{ ...born, name: 'start' }, '2062-01-01', undefined],
  [expires, '2026-11-19', 'Check: valid: 2026-11-19 is in the past'],
  [expires, '2026-11-20', undefined],
  [home, {}, 'Check: home is empty'],
  [home, { street: ' ', unit: [null] }, 'Check: home is empty'],
  [home, { street: '1' }, undefined],
  [home, { floor: 0 }, undefined],
])('findImplausible for %j with the value %j', (field, value, reason) => {
  expect(findImplausible(field, value, today)).toBe(reason)
})
