import { refusals } from './answer.ts'
import { readBody } from './body.ts'
import { authenticate, type Call, visiblePackage } from './call.ts'
import type { Caller, PackageRecord, RequestRecord } from './records.ts'
import type { Choices } from './rules.ts'
import { createFault, scenariosOf } from './scenarios.ts'
import { appliesBeforeService } from './apply-fault.ts'
import { checkAdditionalInformation } from './validation/additional-information.ts'
import { parseCreateBody } from './validation/create-body.ts'

/**
 * POST /v1/requests: who asks, what for, on which terms; then it is kept. Undefined where a scenario
 * keeps that from happening.
 */
export async function createRequest(request: Request, call: Call): Promise<RequestRecord | undefined> {
  const { service, now } = call
  const { rules } = service.state.settings
  const caller = authenticate(request.headers, call)
  if (!isJson(request.headers.get('Content-Type') ?? '', rules)) {
    throw refusals.invalid('Content-Type', 'must be application/json')
  }
  const body = parseCreateBody(await readBody(request, service.rule('body-limit')), rules)
  const pack = visiblePackage(body.package_id, caller, service)
  if (pack.status === 'DISABLED') throw refusals.notFound()
  if (pack.status !== 'ACTIVE') throw refusals.invalid('package_id', 'package is not ACTIVE')
  if (!mayOrder(caller, pack, service.rule('support-creates') === 'yes')) throw refusals.role()
  checkAdditionalInformation(body.additional_information, pack.additional_information, rules)
  requirePlan(caller)
  const scenarios = [...scenariosOf(body.recipient.email), ...service.takeScenarios()]
  call.fault ??= createFault(scenarios)
  if (call.fault !== undefined && appliesBeforeService(call.fault)) return undefined
  return service.accept(body, caller, pack, scenarios, now)
}

function isJson(header: string, rules: Choices): boolean {
  const [type = ''] = header.toLowerCase().split(';')
  if (type.trim() === 'application/json') return true
  return rules['content-type'] === 'json-suffix' && /^application\/[\w.-]+\+json$/.test(type.trim())
}

/** Members need to be requestor or administrator of every product in the package. */
function mayOrder({ user }: Caller, pack: PackageRecord, supportMay: boolean): boolean {
  if (user.role === 'owner' || user.role === 'admin') return true
  if (user.role === 'support') return supportMay
  const orders = (level: number | undefined): boolean => level === 2 || level === 3
  return (
    (pack.reference_survey === null || orders(user.permissions.reference)) &&
    (pack.background_checks.length === 0 || orders(user.permissions.bgc))
  )
}

/** "organisation has insufficient credits, an expired trial, or an inactive subscription" (403). */
function requirePlan({ organisation }: Caller): void {
  if (organisation.subscription === 'inactive') throw refusals.subscription()
  if (organisation.trial === 'expired') throw refusals.trialExpired()
  if (organisation.credits !== null && organisation.credits < 1) throw refusals.noCredits()
}
