import type { CheckInformation } from '../../contract/package-schema.ts'
import type { AdditionalInformation, Recipient } from '../../contract/request-body.ts'
import type { RequestStatus } from '../../contract/statuses.ts'
import type { Choices } from './rules.ts'

/*
 * What the sandbox keeps, as plain data that goes to JSON and back unchanged. Names are the API's
 * own. Times are milliseconds since the epoch.
 */

export type Role = 'owner' | 'admin' | 'support' | 'member'

/** "Permission products". */
export const products = ['bgc', 'exit', 'integration', 'pulse', 'reference'] as const
export type Product = (typeof products)[number]

export interface Organisation {
  id: string
  name: string
  /** One is used by each request; null: never runs out. */
  credits: number | null
  trial: 'none' | 'running' | 'expired'
  subscription: 'active' | 'inactive'
  /** "Each organisation has at most one outbound webhook configuration". */
  webhook_url: string | null
  webhook_secret: string
}

export interface ApiKey {
  key: string
  organisation_id: string
  revoked: boolean
}

export interface Team {
  id: string
  organisation_id: string
  name: string
  active: boolean
}

export interface UserRecord {
  id: string
  organisation_id: string
  first_name: string
  last_name: string
  email: string
  role: Role
  /** Numeric levels, as in "Permission levels"; shown to clients of members only. */
  permissions: Partial<Record<Product, number>>
  team_ids: string[]
  job_title: string
  active: boolean
}

export interface PackageRecord {
  id: number
  organisation_id: string
  name: string
  status: 'ACTIVE' | 'INACTIVE' | 'DISABLED'
  /** "availability depends on the user's role"; null: for every role. */
  roles: Role[] | null
  reference_survey: { id: number; name: string | null; min_referees: number } | null
  background_checks: { check_name: string | null; partner_name: string | null }[]
  additional_information: CheckInformation[]
}

export interface RefereeRecord {
  referee_id: string
  referee_name: string | null
  referee_email: string | null
  status: 'IN_PROGRESS' | 'COMPLETED' | 'CANCELLED'
  /** When its report became available. */
  report_at: number | null
}

export interface CheckRecord {
  /** Decided from the start, shown once the check has been created. */
  id: string
  created: boolean
  type: 'reference' | 'background'
  status: 'RECEIVED' | 'IN_PROGRESS' | 'COMPLETED' | 'CANCELLED' | 'ERROR'
  check_name: string | null
  partner_name: string | null
  report_at: number | null
  referees: RefereeRecord[]
}

/** One thing that happens to a request, `at` milliseconds of progress after its creation. */
export type Step =
  | {
      at: number
      does: 'check'
      check: number
      status: CheckRecord['status']
      /** Under way without having been created yet: it has no id to tell. */
      uncreated?: true
    }
  | { at: number; does: 'nominate'; check: number; referee: RefereeRecord }
  | { at: number; does: 'referee'; check: number; referee: number; status: RefereeRecord['status'] }
  | { at: number; does: 'report'; check: number; referee: number | null }
  | { at: number; does: 'fail'; reason: string; checks: 'kept' | 'dropped' }

export interface RequestRecord {
  /** Counts from 1; what this request's random draws are named by. */
  number: number
  request_id: string
  organisation_id: string
  package_id: number
  created_at: number
  requester_email: string
  recipient: Recipient
  additional_information: AdditionalInformation[]
  /** What its recipient's e-mail, or an injection, asked for. */
  scenarios: string[]
  status: RequestStatus
  error_reason: string | null
  checks: CheckRecord[]
  /** What will become of it, in order; those before `applied` have happened. */
  steps: Step[]
  applied: number
}

/** One event to be delivered to the organisation's webhook. */
export interface DeliveryRecord {
  id: string
  organisation_id: string
  request_id: string
  status: RequestStatus
  body: string
  state: 'waiting' | 'delivered' | 'given_up'
  /** Attempts made. */
  attempts: number
  /** How many of the first attempts carry a signature that does not fit. */
  forged: number
  /** When the next attempt is due, or the last one was made. */
  at: number
  /** What the last attempt met: an HTTP status, or why there was none. */
  outcome: string | null
}

/** On whose behalf an authenticated call is made. */
export interface Caller {
  organisation: Organisation
  user: UserRecord
}

/** One of the limits on calls: a fixed window. */
export interface QuotaWindow {
  calls: number
  seconds: number
}

/** "60 requests per 60-second fixed window" and "1000 requests per 1-hour fixed window", per API key. */
export const documentedQuota: readonly QuotaWindow[] = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

/** How far one window of one key is filled. */
interface WindowUse {
  started_at: number
  used: number
}

interface QuotaChoices {
  /** Whether a window starts with the first call in it, or on the clock's own full minute and hour. */
  start: 'first-call' | 'clock'
  /** Whether a call that was refused with 429 uses up the quota further. */
  refusedCounts: boolean
}

/** The windows of one key at `now`: those that are over are empty again. */
export function currentUse(
  uses: readonly WindowUse[],
  windows: readonly QuotaWindow[],
  now: number,
  start: QuotaChoices['start'],
): WindowUse[] {
  return windows.map(({ seconds }, index) => {
    const length = seconds * 1000
    const use = uses[index]
    if (use !== undefined && now >= use.started_at && now < use.started_at + length) return use
    return { started_at: start === 'clock' ? Math.floor(now / length) * length : now, used: 0 }
  })
}

/**
 * Whole seconds left in the window that prevents a call; 0 when none does. Of several the
 * longest is returned: after a shorter one the next call would be refused again.
 */
export function secondsToWait(
  uses: readonly WindowUse[],
  windows: readonly QuotaWindow[],
  now: number,
): number {
  let wait = 0
  for (const [index, { calls, seconds }] of windows.entries()) {
    const use = uses[index]
    if (use === undefined || use.used < calls) continue
    wait = Math.max(wait, Math.ceil((use.started_at + seconds * 1000 - now) / 1000))
  }
  return wait
}

/** What holds for the whole sandbox. */
export interface Settings {
  seed: string
  rules: Choices
  /** Where a clock that is moved by hand stands; null under the real one. */
  clock: number | null
}

/** Everything that is kept, as JSON. */
export interface Snapshot {
  version: 1
  settings: Settings
  organisations: Organisation[]
  keys: ApiKey[]
  teams: Team[]
  users: UserRecord[]
  packages: PackageRecord[]
  requests: RequestRecord[]
  deliveries: DeliveryRecord[]
  quota: Record<string, WindowUse[]>
}

/** The one way in which anything changes; making all changes again gives the state. */
export type Change =
  | { does: 'settings'; settings: Settings }
  | { does: 'organisation'; organisation: Organisation }
  | { does: 'key'; key: ApiKey }
  | { does: 'team'; team: Team }
  | { does: 'user'; user: UserRecord }
  | { does: 'package'; package: PackageRecord }
  | { does: 'request'; request: RequestRecord }
  | { does: 'quota'; key: string; uses: WindowUse[] }
  | { does: 'delivery'; delivery: DeliveryRecord }

/** Deliveries that are over are kept up to this number, for `redeliver`. */
const maxFinishedDeliveries = 1000

/** What the sandbox knows, indexed for its reads. */
export class State {
  settings: Settings
  readonly organisations = new Map<string, Organisation>()
  readonly keys = new Map<string, ApiKey>()
  readonly teams = new Map<string, Team>()
  /** By organisation, then by lowercase e-mail. */
  readonly users = new Map<string, Map<string, UserRecord>>()
  /** By organisation, then by id. */
  readonly packages = new Map<string, Map<number, PackageRecord>>()
  readonly requests = new Map<string, RequestRecord>()
  /** The request a check belongs to. */
  readonly checks = new Map<string, RequestRecord>()
  readonly deliveries = new Map<string, DeliveryRecord>()
  readonly quota = new Map<string, readonly WindowUse[]>()
  readonly #finished: string[] = []

  constructor(settings: Settings) {
    this.settings = settings
  }

  apply(change: Change): void {
    switch (change.does) {
      case 'settings':
        this.settings = change.settings
        return
      case 'organisation':
        this.organisations.set(change.organisation.id, change.organisation)
        return
      case 'key':
        this.keys.set(change.key.key, change.key)
        return
      case 'team':
        this.teams.set(change.team.id, change.team)
        return
      case 'user':
        nested(this.users, change.user.organisation_id).set(change.user.email.toLowerCase(), change.user)
        return
      case 'package':
        nested(this.packages, change.package.organisation_id).set(change.package.id, change.package)
        return
      case 'request':
        this.#putRequest(change.request)
        return
      case 'quota':
        this.quota.set(change.key, change.uses)
        return
      case 'delivery':
        this.#putDelivery(change.delivery)
    }
  }

  /** Forgets everything and holds what the snapshot held. */
  restore(snapshot: Snapshot): void {
    const { organisations, keys, teams, users, packages, requests, checks, deliveries, quota } = this
    for (const map of [organisations, keys, teams, users, packages, requests, checks, deliveries, quota]) {
      map.clear()
    }
    this.#finished.length = 0
    for (const change of changesTo(structuredClone(snapshot))) this.apply(change)
  }

  /** A copy that later changes do not touch. */
  snapshot(): Snapshot {
    return structuredClone(this.#whole())
  }

  /** The changes that lead here from nothing. */
  changes(): Iterable<Change> {
    return changesTo(this.#whole())
  }

  #whole(): Snapshot {
    return {
      version: 1,
      settings: this.settings,
      organisations: [...this.organisations.values()],
      keys: [...this.keys.values()],
      teams: [...this.teams.values()],
      users: Array.from(this.users.values(), (users) => [...users.values()]).flat(),
      packages: Array.from(this.packages.values(), (packages) => [...packages.values()]).flat(),
      requests: [...this.requests.values()],
      deliveries: [...this.deliveries.values()],
      quota: Object.fromEntries(this.quota) as Record<string, WindowUse[]>,
    }
  }

  #putRequest(request: RequestRecord): void {
    this.requests.set(request.request_id, request)
    for (const check of request.checks) this.checks.set(check.id, request)
  }

  #putDelivery(delivery: DeliveryRecord): void {
    const known = this.deliveries.get(delivery.id)
    this.deliveries.set(delivery.id, delivery)
    if (delivery.state === 'waiting' || (known !== undefined && known.state !== 'waiting')) return
    this.#finished.push(delivery.id)
    if (this.#finished.length > maxFinishedDeliveries) this.deliveries.delete(this.#finished.shift() ?? '')
  }
}

function* changesTo(snapshot: Snapshot): Generator<Change> {
  yield { does: 'settings', settings: snapshot.settings }
  for (const organisation of snapshot.organisations) yield { does: 'organisation', organisation }
  for (const key of snapshot.keys) yield { does: 'key', key }
  for (const team of snapshot.teams) yield { does: 'team', team }
  for (const user of snapshot.users) yield { does: 'user', user }
  for (const pack of snapshot.packages) yield { does: 'package', package: pack }
  for (const request of snapshot.requests) yield { does: 'request', request }
  for (const delivery of snapshot.deliveries) yield { does: 'delivery', delivery }
  for (const [key, uses] of Object.entries(snapshot.quota)) yield { does: 'quota', key, uses }
}

function nested<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = new Map<K, V>()
  map.set(key, made)
  return made
}
