import { apiKeyHeader, userEmailHeader } from '../../contract/headers.ts'
import { refusals } from './answer.ts'
import type { Fault, PackageRecord, UserRecord } from './schemas.ts'
import type { Service } from './service.ts'
import type { Caller } from './state.ts'

/** Data of one call for the routes. */
export interface Call {
  service: Service
  /** Time of the call, used for everything in it (milliseconds since the epoch). */
  now: number
  /** Base URL for callers, if it is not the one that was called. */
  publicUrl?: string | undefined
  /** Text of the call's body once it was read; null if it could not be read. */
  body?: string | null | undefined
  /** Fault that the recipient's scenario requests; set by a route. */
  scenarioFault?: Fault | undefined
}

/** Environment type of hono's handlers. */
export interface CallEnv {
  Bindings: Call
}

/**
 * Checks both headers, the key, the quota of the key, then the user ("Authentication", rules 1 to 3). The quota is
 * checked before the user, because it is counted per key.
 */
export function authenticate(headers: Headers, { service, now }: Call): Caller {
  const { state } = service
  const key = headers.get(apiKeyHeader)
  const email = headers.get(userEmailHeader)
  if (!key || !email) throw refusals.missingHeaders()
  const keyRecord = state.keys.get(key)
  if (keyRecord === undefined || keyRecord.revoked) throw refusals.invalidKey()
  service.countCall(key, now)
  const organisation = state.organisations.get(keyRecord.organisation_id)
  const user = state.users.get(keyRecord.organisation_id)?.get(email.toLowerCase())
  if (organisation === undefined || user?.active !== true) throw refusals.notMember()
  return { organisation, user }
}

/** Whether the user's role may use the package. */
export function isVisible(pack: PackageRecord, user: UserRecord): boolean {
  return pack.roles === null || pack.roles.includes(user.role)
}

/** Returns the package with this id; throws a Refusal with status 404 if the caller may not see it. */
export function findVisiblePackage(id: number, caller: Caller, service: Service): PackageRecord {
  const pack = service.state.packages.get(caller.organisation.id)?.get(id)
  if (pack === undefined || !isVisible(pack, caller.user)) throw refusals.notFound()
  return pack
}
