import type { Context, Hono } from 'hono'

import { refusals } from '../answer.ts'
import { authenticate, type Call, type CallEnv } from '../call.ts'
import { cacheHeaders } from '../../../contract/headers.ts'
import type { CheckRecord, RefereeRecord, RequestRecord } from '../records.ts'
import { reportPdf } from '../report.ts'
import { reportFault } from '../scenarios.ts'
import { backgroundReport, refereeReport } from '../token.ts'

export function addReportRoutes(app: Hono<CallEnv>): void {
  app.get('/v1/reports/:check', (context) => {
    const id = context.env.service.idOf(context.req.param('check'))
    return download(context, backgroundReport(id), ({ check }) => check.type === 'background')
  })
  app.get('/v1/reports/:check/referees/:referee', (context) => {
    const { check, referee: refereeId } = context.req.param()
    const checkId = context.env.service.idOf(check)
    return download(
      context,
      refereeReport(checkId, refereeId),
      (found) => found.check.type === 'reference',
      refereeId,
    )
  })
}

interface Found {
  request: RequestRecord
  check: CheckRecord
  referee: RefereeRecord | undefined
}

/**
 * `t` stands in for the headers and is good for this report alone; a bad one is a 401 even beside
 * good headers ("An invalid or expired token gives 401").
 */
function download(
  context: Context<CallEnv>,
  report: string,
  fits: (found: Found) => boolean,
  refereeId?: string,
): Promise<Response> {
  const { service, now } = context.env
  const tokens = context.req.queries('t') ?? []
  let organisation: string | undefined
  if (tokens.length === 0) {
    organisation = authenticate(context.req.raw.headers, context.env).organisation.id
  } else if (
    (tokens.length > 1 && service.rule('repeated-parameters') === 'refused') ||
    !tokens.every((token) => service.tokens.accepts(token, report, now))
  ) {
    throw refusals.invalidToken()
  }
  const found = find(service.idOf(context.req.param('check') ?? ''), refereeId, context.env)
  if (found === undefined || !fits(found)) throw refusals.notFound()
  if (organisation !== undefined && found.request.organisation_id !== organisation) throw refusals.notFound()
  context.env.fault ??= reportFault(found.request.scenarios)
  return pdf(found)
}

function find(checkId: string, refereeId: string | undefined, { service, now }: Call): Found | undefined {
  const request = service.state.checks.get(checkId)
  if (request === undefined) return undefined
  service.bringUpToDate(request, now)
  const check = request.checks.find(({ id }) => id === checkId)
  const referee = check?.referees.find(({ referee_id }) => referee_id === refereeId)
  const reported = refereeId === undefined ? check : referee
  if (check === undefined || reported === undefined || reported.report_at === null) return undefined
  return { request, check, referee }
}

async function pdf({ request, check, referee }: Found): Promise<Response> {
  const bytes = await reportPdf(request, check, referee)
  return new Response(bytes, { headers: { 'Content-Type': 'application/pdf', ...cacheHeaders } })
}
