import { hash } from 'node:crypto'

import type { RequestStatus } from '../../contract/statuses.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { refusals } from './answer.ts'
import { Injections } from './faults.ts'
import { inOrder, nextStepAt, plan, progress, type ProgressPlan } from './progress.ts'
import type { Choices, RuleName } from './rules.ts'
import type { SeededRandom } from './seeded-random.ts'
import { type Caller, type Change, currentUse, type QuotaWindow, secondsToWait, type State } from './state.ts'
import type { PackageRecord, RequestRecord, Settings, Step } from './schemas.ts'
import type { CreateBody } from './validation.ts'

interface ServiceOptions {
  state: State
  rng: SeededRandom
  windows: readonly QuotaWindow[]
  /** How many times faster than the clock requests progress. */
  speed: number
  /** Called with every change, before it is made. */
  onChange?: ((change: Change) => void) | undefined
  /** Called for every overall status a request comes to, RECEIVED first. */
  onStatus: (request: RequestRecord, status: RequestStatus, at: number) => void
}

/** What the service does with its state, for every caller. */
export class Service {
  readonly state: State
  readonly tokens: ReportTokens
  readonly windows: readonly QuotaWindow[]
  readonly speed: number
  /** Scenarios that requests go by that are created next. */
  readonly scenarios = new Injections<string>()
  /** Part of what ids are drawn from: empty where the same calls are to give the same ids. */
  life: readonly string[] = []
  readonly #options: ServiceOptions
  /** Requests whose course was not computed yet. */
  readonly #unplanned = new Map<RequestRecord, Omit<ProgressPlan, 'dice'>>()

  constructor(options: ServiceOptions) {
    this.state = options.state
    this.windows = options.windows
    this.speed = options.speed
    this.tokens = new ReportTokens(options.rng)
    this.#options = options
  }

  rule<N extends RuleName>(name: N): Choices[N] {
    return this.state.settings.rules[name]
  }

  /** An id of a request or check as it is stored. */
  idOf(text: string): string {
    return this.rule('id-case') === 'ignored' ? text.toLowerCase() : text
  }

  /** Every change is made by this method, so that every change is stored. */
  commit(change: Change): void {
    this.#options.onChange?.(change)
    this.state.apply(change)
  }

  changeSettings(part: Partial<Settings>): void {
    this.commit({ does: 'settings', settings: { ...this.state.settings, ...part } })
  }

  /** Counts a call against the quota of its key; 429 where a window is full. */
  countCall(key: string, now: number): void {
    const uses = currentUse(
      this.state.quota.get(key) ?? [],
      this.windows,
      now,
      this.rule('quota-window-start'),
    )
    const wait = secondsToWait(uses, this.windows, now)
    if (wait === 0 || this.rule('refused-calls-count') === 'yes') {
      this.commit({
        does: 'quota',
        key,
        uses: uses.map(({ started_at, used }) => ({ started_at, used: used + 1 })),
      })
    }
    if (wait > 0) throw refusals.throttled(wait)
  }

  /** Stores a new request: RECEIVED, its checks planned, a credit used. */
  accept(
    body: CreateBody,
    { organisation, user }: Caller,
    pack: PackageRecord,
    scenarios: string[],
    now: number,
  ): RequestRecord {
    const { rng, onStatus } = this.#options
    const number = this.state.requests.size + 1
    const request: RequestRecord = {
      number,
      // The moment is part of it: a sandbox that is started again does not give out the ids of its former run again.
      request_id: rng.uuid('request', number, now, ...this.life),
      organisation_id: organisation.id,
      package_id: pack.id,
      created_at: now,
      requester_email: user.email,
      recipient: body.recipient,
      additional_information: body.additional_information,
      scenarios,
      status: 'RECEIVED',
      error_reason: null,
      checks: [],
      steps: [],
      applied: 0,
    }
    this.#unplanned.set(request, { pack, scenarios, rules: this.state.settings.rules })
    if (this.#options.onChange !== undefined) this.#plan(request)
    const { credits } = organisation
    if (credits !== null) {
      this.commit({ does: 'organisation', organisation: { ...organisation, credits: credits - 1 } })
    }
    this.commit({ does: 'request', request })
    onStatus(request, 'RECEIVED', now)
    return request
  }

  /** Computes the courses that were not needed yet, so that the state is complete. */
  planAll(): void {
    for (const request of this.#unplanned.keys()) this.#plan(request)
  }

  /** Discards what is planned for requests of a state that has been replaced. */
  forget(): void {
    this.#unplanned.clear()
    this.scenarios.clear()
  }

  /** Lets what is due by `now` happen to a request. */
  bringUpToDate(request: RequestRecord, now: number): void {
    this.#plan(request)
    const due = nextStepAt(request)
    const elapsed = this.#elapsed(request, now)
    if (due === undefined || due > elapsed) return
    const before = request.status
    const reached = progress(request, elapsed, (at) => request.created_at + at / this.speed)
    if (request.status === before) return
    this.commit({ does: 'request', request })
    for (const status of reached) this.#options.onStatus(request, status, now)
  }

  bringAllUpToDate(now: number): void {
    for (const request of this.state.requests.values()) this.bringUpToDate(request, now)
  }

  /** When the next thing happens to a request, on the clock. */
  nextAt(request: RequestRecord): number | undefined {
    this.#plan(request)
    const due = nextStepAt(request)
    return due === undefined ? undefined : request.created_at + due / this.speed
  }

  /**
   * Makes the next turn of a request, or of one of its checks, happen now, with what belongs to it.
   * Throws InvalidInputError where there is none.
   */
  advanceRequest(requestId: string, checkId: string | undefined, now: number): RequestRecord {
    const request = this.state.requests.get(requestId)
    if (request === undefined) throw new InvalidInputError(`no request "${requestId}"`)
    this.bringUpToDate(request, now)
    const check = checkId === undefined ? undefined : request.checks.findIndex(({ id }) => id === checkId)
    const coming = request.steps.slice(request.applied)
    const last = coming.findIndex((step) => isTurn(step) && (check === undefined || isOf(step, check)))
    const turn = coming[last]
    if (turn === undefined) {
      throw new InvalidInputError(`request "${requestId}" will not change any more`, {
        hint: 'It has a terminal status, or a scenario holds it.',
      })
    }
    const at = this.#elapsed(request, now)
    request.steps = inOrder([
      ...request.steps.slice(0, request.applied),
      ...coming.map((step, index) => (index <= last && belongs(step, turn) ? moved(step, at) : step)),
    ])
    this.bringUpToDate(request, now)
    this.commit({ does: 'request', request })
    return request
  }

  /** Leaves a request as it is for ever. */
  stopProgress(request: RequestRecord): void {
    this.commit({ does: 'request', request: Object.assign(request, { steps: [], applied: 0 }) })
  }

  /**
   * Works out the course of a request at the first look at it. It was settled when the request was
   * made; but most of what a load test creates is never looked at.
   */
  #plan(request: RequestRecord): void {
    const course = this.#unplanned.get(request)
    if (course === undefined) return
    this.#unplanned.delete(request)
    const dice = this.#options.rng.dice('course', request.number, ...this.life)
    Object.assign(request, plan({ ...course, dice }))
    this.state.apply({ does: 'request', request })
  }

  #elapsed(request: RequestRecord, now: number): number {
    return (now - request.created_at) * this.speed
  }
}

const isTurn = ({ does }: Step): boolean => does === 'check' || does === 'fail'
const isOf = (step: Step, check: number): boolean => step.does === 'fail' || step.check === check
const belongs = (step: Step, turn: Step): boolean =>
  step === turn || (step.does !== 'fail' && turn.does !== 'fail' && step.check === turn.check)
const moved = (step: Step, at: number): Step => ({ ...step, at })

/** "Signed report token lifetime: 1 hour". */
const lifetime = 3_600_000

/** Makes and checks the `t` of report URLs. A token is valid for one report and holds the moment of its end. */
class ReportTokens {
  readonly #secret: string
  #issued = 0

  constructor(rng: SeededRandom) {
    this.#secret = rng.text(32, 'report tokens')
  }

  /** Never the same twice ("Each read produces fresh signed report URLs"). */
  issue(report: string, now: number): string {
    this.#issued += 1
    const claim = `${(now + lifetime).toString(36)}.${this.#issued.toString(36)}`
    return `${claim}.${this.#seal(report, claim)}`
  }

  /** Whether the token was made for this report and its hour is not over. */
  accepts(token: string, report: string, now: number): boolean {
    const [end = '', count = '', seal = '', ...rest] = token.split('.')
    if (rest.length > 0 || seal !== this.#seal(report, `${end}.${count}`)) return false
    return now < Number.parseInt(end, 36)
  }

  /** The secret on both sides, so that nothing can be added; several times faster than an HMAC, and reads sign a lot. */
  #seal(report: string, claim: string): string {
    return hash('sha256', `${this.#secret} ${report} ${claim} ${this.#secret}`, 'base64url')
  }
}

/** What a token of a background report is bound to, and the path below /v1/reports/. */
export const backgroundReport = (checkId: string): string => checkId

/** The same for one referee's report. */
export const refereeReport = (checkId: string, refereeId: string): string =>
  `${checkId}/referees/${refereeId}`
