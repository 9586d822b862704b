import { expect, test } from 'vitest'

import type { User } from '../../../src/contract/user.ts'
import { createSandboxClient } from '../sandbox-client.ts'

async function readUsers(): Promise<User[]> {
  const answer = await createSandboxClient().get('/v1/users')
  expect(answer.status).toBe(200)
  return (answer.envelope().data as { users: User[] }).users
}

test('only the active users of the organisation are returned', async () => {
  const users = await readUsers()
  expect(users.map(({ email, role }) => [email, role])).toEqual([
    ['olive.owner@example.com', 'owner'],
    ['ada.admin@example.com', 'admin'],
    ['sam.support@example.com', 'support'],
    ['max.member@example.com', 'member'],
    ['cora.contributor@example.com', 'member'],
  ])
})

test('permissions are present only when the role is member', async () => {
  const users = await readUsers()
  expect(users.filter((user) => 'permissions' in user).map(({ role }) => role)).toEqual(['member', 'member'])
})

test('permissions are <product>.<level> in alphabetical order, and level 1 is never returned', async () => {
  const members = (await readUsers()).filter(({ role }) => role === 'member')
  expect(members.map(({ permissions }) => permissions)).toEqual([
    ['bgc.requestor', 'exit.none', 'pulse.analyst', 'reference.requestor'],
    ['bgc.contributor', 'exit.administrator', 'integration.analyst', 'pulse.none', 'reference.contributor'],
  ])
})

test('teams have id and name, and inactive teams are excluded', async () => {
  const member = (await readUsers()).find(({ role }) => role === 'member')
  expect(member?.teams).toEqual([{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Hiring' }])
})

test('job_title is an empty string when not set', async () => {
  const titles = (await readUsers()).map((user) => user.job_title)
  expect(titles).toEqual(['Head of People', 'Screening Manager', '', 'Recruiter', 'Referee Coordinator'])
})

test('a user has exactly the fields of the API document', async () => {
  const [owner] = await readUsers()
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
