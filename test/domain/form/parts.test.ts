import { expect, test } from 'vitest'

import { partsOfObject, partsOfItems } from '../../../src/domain/form/field-value.ts'

test.each([
  ['Current address: street, suburb, state, postcode and country.', 'street suburb state postcode country'],
  ['Address: street, state, and country', 'street state country'],
  ['Employer: name and role.', 'name role'],
  ['Where the person lives (street, post_code, country).', 'street post_code country'],
  ['Current address.', ''],
  ['Note: anything.', ''],
  ['Address: street, street and country.', ''],
  ['Address: Street, Suburb and Country of the person.', ''],
  ['', ''],
])('%s', (description, parts) => {
  expect(partsOfObject(description).join(' ')).toBe(parts)
})

test('parts of each item of a list, where the description says that each has them', () => {
  expect(partsOfItems('Every address, each with street and country.')).toEqual(['street', 'country'])
  expect(partsOfItems('Every other name the recipient has used; an empty list if none.')).toEqual([])
})

test('a help text of any length costs little', () => {
  const long = `x: ${'a, '.repeat(100_000)}`
  expect([partsOfObject(long), partsOfItems(long)]).toEqual([[], []])
})
