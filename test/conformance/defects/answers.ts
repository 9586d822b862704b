import {
  createAnswer,
  createCallDefect,
  createReplyDefect,
  createUsersDefect,
  type Defect,
  onJson,
  onRequest,
  pathOf,
  requestPath,
} from './defect.ts'

export const answerDefects: Defect[] = [
  createReplyDefect('no Pragma on a 404', 'answers.cache-headers', ({ status, headers }) => {
    if (status === 404) headers.delete('Pragma')
  }),
  createReplyDefect(
    'Cache-Control that allows a cache to store errors',
    'answers.cache-headers',
    ({ status, headers }) => {
      if (status === 401) headers.set('Cache-Control', 'max-age=60')
    },
  ),
  createReplyDefect('Expires -1', 'answers.cache-headers', ({ headers }) => headers.set('Expires', '-1')),
  createReplyDefect('status_message error on a 403', 'answers.status-message', (reply) => {
    if (reply.status === 403) reply.body.status_message = 'error'
  }),
  createReplyDefect('an empty object instead of null as the data of an error', 'answers.data', (reply) => {
    reply.body.data ??= {}
  }),
  createReplyDefect('a message on success', 'answers.message', (reply) => {
    if (reply.status === 200) reply.body.message = 'OK'
  }),
  createReplyDefect('no message on a 401', 'answers.message', (reply) => {
    if (reply.status === 401) reply.body.message = ''
  }),
  {
    name: 'HTML for an unknown path',
    caughtBy: 'answers.content-type',
    createHandler: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request, connection)
      if (!pathOf(request).startsWith('/v1/no/')) return answer
      return new Response('<h1>Not found</h1>', { status: 404, headers: { 'Content-Type': 'text/html' } })
    },
  },
  createReplyDefect('422 instead of 400', 'answers.never-422', (reply) => {
    if (reply.status === 400) reply.status = 422
  }),
  createReplyDefect('405 for an unknown path', 'answers.known-statuses', (reply, request) => {
    if (pathOf(request).startsWith('/v1/no/')) reply.status = 405
  }),
  {
    name: 'ping needs a key',
    caughtBy: 'ping.no-authentication',
    createHandler: (sandbox) => (request, connection) =>
      pathOf(request) === '/v1/ping' && !request.headers.has('X-Service-API-Key')
        ? createAnswer(401, null, 'missing authentication headers')
        : sandbox.fetch(request, connection),
  },
  createReplyDefect('ping without a status', 'ping.answer', (reply, request) => {
    if (pathOf(request) === '/v1/ping') reply.body.data = {}
  }),
  createReplyDefect(
    'status_message client_error on an internal error',
    'standing.internal-error',
    (reply) => {
      if (reply.status >= 500) reply.body.status_message = 'client_error'
    },
  ),
  createCallDefect('paths without a version are accepted', 'versioning.prefix', (url) => {
    if (!url.pathname.startsWith('/v1/')) url.pathname = `/v1${url.pathname}`
  }),
  {
    name: 'a 403 for every call of a member',
    caughtBy: 'authentication.second-user',
    createHandler: (sandbox) => (request, connection) =>
      request.headers.get('X-Service-User-Email') === sandbox.people.member
        ? createAnswer(403, null, 'the role of the user does not permit this action')
        : sandbox.fetch(request, connection),
  },
  createUsersDefect('the list of users lacks the caller', 'authentication.caller', (users) =>
    users.splice(0, 1),
  ),
  createReplyDefect('a 403 for a request that does not exist', 'requests.unknown', (reply, request) => {
    if (reply.status === 404 && requestPath.test(pathOf(request))) reply.status = 403
  }),
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
  createCallDefect('a key in the query is accepted', 'authentication.key-in-url', (url, headers) => {
    const key = url.searchParams.get('api_key')
    if (key !== null) headers.set('X-Service-API-Key', key)
  }),
  createReplyDefect('a 403 for a key that does not exist', 'authentication.invalid-key', (reply) => {
    if (reply.body.message === 'invalid API key') reply.status = 403
  }),
  createReplyDefect('a 401 for an unknown user', 'authentication.unknown-user', (reply) => {
    if (reply.status === 403) reply.status = 401
  }),
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
