import type {
  ApiKey,
  DeliveryRecord,
  Organisation,
  PackageRecord,
  RequestRecord,
  Settings,
  Snapshot,
  Team,
  UserRecord,
  WindowUse,
} from './schemas.ts'

/** The organisation and user on whose behalf an authenticated call is made. */
export interface Caller {
  organisation: Organisation
  user: UserRecord
}

/** A limit on calls in a fixed window of time. */
export interface QuotaWindow {
  calls: number
  seconds: number
}

/** "60 requests per 60-second fixed window" and "1000 requests per 1-hour fixed window", per API key. */
export const documentedQuota: readonly QuotaWindow[] = [
  { calls: 60, seconds: 60 },
  { calls: 1000, seconds: 3600 },
]

/** Returns the use of a key's windows at `now`. Windows that have ended are empty. */
export function findCurrentUse(
  uses: readonly WindowUse[],
  windows: readonly QuotaWindow[],
  now: number,
  windowStart: 'first-call' | 'clock',
): WindowUse[] {
  return windows.map(({ seconds }, index) => {
    const windowMs = seconds * 1000
    const use = uses[index]
    if (use !== undefined && now >= use.started_at && now < use.started_at + windowMs) return use
    return { started_at: windowStart === 'clock' ? Math.floor(now / windowMs) * windowMs : now, used: 0 }
  })
}

/**
 * Returns the number of seconds, rounded up, until the next call is allowed; 0 if it is allowed now. If several windows
 * are full, the longest wait is returned, because after a shorter one the next call would be refused again.
 */
export function countSecondsToWait(
  uses: readonly WindowUse[],
  windows: readonly QuotaWindow[],
  now: number,
): number {
  let waitSeconds = 0
  for (const [index, { calls, seconds }] of windows.entries()) {
    const use = uses[index]
    if (use === undefined || use.used < calls) continue
    waitSeconds = Math.max(waitSeconds, Math.ceil((use.started_at + seconds * 1000 - now) / 1000))
  }
  return waitSeconds
}

/**
 * A change of the state. All changes are of this type, and applying them in order gives the state. `does` is the kind of
 * the change, under the name that it has in files of sandboxes.
 */
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

/** Maximum number of completed deliveries that are stored for `redeliver`. */
const maxFinishedDeliveries = 1000

/** The state of the sandbox, indexed for the reads of the service. */
export class State {
  settings: Settings
  readonly organisations = new Map<string, Organisation>()
  readonly keys = new Map<string, ApiKey>()
  readonly teams = new Map<string, Team>()
  /** Users by organisation, then by lowercase e-mail. */
  readonly users = new Map<string, Map<string, UserRecord>>()
  /** Packages by organisation, then by id. */
  readonly packages = new Map<string, Map<number, PackageRecord>>()
  readonly requests = new Map<string, RequestRecord>()
  /** Requests by the ids of their checks. */
  readonly requestByCheckId = new Map<string, RequestRecord>()
  readonly deliveries = new Map<string, DeliveryRecord>()
  readonly quota = new Map<string, readonly WindowUse[]>()
  readonly #finishedDeliveryIds: string[] = []

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
        findOrAddMap(this.users, change.user.organisation_id).set(
          change.user.email.toLowerCase(),
          change.user,
        )
        return
      case 'package':
        findOrAddMap(this.packages, change.package.organisation_id).set(change.package.id, change.package)
        return
      case 'request':
        this.requests.set(change.request.request_id, change.request)
        for (const check of change.request.checks) this.requestByCheckId.set(check.id, change.request)
        return
      case 'quota':
        this.quota.set(change.key, change.uses)
        return
      case 'delivery':
        this.#applyDelivery(change.delivery)
    }
  }

  /** Replaces the state by the content of the snapshot. */
  restore(snapshot: Snapshot): void {
    for (const index of Object.values(this)) if (index instanceof Map) index.clear()
    this.#finishedDeliveryIds.length = 0
    for (const change of listChanges(structuredClone(snapshot))) this.apply(change)
  }

  /** Returns a copy of the state that later changes do not affect. */
  snapshot(): Snapshot {
    return structuredClone(this.#currentState())
  }

  /** Returns the changes that make this state from an empty one. */
  changes(): Iterable<Change> {
    return listChanges(this.#currentState())
  }

  #currentState(): Snapshot {
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

  #applyDelivery(delivery: DeliveryRecord): void {
    const isNewOrWaiting = (this.deliveries.get(delivery.id)?.state ?? 'waiting') === 'waiting'
    this.deliveries.set(delivery.id, delivery)
    if (delivery.state === 'waiting' || !isNewOrWaiting) return
    this.#finishedDeliveryIds.push(delivery.id)
    if (this.#finishedDeliveryIds.length > maxFinishedDeliveries)
      this.deliveries.delete(this.#finishedDeliveryIds.shift() ?? '')
  }
}

function* listChanges(snapshot: Snapshot): Generator<Change> {
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

function findOrAddMap<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  const found = map.get(key) ?? new Map<K, V>()
  map.set(key, found)
  return found
}
