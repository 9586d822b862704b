import { apiKeyHeader, userEmailHeader } from '../../contract/headers.ts'
import { refusals } from './answer.ts'
import type { Fault, PackageRecord, UserRecord } from './schemas.ts'
import type { Service } from './service.ts'
import type { Caller } from './state.ts'

/** What travels with one call through the routes. */
export interface Call {
  service: Service
  /** The moment of the call; everything in it happens at this one. */
  now: number
  /** The base URL for callers, where that is not the one they called. */
  publicUrl?: string | undefined
  /** The text of the call's body, once it was read; null where it could not be. */
  body?: string | null | undefined
  /** Set by a route whose recipient asked for trouble. */
  fault?: Fault | undefined
}

/** hono's name for what a handler is given besides the request. */
export interface CallEnv {
  Bindings: Call
}

/**
 * Both headers, the key, the quota of the key, then the user ("Authentication", rules 1 to 3). The
 * quota is checked before the user because it is counted per key.
 */
export function authenticate(headers: Headers, { service, now }: Call): Caller {
  const { state } = service
  const key = headers.get(apiKeyHeader)
  const email = headers.get(userEmailHeader)
  if (!key || !email) throw refusals.missingHeaders()
  const known = state.keys.get(key)
  if (known === undefined || known.revoked) throw refusals.invalidKey()
  service.countCall(key, now)
  const organisation = state.organisations.get(known.organisation_id)
  const user = state.users.get(known.organisation_id)?.get(email.toLowerCase())
  if (organisation === undefined || user?.active !== true) throw refusals.notMember()
  return { organisation, user }
}

/** Whether the role of the user is among those a package is for. */
export function isVisible(pack: PackageRecord, user: UserRecord): boolean {
  return pack.roles === null || pack.roles.includes(user.role)
}

/** The package of that id if the caller may see it; 404 otherwise. */
export function visiblePackage(id: number, caller: Caller, service: Service): PackageRecord {
  const pack = service.state.packages.get(caller.organisation.id)?.get(id)
  if (pack === undefined || !isVisible(pack, caller.user)) throw refusals.notFound()
  return pack
}
