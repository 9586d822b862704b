import { isJsonObject } from '../../contract/parse-json.ts'
import { type Fields, toEntries, toItems } from '../answer.ts'
import { type Case, requireTestable, requireValue } from '../case.ts'
import { listUsers } from '../order.ts'
import {
  expectStatus,
  expectUniqueIds,
  testEach,
  testWith,
  createDeploymentControlCases,
  createReadCases,
} from '../table.ts'
import { arrayOf, object, type Shape, text, uuid } from '../shape.ts'
import type { CaseContext } from '../case-context.ts'

const products = new Set(['reference', 'exit', 'bgc', 'pulse', 'integration'])
const levels = new Set(['none', 'administrator', 'requestor', 'contributor', 'analyst'])

const commonUserFields = {
  id: uuid,
  first_name: text,
  last_name: text,
  email: text,
  role: text,
  teams: arrayOf(object({ id: uuid, name: text })),
  job_title: text,
}

const hasPermissions = (user: unknown): boolean => isJsonObject(user) && 'permissions' in user

const userShape: Shape = (user, where) =>
  object({ ...commonUserFields, ...(hasPermissions(user) && { permissions: arrayOf(text) }) })(user, where)

async function requireUsers(context: CaseContext): Promise<Fields[]> {
  const { status, fields } = await listUsers(context)
  const users = toItems(fields.users)
  requireTestable(status === 200 && users.length > 0, 'no user could be listed')
  return users
}

const emailOf = (user: Fields): string => String(user.email)
const permissionsOf = (user: Fields): string[] => toEntries(user.permissions).map(String)

async function requireUsersWithPermissions(context: CaseContext): Promise<Fields[]> {
  const users = await requireUsers(context)
  const isListed = users.some((user) => permissionsOf(user).length > 0)
  requireTestable(isListed, 'no user is listed with permissions')
  return users
}

const testEachUser = testEach(requireUsers, (user) => `${emailOf(user)} `)
const testEachPermissions = testEach(requireUsersWithPermissions, (user) => `${emailOf(user)} `)

export const userCases: readonly Case[] = [
  ...createReadCases('GET /v1/users', {
    'users.list': [
      'Response 200: data = `{users: [User]}`. The full list of active users of the organisation identified by the API key is returned; no pagination. Inactive users and inactive teams are excluded.',
      async (context) => {
        const answer = await listUsers(context)
        return [...expectStatus(answer, 200), ...object({ users: arrayOf(userShape) })(answer.data, '')]
      },
    ],
  }),
  ...createReadCases('User', {
    'users.permissions-of-members': [
      'permissions | array of strings | Present only when role is member; omitted for other roles. Format `<product>.<level>`.',
      testEachUser((user) => {
        const role = String(user.role)
        const isMember = role.toLowerCase() === 'member'
        return [
          hasPermissions(user) && !isMember && `is ${role} and has permissions`,
          isMember && !hasPermissions(user) && 'is member and has no permissions',
        ]
      }),
    ],
    'users.permission-products': [
      'Permission products: reference (references), exit (exits), bgc (background checks), pulse (pulses), integration (integrations).',
      testEachPermissions((user) =>
        permissionsOf(user)
          .filter((each) => !products.has(each.split('.')[0] ?? ''))
          .map((each) => `has the permission ${each}: no product of the document`),
      ),
    ],
    'users.permission-levels': [
      'Level 1 (integration user) is never returned.',
      testEachPermissions((user) =>
        permissionsOf(user)
          .filter((each) => !levels.has(each.split('.').slice(1).join('.')))
          .map((each) => `has the permission ${each}: no level of the document`),
      ),
    ],
    'users.permissions-sorted': [
      'Permissions are returned in alphabetical order.',
      testEachPermissions((user) => {
        const permissions = toEntries(user.permissions)
        const isSorted = permissions.map(String).sort().join() === permissions.join()
        return [!isSorted && `has ${permissions.join(', ')}: not in alphabetical order`]
      }),
    ],
  }),
  ...createDeploymentControlCases('User', {
    'users.active-teams': [
      'teams | array | Each entry has `id` (UUID string) and `name` (string). Only active teams.',
      (context) => {
        const { inactiveTeams = [] } = context.target
        requireTestable(
          inactiveTeams.length > 0,
          'teams that are no longer active are only known of a sandbox, with --control',
        )
        return testEachUser((user) =>
          toItems(user.teams)
            .filter((team) => inactiveTeams.includes(String(team.id)))
            .map((team) => `has the inactive team ${String(team.name)}`),
        )(context)
      },
    ],
  }),
  ...createReadCases('GET /v1/users', {
    'users.inactive': [
      'Inactive users and inactive teams are excluded.',
      async (context) => {
        const { apiKey, inactiveEmail } = context.target
        const reason = 'a user who is no longer active is needed: --inactive-user EMAIL'
        const userEmail = requireValue(inactiveEmail, reason)
        const emails = (await requireUsers(context)).map((user) => emailOf(user).toLowerCase())
        const note = 'as a user who is no longer active'
        return [
          emails.includes(userEmail.toLowerCase()) && `${userEmail} is listed`,
          { get: '/v1/users', identity: { apiKey, userEmail }, note, expect: 403 },
        ]
      },
    ],
  }),
  ...createReadCases('User', {
    'users.job-title': [
      'job_title | string | Empty string when not set.',
      testEachUser((user) => [typeof user.job_title !== 'string' && 'has no string as job_title']),
    ],
    'users.unique-ids': [
      'id | string (UUID) | Identifier.',
      testWith(requireUsers)((users) => expectUniqueIds(users.map(({ id }) => id))),
    ],
  }),
  ...createReadCases('GET /v1/users', {
    'users.no-parameters': [
      'No query parameters.',
      async (context) => {
        const allUsers = await requireUsers(context)
        const answer = await context.probe.get('/v1/users?page=2&limit=1&role=nobody&active=false')
        if (answer.status === 400) return []
        const listedUsers = toItems(answer.fields.users)
        const isSame = listedUsers.map(emailOf).sort().join() === allUsers.map(emailOf).sort().join()
        return [
          !isSame && `${answer.label}: expected all ${allUsers.length} users, got ${listedUsers.length}`,
        ]
      },
    ],
  }),
]
