import type { Context, Hono } from 'hono'

import type { Package } from '../../../contract/package.ts'
import type { PackageSchema } from '../../../contract/package-schema.ts'
import { ok, refusals } from '../answer.ts'
import { authenticate, type CallEnv, isVisible, visiblePackage } from '../call.ts'
import type { PackageRecord } from '../records.ts'

const statuses = new Map([
  ['active', 'ACTIVE'],
  ['inactive', 'INACTIVE'],
  ['disabled', 'DISABLED'],
])

export function addPackageRoutes(app: Hono<CallEnv>): void {
  app.get('/v1/packages', list)
  app.get('/v1/packages/:id/schema', schema)
}

/** GET /v1/packages: "No pagination; the full list is returned." */
function list(context: Context<CallEnv>): Response {
  const { service } = context.env
  const caller = authenticate(context.req.raw.headers, context.env)
  const status = wanted('status', context, statusOf)
  const id = wanted('id', context, idOf)
  const all = [...(service.state.packages.get(caller.organisation.id)?.values() ?? [])]
  const packages = all
    .filter((pack) => isVisible(pack, caller.user))
    .filter(
      (pack) => (status === undefined || pack.status === status) && (id === undefined || pack.id === id),
    )
    .map(packageView)
  return ok({ packages })
}

/** A filter's value; every one that is given has to be good. */
function wanted<T>(name: string, context: Context<CallEnv>, read: (text: string) => T): T | undefined {
  const [first, ...more] = (context.req.queries(name) ?? []).map(read)
  if (more.length > 0 && context.env.service.rule('repeated-parameters') === 'refused') {
    throw refusals.invalid(name, 'must be given once')
  }
  return first
}

function statusOf(text: string): string {
  const status = statuses.get(text)
  if (status === undefined) throw refusals.invalid('status', 'must be one of active, inactive, disabled')
  return status
}

function idOf(text: string): number {
  const id = integerOf(text)
  if (id === undefined) throw refusals.invalid('id', 'must be an integer')
  return id
}

function integerOf(text: string): number | undefined {
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}

function packageView(pack: PackageRecord): Package {
  return {
    id: pack.id,
    name: pack.name,
    status: pack.status,
    details: { reference_survey: pack.reference_survey, background_checks: pack.background_checks },
  }
}

/** GET /v1/packages/{id}/schema */
function schema(context: Context<CallEnv>): Response {
  const { service } = context.env
  const caller = authenticate(context.req.raw.headers, context.env)
  const id = integerOf(context.req.param('id') ?? '')
  if (id === undefined) throw refusals.notFound()
  const known = service.state.packages.get(caller.organisation.id)?.get(id)
  if (known !== undefined && !isVisible(known, caller.user)) {
    throw service.rule('hidden-package-schema') === '403' ? refusals.role() : refusals.notFound()
  }
  const pack = visiblePackage(id, caller, service)
  if (pack.status === 'DISABLED' && service.rule('disabled-package-schema') === '404') {
    throw refusals.notFound()
  }
  return ok(schemaView(pack))
}

const requiredText = { type: 'string', required: true } as const

function schemaView(pack: PackageRecord): PackageSchema {
  return {
    id: pack.id,
    fields: {
      recipient: {
        first_name: requiredText,
        last_name: requiredText,
        email: requiredText,
        phone: requiredText,
      },
      additional_information: pack.additional_information,
    },
  }
}
