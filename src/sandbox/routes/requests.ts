import type { Context, Hono } from 'hono'

import type { Check, Referee, RequestResource } from '../../contract/request.ts'
import { failure, ok, refusals } from '../answer.ts'
import { authenticate, type CallEnv } from '../call.ts'
import { createRequest } from '../create.ts'
import type { CheckRecord, RequestRecord } from '../records.ts'
import type { Service } from '../service.ts'
import { backgroundReport, refereeReport } from '../token.ts'

export function addRequestRoutes(app: Hono<CallEnv>): void {
  app.post('/v1/requests', async (context) => {
    const created = await createRequest(context.req.raw, context.env)
    return created === undefined
      ? failure(500, 'internal server error')
      : ok({ request_id: created.request_id, status: 'RECEIVED' }, 201)
  })
  app.get('/v1/requests/:id', read)
}

/** GET /v1/requests/{request_id} */
function read(context: Context<CallEnv>): Response {
  const { service, now } = context.env
  const { organisation } = authenticate(context.req.raw.headers, context.env)
  const request = service.state.requests.get((context.req.param('id') ?? '').toLowerCase())
  if (request === undefined || request.organisation_id !== organisation.id) throw refusals.notFound()
  service.bringUpToDate(request, now)
  const url = context.req.url
  return ok(requestView(request, service, now, url.slice(0, url.indexOf('/', 8))))
}

/** The resource as clients read it; report URLs lead to `origin` and are signed afresh. */
export function requestView(
  request: RequestRecord,
  service: Service,
  now: number,
  origin: string,
): RequestResource {
  const signed = (report: string): string =>
    `${origin}/v1/reports/${report}?t=${service.tokens.issue(report, now)}`
  return {
    request_id: request.request_id,
    package_id: request.package_id,
    status: request.status,
    created_at: timestamp(request.created_at, service.rule('created-at-form')),
    requester: { email: request.requester_email },
    recipient: { ...request.recipient },
    checks: request.checks.map((check) => checkView(check, signed)),
  }
}

function checkView(check: CheckRecord, signed: (report: string) => string): Check {
  const id = check.created ? check.id : null
  if (check.type === 'reference') {
    const references = check.referees.map(({ report_at, ...referee }): Referee => ({
      ...referee,
      report_pdf_url: report_at === null ? null : signed(refereeReport(check.id, referee.referee_id)),
    }))
    return { id, type: check.type, status: check.status, references }
  }
  return {
    id,
    type: check.type,
    status: check.status,
    partner_name: check.partner_name,
    check_name: check.check_name,
    report_pdf_url: check.report_at === null ? null : signed(backgroundReport(check.id)),
  }
}

function timestamp(time: number, form: 'milliseconds' | 'seconds' | 'offset'): string {
  const text = new Date(time).toISOString()
  switch (form) {
    case 'milliseconds':
      return text
    case 'seconds':
      return text.replace(/\.\d{3}Z$/, 'Z')
    case 'offset':
      return text.replace(/Z$/, '+00:00')
  }
}
