import type { PackageSchema } from '../../../src/contract/package-schema.ts'
import type { User } from '../../../src/contract/user.ts'
import {
  answerOf,
  type Defect,
  onJson,
  onPackages,
  onRequest,
  onSchemas,
  onUsers,
  pathOf,
  schemaPath,
} from './defect.ts'

/** A defect of what GET /v1/users tells of each user. */
const ofUsers = (name: string, caughtBy: string, change: (user: User) => void): Defect => ({
  name,
  caughtBy,
  around: (sandbox) => onUsers(sandbox, (users) => users.forEach((user) => change(user))),
})

/** A defect of every schema. */
const ofSchemas = (name: string, caughtBy: string, change: (schema: PackageSchema) => void): Defect => ({
  name,
  caughtBy,
  around: (sandbox) => onSchemas(sandbox, change),
})

export const readDefects: Defect[] = [
  {
    name: 'the status filter does nothing',
    caughtBy: 'packages.filter-status',
    around: (sandbox) => onRequest(sandbox, (url) => url.searchParams.delete('status')),
  },
  {
    name: 'an unsupported status gives an empty list',
    caughtBy: 'packages.filter-status-unsupported',
    around: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request, connection)
      return answer.status === 400 ? answerOf(200, { packages: [] }) : answer
    },
  },
  {
    name: 'the id filter does nothing',
    caughtBy: 'packages.filter-id',
    around: (sandbox) => onRequest(sandbox, (url) => url.searchParams.delete('id')),
  },
  {
    name: 'packages come in pages',
    caughtBy: 'packages.no-pagination',
    around: (sandbox) =>
      onPackages(sandbox, (packages, request) => {
        const limit = new URL(request.url).searchParams.get('limit')
        if (limit !== null) packages.splice(Number(limit))
      }),
  },
  {
    name: 'null for a package without background checks',
    caughtBy: 'packages.list',
    around: (sandbox) =>
      onPackages(sandbox, (packages) => {
        for (const { details } of packages) {
          if (details.background_checks.length === 0) Object.assign(details, { background_checks: null })
        }
      }),
  },
  {
    name: 'package statuses in lowercase',
    caughtBy: 'packages.list',
    around: (sandbox) =>
      onPackages(sandbox, (packages) => {
        for (const pack of packages) pack.status = pack.status.toLowerCase()
      }),
  },
  {
    name: 'a package listed twice',
    caughtBy: 'packages.unique-ids',
    around: (sandbox) => onPackages(sandbox, (packages) => packages.push(...packages.slice(0, 1))),
  },
  {
    name: 'a package hidden from the role can be looked into',
    caughtBy: 'packages.by-role',
    around: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        const member = headers.get('X-Service-User-Email') === sandbox.people.member
        if (member && schemaPath.test(url.pathname)) headers.set('X-Service-User-Email', sandbox.people.owner)
      }),
  },
  ofSchemas('a check that needs nothing is not left out', 'schema.needing-none-omitted', ({ fields }) => {
    fields.additional_information.push({ display_name: 'Identity check', code: 'identity', fields: {} })
  }),
  ofSchemas('null where nothing is needed', 'schema.shape', ({ fields }) => {
    if (fields.additional_information.length === 0) Object.assign(fields, { additional_information: null })
  }),
  ofSchemas('fields without a description', 'schema.shape', ({ fields }) => {
    for (const { fields: own } of fields.additional_information) {
      for (const definition of Object.values(own)) Object.assign(definition, { description: undefined })
    }
  }),
  ofSchemas('a code twice in a schema', 'schema.codes', ({ fields }) => {
    fields.additional_information.push(...fields.additional_information.slice(0, 1))
  }),
  ofSchemas('the id of another package', 'schema.readable', (schema) => {
    schema.id += 1
  }),
  {
    name: 'a schema that changes from read to read',
    caughtBy: 'schema.stable',
    around: (sandbox) => {
      let reads = 0
      return onSchemas(sandbox, ({ fields }) => {
        reads += 1
        fields.recipient.phone.required = reads % 2 === 0
      })
    },
  },
  {
    name: 'a 400 for the schema of a package nobody has',
    caughtBy: 'schema.unknown-package',
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (reply.status === 404 && schemaPath.test(pathOf(request))) reply.status = 400
      }),
  },
  ofUsers('permissions for owners', 'users.permissions-of-members', (user) => {
    if (user.role === 'owner') user.permissions = ['bgc.administrator']
  }),
  ofUsers('no permissions for members', 'users.permissions-of-members', (user) => {
    delete user.permissions
  }),
  ofUsers('permissions in no order', 'users.permissions-sorted', (user) => {
    user.permissions?.reverse()
  }),
  ofUsers('level 1 is shown', 'users.permission-levels', (user) => {
    user.permissions?.splice(2, 0, 'integration.integration_user')
  }),
  ofUsers('levels as numbers', 'users.permission-levels', (user) => {
    if (user.permissions !== undefined) user.permissions = ['bgc.3', 'reference.3']
  }),
  ofUsers('products by their long names', 'users.permission-products', (user) => {
    if (user.permissions !== undefined) user.permissions = ['background_checks.requestor']
  }),
  ofUsers('job_title null where it is not set', 'users.job-title', (user) => {
    if (user.job_title === '') Object.assign(user, { job_title: null })
  }),
  ofUsers('teams by name alone', 'users.list', (user) => {
    Object.assign(user, { teams: user.teams.map(({ name }) => name) })
  }),
  ofUsers('the same id for all users', 'users.unique-ids', (user) => {
    user.id = '11111111-1111-4111-8111-111111111111'
  }),
  {
    name: 'teams that are no longer active',
    caughtBy: 'users.active-teams',
    around: (sandbox) =>
      onUsers(sandbox, ([first]) => {
        first?.teams.push(...sandbox.snapshot().teams.map(({ id, name }) => ({ id, name })))
      }),
  },
  {
    name: 'users can be filtered by role',
    caughtBy: 'users.no-parameters',
    around: (sandbox) =>
      onUsers(sandbox, (users, request) => {
        const role = new URL(request.url).searchParams.get('role')
        if (role !== null) users.splice(0, Infinity, ...users.filter((user) => user.role === role))
      }),
  },
]
