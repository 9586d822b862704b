import type {
  ApiKey,
  DeliveryRecord,
  Organisation,
  PackageRecord,
  RequestRecord,
  Team,
  UserRecord,
} from './records.ts'
import { progress } from './progress/step.ts'
import type { WindowUse } from './quota.ts'

/** Everything that is kept, as JSON. */
export interface Snapshot {
  version: 1
  organisations: Organisation[]
  keys: ApiKey[]
  teams: Team[]
  users: UserRecord[]
  packages: PackageRecord[]
  requests: RequestRecord[]
  deliveries: DeliveryRecord[]
  quota: Record<string, WindowUse[]>
}

/** The one way in which anything changes; replaying all changes gives the state. */
export type Change =
  | { does: 'organisation'; organisation: Organisation }
  | { does: 'key'; key: ApiKey }
  | { does: 'team'; team: Team }
  | { does: 'user'; user: UserRecord }
  | { does: 'package'; package: PackageRecord }
  | { does: 'request'; request: RequestRecord }
  | { does: 'progress'; request_id: string; elapsed: number; speed: number }
  | { does: 'quota'; key: string; uses: WindowUse[] }
  | { does: 'delivery'; delivery: DeliveryRecord }
  | { does: 'reset'; to: Snapshot }

/** What the sandbox knows, indexed for its reads. */
export class State {
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

  apply(change: Change): void {
    switch (change.does) {
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
      case 'progress': {
        const request = this.requests.get(change.request_id)
        if (request !== undefined) {
          progress(request, change.elapsed, (at) => request.created_at + at / change.speed)
        }
        return
      }
      case 'quota':
        this.quota.set(change.key, change.uses)
        return
      case 'delivery':
        this.deliveries.set(change.delivery.id, change.delivery)
        return
      case 'reset':
        this.#reset(change.to)
    }
  }

  /** A copy that later changes do not touch. */
  snapshot(): Snapshot {
    return structuredClone({
      version: 1,
      organisations: [...this.organisations.values()],
      keys: [...this.keys.values()],
      teams: [...this.teams.values()],
      users: Array.from(this.users.values(), (users) => [...users.values()]).flat(),
      packages: Array.from(this.packages.values(), (packages) => [...packages.values()]).flat(),
      requests: [...this.requests.values()],
      deliveries: [...this.deliveries.values()],
      quota: Object.fromEntries(this.quota) as Record<string, WindowUse[]>,
    } satisfies Snapshot)
  }

  #putRequest(request: RequestRecord): void {
    this.requests.set(request.request_id, request)
    for (const check of request.checks) this.checks.set(check.id, request)
  }

  #reset(to: Snapshot): void {
    const { organisations, keys, teams, users, packages, requests, checks, deliveries, quota } = this
    for (const map of [organisations, keys, teams, users, packages, requests, checks, deliveries, quota]) {
      map.clear()
    }
    for (const change of changesTo(structuredClone(to))) this.apply(change)
  }
}

/** A snapshot as the changes that lead to it from nothing. */
function* changesTo(snapshot: Snapshot): Generator<Change> {
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
