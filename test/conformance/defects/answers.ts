import { createAnswer, type Defect, onJson, onRequest, onUsers, pathOf, requestPath } from './defect.ts'

export const answerDefects: Defect[] = [
  {
    name: 'no Pragma on a 404',
    caughtBy: 'answers.cache-headers',
    createHandler: (sandbox) =>
      onJson(sandbox, ({ status, headers }) => {
        if (status === 404) headers.delete('Pragma')
      }),
  },
  {
    name: 'Cache-Control that allows a cache to store errors',
    caughtBy: 'answers.cache-headers',
    createHandler: (sandbox) =>
      onJson(sandbox, ({ status, headers }) => {
        if (status === 401) headers.set('Cache-Control', 'max-age=60')
      }),
  },
  {
    name: 'Expires -1',
    caughtBy: 'answers.cache-headers',
    createHandler: (sandbox) => onJson(sandbox, ({ headers }) => headers.set('Expires', '-1')),
  },
  {
    name: 'status_message error on a 403',
    caughtBy: 'answers.status-message',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 403) reply.body.status_message = 'error'
      }),
  },
  {
    name: 'an empty object instead of null as the data of an error',
    caughtBy: 'answers.data',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply) => {
        reply.body.data ??= {}
      }),
  },
  {
    name: 'a message on success',
    caughtBy: 'answers.message',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 200) reply.body.message = 'OK'
      }),
  },
  {
    name: 'no message on a 401',
    caughtBy: 'answers.message',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 401) reply.body.message = ''
      }),
  },
  {
    name: 'HTML for an unknown path',
    caughtBy: 'answers.content-type',
    createHandler: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request, connection)
      if (!pathOf(request).startsWith('/v1/no/')) return answer
      return new Response('<h1>Not found</h1>', { status: 404, headers: { 'Content-Type': 'text/html' } })
    },
  },
  {
    name: '422 instead of 400',
    caughtBy: 'answers.never-422',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 400) reply.status = 422
      }),
  },
  {
    name: '405 for an unknown path',
    caughtBy: 'answers.known-statuses',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (pathOf(request).startsWith('/v1/no/')) reply.status = 405
      }),
  },
  {
    name: 'ping needs a key',
    caughtBy: 'ping.no-authentication',
    createHandler: (sandbox) => (request, connection) =>
      pathOf(request) === '/v1/ping' && !request.headers.has('X-Service-API-Key')
        ? createAnswer(401, null, 'missing authentication headers')
        : sandbox.fetch(request, connection),
  },
  {
    name: 'ping without a status',
    caughtBy: 'ping.answer',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (pathOf(request) === '/v1/ping') reply.body.data = {}
      }),
  },
  {
    name: 'status_message client_error on an internal error',
    caughtBy: 'standing.internal-error',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status >= 500) reply.body.status_message = 'client_error'
      }),
  },
  {
    name: 'paths without a version are accepted',
    caughtBy: 'versioning.prefix',
    createHandler: (sandbox) =>
      onRequest(sandbox, (url) => {
        if (!url.pathname.startsWith('/v1/')) url.pathname = `/v1${url.pathname}`
      }),
  },
  {
    name: 'a 403 for every call of a member',
    caughtBy: 'authentication.second-user',
    createHandler: (sandbox) => (request, connection) =>
      request.headers.get('X-Service-User-Email') === sandbox.people.member
        ? createAnswer(403, null, 'the role of the user does not permit this action')
        : sandbox.fetch(request, connection),
  },
  {
    name: 'the list of users lacks the caller',
    caughtBy: 'authentication.caller',
    createHandler: (sandbox) => onUsers(sandbox, (users) => users.splice(0, 1)),
  },
  {
    name: 'a 403 for a request that does not exist',
    caughtBy: 'requests.unknown',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (reply.status === 404 && requestPath.test(pathOf(request))) reply.status = 403
      }),
  },
  {
    name: 'a call without the user e-mail is accepted',
    caughtBy: 'authentication.required',
    createHandler: (sandbox) =>
      onRequest(sandbox, (_url, headers) => {
        if (!headers.has('X-Service-User-Email')) {
          headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
        }
      }),
  },
  {
    name: 'the key is compared without regard to case',
    caughtBy: 'authentication.opaque-key',
    createHandler: (sandbox) =>
      onRequest(sandbox, (_url, headers) => {
        const { apiKey } = sandbox.credentials
        const key = headers.get('X-Service-API-Key')
        if (key?.toLowerCase() === apiKey.toLowerCase()) headers.set('X-Service-API-Key', apiKey)
      }),
  },
  {
    name: 'a key in the query is accepted',
    caughtBy: 'authentication.key-in-url',
    createHandler: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        const key = url.searchParams.get('api_key')
        if (key !== null) headers.set('X-Service-API-Key', key)
      }),
  },
  {
    name: 'a 403 for a key that does not exist',
    caughtBy: 'authentication.invalid-key',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.body.message === 'invalid API key') reply.status = 403
      }),
  },
  {
    name: 'a 401 for an unknown user',
    caughtBy: 'authentication.unknown-user',
    createHandler: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 403) reply.status = 401
      }),
  },
  {
    name: 'a key of another organisation can read the requests',
    caughtBy: 'authentication.other-organisation',
    createHandler: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        if (!url.pathname.startsWith('/v1/requests/')) return
        headers.set('X-Service-API-Key', sandbox.credentials.apiKey)
        headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
      }),
  },
  {
    name: 'a revoked key is accepted',
    caughtBy: 'standing.revoked-key',
    createHandler: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request, connection)
      const isRevokedKey = request.headers.get('X-Service-API-Key') === sandbox.credentials.apiKey
      const { message } = (await answer.clone().json()) as { message: string }
      return isRevokedKey && message === 'invalid API key' ? createAnswer(200, { users: [] }) : answer
    },
  },
  {
    name: 'the list of users contains a deactivated user',
    caughtBy: 'standing.inactive-user',
    createHandler: (sandbox) => {
      let firstList: unknown
      return onJson(sandbox, (reply, request) => {
        if (pathOf(request) !== '/v1/users' || reply.status !== 200) return
        firstList ??= reply.body.data
        reply.body.data = firstList
      })
    },
  },
]
