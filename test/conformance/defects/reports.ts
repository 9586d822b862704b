import type { Sandbox } from '../../../src/sandbox/control/embedded.ts'
import type { Handler } from '../../../src/server/listen.ts'
import { answerOf, type Defect, onJson, onReads, onRequest, pathOf, requestPath } from './defect.ts'

const reportPath = /^\/v1\/reports\//

/** What is sent in place of a report. */
function onPdf(
  sandbox: Sandbox,
  change: (answer: Response, request: Request) => Response | Promise<Response>,
): Handler {
  return async (request, connection) => {
    const answer = await sandbox.fetch(request, connection)
    return answer.headers.get('Content-Type') === 'application/pdf' ? change(answer, request) : answer
  }
}

/** Lets the owner in where a token does not. */
function lettingIn(sandbox: Sandbox, when: (url: URL) => boolean): Handler {
  return onRequest(sandbox, (url, headers) => {
    if (!url.searchParams.has('t') || !when(url)) return
    url.searchParams.delete('t')
    headers.set('X-Service-API-Key', sandbox.credentials.apiKey)
    headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
  })
}

/** Whether a text has the form of a token, whatever it was made for. */
const looksIssued = (url: URL): boolean => /^[^.]+\.[^.]+\.[\w-]{43}$/.test(url.searchParams.get('t') ?? '')

export const reportDefects: Defect[] = [
  {
    name: 'any token is good',
    caughtBy: 'reports.token-invalid',
    around: (sandbox) => lettingIn(sandbox, ({ pathname }) => reportPath.test(pathname)),
  },
  {
    name: 'a token is good for every report',
    caughtBy: 'reports.token-of-another',
    around: (sandbox) => {
      const issued = new Set<string>()
      const reading = onReads(sandbox, ({ checks }) => {
        for (const { report_pdf_url: own, references = [] } of checks) {
          for (const url of [own, ...references.map((referee) => referee.report_pdf_url)]) {
            if (typeof url === 'string') issued.add(new URL(url).searchParams.get('t') ?? '')
          }
        }
      })
      const report = lettingIn(sandbox, (url) => issued.has(url.searchParams.get('t') ?? ''))
      return (request, connection) =>
        (reportPath.test(pathOf(request)) ? report : reading)(request, connection)
    },
  },
  {
    name: 'a token opens requests',
    caughtBy: 'reports.token-elsewhere',
    around: (sandbox) => lettingIn(sandbox, ({ pathname }) => requestPath.test(pathname)),
  },
  {
    name: 'a bad token does not matter beside headers',
    caughtBy: 'reports.token-invalid',
    around: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        if (headers.has('X-Service-API-Key')) url.searchParams.delete('t')
      }),
  },
  {
    name: 'a token does not replace the headers',
    caughtBy: 'reports.by-token',
    around: (sandbox) => (request, connection) =>
      reportPath.test(pathOf(request)) && !request.headers.has('X-Service-API-Key')
        ? answerOf(401, null, 'missing authentication headers')
        : sandbox.fetch(request, connection),
  },
  {
    name: 'a token never expires',
    caughtBy: 'reports.token-life',
    around: (sandbox) => lettingIn(sandbox, looksIssued),
  },
  {
    name: 'a token lives for half an hour',
    caughtBy: 'reports.token-life',
    around: (sandbox) => {
      const issued = new Map<string, number>()
      const now = (): number => sandbox.overview().now
      const reading = onReads(sandbox, ({ checks }) => {
        for (const { report_pdf_url: url } of checks) {
          if (typeof url === 'string') issued.set(new URL(url).searchParams.get('t') ?? '', now())
        }
      })
      return (request, connection) => {
        const at = issued.get(new URL(request.url).searchParams.get('t') ?? '')
        return at !== undefined && now() - at > 1_800_000
          ? answerOf(401, null, 'invalid or expired report token')
          : reading(request, connection)
      }
    },
  },
  {
    name: 'report URLs without a token',
    caughtBy: 'reports.url',
    around: (sandbox) =>
      onReads(sandbox, ({ checks }) => {
        for (const check of checks) {
          if (typeof check.report_pdf_url === 'string')
            check.report_pdf_url = check.report_pdf_url.split('?')[0]
        }
      }),
  },
  {
    name: 'reports as octet-stream',
    caughtBy: 'reports.by-headers',
    around: (sandbox) =>
      onPdf(sandbox, async (answer) => {
        const headers = new Headers(answer.headers)
        headers.set('Content-Type', 'application/octet-stream')
        return new Response(await answer.arrayBuffer(), { headers })
      }),
  },
  {
    name: 'reports that end in the middle',
    caughtBy: 'reports.by-headers',
    around: (sandbox) =>
      onPdf(sandbox, async (answer) => {
        const bytes = await answer.arrayBuffer()
        return new Response(bytes.slice(0, bytes.byteLength / 2), { headers: answer.headers })
      }),
  },
  {
    name: 'reports without cache headers',
    caughtBy: 'answers.cache-headers',
    also: 'reports.by-headers',
    around: (sandbox) =>
      onPdf(
        sandbox,
        async (answer) =>
          new Response(await answer.arrayBuffer(), { headers: { 'Content-Type': 'application/pdf' } }),
      ),
  },
  {
    name: 'a 400 for a report nobody has',
    caughtBy: 'reports.unknown',
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (reply.status === 404 && reportPath.test(pathOf(request))) reply.status = 400
      }),
  },
  {
    name: 'an empty 200 for a report that is not there yet',
    caughtBy: 'reports.not-yet',
    around: (sandbox) =>
      onJson(sandbox, (reply, request) => {
        if (reply.status === 404 && reportPath.test(pathOf(request))) reply.status = 200
      }),
  },
  {
    name: 'a report for whoever has a key',
    caughtBy: 'reports.of-another-organisation',
    around: (sandbox) =>
      onRequest(sandbox, (url, headers) => {
        if (!reportPath.test(url.pathname) || !headers.has('X-Service-API-Key')) return
        headers.set('X-Service-API-Key', sandbox.credentials.apiKey)
        headers.set('X-Service-User-Email', sandbox.credentials.userEmail)
      }),
  },
  {
    name: 'a background report under any referee',
    caughtBy: 'reports.kinds',
    around: (sandbox) => async (request, connection) => {
      const answer = await sandbox.fetch(request.clone(), connection)
      const path = /^(\/v1\/reports\/[^/]+)\/referees\/1$/.exec(pathOf(request))?.[1]
      if (answer.status !== 404 || path === undefined) return answer
      return sandbox.fetch(new Request(new URL(path, request.url), { headers: request.headers }), connection)
    },
  },
]
