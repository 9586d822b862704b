import { createUsers } from './data.ts'
import type { Call, Behaviour, Reply } from './behaviour.ts'

/** A change of the service by which it breaks a rule of the document, and the case that has to detect it. */
export interface Defect {
  name: string
  /** Id of the conformance case that has to detect the defect. */
  caughtBy: string
  behaviour: Partial<Behaviour>
  /** The id of another case that has to run so that the case `caughtBy` meets the defect. */
  alsoRuns?: string
}

export const behaviourDefect = (name: string, caughtBy: string, behaviour: Partial<Behaviour>): Defect => ({
  name,
  caughtBy,
  behaviour,
})

interface Envelope {
  data: Record<string, never>
  status_message: string
  message: string
}
type Change = (body: Envelope, reply: Reply, call: Call) => void

/** Returns a function that changes the answers whose method, status and path match `pattern`. */
export const changeMatching =
  (pattern: RegExp, change: Change): Behaviour['changeReply'] =>
  (reply, call) => {
    if (Buffer.isBuffer(reply.body) || !pattern.test(`${call.method} ${reply.status} ${call.path}`)) return
    change(reply.body as unknown as Envelope, reply, call)
  }

const answerDefect = (name: string, caughtBy: string, pattern: RegExp, change: Change): Defect => ({
  name,
  caughtBy,
  behaviour: { changeReply: changeMatching(pattern, change) },
})

type Item = Record<string, unknown>
const changeEach =
  (list: string, change: (item: Item) => void): Change =>
  ({ data }) =>
    (data as unknown as Record<string, Item[]>)[list]?.forEach(change)

const userListDefect = (name: string, caughtBy: string, change: (user: Item) => void): Defect =>
  answerDefect(name, caughtBy, /^GET 200 \/v1\/users$/, changeEach('users', change))
const packageListDefect = (name: string, caughtBy: string, change: (pack: Item) => void): Defect =>
  answerDefect(name, caughtBy, /^GET 200 \/v1\/packages$/, changeEach('packages', change))
const schemaDefect = (name: string, caughtBy: string, change: (schema: Item) => void): Defect =>
  answerDefect(name, caughtBy, /schema$/, ({ data }) => {
    if (data !== null) change(data)
  })
const ifMember = (change: (user: Item) => void) => (user: Item) => {
  if (user['role'] === 'member') change(user)
}
const readInformation = (schema: Item): Item[] =>
  (schema['fields'] as { additional_information: Item[] }).additional_information
const readSurvey = (pack: Item): Item | null =>
  (pack['details'] as { reference_survey: Item | null }).reference_survey

export const statusDefect = (name: string, caughtBy: string, pattern: RegExp, to: number): Defect =>
  answerDefect(name, caughtBy, pattern, (body, reply) => {
    reply.status = to
    body.status_message = to < 300 ? 'ok' : to < 500 ? 'client_error' : 'server_error'
    if (to < 300) body.message = ''
  })

export const answerDefects: Defect[] = [
  answerDefect('success instead of ok', 'answers.status-message', / 200 /, (body) => {
    body.status_message = 'success'
  }),
  answerDefect('error for client_error', 'answers.status-message', / 404 /, (body) => {
    body.status_message = 'error'
  }),
  answerDefect('server_error for a 400', 'answers.status-message', / 400 /, (body) => {
    body.status_message = 'server_error'
  }),
  answerDefect('a message on success', 'answers.message', / 200 \/v1\/users/, (body) => {
    body.message = 'here you are'
  }),
  answerDefect('no message on errors', 'answers.message', / 403 /, (body) => {
    body.message = ''
  }),
  answerDefect('a message that is an object', 'answers.message', / 404 /, (body) => {
    body.message = { text: 'not found' } as never
  }),
  answerDefect('an empty object as data of errors', 'answers.data', / 401 /, (body) => {
    body.data = {}
  }),
  answerDefect('no data at all on errors', 'answers.envelope', / 4\d\d /, (body) => {
    delete (body as Partial<Envelope>).data
  }),
  answerDefect('no message in the envelope', 'answers.envelope', / 200 /, (body) => {
    delete (body as Partial<Envelope>).message
  }),
  answerDefect('users outside the envelope', 'answers.envelope', / 200 \/v1\/users/, (body, reply) => {
    reply.body = body.data as never
  }),
  ...['Cache-Control', 'Pragma', 'Expires'].flatMap((name) => [
    answerDefect(`no ${name} on success`, 'answers.cache-headers', / 200 /, (_body, reply) => {
      delete reply.headers[name]
    }),
    answerDefect(`no ${name} on a 401`, 'answers.cache-headers', / 401 /, (_body, reply) => {
      delete reply.headers[name]
    }),
  ]),
  {
    name: 'no cache headers on reports',
    caughtBy: 'answers.cache-headers',
    alsoRuns: 'reports.by-headers',
    behaviour: {
      changeReply: (reply) => {
        if (Buffer.isBuffer(reply.body)) delete reply.headers['Cache-Control']
      },
    },
  },
  answerDefect('answers that may be cached', 'answers.cache-headers', / 200 /, (_body, reply) => {
    reply.headers['Cache-Control'] = 'private, max-age=60'
  }),
  answerDefect('Expires as a date', 'answers.cache-headers', / 200 /, (_body, reply) => {
    reply.headers['Expires'] = 'Thu, 01 Jan 1970 00:00:00 GMT'
  }),
  answerDefect('errors as text', 'answers.content-type', / 404 /, (_body, reply) => {
    reply.headers['Content-Type'] = 'text/plain'
  }),
  statusDefect('202 for reads', 'answers.never-202', / 200 \/v1\/users/, 202),
  statusDefect('422 for validation', 'answers.never-422', /GET 400 /, 422),
  statusDefect('418 for an unknown path', 'answers.known-statuses', / 404 \/v1\/no/, 418),
]

export const defectsOfReads: Defect[] = [
  answerDefect('a ping without status', 'ping.answer', /ping/, (body) => {
    body.data = {}
  }),
  statusDefect('a ping that needs a key', 'ping.no-authentication', / 200 \/v1\/ping/, 401),
  {
    name: 'a ping that looks at the key',
    caughtBy: 'ping.no-authentication',
    behaviour: {
      changeReply: (reply, { path, headers }) => {
        if (path === '/v1/ping' && headers['x-service-api-key']?.startsWith('xx') === true) reply.status = 401
      },
    },
  },
  {
    name: 'the unversioned path answers',
    caughtBy: 'versioning.prefix',
    behaviour: {
      beforeCall: (call) => {
        if (call.path === '/ping') call.path = '/v1/ping'
      },
    },
  },
  packageListDefect('package ids as text', 'packages.list', (pack) => (pack['id'] = String(pack['id']))),
  packageListDefect('packages without a name', 'packages.list', (pack) => (pack['name'] = null)),
  packageListDefect('lower-case statuses', 'packages.list', (pack) => {
    pack['status'] = String(pack['status']).toLowerCase()
  }),
  packageListDefect('ARCHIVED for DISABLED', 'packages.list', (pack) => {
    if (pack['status'] === 'DISABLED') pack['status'] = 'ARCHIVED'
  }),
  packageListDefect('reference_survey left out instead of null', 'packages.list', (pack) => {
    if (readSurvey(pack) === null) delete (pack['details'] as Item)['reference_survey']
  }),
  packageListDefect('min_referees as text', 'packages.list', (pack) => {
    const packageSurvey = readSurvey(pack)
    if (packageSurvey !== null) packageSurvey['min_referees'] = '2'
  }),
  packageListDefect('one id for all packages', 'packages.unique-ids', (pack) => (pack['id'] = 71)),
  answerDefect(
    'a page of packages',
    'packages.no-pagination',
    /GET 200 \/v1\/packages$/,
    ({ data }, _reply, { query }) => {
      if (query.has('limit')) (data as unknown as { packages: Item[] }).packages.splice(1)
    },
  ),
  {
    name: 'the status filter is ignored',
    caughtBy: 'packages.filter-status',
    behaviour: { beforeCall: ({ query, path }) => path === '/v1/packages' && query.delete('status') },
  },
  {
    name: 'the id filter is ignored',
    caughtBy: 'packages.filter-id',
    behaviour: { beforeCall: ({ query, path }) => path === '/v1/packages' && query.delete('id') },
  },
  {
    name: 'the filters are alternatives',
    caughtBy: 'packages.filter-id',
    behaviour: { beforeCall: ({ query }) => query.has('id') && query.delete('status') },
  },
  statusDefect(
    'an unsupported status gives 404',
    'packages.filter-status-unsupported',
    /GET 400 \/v1\/packages$/,
    404,
  ),
  answerDefect(
    'an unsupported status gives an empty list',
    'packages.filter-status-unsupported',
    /GET 400 \/v1\/packages$/,
    (body, reply) => {
      reply.status = 200
      Object.assign(body, { data: { packages: [] }, status_message: 'ok', message: '' })
    },
  ),
  statusDefect('404 where the id filter finds nothing', 'packages.filter-id', /GET 200 \/v1\/packages$/, 404),
  statusDefect('400 for the schema of no package', 'schema.unknown-package', /GET 404 .*schema$/, 400),
  schemaDefect(
    'the id of a schema as text',
    'schema.shape',
    (schema) => (schema['id'] = String(schema['id'])),
  ),
  schemaDefect('required as text', 'schema.shape', (schema) => {
    ;(schema['fields'] as { recipient: { phone: Item } }).recipient.phone = {
      type: 'string',
      required: 'yes',
    }
  }),
  schemaDefect('a schema without a phone', 'schema.shape', (schema) => {
    const { recipient } = schema['fields'] as { recipient: Item }
    ;(schema['fields'] as Item)['recipient'] = { ...recipient, phone: undefined }
  }),
  schemaDefect('types of another language', 'schema.shape', (schema) => {
    for (const entry of readInformation(schema)) {
      for (const field of Object.values(entry['fields'] as Record<string, Item>)) {
        if (field['type'] === 'integer') field['type'] = 'int'
      }
    }
  }),
  schemaDefect('fields without a description', 'schema.shape', (schema) => {
    for (const entry of readInformation(schema)) {
      entry['fields'] = Object.fromEntries(
        Object.entries(entry['fields'] as Record<string, Item>).map(([name, field]) => [
          name,
          { type: field['type'], required: field['required'] },
        ]),
      )
    }
  }),
  schemaDefect('null instead of an empty additional_information', 'schema.shape', (schema) => {
    if (readInformation(schema).length === 0) (schema['fields'] as Item)['additional_information'] = null
  }),
  schemaDefect('entries for checks that need no information', 'schema.needing-none-omitted', (schema) => {
    const entries = readInformation(schema)
    if (entries.length === 0) {
      ;(schema['fields'] as Item)['additional_information'] = [{ display_name: 'Id', code: 'id', fields: {} }]
    }
  }),
  schemaDefect('more entries than checks', 'schema.no-more-than-checks', (schema) => {
    const entry = {
      display_name: 'Id',
      fields: { number: { type: 'string', required: true, description: '' } },
    }
    const fields = schema['fields'] as Item
    fields['additional_information'] = ['a', 'b', 'c', 'd'].map((code) => Object.assign({ code }, entry))
  }),
  schemaDefect('one code twice', 'schema.codes', (schema) => {
    const entries = readInformation(schema)
    ;(schema['fields'] as Item)['additional_information'] = [...entries, ...entries.slice(0, 1)]
  }),
  schemaDefect('the schema of another package', 'schema.readable', (schema) => (schema['id'] = 1)),
  userListDefect('users without an id', 'users.list', (user) => delete user['id']),
  userListDefect('user ids that are numbers', 'users.list', (user) => (user['id'] = 7)),
  userListDefect('one id for all users', 'users.unique-ids', (user) => (user['id'] = createUsers()[0]?.id)),
  userListDefect('job_title left out instead of empty', 'users.job-title', (user) => {
    if (user['job_title'] === '') delete user['job_title']
  }),
  userListDefect('job_title null', 'users.job-title', (user) => {
    if (user['job_title'] === '') user['job_title'] = null
  }),
  userListDefect(
    'permissions for users of every role',
    'users.permissions-of-members',
    (user) => (user['permissions'] ??= []),
  ),
  userListDefect(
    'permissions for no user',
    'users.permissions-of-members',
    (user) => delete user['permissions'],
  ),
  userListDefect(
    'permissions that are not in alphabetical order',
    'users.permissions-sorted',
    ifMember((user) => (user['permissions'] = ['reference.requestor', 'bgc.none'])),
  ),
  userListDefect(
    'permission levels as numbers',
    'users.permission-levels',
    ifMember((user) => (user['permissions'] = ['bgc.3'])),
  ),
  userListDefect(
    'the level of integration users is returned',
    'users.permission-levels',
    ifMember((user) => (user['permissions'] = ['integration.integration_user'])),
  ),
  userListDefect(
    'products in the plural',
    'users.permission-products',
    ifMember((user) => (user['permissions'] = ['references.none'])),
  ),
  userListDefect(
    'permissions in one text',
    'users.list',
    ifMember((user) => (user['permissions'] = 'bgc.none')),
  ),
  userListDefect('teams by id', 'users.list', (user) => {
    user['teams'] = (user['teams'] as Item[]).map(({ id }) => id)
  }),
  userListDefect('inactive teams are listed', 'users.active-teams', (user) => {
    user['teams'] = createUsers()[0]?.teams.map(({ id, name }) => ({ id, name }))
  }),
  answerDefect('inactive users are listed', 'users.inactive', /GET 200 \/v1\/users$/, ({ data }) => {
    const inactiveUser = createUsers().find(({ active }) => !active)
    const { organisation: _home, active: _active, ...shown } = inactiveUser ?? createUsers()[0]!
    ;(data as unknown as { users: unknown[] }).users.push({ ...shown, teams: [] })
  }),
  answerDefect(
    'a page of users',
    'users.no-parameters',
    /GET 200 \/v1\/users$/,
    ({ data }, _reply, { query }) => {
      if (query.has('limit')) (data as unknown as { users: Item[] }).users.splice(1)
    },
  ),
]
