import type { RequestStatus } from '../contract/request.ts'
import { refusals } from './answer.ts'
import type { Caller } from './call.ts'
import type { Luck } from './luck.ts'
import { plannedChecks, usualSteps } from './progress/plan.ts'
import { nextStepAt, progress } from './progress/step.ts'
import { currentUse, type QuotaWindow, secondsToWait } from './quota.ts'
import type { PackageRecord, RequestRecord } from './records.ts'
import type { Rules } from './rules.ts'
import { type Change, State } from './state.ts'
import { ReportTokens } from './token.ts'
import type { CreateBody } from './validation/create-body.ts'

export interface ServiceOptions {
  luck: Luck
  rules: Rules
  windows: readonly QuotaWindow[]
  /** How many times faster than the clock requests progress. */
  speed: number
  /** Called with every change, before it is made. */
  onChange?: ((change: Change) => void) | undefined
  /** Called for every overall status a request comes to. */
  onStatus?: ((request: RequestRecord, status: RequestStatus, at: number) => void) | undefined
}

/** What the service does with its state, whoever calls. */
export class Service {
  readonly state = new State()
  readonly rules: Rules
  readonly tokens: ReportTokens
  readonly windows: readonly QuotaWindow[]
  readonly speed: number
  readonly #luck: Luck
  readonly #options: ServiceOptions

  constructor(options: ServiceOptions) {
    this.rules = options.rules
    this.windows = options.windows
    this.speed = options.speed
    this.tokens = new ReportTokens(options.luck)
    this.#luck = options.luck
    this.#options = options
  }

  /** The only door to a change. */
  commit(change: Change): void {
    this.#options.onChange?.(change)
    this.state.apply(change)
  }

  /** Counts a call against the quota of its key; 429 where a window is full. */
  countCall(key: string, now: number): void {
    const uses = currentUse(
      this.state.quota.get(key) ?? [],
      this.windows,
      now,
      this.rules.get('quota-window-start'),
    )
    const wait = secondsToWait(uses, this.windows, now)
    if (wait === 0 || this.rules.get('refused-calls-count') === 'yes') {
      const counted = uses.map(({ started_at, used }) => ({ started_at, used: used + 1 }))
      this.commit({ does: 'quota', key, uses: counted })
    }
    if (wait > 0) throw refusals.throttled(wait)
  }

  /** Keeps a new request: RECEIVED, its checks planned, a credit used. */
  accept(body: CreateBody, { organisation, user }: Caller, pack: PackageRecord, now: number): RequestRecord {
    const number = this.state.requests.size + 1
    const checks = plannedChecks(pack, number, this.#luck)
    const request: RequestRecord = {
      number,
      request_id: this.#luck.uuid('request', number),
      organisation_id: organisation.id,
      package_id: pack.id,
      created_at: now,
      requester_email: user.email,
      recipient: body.recipient,
      additional_information: body.additional_information,
      scenario: null,
      status: 'RECEIVED',
      error_reason: null,
      checks,
      steps: usualSteps(pack, checks, number, this.#luck),
      applied: 0,
    }
    this.commit({ does: 'request', request })
    if (organisation.credits !== null) {
      this.commit({
        does: 'organisation',
        organisation: { ...organisation, credits: organisation.credits - 1 },
      })
    }
    this.#options.onStatus?.(request, 'RECEIVED', now)
    return request
  }

  /** Lets what is due by `now` happen to a request. */
  bringUpToDate(request: RequestRecord, now: number): void {
    const due = nextStepAt(request)
    const elapsed = (now - request.created_at) * this.speed
    if (due === undefined || due > elapsed) return
    const before = request.status
    const timeOf = (at: number): number => request.created_at + at / this.speed
    const reached = progress(request, elapsed, timeOf)
    if (request.status === before) return
    this.#options.onChange?.({
      does: 'progress',
      request_id: request.request_id,
      elapsed,
      speed: this.speed,
    })
    for (const status of reached) this.#options.onStatus?.(request, status, now)
  }

  /** When the next thing happens to a request, on the clock. */
  nextAt(request: RequestRecord): number | undefined {
    const due = nextStepAt(request)
    return due === undefined ? undefined : request.created_at + due / this.speed
  }
}
