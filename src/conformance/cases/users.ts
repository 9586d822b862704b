import { entries, field } from '../answer.ts'
import { type Case, unless } from '../case.ts'
import { userList } from '../order.ts'
import { expectStatus, repeated, type Run, under, when } from '../table.ts'
import { arrayOf, isObject, object, type Shape, text, uuid } from '../shape.ts'
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

const hasPermissions = (user: unknown): boolean => isObject(user) && 'permissions' in user

const userShape: Shape = (user, where) =>
  object({ ...always, ...(hasPermissions(user) && { permissions: arrayOf(text) }) })(user, where)

async function users(visit: Visit): Promise<unknown[]> {
  const answer = await userList(visit)
  const found = entries(field(answer.data, 'users'))
  unless(answer.status === 200 && found.length > 0, 'no user could be listed')
  return found
}

const nameOf = (user: unknown): string => String(field(user, 'email'))

/** Makes a test that returns findings about each user. */
const ofUsers =
  (wrong: (user: unknown) => string[]): Run =>
  async (visit) =>
    (await users(visit)).flatMap((user) => wrong(user).map((finding) => `${nameOf(user)} ${finding}`))

/** As `ofUsers`, but about the permissions of users who have some. */
const ofPermissions =
  (wrong: (list: unknown[]) => string[]): Run =>
  async (visit) => {
    const listOf = (user: unknown): unknown[] => entries(field(user, 'permissions'))
    const isListed = (await users(visit)).some((user) => listOf(user).length > 0)
    unless(isListed, 'no user is listed with permissions')
    return ofUsers((user) => wrong(listOf(user)))(visit)
  }

export const userCases: readonly Case[] = [
  ...under('GET /v1/users', 'read', {
    'users.list': [
      'Response 200: data = `{users: [User]}`. The full list of active users of the organisation identified by the API key is returned; no pagination. Inactive users and inactive teams are excluded.',
      async (visit) => {
        const answer = await userList(visit)
        return [...expectStatus(answer, 200), ...object({ users: arrayOf(userShape) })(answer.data, '')]
      },
    ],
  }),
  ...under('User', 'read', {
    'users.permissions-of-members': [
      'permissions | array of strings | Present only when role is member; omitted for other roles. Format `<product>.<level>`.',
      ofUsers((user) => {
        const role = String(field(user, 'role'))
        if (hasPermissions(user) === (role.toLowerCase() === 'member')) return []
        return [hasPermissions(user) ? `is ${role} and has permissions` : 'is member and has no permissions']
      }),
    ],
    'users.permission-products': [
      'Permission products: reference (references), exit (exits), bgc (background checks), pulse (pulses), integration (integrations).',
      ofPermissions((list) =>
        list
          .filter((each) => !products.has(String(each).split('.')[0] ?? ''))
          .map((each) => `has the permission ${String(each)}: no product of the document`),
      ),
    ],
    'users.permission-levels': [
      'Level 1 (integration user) is never returned.',
      ofPermissions((list) =>
        list
          .filter((each) => !levels.has(String(each).split('.').slice(1).join('.')))
          .map((each) => `has the permission ${String(each)}: no level of the document`),
      ),
    ],
    'users.permissions-sorted': [
      'Permissions are returned in alphabetical order.',
      ofPermissions((list) => {
        const isSorted = list.map(String).sort().join() === list.join()
        return when(!isSorted, `has ${list.join(', ')}: not in alphabetical order`)
      }),
    ],
  }),
  ...under('User', 'control', {
    'users.active-teams': [
      'teams | array | Each entry has `id` (UUID string) and `name` (string). Only active teams.',
      (visit) => {
        const { inactiveTeams = [] } = visit.target
        unless(
          inactiveTeams.length > 0,
          'teams that are no longer active are only known of a sandbox, with --control',
        )
        return ofUsers((user) =>
          entries(field(user, 'teams'))
            .filter((team) => inactiveTeams.includes(String(field(team, 'id'))))
            .map((team) => `has the inactive team ${String(field(team, 'name'))}`),
        )(visit)
      },
    ],
  }),
  ...under('GET /v1/users', 'read', {
    'users.inactive': [
      'Inactive users and inactive teams are excluded.',
      async (visit) => {
        const { apiKey, inactiveEmail: userEmail } = visit.target
        unless(userEmail !== undefined, 'a user who is no longer active is needed: --inactive-user EMAIL')
        const emails = (await users(visit)).map((user) => nameOf(user).toLowerCase())
        const note = 'as a user who is no longer active'
        return [
          ...when(emails.includes(userEmail.toLowerCase()), `${userEmail} is listed`),
          { get: '/v1/users', as: { apiKey, userEmail }, note, expect: 403 },
        ]
      },
    ],
  }),
  ...under('User', 'read', {
    'users.job-title': [
      'job_title | string | Empty string when not set.',
      ofUsers((user) => when(typeof field(user, 'job_title') !== 'string', 'has no string as job_title')),
    ],
    'users.unique-ids': [
      'id | string (UUID) | Identifier.',
      async (visit) =>
        repeated((await users(visit)).map((user) => field(user, 'id'))).map(
          (id) => `the id ${String(id)} is listed more than once`,
        ),
    ],
  }),
  ...under('GET /v1/users', 'read', {
    'users.no-parameters': [
      'No query parameters.',
      async (visit) => {
        const all = await users(visit)
        const answer = await visit.probe.get('/v1/users?page=2&limit=1&role=nobody&active=false')
        if (answer.status === 400) return []
        const listed = entries(field(answer.data, 'users'))
        const isSame = listed.map(nameOf).sort().join(', ') === all.map(nameOf).sort().join(', ')
        return when(!isSame, `${answer.label}: expected all ${all.length} users, got ${listed.length}`)
      },
    ],
  }),
]
