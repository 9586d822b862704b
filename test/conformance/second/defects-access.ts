import { createUsers } from './data.ts'
import { changeMatching, statusDefect, type Defect } from './defects.ts'
import type { Call, Behaviour } from './behaviour.ts'

type Item = Record<string, unknown>

/** Changes each call before the service reads it. */
const changeCall = (change: (call: Call) => void): Partial<Behaviour> => ({ beforeCall: change })
const ownerEmail = createUsers()[0]?.email ?? ''
const goodKey = 'HomeKey9HomeKey9HomeKey9HomeKey9'

export const accessDefects: Defect[] = [
  statusDefect('403 for a missing header', 'authentication.required', / 401 /, 403),
  statusDefect('401 for an unknown user', 'authentication.unknown-user', / 403 /, 401),
  {
    name: 'the e-mail may be left out',
    caughtBy: 'authentication.required',
    behaviour: changeCall(({ headers }) => (headers['x-service-user-email'] ??= ownerEmail)),
  },
  {
    name: 'any e-mail is accepted',
    caughtBy: 'authentication.unknown-user',
    behaviour: changeCall(({ headers }) => {
      if (headers['x-service-user-email']?.endsWith('.invalid') === true)
        headers['x-service-user-email'] = ownerEmail
    }),
  },
  {
    name: 'the e-mail is checked before the key',
    caughtBy: 'authentication.invalid-key',
    behaviour: {
      changeReply: changeMatching(/ 401 /, (_body, reply, { headers }) => {
        if (headers['x-service-user-email']?.endsWith('.invalid') === true) reply.status = 403
      }),
    },
  },
  {
    name: 'keys are compared case-insensitively',
    caughtBy: 'authentication.opaque-key',
    behaviour: changeCall(({ headers }) => {
      if (headers['x-service-api-key']?.toLowerCase() === goodKey.toLowerCase()) {
        headers['x-service-api-key'] = goodKey
      }
    }),
  },
  {
    name: 'the first 31 characters are the key',
    caughtBy: 'authentication.invalid-key',
    behaviour: changeCall(({ headers }) => {
      if (headers['x-service-api-key']?.startsWith(goodKey.slice(0, 31)) === true) {
        headers['x-service-api-key'] = goodKey
      }
    }),
  },
  {
    name: 'the key is accepted in the query',
    caughtBy: 'authentication.key-in-url',
    behaviour: changeCall(({ headers, query }) => {
      const key = query.get('api_key')
      if (key !== null) headers['x-service-api-key'] = key
    }),
  },
  {
    name: 'users of other organisations are accepted',
    caughtBy: 'authentication.other-organisation',
    behaviour: changeCall(({ headers }) => {
      if (
        headers['x-service-user-email']?.endsWith('far.example.org') === true &&
        headers['x-service-api-key'] === goodKey
      ) {
        headers['x-service-user-email'] = ownerEmail
      }
    }),
  },
  {
    name: 'requests of other organisations can be read',
    caughtBy: 'authentication.other-organisation',
    behaviour: changeCall(({ headers, path }) => {
      if (path.startsWith('/v1/requests/'))
        Object.assign(headers, { 'x-service-api-key': goodKey, 'x-service-user-email': ownerEmail })
    }),
  },
  {
    name: 'reports of other organisations can be downloaded',
    caughtBy: 'reports.of-another-organisation',
    behaviour: changeCall(({ headers, path }) => {
      if (path.startsWith('/v1/reports/') && headers['x-service-api-key']?.startsWith('Far') === true) {
        Object.assign(headers, { 'x-service-api-key': goodKey, 'x-service-user-email': ownerEmail })
      }
    }),
  },
  {
    name: 'packages of other organisations can be ordered',
    caughtBy: 'authentication.other-organisation',
    behaviour: changeCall(({ headers, method }) => {
      if (method === 'POST' && headers['x-service-api-key']?.startsWith('Far') === true) {
        Object.assign(headers, { 'x-service-api-key': goodKey, 'x-service-user-email': ownerEmail })
      }
    }),
  },
  {
    name: 'every order is attributed to the owner',
    caughtBy: 'authentication.attributed',
    behaviour: {
      changeReply: changeMatching(/GET 200 \/v1\/requests\//, ({ data }) => {
        ;(data as Item)['requester'] = { email: ownerEmail }
      }),
    },
  },
  {
    name: 'roles that may not create get 404',
    caughtBy: 'roles.may-not-create',
    behaviour: { refusedCreateStatus: 404 },
  },
  {
    name: 'roles that may not create get 401',
    caughtBy: 'roles.may-not-create',
    behaviour: { refusedCreateStatus: 401 },
  },
  {
    name: 'roles that may not create are allowed to create',
    caughtBy: 'roles.may-not-create',
    behaviour: { refusedCreateStatus: 201 },
  },
  {
    name: 'members get 404 for the order of a package that they see',
    caughtBy: 'roles.creates-or-is-refused',
    behaviour: {
      changeReply: changeMatching(/POST 201/, (body, reply, { headers }) => {
        if (headers['x-service-user-email'] === ownerEmail) return
        reply.status = 404
        Object.assign(body, { data: null, status_message: 'client_error', message: 'not found' })
      }),
    },
  },
  {
    name: 'the schema of a package hidden from the role can be read',
    caughtBy: 'packages.by-role',
    behaviour: changeCall(({ headers, path }) => {
      if (path.endsWith('/schema')) headers['x-service-user-email'] = ownerEmail
    }),
  },
  {
    name: 'packages hidden from the role can be ordered',
    caughtBy: 'packages.order-by-role',
    behaviour: changeCall(({ headers, method, body }) => {
      if (method === 'POST' && body.includes('"package_id":73')) headers['x-service-user-email'] = ownerEmail
    }),
  },
  {
    name: 'inactive users may call',
    caughtBy: 'users.inactive',
    behaviour: changeCall(({ headers }) => {
      if (headers['x-service-user-email']?.startsWith('gus@') === true)
        headers['x-service-user-email'] = ownerEmail
    }),
  },
]
