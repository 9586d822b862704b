import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { Handler } from '../../../src/server/listen.ts'
import { createAnswer, createReplyDefect, type Defect, onRequest, pathOf } from './defect.ts'

/**
 * For each call that `isCountedTwice` returns true for, sends an additional GET /v1/users, so that the sandbox counts one
 * call more.
 */
function countTwice(sandbox: Sandbox, isCountedTwice: (request: Request) => boolean): Handler {
  return async (request, connection) => {
    if (isCountedTwice(request)) {
      const { apiKey, userEmail } = sandbox.credentials
      const headers = { 'X-Service-API-Key': apiKey, 'X-Service-User-Email': userEmail }
      await sandbox.fetch(new Request(new URL('/v1/users', request.url), { headers }), connection)
    }
    return sandbox.fetch(request, connection)
  }
}

/** Answers the first call of a window that exceeds the quota with 200 instead of 429. */
function allowOneMoreCall(sandbox: Sandbox): Handler {
  let extraCallsLeft = 1
  return async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    if (answer.status !== 429) {
      extraCallsLeft = 1
      return answer
    }
    if (extraCallsLeft === 0) return answer
    extraCallsLeft -= 1
    return createAnswer(200, { users: [] })
  }
}

/** Answers calls of GET /v1/users with 429 if there were `calls` of them in the last `seconds`: a sliding window. */
function limitBySlidingWindow(sandbox: Sandbox, calls: number, seconds: number): Handler {
  let callTimes: number[] = []
  return async (request, connection) => {
    const answer = await sandbox.fetch(request.clone(), connection)
    if (pathOf(request) !== '/v1/users' || answer.status !== 200) return answer
    const { now } = sandbox.overview()
    callTimes = callTimes.filter((time) => now - time < seconds * 1000)
    const [oldest] = callTimes
    if (callTimes.length >= calls && oldest !== undefined) {
      const refusal = createAnswer(429, null, 'rate limit exceeded')
      refusal.headers.set('Retry-After', String(Math.ceil((oldest + seconds * 1000 - now) / 1000)))
      return refusal
    }
    callTimes.push(now)
    return answer
  }
}

/** Creates a defect that changes, or removes, the Retry-After header of every 429. */
const createRetryAfterDefect = (
  name: string,
  caughtBy: string,
  change: (seconds: number) => number | undefined,
): Defect =>
  createReplyDefect(name, caughtBy, ({ status, headers }) => {
    if (status !== 429) return
    const seconds = change(Number(headers.get('Retry-After')))
    if (seconds === undefined) headers.delete('Retry-After')
    else headers.set('Retry-After', String(seconds))
  })

export const throttleDefects: Defect[] = [
  {
    name: 'one call more than the quota of a minute is allowed',
    caughtBy: 'throttle.minute',
    createHandler: allowOneMoreCall,
  },
  {
    name: 'every second call is counted twice',
    caughtBy: 'throttle.minute',
    createHandler: (sandbox) => {
      let calls = 0
      return countTwice(sandbox, (request) => {
        calls += 1
        return pathOf(request) === '/v1/users' && calls % 2 === 0
      })
    },
  },
  {
    name: 'pings count against the quota',
    caughtBy: 'throttle.ping-exempt',
    createHandler: (sandbox) => countTwice(sandbox, (request) => pathOf(request) === '/v1/ping'),
  },
  {
    name: 'pings are throttled',
    caughtBy: 'throttle.ping-exempt',
    createHandler: (sandbox) => {
      let lastStatus = 200
      return async (request, connection) => {
        const answer = await sandbox.fetch(request, connection)
        if (pathOf(request) !== '/v1/ping') lastStatus = answer.status
        else if (lastStatus === 429) return createAnswer(429, null, 'rate limit exceeded')
        return answer
      }
    },
  },
  {
    name: 'downloads by a token count against the quota',
    caughtBy: 'throttle.token-exempt',
    createHandler: (sandbox) => countTwice(sandbox, (request) => new URL(request.url).searchParams.has('t')),
  },
  {
    name: 'a sliding window instead of a fixed window',
    caughtBy: 'throttle.fixed-window',
    createHandler: (sandbox) => limitBySlidingWindow(sandbox, 6, 60),
  },
  {
    name: 'one quota for all keys',
    caughtBy: 'throttle.per-key',
    createHandler: (sandbox) =>
      onRequest(sandbox, (_url, headers) => {
        if (headers.get('X-Service-API-Key') !== sandbox.otherOrganisationOwner.apiKey) return
        headers.set('X-Service-API-Key', sandbox.credentials.apiKey)
        headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
      }),
  },
  createReplyDefect('POST /v1/requests is not throttled', 'throttle.every-endpoint', (reply, request) => {
    if (reply.status === 429 && request.method === 'POST') reply.status = 400
  }),
  createRetryAfterDefect(
    'a Retry-After of at most 60 when the quota of the hour is used up',
    'throttle.hour',
    (seconds) => Math.min(seconds, 60),
  ),
  createRetryAfterDefect('a Retry-After that is always 60', 'throttle.minute-retry-after', () => 60),
  createRetryAfterDefect(
    'a Retry-After that is one second too short',
    'throttle.minute-retry-after',
    (seconds) => Math.max(1, seconds - 1),
  ),
  createRetryAfterDefect(
    'no Retry-After (as throttle.minute-retry-after sees it)',
    'throttle.minute-retry-after',
    () => undefined,
  ),
  createRetryAfterDefect(
    'no Retry-After (as answers.retry-after sees it)',
    'answers.retry-after',
    () => undefined,
  ),
  {
    name: 'no quota for an hour',
    caughtBy: 'throttle.hour',
    createHandler: (sandbox) => {
      const isUsersCall = (request: Request): boolean => pathOf(request) === '/v1/users'
      return async (request, connection) => {
        const answer = await sandbox.fetch(request, connection)
        const seconds = Number(answer.headers.get('Retry-After') ?? 0)
        return isUsersCall(request) && seconds > 60 ? createAnswer(200, { users: [] }) : answer
      }
    },
  },
]
