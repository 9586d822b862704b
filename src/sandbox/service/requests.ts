import type { Context, Hono } from 'hono'

import type { Check, Referee, RequestResource } from '../../contract/request.ts'
import { appliesBeforeService } from './faults.ts'
import { authenticate, type Call, type CallEnv, findVisiblePackage } from './call.ts'
import {
  createFailureResponse,
  createSuccessResponse,
  formatSuccess,
  createJsonResponse,
  readBody,
  refusals,
} from './answer.ts'
import type { Caller } from './state.ts'
import type { CheckRecord, PackageRecord, RequestRecord } from './schemas.ts'
import type { Choice, Choices } from './rules.ts'
import { createFaults, findFault, findScenarios } from './scenarios.ts'
import { reportPathOf, type Service } from './service.ts'
import { checkAdditionalInformation, parseCreateBody } from './validation.ts'

export function addRequestRoutes(app: Hono<CallEnv>): void {
  app.post('/v1/requests', async (context) => {
    const request = await createRequest(context.req.raw, context.env)
    return request === undefined
      ? createFailureResponse(500, 'internal server error')
      : createSuccessResponse({ request_id: request.request_id, status: 'RECEIVED' }, 201)
  })
  const renderings = new RenderingCache()
  app.get('/v1/requests/:id', (context) => readRequest(context, renderings))
}

/** GET /v1/requests/{request_id} */
function readRequest(context: Context<CallEnv>, renderings: RenderingCache): Response {
  const { service, now, publicUrl } = context.env
  const { organisation } = authenticate(context.req.raw.headers, context.env)
  const request = service.state.requests.get(service.normaliseId(context.req.param('id') ?? ''))
  if (request === undefined || request.organisation_id !== organisation.id) throw refusals.notFound()
  service.bringUpToDate(request, now)
  const url = context.req.url
  const origin = publicUrl ?? url.slice(0, url.indexOf('/', 8))
  return createJsonResponse(renderings.renderText(request, service, now, origin), 200)
}

/**
 * Handles POST /v1/requests: checks the caller, the body and the plan, then stores the request. Returns
 * undefined if a scenario prevents storing it.
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
  const pack = findVisiblePackage(body.package_id, caller, service)
  if (pack.status === 'DISABLED') throw refusals.notFound()
  if (pack.status !== 'ACTIVE') throw refusals.invalid('package_id', 'package is not ACTIVE')
  if (!canOrder(caller, pack, service.rule('support-creates') === 'yes')) throw refusals.role()
  checkAdditionalInformation(body.additional_information, pack.additional_information, rules)
  requireActivePlan(caller)
  const scenarios = [...findScenarios(body.recipient.email), ...service.scenarios.takeApplicable()]
  call.scenarioFault ??= findFault(createFaults, scenarios)
  if (call.scenarioFault !== undefined && appliesBeforeService(call.scenarioFault)) return undefined
  return service.createRequest(body, caller, pack, scenarios, now)
}

function isJson(header: string, rules: Choices): boolean {
  const [type = ''] = header.toLowerCase().split(';')
  if (type.trim() === 'application/json') return true
  return rules['content-type'] === 'json-suffix' && /^application\/[\w.-]+\+json$/.test(type.trim())
}

/**
 * Returns true if a caller may order a package. Members must be requestor or administrator of every product
 * in it.
 */
function canOrder({ user }: Caller, pack: PackageRecord, canSupportOrder: boolean): boolean {
  if (user.role === 'owner' || user.role === 'admin') return true
  if (user.role === 'support') return canSupportOrder
  const permitsOrdering = (level: number | undefined): boolean => level === 2 || level === 3
  return (
    (pack.reference_survey === null || permitsOrdering(user.permissions.reference)) &&
    (pack.background_checks.length === 0 || permitsOrdering(user.permissions.bgc))
  )
}

/**
 * Throws a Refusal with status 403 for "insufficient credits, an expired trial, or an inactive subscription".
 */
function requireActivePlan({ organisation }: Caller): void {
  if (organisation.subscription === 'inactive') throw refusals.subscription()
  if (organisation.trial === 'expired') throw refusals.trialExpired()
  if (organisation.credits !== null && organisation.credits < 1) throw refusals.noCredits()
}

/** Returns the request as clients read it. Its report URLs begin with `origin` and have new tokens. */
export function toRequestResource(
  request: RequestRecord,
  service: Service,
  now: number,
  origin: string,
): RequestResource {
  return buildResource(
    request,
    service.rule('created-at-form'),
    (reportPath) => `${origin}/v1/reports/${reportPath}?t=${service.tokens.issue(reportPath, now)}`,
  )
}

/** The text of a request as clients read it, split at the positions of the tokens of its report URLs. */
interface Rendering {
  /** The values on which the text depends. The rendering is valid while they are unchanged. */
  dependencies: string
  pieces: string[]
  reportPaths: string[]
}

/** Marks the position of a token in the text: a character that JSON does not escape and that no name contains. */
const tokenMark = '\u007F'
const maxRenderings = 1000

/**
 * Caches the texts of requests that are read repeatedly, for example by polling clients. Only the tokens
 * differ from read to read, so everything else is rendered once per change of the request.
 */
class RenderingCache {
  readonly #renderings = new Map<RequestRecord, Rendering>()

  /** Returns the body of the response to a read. */
  renderText(request: RequestRecord, service: Service, now: number, origin: string): string {
    const { pieces, reportPaths } = this.#findRendering(request, service.rule('created-at-form'), origin)
    if (pieces.length !== reportPaths.length + 1)
      return formatSuccess(toRequestResource(request, service, now, origin))
    let text = pieces[0] ?? ''
    for (let index = 0; index < reportPaths.length; index += 1) {
      text += service.tokens.issue(reportPaths[index] ?? '', now) + (pieces[index + 1] ?? '')
    }
    return text
  }

  #findRendering(request: RequestRecord, form: Choice<'created-at-form'>, origin: string): Rendering {
    const dependencies = `${request.steps.length} ${request.applied} ${form} ${origin}`
    const cached = this.#renderings.get(request)
    if (cached?.dependencies === dependencies) return cached
    const reportPaths: string[] = []
    const resource = buildResource(request, form, (reportPath) => {
      reportPaths.push(reportPath)
      return `${origin}/v1/reports/${reportPath}?t=${tokenMark}`
    })
    const rendering = { dependencies, pieces: formatSuccess(resource).split(tokenMark), reportPaths }
    if (this.#renderings.size >= maxRenderings) this.#renderings.clear()
    this.#renderings.set(request, rendering)
    return rendering
  }
}

function buildResource(
  request: RequestRecord,
  form: Choice<'created-at-form'>,
  createSignedUrl: (report: string) => string,
): RequestResource {
  return {
    request_id: request.request_id,
    package_id: request.package_id,
    status: request.status,
    created_at: formatTimestamp(request.created_at, form),
    requester: { email: request.requester_email },
    recipient: { ...request.recipient },
    checks: request.checks.map((check) => buildCheck(check, createSignedUrl)),
  }
}

function buildCheck(check: CheckRecord, createSignedUrl: (report: string) => string): Check {
  const id = check.created ? check.id : null
  if (check.type === 'reference') {
    const references = check.referees.map(({ report_at, ...referee }): Referee => ({
      ...referee,
      report_pdf_url: report_at === null ? null : createSignedUrl(reportPathOf(check.id, referee.referee_id)),
    }))
    return { id, type: check.type, status: check.status, references }
  }
  return {
    id,
    type: check.type,
    status: check.status,
    partner_name: check.partner_name,
    check_name: check.check_name,
    report_pdf_url: check.report_at === null ? null : createSignedUrl(reportPathOf(check.id)),
  }
}

function formatTimestamp(time: number, form: Choice<'created-at-form'>): string {
  const text = new Date(time).toISOString()
  if (form === 'seconds') return text.replace(/\.\d{3}Z$/, 'Z')
  return form === 'offset' ? text.replace(/Z$/, '+00:00') : text
}
