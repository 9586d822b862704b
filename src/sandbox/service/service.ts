import { hash } from 'node:crypto'

import type { RequestStatus } from '../../contract/statuses.ts'
import { InvalidInputError } from '../../errors/kinds.ts'
import { refusals } from './answer.ts'
import { Injections } from './faults.ts'
import { sortSteps, findNextStepMs, planProgress, performDueSteps, type ProgressPlan } from './progress.ts'
import type { Choices, RuleName } from './rules.ts'
import type { SeededRandom } from './seeded-random.ts'
import {
  type Caller,
  type Change,
  findCurrentUse,
  type QuotaWindow,
  countSecondsToWait,
  type State,
} from './state.ts'
import type { PackageRecord, RequestRecord, Settings, Step } from './schemas.ts'
import type { CreateBody } from './validation.ts'

interface ServiceOptions {
  state: State
  rng: SeededRandom
  windows: readonly QuotaWindow[]
  /** Factor by which requests progress faster than the clock. */
  speed: number
  /** Called with every change before it is applied. */
  onChange?: ((change: Change) => void) | undefined
  /** Called for every overall status of a request, RECEIVED first. */
  onStatus: (request: RequestRecord, status: RequestStatus, at: number) => void
}

/** The operations of the service on its state, for all callers. */
export class Service {
  readonly state: State
  readonly tokens: ReportTokens
  readonly windows: readonly QuotaWindow[]
  readonly speed: number
  /** Injected scenarios for the requests that are created next. */
  readonly scenarios = new Injections<string>()
  /**
   * Appended to the arguments from which `rng` derives each id, so that another run issues other ids. Empty if a seed
   * was given, so that each run issues the same ids.
   */
  idSalt: readonly string[] = []
  readonly #options: ServiceOptions
  /** Requests whose progress has not been planned yet, with the data on which the progress depends. */
  readonly #unplanned = new Map<RequestRecord, Omit<ProgressPlan, 'random'>>()

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

  /** Converts an id of a request or check to its stored form. */
  normaliseId(text: string): string {
    return this.rule('id-case') === 'ignored' ? text.toLowerCase() : text
  }

  /** Applies a change. All changes are made by this method, so that all are stored. */
  commit(change: Change): void {
    this.#options.onChange?.(change)
    this.state.apply(change)
  }

  changeSettings(changes: Partial<Settings>): void {
    this.commit({ does: 'settings', settings: { ...this.state.settings, ...changes } })
  }

  /** Counts a call against the quota of its key. Throws a Refusal with status 429 if a window is full. */
  countCall(key: string, now: number): void {
    const uses = findCurrentUse(
      this.state.quota.get(key) ?? [],
      this.windows,
      now,
      this.rule('quota-window-start'),
    )
    const waitSeconds = countSecondsToWait(uses, this.windows, now)
    if (waitSeconds === 0 || this.rule('refused-calls-count') === 'yes') {
      const increasedUses = uses.map(({ started_at, used }) => ({ started_at, used: used + 1 }))
      this.commit({ does: 'quota', key, uses: increasedUses })
    }
    if (waitSeconds > 0) throw refusals.throttled(waitSeconds)
  }

  /** Stores a new request with the status RECEIVED and uses a credit. */
  createRequest(
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
      // The time is an argument, so that a restarted sandbox does not issue the ids of its earlier run again.
      request_id: rng.uuid('request', number, now, ...this.idSalt),
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
    // A change that is stored has to contain the steps.
    if (this.#options.onChange !== undefined) this.#plan(request)
    const { credits } = organisation
    if (credits !== null) {
      this.commit({ does: 'organisation', organisation: { ...organisation, credits: credits - 1 } })
    }
    this.commit({ does: 'request', request })
    onStatus(request, 'RECEIVED', now)
    return request
  }

  /** Plans the progress of all requests, so that the state is complete. */
  planAll(): void {
    for (const request of this.#unplanned.keys()) this.#plan(request)
  }

  /** Discards the unplanned requests and the injected scenarios, after the state has been replaced. */
  discardPlans(): void {
    this.#unplanned.clear()
    this.scenarios.clear()
  }

  /** Performs the steps of a request that are due by `now`. */
  bringUpToDate(request: RequestRecord, now: number): void {
    this.#plan(request)
    const dueMs = findNextStepMs(request)
    const elapsedMs = this.#elapsedMs(request, now)
    if (dueMs === undefined || dueMs > elapsedMs) return
    const statusBefore = request.status
    const newStatuses = performDueSteps(request, elapsedMs, (at) => request.created_at + at / this.speed)
    if (request.status === statusBefore) return
    this.commit({ does: 'request', request })
    for (const status of newStatuses) this.#options.onStatus(request, status, now)
  }

  bringAllUpToDate(now: number): void {
    for (const request of this.state.requests.values()) this.bringUpToDate(request, now)
  }

  /** Returns the clock time of the next step of a request; undefined if there is none. */
  findNextStepClockTime(request: RequestRecord): number | undefined {
    this.#plan(request)
    const dueMs = findNextStepMs(request)
    return dueMs === undefined ? undefined : request.created_at + dueMs / this.speed
  }

  /**
   * Performs the next transition of a request (or of the check `checkId`) at once. Earlier remaining steps of the same
   * check are performed at the same time. Throws an InvalidInputError if no transition remains.
   */
  advanceRequest(requestId: string, checkId: string | undefined, now: number): RequestRecord {
    const request = this.state.requests.get(requestId)
    if (request === undefined) throw new InvalidInputError(`no request "${requestId}"`)
    this.bringUpToDate(request, now)
    const isWanted = (step: Step): boolean =>
      step.does === 'fail' ||
      (step.does === 'check' && (checkId === undefined || request.checks[step.check]?.id === checkId))
    const transitionIndex = request.steps.findIndex(
      (step, index) => index >= request.applied && isWanted(step),
    )
    const transition = request.steps[transitionIndex]
    if (transition === undefined) {
      throw new InvalidInputError(`request "${requestId}" will not change any more`, {
        hint: 'It has a terminal status, or a scenario holds it.',
      })
    }
    const at = this.#elapsedMs(request, now)
    const isAboutSameCheck = (step: Step): boolean =>
      step === transition || ('check' in step && 'check' in transition && step.check === transition.check)
    request.steps = sortSteps(
      request.steps.map((step, index) =>
        index >= request.applied && index <= transitionIndex && isAboutSameCheck(step)
          ? { ...step, at }
          : step,
      ),
    )
    this.bringUpToDate(request, now)
    this.commit({ does: 'request', request })
    return request
  }

  /** Removes the remaining steps of a request, so that it never changes again. */
  stopProgress(request: RequestRecord): void {
    this.commit({ does: 'request', request: Object.assign(request, { steps: [], applied: 0 }) })
  }

  /**
   * Plans the progress of a request when it is first needed, since a load test never reads most requests that it
   * creates. The result does not depend on the time of planning.
   */
  #plan(request: RequestRecord): void {
    const plan = this.#unplanned.get(request)
    if (plan === undefined) return
    this.#unplanned.delete(request)
    const random = this.#options.rng.stream('course', request.number, ...this.idSalt)
    Object.assign(request, planProgress({ ...plan, random }))
    this.state.apply({ does: 'request', request })
  }

  #elapsedMs(request: RequestRecord, now: number): number {
    return (now - request.created_at) * this.speed
  }
}

/** The "signed report token lifetime" is 1 hour, according to the limits of the API document. */
const tokenLifetimeMs = 3_600_000

/**
 * Issues and checks the token `t` of report URLs. A token is valid for one report and contains its end time.
 */
class ReportTokens {
  readonly #secret: string
  #issued = 0

  constructor(rng: SeededRandom) {
    this.#secret = rng.text(32, 'report tokens')
  }

  /** Returns a new token each time, because each read of a request has new report URLs. */
  issue(reportPath: string, now: number): string {
    this.#issued += 1
    const claim = `${(now + tokenLifetimeMs).toString(36)}.${this.#issued.toString(36)}`
    return `${claim}.${this.#sign(reportPath, claim)}`
  }

  /** Returns true if the token is valid for this report and has not expired. */
  isValid(token: string, reportPath: string, now: number): boolean {
    const [endTime = '', count = '', signature = '', ...surplusParts] = token.split('.')
    if (surplusParts.length > 0 || signature !== this.#sign(reportPath, `${endTime}.${count}`)) return false
    return now < Number.parseInt(endTime, 36)
  }

  /**
   * Signs a claim. Because the secret is on both sides of the claim, no signature of a longer claim can be
   * derived from it (length extension). An HMAC would be several times slower, and each read signs many URLs.
   */
  #sign(reportPath: string, claim: string): string {
    return hash('sha256', `${this.#secret} ${reportPath} ${claim} ${this.#secret}`, 'base64url')
  }
}

/**
 * Returns the path below /v1/reports/ of a background report, or of a referee's report. The token of the report is
 * bound to this path.
 */
export const reportPathOf = (checkId: string, refereeId?: string): string =>
  refereeId === undefined ? checkId : `${checkId}/referees/${refereeId}`
