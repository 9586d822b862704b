import { users } from './data.ts'
import type { Asked, Knobs, Reply } from './knobs.ts'

/** A sentence of the document that the service breaks when this is switched on, and the case that has to notice. */
export interface Switch {
  name: string
  by: string
  knobs: Partial<Knobs>
  /** Another case that has to run for it to show. */
  also?: string
  /** Whether the windows of the quota are small, and named. */
  tight?: boolean
}

interface Envelope {
  data: Record<string, never>
  status_message: string
  message: string
}
type Change = (body: Envelope, reply: Reply, asked: Asked) => void

/** Answers to calls that fit, changed. */
export const on =
  (form: RegExp, change: Change): Knobs['answer'] =>
  (reply, asked) => {
    if (Buffer.isBuffer(reply.body) || !form.test(`${asked.method} ${reply.status} ${asked.path}`)) return
    change(reply.body as unknown as Envelope, reply, asked)
  }

const flaw = (name: string, by: string, form: RegExp, change: Change): Switch => ({
  name,
  by,
  knobs: { answer: on(form, change) },
})

type Item = Record<string, unknown>
const each =
  (list: string, change: (item: Item) => void): Change =>
  ({ data }) =>
    (data as unknown as Record<string, Item[]>)[list]?.forEach(change)

const ofUsers = (name: string, by: string, change: (user: Item) => void): Switch =>
  flaw(name, by, /^GET 200 \/v1\/users$/, each('users', change))
const ofPackages = (name: string, by: string, change: (pack: Item) => void): Switch =>
  flaw(name, by, /^GET 200 \/v1\/packages$/, each('packages', change))
const ofSchemas = (name: string, by: string, change: (schema: Item) => void): Switch =>
  flaw(name, by, /schema$/, ({ data }) => {
    if (data !== null) change(data)
  })
const member = (change: (user: Item) => void) => (user: Item) => {
  if (user['role'] === 'member') change(user)
}
const information = (schema: Item): Item[] =>
  (schema['fields'] as { additional_information: Item[] }).additional_information
const survey = (pack: Item): Item | null =>
  (pack['details'] as { reference_survey: Item | null }).reference_survey

export const status = (name: string, by: string, form: RegExp, to: number): Switch =>
  flaw(name, by, form, (body, reply) => {
    reply.status = to
    body.status_message = to < 300 ? 'ok' : to < 500 ? 'client_error' : 'server_error'
    if (to < 300) body.message = ''
  })

export const answerSwitches: Switch[] = [
  flaw('success instead of ok', 'answers.status-message', / 200 /, (body) => {
    body.status_message = 'success'
  }),
  flaw('error for client_error', 'answers.status-message', / 404 /, (body) => {
    body.status_message = 'error'
  }),
  flaw('server_error for a 400', 'answers.status-message', / 400 /, (body) => {
    body.status_message = 'server_error'
  }),
  flaw('a message on success', 'answers.message', / 200 \/v1\/users/, (body) => {
    body.message = 'here you are'
  }),
  flaw('no message on errors', 'answers.message', / 403 /, (body) => {
    body.message = ''
  }),
  flaw('a message that is an object', 'answers.message', / 404 /, (body) => {
    body.message = { text: 'not found' } as never
  }),
  flaw('an empty object as data of errors', 'answers.data', / 401 /, (body) => {
    body.data = {}
  }),
  flaw('no data at all on errors', 'answers.envelope', / 4\d\d /, (body) => {
    delete (body as Partial<Envelope>).data
  }),
  flaw('no message in the envelope', 'answers.envelope', / 200 /, (body) => {
    delete (body as Partial<Envelope>).message
  }),
  flaw('users outside the envelope', 'answers.envelope', / 200 \/v1\/users/, (body, reply) => {
    reply.body = body.data as never
  }),
  ...['Cache-Control', 'Pragma', 'Expires'].flatMap((name) => [
    flaw(`no ${name} on success`, 'answers.cache-headers', / 200 /, (_body, reply) => {
      delete reply.headers[name]
    }),
    flaw(`no ${name} on a 401`, 'answers.cache-headers', / 401 /, (_body, reply) => {
      delete reply.headers[name]
    }),
  ]),
  {
    name: 'no cache headers on reports',
    by: 'answers.cache-headers',
    also: 'reports.by-headers',
    knobs: {
      answer: (reply) => {
        if (Buffer.isBuffer(reply.body)) delete reply.headers['Cache-Control']
      },
    },
  },
  flaw('pages that may be kept', 'answers.cache-headers', / 200 /, (_body, reply) => {
    reply.headers['Cache-Control'] = 'private, max-age=60'
  }),
  flaw('Expires as a date', 'answers.cache-headers', / 200 /, (_body, reply) => {
    reply.headers['Expires'] = 'Thu, 01 Jan 1970 00:00:00 GMT'
  }),
  flaw('errors as text', 'answers.content-type', / 404 /, (_body, reply) => {
    reply.headers['Content-Type'] = 'text/plain'
  }),
  status('202 for reads', 'answers.never-202', / 200 \/v1\/users/, 202),
  status('422 for validation', 'answers.never-422', /GET 400 /, 422),
  status('418 for what is not there', 'answers.known-statuses', / 404 \/v1\/no/, 418),
]

export const readSwitches: Switch[] = [
  flaw('a ping without status', 'ping.answer', /ping/, (body) => {
    body.data = {}
  }),
  status('a ping that needs a key', 'ping.no-authentication', / 200 \/v1\/ping/, 401),
  {
    name: 'a ping that looks at the key',
    by: 'ping.no-authentication',
    knobs: {
      answer: (reply, { path, headers }) => {
        if (path === '/v1/ping' && headers['x-service-api-key']?.startsWith('xx') === true) reply.status = 401
      },
    },
  },
  {
    name: 'the unversioned path answers',
    by: 'versioning.prefix',
    knobs: {
      before: (asked) => {
        if (asked.path === '/ping') asked.path = '/v1/ping'
      },
    },
  },
  ofPackages('package ids as text', 'packages.list', (pack) => (pack['id'] = String(pack['id']))),
  ofPackages('packages without a name', 'packages.list', (pack) => (pack['name'] = null)),
  ofPackages('lower-case statuses', 'packages.list', (pack) => {
    pack['status'] = String(pack['status']).toLowerCase()
  }),
  ofPackages('ARCHIVED for DISABLED', 'packages.list', (pack) => {
    if (pack['status'] === 'DISABLED') pack['status'] = 'ARCHIVED'
  }),
  ofPackages('no survey where there is none', 'packages.list', (pack) => {
    if (survey(pack) === null) delete (pack['details'] as Item)['reference_survey']
  }),
  ofPackages('min_referees as text', 'packages.list', (pack) => {
    const own = survey(pack)
    if (own !== null) own['min_referees'] = '2'
  }),
  ofPackages('one id for all', 'packages.unique-ids', (pack) => (pack['id'] = 71)),
  flaw(
    'a page of packages',
    'packages.no-pagination',
    /GET 200 \/v1\/packages$/,
    ({ data }, _reply, { query }) => {
      if (query.has('limit')) (data as unknown as { packages: Item[] }).packages.splice(1)
    },
  ),
  {
    name: 'the status filter is ignored',
    by: 'packages.filter-status',
    knobs: { before: ({ query, path }) => path === '/v1/packages' && query.delete('status') },
  },
  {
    name: 'the id filter is ignored',
    by: 'packages.filter-id',
    knobs: { before: ({ query, path }) => path === '/v1/packages' && query.delete('id') },
  },
  {
    name: 'the filters are alternatives',
    by: 'packages.filter-id',
    knobs: { before: ({ query }) => query.has('id') && query.delete('status') },
  },
  status(
    'an unsupported status gives 404',
    'packages.filter-status-unsupported',
    /GET 400 \/v1\/packages$/,
    404,
  ),
  flaw(
    'an unsupported status gives nothing',
    'packages.filter-status-unsupported',
    /GET 400 \/v1\/packages$/,
    (body, reply) => {
      reply.status = 200
      Object.assign(body, { data: { packages: [] }, status_message: 'ok', message: '' })
    },
  ),
  status('404 where the id filter finds nothing', 'packages.filter-id', /GET 200 \/v1\/packages$/, 404),
  status('400 for the schema of no package', 'schema.unknown-package', /GET 404 .*schema$/, 400),
  ofSchemas('the id of a schema as text', 'schema.shape', (schema) => (schema['id'] = String(schema['id']))),
  ofSchemas('required as text', 'schema.shape', (schema) => {
    ;(schema['fields'] as { recipient: { phone: Item } }).recipient.phone = {
      type: 'string',
      required: 'yes',
    }
  }),
  ofSchemas('a schema without a phone', 'schema.shape', (schema) => {
    const { recipient } = schema['fields'] as { recipient: Item }
    ;(schema['fields'] as Item)['recipient'] = { ...recipient, phone: undefined }
  }),
  ofSchemas('types of another language', 'schema.shape', (schema) => {
    for (const entry of information(schema)) {
      for (const field of Object.values(entry['fields'] as Record<string, Item>)) {
        if (field['type'] === 'integer') field['type'] = 'int'
      }
    }
  }),
  ofSchemas('fields without a description', 'schema.shape', (schema) => {
    for (const entry of information(schema)) {
      entry['fields'] = Object.fromEntries(
        Object.entries(entry['fields'] as Record<string, Item>).map(([name, field]) => [
          name,
          { type: field['type'], required: field['required'] },
        ]),
      )
    }
  }),
  ofSchemas('null where nothing is needed', 'schema.shape', (schema) => {
    if (information(schema).length === 0) (schema['fields'] as Item)['additional_information'] = null
  }),
  ofSchemas('checks that need nothing', 'schema.needing-none-omitted', (schema) => {
    const all = information(schema)
    if (all.length === 0) {
      ;(schema['fields'] as Item)['additional_information'] = [{ display_name: 'Id', code: 'id', fields: {} }]
    }
  }),
  ofSchemas('more entries than checks', 'schema.no-more-than-checks', (schema) => {
    const entry = {
      display_name: 'Id',
      fields: { number: { type: 'string', required: true, description: '' } },
    }
    const fields = schema['fields'] as Item
    fields['additional_information'] = ['a', 'b', 'c', 'd'].map((code) => Object.assign({ code }, entry))
  }),
  ofSchemas('one code twice', 'schema.codes', (schema) => {
    const all = information(schema)
    ;(schema['fields'] as Item)['additional_information'] = [...all, ...all.slice(0, 1)]
  }),
  ofSchemas('the schema of another package', 'schema.readable', (schema) => (schema['id'] = 1)),
  ofUsers('users without an id', 'users.list', (user) => delete user['id']),
  ofUsers('user ids that are numbers', 'users.list', (user) => (user['id'] = 7)),
  ofUsers('one id for all users', 'users.unique-ids', (user) => (user['id'] = users()[0]?.id)),
  ofUsers('no job_title where none is set', 'users.job-title', (user) => {
    if (user['job_title'] === '') delete user['job_title']
  }),
  ofUsers('job_title null', 'users.job-title', (user) => {
    if (user['job_title'] === '') user['job_title'] = null
  }),
  ofUsers('permissions for all', 'users.permissions-of-members', (user) => (user['permissions'] ??= [])),
  ofUsers('permissions for nobody', 'users.permissions-of-members', (user) => delete user['permissions']),
  ofUsers(
    'permissions by importance',
    'users.permissions-sorted',
    member((user) => (user['permissions'] = ['reference.requestor', 'bgc.none'])),
  ),
  ofUsers(
    'levels by number',
    'users.permission-levels',
    member((user) => (user['permissions'] = ['bgc.3'])),
  ),
  ofUsers(
    'integration users',
    'users.permission-levels',
    member((user) => (user['permissions'] = ['integration.integration_user'])),
  ),
  ofUsers(
    'products in the plural',
    'users.permission-products',
    member((user) => (user['permissions'] = ['references.none'])),
  ),
  ofUsers(
    'permissions in one text',
    'users.list',
    member((user) => (user['permissions'] = 'bgc.none')),
  ),
  ofUsers('teams by id', 'users.list', (user) => {
    user['teams'] = (user['teams'] as Item[]).map(({ id }) => id)
  }),
  ofUsers('teams that were closed', 'users.active-teams', (user) => {
    user['teams'] = users()[0]?.teams.map(({ id, name }) => ({ id, name }))
  }),
  flaw('inactive users are listed', 'users.inactive', /GET 200 \/v1\/users$/, ({ data }) => {
    const gone = users().find(({ active }) => !active)
    const { organisation: _home, active: _active, ...shown } = gone ?? users()[0]!
    ;(data as unknown as { users: unknown[] }).users.push({ ...shown, teams: [] })
  }),
  flaw('a page of users', 'users.no-parameters', /GET 200 \/v1\/users$/, ({ data }, _reply, { query }) => {
    if (query.has('limit')) (data as unknown as { users: Item[] }).users.splice(1)
  }),
]
