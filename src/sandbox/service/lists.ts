import type { Context, Hono } from 'hono'

import type { Package } from '../../contract/package.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { User } from '../../contract/user.ts'
import { authenticate, type CallEnv, isVisible, findVisiblePackage } from './call.ts'
import { createSuccessResponse, refusals } from './answer.ts'
import type { PackageRecord, UserRecord } from './schemas.ts'
import { type State } from './state.ts'

const statusesByFilter = new Map([
  ['active', 'ACTIVE'],
  ['inactive', 'INACTIVE'],
  ['disabled', 'DISABLED'],
])

export function addListRoutes(app: Hono<CallEnv>): void {
  // "Authentication: none. No headers, no body. Exempt from throttling."
  app.get('/v1/ping', () => createSuccessResponse({ status: 'ok' }))
  app.get('/v1/packages', listPackages)
  app.get('/v1/packages/:id/schema', readSchema)
  app.get('/v1/users', listUsers)
}

/** GET /v1/packages: "No pagination; the full list is returned." */
function listPackages(context: Context<CallEnv>): Response {
  const { service } = context.env
  const caller = authenticate(context.req.raw.headers, context.env)
  const status = readFilter('status', context, parseStatus)
  const id = readFilter('id', context, parseId)
  const packages = [...(service.state.packages.get(caller.organisation.id)?.values() ?? [])].filter(
    (pack) =>
      isVisible(pack, caller.user) && pack.status === (status ?? pack.status) && pack.id === (id ?? pack.id),
  )
  return createSuccessResponse({ packages: packages.map(toPackage) })
}

/** Returns the value of a filter. Throws a Refusal if any of its values is invalid. */
function readFilter<T>(name: string, context: Context<CallEnv>, read: (text: string) => T): T | undefined {
  const [first, ...others] = (context.req.queries(name) ?? []).map(read)
  if (others.length > 0 && context.env.service.rule('repeated-parameters') === 'refused') {
    throw refusals.invalid(name, 'must be given once')
  }
  return first
}

function parseStatus(text: string): string {
  const status = statusesByFilter.get(text)
  if (status === undefined) throw refusals.invalid('status', 'must be one of active, inactive, disabled')
  return status
}

function parseId(text: string): number {
  const id = parseInteger(text)
  if (id === undefined) throw refusals.invalid('id', 'must be an integer')
  return id
}

function parseInteger(text: string): number | undefined {
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}

function toPackage(pack: PackageRecord): Package {
  return {
    id: pack.id,
    name: pack.name,
    status: pack.status,
    details: { reference_survey: pack.reference_survey, background_checks: pack.background_checks },
  }
}

/** GET /v1/packages/{id}/schema */
function readSchema(context: Context<CallEnv>): Response {
  const { service } = context.env
  const caller = authenticate(context.req.raw.headers, context.env)
  const id = parseInteger(context.req.param('id') ?? '')
  if (id === undefined) throw refusals.notFound()
  const foundPackage = service.state.packages.get(caller.organisation.id)?.get(id)
  if (foundPackage !== undefined && !isVisible(foundPackage, caller.user)) {
    throw service.rule('hidden-package-schema') === '403' ? refusals.role() : refusals.notFound()
  }
  const pack = findVisiblePackage(id, caller, service)
  if (pack.status === 'DISABLED' && service.rule('disabled-package-schema') === '404') {
    throw refusals.notFound()
  }
  return createSuccessResponse(toPackageSchema(pack))
}

const requiredText = { type: 'string', required: true } as const

function toPackageSchema(pack: PackageRecord): PackageSchema {
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

/** "Permission levels"; level 1 (integration user) "is never returned". */
const permissionLevels = new Map([
  [0, 'none'],
  [2, 'administrator'],
  [3, 'requestor'],
  [4, 'contributor'],
  [5, 'analyst'],
])

/** GET /v1/users: "Inactive users and inactive teams are excluded." */
function listUsers(context: Context<CallEnv>): Response {
  const { state } = context.env.service
  const { organisation } = authenticate(context.req.raw.headers, context.env)
  const users = [...(state.users.get(organisation.id)?.values() ?? [])]
  return createSuccessResponse({
    users: users.filter((user) => user.active).map((user) => toUser(user, state)),
  })
}

function toUser(user: UserRecord, state: State): User {
  return {
    id: user.id,
    first_name: user.first_name,
    last_name: user.last_name,
    email: user.email,
    role: user.role,
    ...(user.role === 'member' && { permissions: formatPermissions(user) }),
    teams: user.team_ids.flatMap((teamId) => {
      const team = state.teams.get(teamId)
      return team?.active === true ? [{ id: team.id, name: team.name }] : []
    }),
    job_title: user.job_title,
  }
}

/** "Permission products", in alphabetical order. */
const products = ['bgc', 'exit', 'integration', 'pulse', 'reference']

/** "Permissions are returned in alphabetical order", as `<product>.<level>`. */
function formatPermissions(user: UserRecord): string[] {
  return products.flatMap((product) => {
    const level = permissionLevels.get(user.permissions[product] ?? 0)
    return level === undefined ? [] : [`${product}.${level}`]
  })
}
