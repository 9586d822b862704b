import { assert, constantFrom, property, record, string, tuple } from 'fast-check'
import { expect, test } from 'vitest'

import { Duplicates } from '../../../src/domain/batch/plan.ts'
import { isSamePerson } from '../../../src/domain/submission/identity.ts'

const shortText = (): ReturnType<typeof string> => string({ unit: 'binary', maxLength: 6 })
const person = record({
  first_name: shortText(),
  last_name: shortText(),
  email: shortText(),
  phone: shortText(),
})
const empty = { first_name: '', last_name: '', email: '', phone: '' }

test('a row repeats an earlier one exactly if isSamePerson is true for both', () => {
  const spellings = constantFrom<(text: string) => string>(
    (text) => text,
    (text) => ` ${text.toUpperCase()}`,
    (text) => text.normalize('NFD'),
    (text) => `${text}x`,
  )
  assert(
    property(tuple(person, spellings, spellings), ([one, spellFirstName, spellPhone]) => {
      const other = { ...one, first_name: spellFirstName(one.first_name), phone: spellPhone(one.phone) }
      const duplicates = new Duplicates()
      duplicates.findFirst(1, 12, one)
      const areNamed = [one, other].every((each) => Object.values(each).some((text) => text !== ''))
      expect(duplicates.findFirst(2, 12, other)).toBe(areNamed && isSamePerson(one, other) ? 1 : undefined)
    }),
  )
})

test('the boundary between first and last name matters: Ann Bo is not An nBo', () => {
  const duplicates = new Duplicates()
  expect(duplicates.findFirst(1, 12, { ...empty, first_name: 'Ann', last_name: 'Bo' })).toBeUndefined()
  expect(duplicates.findFirst(2, 12, { ...empty, first_name: 'An', last_name: 'nBo' })).toBeUndefined()
  expect(duplicates.findFirst(3, 13, { ...empty, first_name: 'Ann', last_name: 'Bo' })).toBeUndefined()
})

test('each of 100,000 people is found again, and no two are mistaken for one', () => {
  const duplicates = new Duplicates()
  const createPerson = (row: number) => ({ ...empty, email: `person.${row}@example.com` })
  for (let row = 1; row <= 100_000; row += 1)
    expect(duplicates.findFirst(row, 12, createPerson(row))).toBeUndefined()
  for (let row = 1; row <= 100_000; row += 997)
    expect(duplicates.findFirst(200_000, 12, createPerson(row))).toBe(row)
})

test('keys with the same hash are distinguished by their content', () => {
  // These two names have the same FNV-1a hash.
  const duplicates = new Duplicates()
  const createPerson = (first_name: string) => ({ ...empty, first_name })
  const [one, other] = ['a1kwy', 'a105j4']
  expect(duplicates.findFirst(1, 12, createPerson(one))).toBeUndefined()
  expect(duplicates.findFirst(2, 12, createPerson(other))).toBeUndefined()
  expect(duplicates.findFirst(3, 12, createPerson(other))).toBe(2)
  expect(duplicates.findFirst(4, 12, createPerson(one))).toBe(1)
})

test('keys longer than a page are stored, and different lone surrogates are different keys', () => {
  const duplicates = new Duplicates()
  const long = { ...empty, first_name: 'x'.repeat(300_000) }
  expect(duplicates.findFirst(70_000, 12, long)).toBeUndefined()
  expect(duplicates.findFirst(70_001, 12, { ...empty, first_name: '\uD800' })).toBeUndefined()
  expect(duplicates.findFirst(70_002, 12, { ...empty, first_name: '\uD801' })).toBeUndefined()
  expect(duplicates.findFirst(70_003, 12, long)).toBe(70_000)
  expect(duplicates.findFirst(70_004, 12, { ...empty, first_name: '\uD801' })).toBe(70_002)
})

test('a row without a package is not a duplicate of a row for package 1', () => {
  const duplicates = new Duplicates()
  expect(duplicates.findFirst(1, 1, { ...empty, email: 'ann@example.com' })).toBeUndefined()
  expect(duplicates.findFirst(2, undefined, { ...empty, email: 'ann@example.com' })).toBeUndefined()
})

test.each(['first_name', 'last_name', 'email', 'phone'])(
  'a row with nothing but a %s has duplicates, and a row without any value has none',
  (named) => {
    const duplicates = new Duplicates()
    const oneField = { ...empty, [named]: '1' }
    expect(duplicates.findFirst(1, 7, oneField)).toBeUndefined()
    expect(duplicates.findFirst(2, 7, oneField)).toBe(1)
    expect(duplicates.findFirst(3, 7, empty)).toBeUndefined()
    expect(duplicates.findFirst(4, 7, empty)).toBeUndefined()
  },
)
