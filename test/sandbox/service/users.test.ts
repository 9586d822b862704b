import { expect, test } from 'vitest'

import type { User } from '../../../src/contract/user.ts'
import { visit } from '../visit.ts'

async function users(): Promise<User[]> {
  const answer = await visit().get('/v1/users')
  expect(answer.status).toBe(200)
  return (answer.envelope().data as { users: User[] }).users
}

test('the active users of the organisation are returned, inactive ones and strangers not', async () => {
  const listed = await users()
  expect(listed.map(({ email, role }) => [email, role])).toEqual([
    ['olive.owner@example.com', 'owner'],
    ['ada.admin@example.com', 'admin'],
    ['sam.support@example.com', 'support'],
    ['max.member@example.com', 'member'],
    ['cora.contributor@example.com', 'member'],
  ])
})

test('permissions are present only when the role is member', async () => {
  const listed = await users()
  expect(listed.filter((user) => 'permissions' in user).map(({ role }) => role)).toEqual(['member', 'member'])
})

test('permissions are <product>.<level> in alphabetical order, and level 1 is never returned', async () => {
  const members = (await users()).filter(({ role }) => role === 'member')
  expect(members.map(({ permissions }) => permissions)).toEqual([
    ['bgc.requestor', 'exit.none', 'pulse.analyst', 'reference.requestor'],
    ['bgc.contributor', 'exit.administrator', 'integration.analyst', 'pulse.none', 'reference.contributor'],
  ])
})

test('teams have id and name, and inactive teams are excluded', async () => {
  const member = (await users()).find(({ role }) => role === 'member')
  expect(member?.teams).toEqual([{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Hiring' }])
})

test('job_title is an empty string when not set', async () => {
  const titles = (await users()).map((user) => user.job_title)
  expect(titles).toEqual(['Head of People', 'Screening Manager', '', 'Recruiter', 'Referee Coordinator'])
})

test('a user has the fields of the document and no other', async () => {
  const [owner] = await users()
  expect(Object.keys(owner ?? {}).sort()).toEqual([
    'email',
    'first_name',
    'id',
    'job_title',
    'last_name',
    'role',
    'teams',
  ])
  expect(owner?.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})
