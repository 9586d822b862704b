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
])('the parts of an object with the description "%s"', (description, parts) => {
  expect(partsOfObject(description).join(' ')).toBe(parts)
})

test('partsOfItems returns the parts that the description names for each item', () => {
  expect(partsOfItems('Every address, each with street and country.')).toEqual(['street', 'country'])
  expect(partsOfItems('Every other name the recipient has used; an empty list if none.')).toEqual([])
})

test('a description of 300,000 characters is read quickly and has no parts', () => {
  const long = `x: ${'a, '.repeat(100_000)}`
  expect([partsOfObject(long), partsOfItems(long)]).toEqual([[], []])
})
