import { answerOf, type Defect, onJson, onRequest, onUsers, pathOf, requestPath } from './defect.ts'

export const answerDefects: Defect[] = [
  {
    name: 'no Pragma on a 404',
    caughtBy: 'answers.cache-headers',
    around: (sandbox) =>
      onJson(sandbox, ({ status, headers }) => {
        if (status === 404) headers.delete('Pragma')
      }),
  },
  {
    name: 'Cache-Control that lets errors be kept',
    caughtBy: 'answers.cache-headers',
    around: (sandbox) =>
      onJson(sandbox, ({ status, headers }) => {
        if (status === 401) headers.set('Cache-Control', 'max-age=60')
      }),
  },
  {
    name: 'Expires -1',
    caughtBy: 'answers.cache-headers',
    around: (sandbox) => onJson(sandbox, ({ headers }) => headers.set('Expires', '-1')),
  },
  {
    name: 'status_message error on a 403',
    caughtBy: 'answers.status-message',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 403) reply.body.status_message = 'error'
      }),
  },
  {
    name: 'an empty object as data of errors',
    caughtBy: 'answers.data',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        reply.body.data ??= {}
      }),
  },
  {
    name: 'a message on success',
    caughtBy: 'answers.message',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 200) reply.body.message = 'OK'
      }),
  },
  {
    name: 'no message on a 401',
    caughtBy: 'answers.message',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 401) reply.body.message = ''
      }),
  },
  {
    name: 'HTML for an unknown place',
    caughtBy: 'answers.content-type',
    around: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request, connection)
      if (!pathOf(request).startsWith('/v1/no/')) return answer
      return new Response('<h1>Not found</h1>', { status: 404, headers: { 'Content-Type': 'text/html' } })
    },
  },
  {
    name: '422 instead of 400',
    caughtBy: 'answers.never-422',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 400) reply.status = 422
      }),
  },
  {
    name: '405 for an unknown place',
    caughtBy: 'answers.known-statuses',
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (pathOf(request).startsWith('/v1/no/')) reply.status = 405
      }),
  },
  {
    name: 'ping needs a key',
    caughtBy: 'ping.no-authentication',
    around: (sandbox) => (request, connection) =>
      pathOf(request) === '/v1/ping' && !request.headers.has('X-Service-API-Key')
        ? answerOf(401, null, 'missing authentication headers')
        : sandbox.fetch(request, connection),
  },
  {
    name: 'ping without a status',
    caughtBy: 'ping.answer',
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (pathOf(request) === '/v1/ping') reply.body.data = {}
      }),
  },
  {
    name: 'an internal error called client_error',
    caughtBy: 'standing.internal-error',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status >= 500) reply.body.status_message = 'client_error'
      }),
  },
  {
    name: 'the service without a version in the path',
    caughtBy: 'versioning.prefix',
    around: (sandbox) =>
      onRequest(sandbox, (url) => {
        if (!url.pathname.startsWith('/v1/')) url.pathname = `/v1${url.pathname}`
      }),
  },
  {
    name: 'a member is let in nowhere',
    caughtBy: 'authentication.second-user',
    around: (sandbox) => (request, connection) =>
      request.headers.get('X-Service-User-Email') === sandbox.people.member
        ? answerOf(403, null, 'the role of the user does not permit this action')
        : sandbox.fetch(request, connection),
  },
  {
    name: 'the caller is left out of the users',
    caughtBy: 'authentication.caller',
    around: (sandbox) => onUsers(sandbox, (users) => users.splice(0, 1)),
  },
  {
    name: 'a 403 for a request nobody has',
    caughtBy: 'requests.unknown',
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (reply.status === 404 && requestPath.test(pathOf(request))) reply.status = 403
      }),
  },
  {
    name: 'the user e-mail may be left out',
    caughtBy: 'authentication.required',
    around: (sandbox) =>
      onRequest(sandbox, (_url, headers) => {
        if (!headers.has('X-Service-User-Email')) {
          headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
        }
      }),
  },
  {
    name: 'the key is compared without regard to case',
    caughtBy: 'authentication.opaque-key',
    around: (sandbox) =>
      onRequest(sandbox, (_url, headers) => {
        const { apiKey } = sandbox.credentials
        const key = headers.get('X-Service-API-Key')
        if (key?.toLowerCase() === apiKey.toLowerCase()) headers.set('X-Service-API-Key', apiKey)
      }),
  },
  {
    name: 'the key is taken from the query',
    caughtBy: 'authentication.key-in-url',
    around: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        const key = url.searchParams.get('api_key')
        if (key !== null) headers.set('X-Service-API-Key', key)
      }),
  },
  {
    name: 'a 403 for a key nobody has',
    caughtBy: 'authentication.invalid-key',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.body.message === 'invalid API key') reply.status = 403
      }),
  },
  {
    name: 'a 401 for a user nobody knows',
    caughtBy: 'authentication.unknown-user',
    around: (sandbox) =>
      onJson(sandbox, (reply) => {
        if (reply.status === 403) reply.status = 401
      }),
  },
  {
    name: 'a key of another organisation reads our requests',
    caughtBy: 'authentication.other-organisation',
    around: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        if (!url.pathname.startsWith('/v1/requests/')) return
        headers.set('X-Service-API-Key', sandbox.credentials.apiKey)
        headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
      }),
  },
  {
    name: 'a revoked key stays good',
    caughtBy: 'standing.revoked-key',
    around: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request, connection)
      const mine = request.headers.get('X-Service-API-Key') === sandbox.credentials.apiKey
      const { message } = (await answer.clone().json()) as { message: string }
      return mine && message === 'invalid API key' ? answerOf(200, { users: [] }) : answer
    },
  },
  {
    name: 'a user who was deactivated stays listed',
    caughtBy: 'standing.inactive-user',
    around: (sandbox) => {
      let first: unknown
      return onJson(sandbox, (reply, request) => {
        if (pathOf(request) !== '/v1/users' || reply.status !== 200) return
        first ??= reply.body.data
        reply.body.data = first
      })
    },
  },
]
