import { expect, test } from 'vitest'

import { personDigests, comparePersonDigests } from '../../../src/domain/submission/external-results.ts'
import { ann } from '../batch/rows.ts'

/** Compares the digests of Ann with those of Ann after a change of some fields. */
const compareDigests = (change: Partial<typeof ann>) =>
  comparePersonDigests(personDigests(ann), personDigests({ ...ann, ...change }))

test('digests are normalised like fingerprints, and start with x so that no spreadsheet program reads them as numbers', () => {
  const { first_name, last_name, email, phone } = ann
  const other = {
    first_name: ` ${first_name.toUpperCase()} `,
    last_name,
    email: email.toUpperCase(),
    phone: phone.replace('+61', '+61 '),
  }
  expect(personDigests(other)).toEqual(personDigests(ann))
  expect(Object.values(personDigests(ann))).toEqual(Array(3).fill(expect.stringMatching(/^x[0-9a-f]{32}$/)))
})

test.each([
  ['no difference', {}, { person: 'same', shares: [] }],
  ['a corrected phone', { phone: '+61400000009' }, { person: 'similar', shares: ['name', 'email'] }],
  ['a new e-mail', { email: 'x@example.com' }, { person: 'similar', shares: ['name', 'phone'] }],
  ['another first name', { first_name: 'Anne' }, { person: 'similar', shares: ['email', 'phone'] }],
  ['another e-mail and phone', { email: 'x@example.com', phone: '+61400000009' }, undefined],
])(
  '%s: the digests of two rows show the same person, a similar person, or two people (undefined)',
  (_difference, change, expected) => expect(compareDigests(change)).toEqual(expected),
)
