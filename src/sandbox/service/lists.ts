import type { Context, Hono } from 'hono'

import type { Package } from '../../contract/package.ts'
import type { PackageSchema } from '../../contract/package-schema.ts'
import type { User } from '../../contract/user.ts'
import { authenticate, type CallEnv, isVisible, visiblePackage } from './call.ts'
import { ok, refusals } from './answer.ts'
import type { PackageRecord, UserRecord } from './schemas.ts'
import { type State } from './state.ts'

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

/** Returns the value of a filter; throws a Refusal if any of its values is invalid. */
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

/** "Permission levels"; level 1 (integration user) "is never returned". */
const levels = new Map([
  [0, 'none'],
  [2, 'administrator'],
  [3, 'requestor'],
  [4, 'contributor'],
  [5, 'analyst'],
])

/** GET /v1/users: "Inactive users and inactive teams are excluded." */
export function addUserRoute(app: Hono<CallEnv>): void {
  app.get('/v1/users', (context) => {
    const { service } = context.env
    const { organisation } = authenticate(context.req.raw.headers, context.env)
    const all = [...(service.state.users.get(organisation.id)?.values() ?? [])]
    return ok({ users: all.filter((user) => user.active).map((user) => userView(user, service.state)) })
  })
}

function userView(user: UserRecord, state: State): User {
  return {
    id: user.id,
    first_name: user.first_name,
    last_name: user.last_name,
    email: user.email,
    role: user.role,
    ...(user.role === 'member' && { permissions: permissions(user) }),
    teams: user.team_ids
      .map((id) => state.teams.get(id))
      .filter((team) => team?.active === true)
      .map((team) => ({ id: team?.id ?? '', name: team?.name ?? '' })),
    job_title: user.job_title,
  }
}

/** "Permission products", in alphabetical order. */
const products = ['bgc', 'exit', 'integration', 'pulse', 'reference']

/** "Permissions are returned in alphabetical order", as `<product>.<level>`. */
function permissions(user: UserRecord): string[] {
  return products.flatMap((product) => {
    const level = levels.get(user.permissions[product] ?? 0)
    return level === undefined ? [] : [`${product}.${level}`]
  })
}

/** GET /v1/ping: "Authentication: none. No headers, no body. Exempt from throttling." */
export function addPingRoute(app: Hono<CallEnv>): void {
  app.get('/v1/ping', () => ok({ status: 'ok' }))
}
