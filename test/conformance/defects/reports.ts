import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { Handler } from '../../../src/server/listen.ts'
import {
  createAnswer,
  createCallDefect,
  createReadDefect,
  createReplyDefect,
  type Defect,
  onReads,
  onRequest,
  pathOf,
  requestPath,
} from './defect.ts'

const reportPath = /^\/v1\/reports\//

/** Returns a handler that lets `change` replace each answer that is a PDF. */
function onPdf(
  sandbox: Sandbox,
  change: (answer: Response, request: Request) => Response | Promise<Response>,
): Handler {
  return async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    return answer.headers.get('Content-Type') === 'application/pdf' ? change(answer, request) : answer
  }
}

/** Returns a handler that ignores the token of each URL that `isAccepted` selects, and uses the owner's key instead. */
function acceptToken(sandbox: Sandbox, isAccepted: (url: URL) => boolean): Handler {
  return onRequest(sandbox, (url, headers) => {
    if (!url.searchParams.has('t') || !isAccepted(url)) return
    url.searchParams.delete('t')
    headers.set('X-Service-API-Key', sandbox.credentials.apiKey)
    headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
  })
}

/** Whether the parameter `t` of a URL has the form of a token, valid or not. */
const hasTokenForm = (url: URL): boolean => /^[^.]+\.[^.]+\.[\w-]{43}$/.test(url.searchParams.get('t') ?? '')

export const reportDefects: Defect[] = [
  {
    name: 'any token is accepted',
    caughtBy: 'reports.token-invalid',
    createHandler: (sandbox) => acceptToken(sandbox, ({ pathname }) => reportPath.test(pathname)),
  },
  {
    name: 'a token of one report is accepted for every report',
    caughtBy: 'reports.token-of-another',
    createHandler: (sandbox) => {
      const issuedTokens = new Set<string>()
      const readRequest = onReads(sandbox, ({ checks }) => {
        for (const { report_pdf_url: checkUrl, references = [] } of checks) {
          for (const url of [checkUrl, ...references.map((referee) => referee.report_pdf_url)]) {
            if (typeof url === 'string') issuedTokens.add(new URL(url).searchParams.get('t') ?? '')
          }
        }
      })
      const readReport = acceptToken(sandbox, (url) => issuedTokens.has(url.searchParams.get('t') ?? ''))
      return (request, connection) =>
        (reportPath.test(pathOf(request)) ? readReport : readRequest)(request, connection)
    },
  },
  {
    name: 'a token is accepted for reading requests',
    caughtBy: 'reports.token-elsewhere',
    createHandler: (sandbox) => acceptToken(sandbox, ({ pathname }) => requestPath.test(pathname)),
  },
  createCallDefect(
    'an invalid token is ignored if the headers are sent too',
    'reports.token-invalid',
    (url, headers) => {
      if (headers.has('X-Service-API-Key')) url.searchParams.delete('t')
    },
  ),
  {
    name: 'a token without the headers is refused',
    caughtBy: 'reports.by-token',
    createHandler: (sandbox) => (request, connection) =>
      reportPath.test(pathOf(request)) && !request.headers.has('X-Service-API-Key')
        ? createAnswer(401, null, 'missing authentication headers')
        : sandbox.fetch(request, connection),
  },
  {
    name: 'a token never expires',
    caughtBy: 'reports.token-life',
    createHandler: (sandbox) => acceptToken(sandbox, hasTokenForm),
  },
  {
    name: 'a token expires after half an hour',
    caughtBy: 'reports.token-life',
    createHandler: (sandbox) => {
      const issuedAt = new Map<string, number>()
      const now = (): number => sandbox.overview().now
      const readRequest = onReads(sandbox, ({ checks }) => {
        for (const { report_pdf_url: url } of checks) {
          if (typeof url === 'string') issuedAt.set(new URL(url).searchParams.get('t') ?? '', now())
        }
      })
      return (request, connection) => {
        const at = issuedAt.get(new URL(request.url).searchParams.get('t') ?? '')
        return at !== undefined && now() - at > 1_800_000
          ? createAnswer(401, null, 'invalid or expired report token')
          : readRequest(request, connection)
      }
    },
  },
  createReadDefect('report URLs without a token', 'reports.url', ({ checks }) => {
    for (const check of checks) {
      if (typeof check.report_pdf_url === 'string') check.report_pdf_url = check.report_pdf_url.split('?')[0]
    }
  }),
  {
    name: 'reports with the type octet-stream',
    caughtBy: 'reports.by-headers',
    createHandler: (sandbox) =>
      onPdf(sandbox, async (answer) => {
        const headers = new Headers(answer.headers)
        headers.set('Content-Type', 'application/octet-stream')
        return new Response(await answer.arrayBuffer(), { headers })
      }),
  },
  {
    name: 'reports of which the second half is missing',
    caughtBy: 'reports.by-headers',
    createHandler: (sandbox) =>
      onPdf(sandbox, async (answer) => {
        const bytes = await answer.arrayBuffer()
        return new Response(bytes.slice(0, bytes.byteLength / 2), { headers: answer.headers })
      }),
  },
  {
    name: 'reports without cache headers',
    caughtBy: 'answers.cache-headers',
    alsoRuns: 'reports.by-headers',
    createHandler: (sandbox) =>
      onPdf(
        sandbox,
        async (answer) =>
          new Response(await answer.arrayBuffer(), { headers: { 'Content-Type': 'application/pdf' } }),
      ),
  },
  createReplyDefect('a 400 for a report that does not exist', 'reports.unknown', (reply, request) => {
    if (reply.status === 404 && reportPath.test(pathOf(request))) reply.status = 400
  }),
  createReplyDefect('a 200 for a report that is not ready yet', 'reports.not-yet', (reply, request) => {
    if (reply.status === 404 && reportPath.test(pathOf(request))) reply.status = 200
  }),
  {
    name: 'a key of another organisation can download reports',
    caughtBy: 'reports.of-another-organisation',
    createHandler: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        if (!reportPath.test(url.pathname) || !headers.has('X-Service-API-Key')) return
        headers.set('X-Service-API-Key', sandbox.credentials.apiKey)
        headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
      }),
  },
  {
    name: 'the path of a referee returns the report of a background check',
    caughtBy: 'reports.kinds',
    createHandler: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request.clone(), connection)
      const path = /^(\/v1\/reports\/[^/]+)\/referees\/1$/.exec(pathOf(request))?.[1]
      if (answer.status !== 404 || path === undefined) return answer
      return sandbox.fetch(new Request(new URL(path, request.url), { headers: request.headers }), connection)
    },
  },
]
