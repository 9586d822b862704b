import { assert, constantFrom, property, record, string, tuple } from 'fast-check'
import { expect, test } from 'vitest'

import { Duplicates } from '../../../src/domain/batch/plan.ts'
import { isSamePerson } from '../../../src/domain/submission/identity.ts'

const part = (): ReturnType<typeof string> => string({ unit: 'binary', maxLength: 6 })
const person = record({ first_name: part(), last_name: part(), email: part(), phone: part() })
const empty = { first_name: '', last_name: '', email: '', phone: '' }

test('a row repeats an earlier one exactly if isSamePerson is true for both', () => {
  const changed = constantFrom<(text: string) => string>(
    (text) => text,
    (text) => ` ${text.toUpperCase()}`,
    (text) => text.normalize('NFD'),
    (text) => `${text}x`,
  )
  assert(
    property(tuple(person, changed, changed), ([one, first, phone]) => {
      const other = { ...one, first_name: first(one.first_name), phone: phone(one.phone) }
      const found = new Duplicates()
      found.findFirst(1, 12, one)
      const named = [one, other].every((each) => Object.values(each).some((text) => text !== ''))
      expect(found.findFirst(2, 12, other)).toBe(named && isSamePerson(one, other) ? 1 : undefined)
    }),
  )
})

test('the boundary between first and last name matters: Ann Bo is not An nBo', () => {
  const found = new Duplicates()
  expect(found.findFirst(1, 12, { ...empty, first_name: 'Ann', last_name: 'Bo' })).toBeUndefined()
  expect(found.findFirst(2, 12, { ...empty, first_name: 'An', last_name: 'nBo' })).toBeUndefined()
  expect(found.findFirst(3, 13, { ...empty, first_name: 'Ann', last_name: 'Bo' })).toBeUndefined()
})

test('each of 100,000 people is found again, and no two are mistaken for one', () => {
  const found = new Duplicates()
  const of = (row: number) => ({ ...empty, email: `person.${row}@example.com` })
  for (let row = 1; row <= 100_000; row += 1) expect(found.findFirst(row, 12, of(row))).toBeUndefined()
  for (let row = 1; row <= 100_000; row += 997) expect(found.findFirst(200_000, 12, of(row))).toBe(row)
})

test('keys with the same hash are distinguished by their content', () => {
  // These two names have the same FNV-1a hash.
  const found = new Duplicates()
  const of = (first_name: string) => ({ ...empty, first_name })
  const [one, other] = ['a1kwy', 'a105j4']
  expect(found.findFirst(1, 12, of(one))).toBeUndefined()
  expect(found.findFirst(2, 12, of(other))).toBeUndefined()
  expect(found.findFirst(3, 12, of(other))).toBe(2)
  expect(found.findFirst(4, 12, of(one))).toBe(1)
})

test('keys longer than a page are stored, and different lone surrogates are different keys', () => {
  const found = new Duplicates()
  const long = { ...empty, first_name: 'x'.repeat(300_000) }
  expect(found.findFirst(70_000, 12, long)).toBeUndefined()
  expect(found.findFirst(70_001, 12, { ...empty, first_name: '\uD800' })).toBeUndefined()
  expect(found.findFirst(70_002, 12, { ...empty, first_name: '\uD801' })).toBeUndefined()
  expect(found.findFirst(70_003, 12, long)).toBe(70_000)
  expect(found.findFirst(70_004, 12, { ...empty, first_name: '\uD801' })).toBe(70_002)
})

test('a row without a package is not a duplicate of a row for package 1', () => {
  const found = new Duplicates()
  expect(found.findFirst(1, 1, { ...empty, email: 'ann@example.com' })).toBeUndefined()
  expect(found.findFirst(2, undefined, { ...empty, email: 'ann@example.com' })).toBeUndefined()
})

test.each(['first_name', 'last_name', 'email', 'phone'])(
  'a row with nothing but a %s has duplicates, and a row without any value has none',
  (named) => {
    const found = new Duplicates()
    const oneField = { ...empty, [named]: '1' }
    expect(found.findFirst(1, 7, oneField)).toBeUndefined()
    expect(found.findFirst(2, 7, oneField)).toBe(1)
    expect(found.findFirst(3, 7, empty)).toBeUndefined()
    expect(found.findFirst(4, 7, empty)).toBeUndefined()
  },
)
