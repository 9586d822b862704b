import { entries, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { userList } from '../discoveries.ts'
import { expectStatus } from '../expect.ts'
import { arrayOf, isObject, object, text, uuid } from '../shape.ts'
import type { Visit } from '../visit.ts'

const products = new Set(['reference', 'exit', 'bgc', 'pulse', 'integration'])
const levels = new Set(['none', 'administrator', 'requestor', 'contributor', 'analyst'])

const always = {
  id: uuid,
  first_name: text,
  last_name: text,
  email: text,
  role: text,
  teams: arrayOf(object({ id: uuid, name: text })),
  job_title: text,
}

async function users(visit: Visit): Promise<unknown[]> {
  const answer = await userList(visit)
  const found = entries(field(answer.data, 'users'))
  unless(answer.status === 200 && found.length > 0, 'no user could be listed')
  return found
}

const nameOf = (user: unknown): string => String(field(user, 'email'))
const isMember = (user: unknown): boolean => String(field(user, 'role')).toLowerCase() === 'member'

/** The permissions of every user that has some, with what findings call the user. */
async function permissions(visit: Visit): Promise<{ of: string; list: unknown[] }[]> {
  const found = (await users(visit))
    .map((user) => ({ of: nameOf(user), list: entries(field(user, 'permissions')) }))
    .filter(({ list }) => list.length > 0)
  unless(found.length > 0, 'no user is listed with permissions')
  return found
}

export const userCases: readonly Case[] = [
  {
    id: 'users.list',
    section: 'GET /v1/users',
    rule: 'Response 200: data = `{users: [User]}`. The full list of active users of the organisation identified by the API key is returned; no pagination. Inactive users and inactive teams are excluded.',
    kind: 'read',
    async run(visit) {
      const answer = await userList(visit)
      const shape = (user: unknown, where: string): string[] => {
        const optional = isObject(user) && 'permissions' in user ? { permissions: arrayOf(text) } : {}
        return object({ ...always, ...optional })(user, where)
      }
      return [...expectStatus(answer, 200), ...object({ users: arrayOf(shape) })(answer.data, '')]
    },
  },
  {
    id: 'users.permissions-of-members',
    section: 'User',
    rule: 'permissions | array of strings | Present only when role is member; omitted for other roles. Format `<product>.<level>`.',
    kind: 'read',
    async run(visit) {
      return (await users(visit)).flatMap((user) => {
        const has = isObject(user) && 'permissions' in user
        if (has === isMember(user)) return []
        return has
          ? [`${nameOf(user)} is ${String(field(user, 'role'))} and has permissions`]
          : [`${nameOf(user)} is member and has no permissions`]
      })
    },
  },
  {
    id: 'users.permission-products',
    section: 'User',
    rule: 'Permission products: reference (references), exit (exits), bgc (background checks), pulse (pulses), integration (integrations).',
    kind: 'read',
    async run(visit) {
      return (await permissions(visit)).flatMap(({ of, list }) =>
        list
          .filter((each) => !products.has(String(each).split('.')[0] ?? ''))
          .map((each) => `${of} has the permission ${String(each)}: no product of the document`),
      )
    },
  },
  {
    id: 'users.permission-levels',
    section: 'User',
    rule: 'Level 1 (integration user) is never returned.',
    kind: 'read',
    async run(visit) {
      return (await permissions(visit)).flatMap(({ of, list }) =>
        list
          .filter((each) => !levels.has(String(each).split('.').slice(1).join('.')))
          .map((each) => `${of} has the permission ${String(each)}: no level of the document`),
      )
    },
  },
  {
    id: 'users.permissions-sorted',
    section: 'User',
    rule: 'Permissions are returned in alphabetical order.',
    kind: 'read',
    async run(visit) {
      return (await permissions(visit)).flatMap(({ of, list }) => {
        const sorted = list.map(String).sort()
        return sorted.join() === list.join()
          ? []
          : [`${of} has ${list.join(', ')}: not in alphabetical order`]
      })
    },
  },
  {
    id: 'users.active-teams',
    section: 'User',
    rule: 'teams | array | Each entry has `id` (UUID string) and `name` (string). Only active teams.',
    kind: 'control',
    async run(visit) {
      const { inactiveTeams = [] } = visit.target
      unless(inactiveTeams.length > 0, 'a team is needed of which it is known that it is no longer active')
      return (await users(visit)).flatMap((user) =>
        entries(field(user, 'teams'))
          .filter((team) => inactiveTeams.includes(String(field(team, 'id'))))
          .map((team) => `${nameOf(user)} has the inactive team ${String(field(team, 'name'))}`),
      )
    },
  },
  {
    id: 'users.inactive',
    section: 'GET /v1/users',
    rule: 'Inactive users and inactive teams are excluded.',
    kind: 'read',
    async run(visit) {
      const { apiKey, inactiveEmail: userEmail } = visit.target
      unless(userEmail !== undefined, 'a user is needed of whom it is known that they are no longer active')
      const listed = (await users(visit)).some(
        (user) => nameOf(user).toLowerCase() === userEmail.toLowerCase(),
      )
      const note = 'as a user who is no longer active'
      const answer = await visit.probe.get('/v1/users', { as: { apiKey, userEmail }, note })
      return [...(listed ? [`${userEmail} is listed`] : []), ...expectStatus(answer, 403)]
    },
  },
  {
    id: 'users.job-title',
    section: 'User',
    rule: 'job_title | string | Empty string when not set.',
    kind: 'read',
    async run(visit) {
      return (await users(visit))
        .filter((user) => typeof field(user, 'job_title') !== 'string')
        .map((user) => `${nameOf(user)} has no string as job_title`)
    },
  },
  {
    id: 'users.unique-ids',
    section: 'User',
    rule: 'id | string (UUID) | Identifier.',
    kind: 'read',
    async run(visit) {
      const ids = (await users(visit)).map((user) => field(user, 'id'))
      return ids
        .filter((id, at) => ids.indexOf(id) !== at)
        .map((id) => `the id ${String(id)} is listed more than once`)
    },
  },
  {
    id: 'users.no-parameters',
    section: 'GET /v1/users',
    rule: 'No query parameters.',
    kind: 'read',
    async run(visit) {
      const [all, answer] = [
        await users(visit),
        await visit.probe.get('/v1/users?page=2&limit=1&role=nobody&active=false'),
      ]
      if (answer.status === 400) return []
      const listed = entries(field(answer.data, 'users'))
      const [got, wanted] = [listed.map(nameOf).sort().join(', '), all.map(nameOf).sort().join(', ')]
      return got === wanted ? [] : [`${answer.label}: expected all ${all.length} users, got ${listed.length}`]
    },
  },
]
