import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { Handler } from '../../../src/server/listen.ts'
import { answerOf, type Defect, onJson, onRequest, pathOf } from './defect.ts'

const tight = true

/** Counts every call that `counts` says, once more than the sandbox does. */
function countingToo(sandbox: Sandbox, counts: (request: Request) => boolean): Handler {
  return async (request, connection) => {
    if (counts(request)) {
      const { apiKey, userEmail } = sandbox.credentials
      const headers = { 'X-Service-API-Key': apiKey, 'X-Service-User-Email': userEmail }
      await sandbox.fetch(new Request(new URL('/v1/users', request.url), { headers }), connection)
    }
    return sandbox.fetch(request, connection)
  }
}

/** The next call after a breach of `calls` is let through with an answer of its own. */
function generous(sandbox: Sandbox): Handler {
  let spare = 1
  return async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    if (answer.status !== 429) {
      spare = 1
      return answer
    }
    if (spare === 0) return answer
    spare -= 1
    return answerOf(200, { users: [] })
  }
}

/** Allows so many calls within the last `seconds`, wherever a window begins. */
function sliding(sandbox: Sandbox, calls: number, seconds: number): Handler {
  let made: number[] = []
  return async (request, connection) => {
    const answer = await sandbox.fetch(request.clone(), connection)
    if (pathOf(request) !== '/v1/users' || answer.status !== 200) return answer
    const { now } = sandbox.overview()
    made = made.filter((at) => now - at < seconds * 1000)
    const [oldest] = made
    if (made.length >= calls && oldest !== undefined) {
      const limited = answerOf(429, null, 'rate limit exceeded')
      limited.headers.set('Retry-After', String(Math.ceil((oldest + seconds * 1000 - now) / 1000)))
      return limited
    }
    made.push(now)
    return answer
  }
}

/** What every 429 says instead. */
const retryAfter = (
  name: string,
  caughtBy: string,
  changed: (seconds: number) => number | undefined,
): Defect => ({
  name,
  caughtBy,
  tight,
  around: (sandbox) =>
    onJson(sandbox, ({ status, headers }) => {
      if (status !== 429) return
      const seconds = changed(Number(headers.get('Retry-After')))
      if (seconds === undefined) headers.delete('Retry-After')
      else headers.set('Retry-After', String(seconds))
    }),
})

export const throttleDefects: Defect[] = [
  {
    name: 'one call more than the minute allows',
    caughtBy: 'throttle.minute',
    tight,
    around: generous,
  },
  {
    name: 'every second call counts double',
    caughtBy: 'throttle.minute',
    tight,
    around: (sandbox) => {
      let calls = 0
      return countingToo(sandbox, (request) => {
        calls += 1
        return pathOf(request) === '/v1/users' && calls % 2 === 0
      })
    },
  },
  {
    name: 'pings count',
    caughtBy: 'throttle.ping-exempt',
    tight,
    around: (sandbox) => countingToo(sandbox, (request) => pathOf(request) === '/v1/ping'),
  },
  {
    name: 'pings are throttled',
    caughtBy: 'throttle.ping-exempt',
    tight,
    around: (sandbox) => {
      let last = 200
      return async (request, connection) => {
        const answer = await sandbox.fetch(request, connection)
        if (pathOf(request) !== '/v1/ping') last = answer.status
        else if (last === 429) return answerOf(429, null, 'rate limit exceeded')
        return answer
      }
    },
  },
  {
    name: 'downloads by token count',
    caughtBy: 'throttle.token-exempt',
    tight,
    around: (sandbox) => countingToo(sandbox, (request) => new URL(request.url).searchParams.has('t')),
  },
  {
    name: 'a window that slides',
    caughtBy: 'throttle.fixed-window',
    tight,
    around: (sandbox) => sliding(sandbox, 6, 60),
  },
  {
    name: 'one quota for all keys',
    caughtBy: 'throttle.per-key',
    tight,
    around: (sandbox) =>
      onRequest(sandbox, (_url, headers) => {
        if (headers.get('X-Service-API-Key') !== sandbox.otherOrganisation.apiKey) return
        headers.set('X-Service-API-Key', sandbox.credentials.apiKey)
        headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
      }),
  },
  {
    name: 'creating is not throttled',
    caughtBy: 'throttle.every-endpoint',
    tight,
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (reply.status === 429 && request.method === 'POST') reply.status = 400
      }),
  },
  retryAfter('the minute’s Retry-After when the hour is full', 'throttle.hour', (seconds) =>
    Math.min(seconds, 60),
  ),
  retryAfter('always a minute', 'throttle.minute-retry-after', () => 60),
  retryAfter('a second too few', 'throttle.minute-retry-after', (seconds) => Math.max(1, seconds - 1)),
  retryAfter('no Retry-After', 'throttle.minute-retry-after', () => undefined),
  {
    ...retryAfter('no Retry-After on any 429', 'answers.retry-after', () => undefined),
    also: 'throttle.minute',
  },
  {
    name: 'no quota of the hour',
    caughtBy: 'throttle.hour',
    tight,
    around: (sandbox) => {
      const own = (request: Request): boolean => pathOf(request) === '/v1/users'
      return async (request, connection) => {
        const answer = await sandbox.fetch(request, connection)
        const seconds = Number(answer.headers.get('Retry-After') ?? 0)
        return own(request) && seconds > 60 ? answerOf(200, { users: [] }) : answer
      }
    },
  },
]
