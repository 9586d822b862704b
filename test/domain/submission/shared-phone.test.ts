import fc from 'fast-check'
import { expect, test } from 'vitest'

import { findPhoneSharer } from '../../../src/domain/submission/conflicts.ts'
import { similarity } from '../../../src/domain/submission/similarity.ts'
import { ann, batchRow } from '../batch/rows.ts'

const row = {
  batchId: 'b-2',
  row: 2,
  baseUrl: 'https://api.example.com',
  packageId: 7,
  recipient: ann,
  addedAt: 0,
  kind: 'file',
} as const
const bob = { first_name: 'Bob', last_name: 'Lee', email: 'bob@example.com', phone: ann.phone }
const createCandidate = (order = {}) => ({
  order: { ...batchRow({ recipient: bob, ...order }), packageId: 7 },
  isSamePerson: false,
})
const relations = { relatedIds: new Set([7]) }

test('an order of another person with the same phone is reported', () => {
  expect(findPhoneSharer(row, [createCandidate()], relations)?.recipient).toBe(bob)
})

test.each([
  ['of another service', [createCandidate({ baseUrl: 'https://other.example.com' })]],
  ['of another package', [{ ...createCandidate(), order: { ...createCandidate().order, packageId: 8 } }]],
  ['found by the e-mail', [createCandidate({ recipient: { ...bob, phone: '+61400000099' } })]],
  ['whose person was removed', [createCandidate({ recipient: undefined })]],
  ['who may be the same person', [createCandidate({ recipient: { ...bob, first_name: 'Anne' } })]],
])('an order %s is not reported', (_what, candidates) => {
  expect(findPhoneSharer(row, candidates, relations)).toBeUndefined()
})

/** Returns the similarity of two people who share only their phone, so that it depends on their names. */
const compareWithOnePhone = (one: [string, string], other: [string, string]) =>
  similarity(
    { first_name: one[0], last_name: one[1], email: 'one@x.example', phone: '+61400000001' },
    { first_name: other[0], last_name: other[1], email: 'other@x.example', phone: '+61400000001' },
  )?.kind

test.each<[string, [string, string], [string, string], 'similar' | 'phone']>([
  ['a third of the letters of the longer name', ['An', 'Low'], ['Ann', 'High'], 'similar'],
  ['two of three letters', ['Ann', 'Low'], ['Abb', 'High'], 'phone'],
  ['two neighbours that changed places, of three letters', ['Jon', 'Low'], ['Jno', 'High'], 'similar'],
  ['two neighbours that changed places, of five', ['Priya', 'Low'], ['Pryia', 'High'], 'similar'],
  ['two pairs that changed places, of six', ['Martin', 'Low'], ['Amrtni', 'High'], 'similar'],
  ['two pairs that changed places, of five', ['Priya', 'Low'], ['Rpiay', 'High'], 'phone'],
  ['two letters that changed places and are no neighbours', ['Ann', 'Low'], ['Nna', 'High'], 'phone'],
  ['two neighbours that changed places, of two letters', ['Al', 'Low'], ['La', 'High'], 'phone'],
  ['one letter, the same', ['A', 'Low'], ['a', 'High'], 'similar'],
  ['one letter, another', ['A', 'Low'], ['B', 'High'], 'phone'],
  ['first names of which nothing is a letter', ['-', 'Low'], ['·', 'High'], 'similar'],
  ['the first name -', ['Ann', 'Low'], ['-', 'Low'], 'similar'],
  ['the first name .', ['Ann', 'Low'], ['.', 'Low'], 'similar'],
  ['the first name —', ['Ann', 'Low'], ['—', 'Low'], 'similar'],
  ['the first name *', ['Ann', 'Low'], ['*', 'Low'], 'similar'],
  ['the first name ', ['Ann', 'Low'], ['', 'Low'], 'similar'],
  ['names swapped', ['Ann', 'Low'], ['Low', 'Ann'], 'similar'],
  ['a first name that is the other’s last name', ['Ann', 'Low'], ['Low', 'Bob'], 'phone'],
  ['a last name that is the other’s first name', ['Bob', 'Ann'], ['Ann', 'Low'], 'phone'],
])('two people who share only their phone, and %s', (_what, one, other, kind) => {
  expect(compareWithOnePhone(one, other)).toBe(kind)
})

/** Returns the edit distance with swaps of neighbours, by trying all edits at the first letters. */
function countDifferences(one: string, other: string): number {
  if (one === '' || other === '') return one.length + other.length
  if (one[0] === other[0]) return countDifferences(one.slice(1), other.slice(1))
  const isSwapped = one.length > 1 && one[0] === other[1] && one[1] === other[0]
  return (
    1 +
    Math.min(
      countDifferences(one.slice(1), other),
      countDifferences(one, other.slice(1)),
      countDifferences(one.slice(1), other.slice(1)),
      ...(isSwapped ? [countDifferences(one.slice(2), other.slice(2))] : []),
    )
  )
}

test('with one phone two first names agree exactly if at most a third of the letters of the longer one differ', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 7 })
  fc.assert(
    fc.property(name, name, (one, other) => {
      const isSimilar = countDifferences(one, other) <= Math.max(one.length, other.length) / 3
      expect(compareWithOnePhone([one, 'Low'], [other, 'High'])).toBe(isSimilar ? 'similar' : 'phone')
    }),
    { numRuns: 2000 },
  )
})
