import { users } from './data.ts'
import { on, status, type Switch } from './defects.ts'
import type { Asked, Knobs } from './knobs.ts'

type Item = Record<string, unknown>

/** What stands in for the user or the key of a call. */
const as = (change: (asked: Asked) => void): Partial<Knobs> => ({ before: change })
const olga = users()[0]?.email ?? ''
const goodKey = 'HomeKey9HomeKey9HomeKey9HomeKey9'

export const accessSwitches: Switch[] = [
  status('403 for a missing header', 'authentication.required', / 401 /, 403),
  status('401 for a stranger', 'authentication.unknown-user', / 403 /, 401),
  {
    name: 'the e-mail may be left out',
    by: 'authentication.required',
    knobs: as(({ headers }) => (headers['x-service-user-email'] ??= olga)),
  },
  {
    name: 'any e-mail will do',
    by: 'authentication.unknown-user',
    knobs: as(({ headers }) => {
      if (headers['x-service-user-email']?.endsWith('.invalid') === true)
        headers['x-service-user-email'] = olga
    }),
  },
  {
    name: 'an e-mail is looked at before the key',
    by: 'authentication.invalid-key',
    knobs: {
      answer: on(/ 401 /, (_body, reply, { headers }) => {
        if (headers['x-service-user-email']?.endsWith('.invalid') === true) reply.status = 403
      }),
    },
  },
  {
    name: 'keys whatever their case',
    by: 'authentication.opaque-key',
    knobs: as(({ headers }) => {
      if (headers['x-service-api-key']?.toLowerCase() === goodKey.toLowerCase()) {
        headers['x-service-api-key'] = goodKey
      }
    }),
  },
  {
    name: 'the first 31 characters are the key',
    by: 'authentication.invalid-key',
    knobs: as(({ headers }) => {
      if (headers['x-service-api-key']?.startsWith(goodKey.slice(0, 31)) === true) {
        headers['x-service-api-key'] = goodKey
      }
    }),
  },
  {
    name: 'the key in the query',
    by: 'authentication.key-in-url',
    knobs: as(({ headers, query }) => {
      const key = query.get('api_key')
      if (key !== null) headers['x-service-api-key'] = key
    }),
  },
  {
    name: 'users of other organisations',
    by: 'authentication.other-organisation',
    knobs: as(({ headers }) => {
      if (
        headers['x-service-user-email']?.endsWith('far.example.org') === true &&
        headers['x-service-api-key'] === goodKey
      ) {
        headers['x-service-user-email'] = olga
      }
    }),
  },
  {
    name: 'requests of other organisations',
    by: 'authentication.other-organisation',
    knobs: as(({ headers, path }) => {
      if (path.startsWith('/v1/requests/'))
        Object.assign(headers, { 'x-service-api-key': goodKey, 'x-service-user-email': olga })
    }),
  },
  {
    name: 'reports of other organisations',
    by: 'reports.of-another-organisation',
    knobs: as(({ headers, path }) => {
      if (path.startsWith('/v1/reports/') && headers['x-service-api-key']?.startsWith('Far') === true) {
        Object.assign(headers, { 'x-service-api-key': goodKey, 'x-service-user-email': olga })
      }
    }),
  },
  {
    name: 'packages of other organisations can be ordered',
    by: 'authentication.other-organisation',
    knobs: as(({ headers, method }) => {
      if (method === 'POST' && headers['x-service-api-key']?.startsWith('Far') === true) {
        Object.assign(headers, { 'x-service-api-key': goodKey, 'x-service-user-email': olga })
      }
    }),
  },
  {
    name: 'every order is the owner’s',
    by: 'authentication.attributed',
    knobs: {
      answer: on(/GET 200 \/v1\/requests\//, ({ data }) => {
        ;(data as Item)['requester'] = { email: olga }
      }),
    },
  },
  { name: 'roles that may not create get 404', by: 'roles.may-not-create', knobs: { noCreate: 404 } },
  { name: 'roles that may not create get 401', by: 'roles.may-not-create', knobs: { noCreate: 401 } },
  { name: 'roles that may not create create', by: 'roles.may-not-create', knobs: { noCreate: 201 } },
  {
    name: 'members get 404 for what they see',
    by: 'roles.creates-or-is-refused',
    knobs: {
      answer: on(/POST 201/, (body, reply, { headers }) => {
        if (headers['x-service-user-email'] === olga) return
        reply.status = 404
        Object.assign(body, { data: null, status_message: 'client_error', message: 'not found' })
      }),
    },
  },
  {
    name: 'packages hidden from the role can be looked into',
    by: 'packages.by-role',
    knobs: as(({ headers, path }) => {
      if (path.endsWith('/schema')) headers['x-service-user-email'] = olga
    }),
  },
  {
    name: 'packages hidden from the role can be ordered',
    by: 'packages.order-by-role',
    knobs: as(({ headers, method, body }) => {
      if (method === 'POST' && body.includes('"package_id":73')) headers['x-service-user-email'] = olga
    }),
  },
  {
    name: 'inactive users may call',
    by: 'users.inactive',
    knobs: as(({ headers }) => {
      if (headers['x-service-user-email']?.startsWith('gus@') === true) headers['x-service-user-email'] = olga
    }),
  },
]
