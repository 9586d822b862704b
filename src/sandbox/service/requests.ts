import type { Context, Hono } from 'hono'

import type { Check, Referee, RequestResource } from '../../contract/request.ts'
import { appliesBeforeService } from './faults.ts'
import { authenticate, type Call, type CallEnv, visiblePackage } from './call.ts'
import { failure, ok, okText, okWith, readBody, refusals } from './answer.ts'
import type { Caller } from './state.ts'
import type { CheckRecord, PackageRecord, RequestRecord } from './schemas.ts'
import type { Choice, Choices } from './rules.ts'
import { createFault, scenariosOf } from './scenarios.ts'
import { backgroundReport, refereeReport, type Service } from './service.ts'
import { checkAdditionalInformation, parseCreateBody } from './validation.ts'

export function addRequestRoutes(app: Hono<CallEnv>): void {
  app.post('/v1/requests', async (context) => {
    const created = await createRequest(context.req.raw, context.env)
    return created === undefined
      ? failure(500, 'internal server error')
      : ok({ request_id: created.request_id, status: 'RECEIVED' }, 201)
  })
  const renderings = new Renderings()
  app.get('/v1/requests/:id', (context) => read(context, renderings))
}

/** GET /v1/requests/{request_id} */
function read(context: Context<CallEnv>, renderings: Renderings): Response {
  const { service, now, publicUrl } = context.env
  const { organisation } = authenticate(context.req.raw.headers, context.env)
  const request = service.state.requests.get(service.idOf(context.req.param('id') ?? ''))
  if (request === undefined || request.organisation_id !== organisation.id) throw refusals.notFound()
  service.bringUpToDate(request, now)
  const url = context.req.url
  const origin = publicUrl ?? url.slice(0, url.indexOf('/', 8))
  return okWith(renderings.text(request, service, now, origin))
}

/**
 * POST /v1/requests: checks the caller, the body and the plan, then stores the request. Undefined if a scenario
 * prevents storing it.
 */
async function createRequest(request: Request, call: Call): Promise<RequestRecord | undefined> {
  const { service, now } = call
  const { rules } = service.state.settings
  const caller = authenticate(request.headers, call)
  if (!isJson(request.headers.get('Content-Type') ?? '', rules)) {
    throw refusals.invalid('Content-Type', 'must be application/json')
  }
  call.body = await readBody(request, service.rule('body-limit'))
  const body = parseCreateBody(call.body, rules)
  const pack = visiblePackage(body.package_id, caller, service)
  if (pack.status === 'DISABLED') throw refusals.notFound()
  if (pack.status !== 'ACTIVE') throw refusals.invalid('package_id', 'package is not ACTIVE')
  if (!mayOrder(caller, pack, service.rule('support-creates') === 'yes')) throw refusals.role()
  checkAdditionalInformation(body.additional_information, pack.additional_information, rules)
  requirePlan(caller)
  const scenarios = [...scenariosOf(body.recipient.email), ...service.scenarios.apply()]
  call.fault ??= createFault(scenarios)
  if (call.fault !== undefined && appliesBeforeService(call.fault)) return undefined
  return service.accept(body, caller, pack, scenarios, now)
}

function isJson(header: string, rules: Choices): boolean {
  const [type = ''] = header.toLowerCase().split(';')
  if (type.trim() === 'application/json') return true
  return rules['content-type'] === 'json-suffix' && /^application\/[\w.-]+\+json$/.test(type.trim())
}

/** Whether a caller may order a package. Members must be requestor or administrator of every product in it. */
function mayOrder({ user }: Caller, pack: PackageRecord, supportMay: boolean): boolean {
  if (user.role === 'owner' || user.role === 'admin') return true
  if (user.role === 'support') return supportMay
  const orders = (level: number | undefined): boolean => level === 2 || level === 3
  return (
    (pack.reference_survey === null || orders(user.permissions.reference)) &&
    (pack.background_checks.length === 0 || orders(user.permissions.bgc))
  )
}

/** Throws a Refusal for "insufficient credits, an expired trial, or an inactive subscription" (403). */
function requirePlan({ organisation }: Caller): void {
  if (organisation.subscription === 'inactive') throw refusals.subscription()
  if (organisation.trial === 'expired') throw refusals.trialExpired()
  if (organisation.credits !== null && organisation.credits < 1) throw refusals.noCredits()
}

/** Returns the resource as clients read it; its report URLs begin with `origin` and are newly signed. */
export function requestView(
  request: RequestRecord,
  service: Service,
  now: number,
  origin: string,
): RequestResource {
  return view(
    request,
    service.rule('created-at-form'),
    (report) => `${origin}/v1/reports/${report}?t=${service.tokens.issue(report, now)}`,
  )
}

/** The text of a request's resource without the tokens, which are inserted between the pieces. */
interface Rendering {
  /** Values on which the text depends; while they are equal, the rendering is valid. */
  of: readonly [steps: number, applied: number, form: string, origin: string]
  pieces: string[]
  reports: string[]
}

/** Marks the position of a token in the text: a character that JSON does not escape and that no name contains. */
const gap = '\u007F'
const maxRenderings = 1000

/**
 * Caches the texts of requests that are read repeatedly, as by polling clients. Only the tokens differ from read to
 * read, so the rest is rendered once per change of the request.
 */
class Renderings {
  readonly #known = new Map<RequestRecord, Rendering>()

  /** Returns the body of the response to a read. */
  text(request: RequestRecord, service: Service, now: number, origin: string): string {
    const form = service.rule('created-at-form')
    const of = [request.steps.length, request.applied, form, origin] as const
    const known = this.#known.get(request)
    const rendering =
      known !== undefined && of.every((part, index) => part === known.of[index])
        ? known
        : this.#render(request, of)
    const { pieces, reports } = rendering
    if (pieces.length !== reports.length + 1) return okText(requestView(request, service, now, origin))
    let text = pieces[0] ?? ''
    for (let index = 0; index < reports.length; index += 1) {
      text += service.tokens.issue(reports[index] ?? '', now) + (pieces[index + 1] ?? '')
    }
    return text
  }

  #render(request: RequestRecord, of: Rendering['of']): Rendering {
    const [, , form, origin] = of
    const reports: string[] = []
    const resource = view(request, form as Choice<'created-at-form'>, (report) => {
      reports.push(report)
      return `${origin}/v1/reports/${report}?t=${gap}`
    })
    const rendering: Rendering = { of, pieces: okText(resource).split(gap), reports }
    if (this.#known.size >= maxRenderings) this.#known.clear()
    this.#known.set(request, rendering)
    return rendering
  }
}

function view(
  request: RequestRecord,
  form: Choice<'created-at-form'>,
  signed: (report: string) => string,
): RequestResource {
  return {
    request_id: request.request_id,
    package_id: request.package_id,
    status: request.status,
    created_at: timestamp(request.created_at, form),
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
