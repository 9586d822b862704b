import { expect, test } from 'vitest'

import { checkEmail, selectUsers } from '../../../src/domain/session/users.ts'
import { InvalidInputError } from '../../../src/errors/kinds.ts'
import type { User } from '../../../src/contract/user.ts'

test('a valid e-mail is returned unchanged', () => {
  expect(checkEmail('ana@example.com')).toBe('ana@example.com')
})

test.each(['', 'a@b.co\r\nX: y', 'nobody', 'a b@example.com', 'a@b@c.example', '\u0000'])(
  '%j is refused',
  (text) => {
    expect(() => checkEmail(text)).toThrow(InvalidInputError)
  },
)

test('an e-mail has at most 254 characters', () => {
  const emailOfLength = (length: number): string => `a@${'b'.repeat(length - 6)}.com`
  expect(() => checkEmail(emailOfLength(255))).toThrow(/255/)
  expect(() => checkEmail(emailOfLength(254))).not.toThrow(/254 are/)
})

test('the error contains the text only if it has an @, so that a pasted key is not repeated', () => {
  expect(() => checkEmail('s3cretkeys3cretkey')).toThrow(/^(?!.*s3cret)/)
  expect(() => checkEmail('a@b@c')).toThrow(/"a@b@c"/)
  expect(() => checkEmail('', 'REFCHECK_USER_EMAIL')).toThrow(/^REFCHECK_USER_EMAIL /)
})

const createUser = (email: string, role: string, ...teams: string[]): User => ({
  id: email,
  first_name: '',
  last_name: '',
  email,
  role,
  teams: teams.map((name) => ({ id: `ID-${name}`, name })),
  job_title: '',
})

const users = [
  createUser('o', 'owner', 'Hiring'),
  createUser('m', 'member', 'Hiring', 'Legal'),
  createUser('s', 'support'),
]
const selectEmails = (role?: string, team?: string) =>
  selectUsers(users, { role, team }).map(({ email }) => email)

test('users are selected by role, by name or id of the team, or by both; case is ignored', () => {
  expect(selectEmails()).toEqual(['o', 'm', 's'])
  expect(selectEmails('OWNER')).toEqual(['o'])
  expect(selectEmails(undefined, 'hiring')).toEqual(['o', 'm'])
  expect(selectEmails(undefined, 'id-LEGAL')).toEqual(['m'])
  expect(selectEmails('member', 'Hiring')).toEqual(['m'])
  expect(selectEmails('support', 'Hiring')).toEqual([])
})
