import { expect, test } from 'vitest'

import type { User } from '../../../src/contract/user.ts'
import { selectUsers } from '../../../src/domain/session/select-users.ts'

const user = (email: string, role: string, ...teams: string[]): User => ({
  id: email,
  first_name: '',
  last_name: '',
  email,
  role,
  teams: teams.map((name) => ({ id: `ID-${name}`, name })),
  job_title: '',
})

const users = [user('o', 'owner', 'Hiring'), user('m', 'member', 'Hiring', 'Legal'), user('s', 'support')]
const chosen = (role?: string, team?: string) => selectUsers(users, { role, team }).map(({ email }) => email)

test('a role, a team by its name or id, or both; case does not matter', () => {
  expect(chosen()).toEqual(['o', 'm', 's'])
  expect(chosen('OWNER')).toEqual(['o'])
  expect(chosen(undefined, 'hiring')).toEqual(['o', 'm'])
  expect(chosen(undefined, 'id-LEGAL')).toEqual(['m'])
  expect(chosen('member', 'Hiring')).toEqual(['m'])
  expect(chosen('support', 'Hiring')).toEqual([])
})
