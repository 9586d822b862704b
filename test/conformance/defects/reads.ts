import type { User } from '../../../src/contract/user.ts'
import {
  createAnswer,
  createCallDefect,
  createPackagesDefect,
  createReplyDefect,
  createSchemaDefect,
  createUsersDefect,
  type Defect,
  onRequest,
  onSchemas,
  onUsers,
  pathOf,
  schemaPath,
} from './defect.ts'

/** Creates a defect that changes each user in the answer of GET /v1/users. */
const createUserDefect = (name: string, caughtBy: string, change: (user: User) => void): Defect =>
  createUsersDefect(name, caughtBy, (users) => users.forEach((user) => change(user)))

export const readDefects: Defect[] = [
  createCallDefect('the status filter has no effect', 'packages.filter-status', (url) =>
    url.searchParams.delete('status'),
  ),
  {
    name: 'a filter with an unsupported status returns an empty list',
    caughtBy: 'packages.filter-status-unsupported',
    createHandler: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request, connection)
      return answer.status === 400 ? createAnswer(200, { packages: [] }) : answer
    },
  },
  createCallDefect('the id filter has no effect', 'packages.filter-id', (url) =>
    url.searchParams.delete('id'),
  ),
  createPackagesDefect(
    'the limit parameter shortens the list of packages',
    'packages.no-pagination',
    (packages, request) => {
      const limit = new URL(request.url).searchParams.get('limit')
      if (limit !== null) packages.splice(Number(limit))
    },
  ),
  createPackagesDefect('background_checks null for a package without any', 'packages.list', (packages) => {
    for (const { details } of packages) {
      if (details.background_checks.length === 0) Object.assign(details, { background_checks: null })
    }
  }),
  createPackagesDefect('package statuses in lowercase', 'packages.list', (packages) => {
    for (const pack of packages) pack.status = pack.status.toLowerCase()
  }),
  createPackagesDefect('the list contains a package twice', 'packages.unique-ids', (packages) =>
    packages.push(...packages.slice(0, 1)),
  ),
  {
    name: 'a member can read the schema of a package that is hidden from the role',
    caughtBy: 'packages.by-role',
    createHandler: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        const member = headers.get('X-Service-User-Email') === sandbox.people.member
        if (member && schemaPath.test(url.pathname)) headers.set('X-Service-User-Email', sandbox.people.owner)
      }),
  },
  createSchemaDefect(
    'the schema lists a check that needs no information',
    'schema.needing-none-omitted',
    ({ fields }) => {
      fields.additional_information.push({ display_name: 'Identity check', code: 'identity', fields: {} })
    },
  ),
  createSchemaDefect(
    'additional_information null if no check needs information',
    'schema.shape',
    ({ fields }) => {
      if (fields.additional_information.length === 0) Object.assign(fields, { additional_information: null })
    },
  ),
  createSchemaDefect('fields without a description', 'schema.shape', ({ fields }) => {
    for (const { fields: definitions } of fields.additional_information) {
      for (const definition of Object.values(definitions))
        Object.assign(definition, { description: undefined })
    }
  }),
  createSchemaDefect('a code twice in a schema', 'schema.codes', ({ fields }) => {
    fields.additional_information.push(...fields.additional_information.slice(0, 1))
  }),
  createSchemaDefect('the schema has the id of another package', 'schema.readable', (schema) => {
    schema.id += 1
  }),
  {
    name: 'every read returns another schema',
    caughtBy: 'schema.stable',
    createHandler: (sandbox) => {
      let reads = 0
      return onSchemas(sandbox, ({ fields }) => {
        reads += 1
        fields.recipient.phone.required = reads % 2 === 0
      })
    },
  },
  createReplyDefect(
    'a 400 for the schema of a package that does not exist',
    'schema.unknown-package',
    (reply, request) => {
      if (reply.status === 404 && schemaPath.test(pathOf(request))) reply.status = 400
    },
  ),
  createUserDefect('permissions for owners', 'users.permissions-of-members', (user) => {
    if (user.role === 'owner') user.permissions = ['bgc.administrator']
  }),
  createUserDefect('no permissions for members', 'users.permissions-of-members', (user) => {
    delete user.permissions
  }),
  createUserDefect('permissions that are not sorted', 'users.permissions-sorted', (user) => {
    user.permissions?.reverse()
  }),
  createUserDefect('the permissions contain one of level 1', 'users.permission-levels', (user) => {
    user.permissions?.splice(2, 0, 'integration.integration_user')
  }),
  createUserDefect('permissions with levels as numbers', 'users.permission-levels', (user) => {
    if (user.permissions !== undefined) user.permissions = ['bgc.3', 'reference.3']
  }),
  createUserDefect('permissions with the long names of products', 'users.permission-products', (user) => {
    if (user.permissions !== undefined) user.permissions = ['background_checks.requestor']
  }),
  createUserDefect('job_title null for a user without a job title', 'users.job-title', (user) => {
    if (user.job_title === '') Object.assign(user, { job_title: null })
  }),
  createUserDefect('teams as names, without ids', 'users.list', (user) => {
    Object.assign(user, { teams: user.teams.map(({ name }) => name) })
  }),
  createUserDefect('the same id for all users', 'users.unique-ids', (user) => {
    user.id = '11111111-1111-4111-8111-111111111111'
  }),
  {
    name: 'a user has teams that are no longer active',
    caughtBy: 'users.active-teams',
    createHandler: (sandbox) =>
      onUsers(sandbox, ([first]) => {
        first?.teams.push(...sandbox.snapshot().teams.map(({ id, name }) => ({ id, name })))
      }),
  },
  createUsersDefect('the role parameter filters the users', 'users.no-parameters', (users, request) => {
    const role = new URL(request.url).searchParams.get('role')
    if (role !== null) users.splice(0, Infinity, ...users.filter((user) => user.role === role))
  }),
]
