import type { RequestResource } from '../contract/request.ts'
import type { Clock } from '../host/clock.ts'
import { isLoopback } from '../host/loopback.ts'
import type { Connection } from '../server/listen.ts'
import { failure } from './answer.ts'
import { serviceApp } from './app.ts'
import type { Call } from './call.ts'
import { ManualClock } from './clock.ts'
import { type Deliver, Deliveries } from './delivery.ts'
import { httpDeliver } from './deliver-http.ts'
import { type Fault, Faults, type Injection } from './faults.ts'
import { Log } from './log.ts'
import { seededLuck } from './luck.ts'
import { documentedQuota, type QuotaWindow } from './quota.ts'
import type { Organisation, RequestRecord } from './records.ts'
import { requestView } from './routes/requests.ts'
import { type Choices, Rules } from './rules.ts'
import { defaultSeed, packageIds, people } from './seed.ts'
import { Service } from './service.ts'
import type { Snapshot } from './state.ts'
import { strike, strikesFirst } from './strike.ts'
import { Timetable } from './timetable.ts'

export interface SandboxOptions {
  clock: Clock
  /** Ids, credentials and luck follow from it; the same seed gives the same sandbox. */
  seed?: string | number | undefined
  /** How many times faster than the clock requests progress; nothing else is touched. Default 1. */
  speed?: number | undefined
  /** Default: the document's 60 a minute and 1,000 an hour. */
  quota?: readonly QuotaWindow[] | undefined
  /** The organisation's webhook. */
  webhookUrl?: string | undefined
  /** What to hold instead of the built-in people and packages. */
  fixture?: Snapshot | undefined
  rules?: Partial<Choices> | undefined
  /** How webhook events travel; default: over HTTP. */
  deliver?: Deliver | undefined
}

export interface Credentials {
  apiKey: string
  userEmail: string
  webhookSecret: string
}

/** The whole service of the document, in this process. */
export interface Sandbox {
  readonly credentials: Credentials
  /** Who and what the built-in fixture holds. */
  readonly people: typeof people
  readonly packageIds: typeof packageIds
  /** A key of another organisation, and its owner's e-mail. */
  readonly stranger: { apiKey: string; userEmail: string }
  readonly log: Log
  readonly rules: Rules
  /** Answers one call. Without a connection a cut shows as a rejection. */
  fetch(request: Request, connection?: Connection): Response | Promise<Response>
  /** Makes calls go wrong; returns what takes it back. */
  inject(injection: Injection): () => void
  clearFaults(): void
  /** Every request there is, oldest first, as a client would read it now. */
  requests(): RequestResource[]
  revokeKey(): void
  deactivateUser(email: string): void
  setCredits(credits: number | null): void
  expireTrial(): void
  deactivateSubscription(): void
  setWebhook(url: string | null): void
  /** Ends timers and deliveries. */
  close(): void
}

const defaultSeedText = 'refcheck'

/** For calls made without a socket. */
const detached: Connection = {
  remoteAddress: '127.0.0.1',
  cut() {
    throw new TypeError('the connection was cut')
  },
  cutShort() {
    throw new TypeError('the connection was cut')
  },
}

export function createSandbox(options: SandboxOptions): Sandbox {
  return new EmbeddedSandbox(options)
}

class EmbeddedSandbox implements Sandbox {
  readonly people = people
  readonly packageIds = packageIds
  readonly log = new Log()
  readonly rules: Rules
  readonly credentials: Credentials
  readonly stranger: { apiKey: string; userEmail: string }
  readonly #clock: Clock
  readonly #app = serviceApp()
  readonly #faults = new Faults()
  readonly #service: Service
  readonly #deliveries: Deliveries
  readonly #timetable: Timetable
  readonly #home: string

  constructor(options: SandboxOptions) {
    const luck = seededLuck(options.seed ?? defaultSeedText)
    this.#clock = options.clock
    this.#timetable = new Timetable(options.clock)
    this.rules = new Rules(options.rules)
    this.#service = new Service({
      luck,
      rules: this.rules,
      windows: options.quota ?? documentedQuota,
      speed: options.speed ?? 1,
      onStatus: (request, status, at) => this.#onStatus(request, status, at),
    })
    this.#deliveries = new Deliveries({
      service: this.#service,
      clock: options.clock,
      luck,
      timetable: this.#timetable,
      deliver: options.deliver ?? httpDeliver(options.clock),
      onWork: (work) => {
        if (options.clock instanceof ManualClock) options.clock.hold(work)
      },
      onAttempt: (delivery, at) =>
        this.log.add(at, {
          kind: 'delivery',
          delivery_id: delivery.id,
          request_id: delivery.request_id,
          status: delivery.status,
          attempt: delivery.attempts,
          outcome: delivery.outcome ?? '',
        }),
    })
    this.#service.commit({ does: 'reset', to: options.fixture ?? defaultSeed(luck) })
    const [home, other] = [...this.#service.state.keys.values()]
    this.#home = home?.organisation_id ?? ''
    this.credentials = {
      apiKey: home?.key ?? '',
      userEmail: people.owner,
      webhookSecret: this.#organisation().webhook_secret,
    }
    this.stranger = { apiKey: other?.key ?? '', userEmail: people.stranger }
    if (options.webhookUrl !== undefined) this.setWebhook(options.webhookUrl)
  }

  fetch(request: Request, connection: Connection = detached): Response | Promise<Response> {
    const { method, url } = request
    const call: Call = { service: this.#service, now: this.#clock.now() }
    const path = pathOf(url)
    const refused = clearTextRefusal(url)
    if (refused !== undefined) return this.#logged(refused, method, path, call)
    const fault = this.#faults.take(method, path)
    if (fault !== undefined && strikesFirst(fault)) {
      return this.#struck(fault, undefined, connection, method, path, call)
    }
    const answer = this.#app.fetch(request, call)
    if (answer instanceof Promise || fault !== undefined) {
      return this.#settle(answer, fault, connection, method, path, call)
    }
    return this.#logged(answer, method, path, call)
  }

  inject(injection: Injection): () => void {
    return this.#faults.add(injection)
  }

  clearFaults(): void {
    this.#faults.clear()
  }

  requests(): RequestResource[] {
    const now = this.#clock.now()
    return [...this.#service.state.requests.values()].map((request) => {
      this.#service.bringUpToDate(request, now)
      return requestView(request, this.#service, now, 'http://127.0.0.1')
    })
  }

  revokeKey(): void {
    const key = { key: this.credentials.apiKey, organisation_id: this.#home, revoked: true }
    this.#service.commit({ does: 'key', key })
  }

  deactivateUser(email: string): void {
    const user = this.#service.state.users.get(this.#home)?.get(email.toLowerCase())
    if (user === undefined) throw new RangeError(`the sandbox has no user "${email}"`)
    this.#service.commit({ does: 'user', user: { ...user, active: false } })
  }

  setCredits(credits: number | null): void {
    this.#change({ credits })
  }

  expireTrial(): void {
    this.#change({ trial: 'expired' })
  }

  deactivateSubscription(): void {
    this.#change({ subscription: 'inactive' })
  }

  setWebhook(url: string | null): void {
    const now = this.#clock.now()
    const requests = [...this.#service.state.requests.values()]
    for (const request of requests) this.#service.bringUpToDate(request, now)
    this.#change({ webhook_url: url })
    for (const request of requests) this.#watch(request)
  }

  close(): void {
    this.#timetable.close()
    this.#deliveries.close()
  }

  async #settle(
    coming: Response | Promise<Response>,
    fault: Fault | undefined,
    connection: Connection,
    method: string,
    path: string,
    call: Call,
  ): Promise<Response> {
    const answer = await coming
    const striking = fault ?? call.fault
    return striking === undefined
      ? this.#logged(answer, method, path, call)
      : this.#struck(striking, answer, connection, method, path, call)
  }

  #struck(
    fault: Fault,
    answer: Response | undefined,
    connection: Connection,
    method: string,
    path: string,
    call: Call,
  ): Response | Promise<Response> {
    this.log.add(call.now, { kind: 'call', method, path, status: answer?.status ?? null, fault: fault.kind })
    return strike(fault, answer, connection)
  }

  #logged(answer: Response, method: string, path: string, call: Call): Response {
    this.log.add(call.now, { kind: 'call', method, path, status: answer.status, fault: null })
    return answer
  }

  #onStatus(request: RequestRecord, status: RequestRecord['status'], at: number): void {
    this.log.add(at, { kind: 'status', request_id: request.request_id, status })
    this.#deliveries.announce(request, status, at)
    if (status === 'RECEIVED') this.#watch(request)
  }

  /** Where a webhook waits for it, progress is followed by the clock; elsewhere a read is soon enough. */
  #watch(request: RequestRecord): void {
    const { organisations } = this.#service.state
    if (organisations.get(request.organisation_id)?.webhook_url === null) return
    const at = this.#service.nextAt(request)
    if (at === undefined) return
    this.#timetable.add(at, () => {
      this.#service.bringUpToDate(request, this.#clock.now())
      this.#watch(request)
    })
  }

  #organisation(): Organisation {
    const organisation = this.#service.state.organisations.get(this.#home)
    if (organisation === undefined) throw new RangeError('the fixture has no organisation with a key')
    return organisation
  }

  #change(part: Partial<Organisation>): void {
    this.#service.commit({ does: 'organisation', organisation: { ...this.#organisation(), ...part } })
  }
}

function pathOf(url: string): string {
  const start = url.indexOf('/', 8)
  const query = url.indexOf('?', start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}

/** "HTTPS only; plain HTTP requests are rejected", but for this machine's own address. */
function clearTextRefusal(url: string): Response | undefined {
  if (!url.startsWith('http:') || url.startsWith('http://127.0.0.1:')) return undefined
  const { hostname } = new URL(url)
  return isLoopback(hostname) ? undefined : failure(400, 'plain HTTP requests are rejected; use HTTPS')
}
