import type { RequestResource } from '../../contract/request.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import { systemRandom } from '../../host/random.ts'
import type { Connection } from '../../server/listen.ts'
import { toFailureResponse } from '../service/answer.ts'
import { checkWebhookUrl, type Deliver, Deliveries, httpDeliver } from '../service/delivery.ts'
import { noConnection, Gateway, type RemoteAccess } from '../service/gateway.ts'
import type { Journal } from '../service/journal.ts'
import { toAttemptEvent, Log, listSecretsOfState } from '../service/log.ts'
import { toRequestResource } from '../service/requests.ts'
import {
  parseChoice,
  type Choices,
  drawRules,
  type RuleSetting,
  listRuleSettings,
  type PermanentChange,
  listDefaultRules,
} from '../service/rules.ts'
import { requireScenario } from '../service/scenarios.ts'
import { ProgressWatch, Scheduler } from '../service/scheduler.ts'
import type {
  DeliveryRecord,
  Injection,
  Organisation,
  Overview,
  PackageRecord,
  RequestRecord,
  Settings,
  Snapshot,
  StoryResult,
} from '../service/schemas.ts'
import { type SeededRandom, seededRandom } from '../service/seeded-random.ts'
import { Service } from '../service/service.ts'
import { type Change, findCurrentUse, documentedQuota, type QuotaWindow, State } from '../service/state.ts'
import { findStory, playStory } from '../service/stories.ts'
import { packageIds, people, createInitialState } from './fixture.ts'
import { ManualClock } from './manual-clock.ts'
import type { Fixture } from './read-inputs.ts'

export interface SandboxOptions {
  /** The clock; with a ManualClock, time only passes when it is advanced. */
  clock: Clock
  /** Seed of ids, credentials and random values; the same seed makes the same sandbox. Default: a random one. */
  seed?: string | number | undefined
  /** Factor by which requests progress faster than the clock; it affects nothing else. Default 1. */
  speed?: number | undefined
  /** Windows of the quota; default: the document's 60 calls a minute and 1,000 an hour. */
  quota?: readonly QuotaWindow[] | undefined
  /** Webhook URL of the organisation. */
  webhookUrl?: string | undefined
  /** Data that replaces the built-in people and packages. */
  fixture?: Fixture | undefined
  /** Choices where the document leaves a rule open; `seeded` draws each from the seed. */
  rules?: Partial<Choices> | 'seeded' | undefined
  /** Journal in which the state is stored and from which it is loaded. Default: in memory only. */
  journal?: Journal | undefined
  /** Sends webhook events; default: over HTTP. */
  deliver?: Deliver | undefined
  /** How other machines reach the sandbox; default: only this machine does. */
  remoteAccess?: RemoteAccess | undefined
}

export interface Credentials {
  apiKey: string
  userEmail: string
  webhookSecret: string
}

/** The first organisation, with the key and the user that `credentials` returns. */
interface HomeOrganisation {
  organisationId: string
  apiKey: string
  userEmail: string
}

/** The whole service of the API document, in this process. Its parts are described in their own modules. */
export class Sandbox {
  /** E-mails of the people in the built-in fixture. */
  readonly people = people
  readonly packageIds = packageIds
  readonly log = new Log(undefined, () => listSecretsOfState(this.#state, this.remoteAccess))
  /** Returns the response to a malformed request or after a failed handler; passed to `listen` as `onError`. */
  readonly respondToFailure = toFailureResponse
  /** How other machines reach the sandbox; undefined if only this machine does. */
  readonly remoteAccess: RemoteAccess | undefined
  readonly #options: SandboxOptions
  readonly #clock: Clock
  readonly #rng: SeededRandom
  readonly #state: State
  readonly #service: Service
  readonly #gateway: Gateway
  readonly #deliveries: Deliveries
  readonly #scheduler: Scheduler
  readonly #progressWatch: ProgressWatch
  readonly #initialState: Snapshot
  #home: HomeOrganisation

  constructor(options: SandboxOptions) {
    const { clock, journal, webhookUrl, remoteAccess } = options
    if (webhookUrl !== undefined) checkWebhookUrl(webhookUrl, remoteAccess !== undefined)
    this.#options = options
    this.remoteAccess = remoteAccess
    this.#clock = clock
    this.#state = new State(createSettings(options))
    this.#rng = seededRandom(this.#state.settings.seed)
    this.#scheduler = new Scheduler(clock, (error) => this.#onFailure(error))
    this.#service = new Service({
      state: this.#state,
      rng: this.#rng,
      windows: options.quota ?? documentedQuota,
      speed: options.speed ?? 1,
      onChange: journal === undefined ? undefined : (change) => this.#storeChange(change, journal),
      onStatus: (request, status, at) => this.#onStatus(request, status, at),
    })
    this.#service.idSalt = drawIdSalt(options)
    this.#progressWatch = new ProgressWatch(this.#service, clock, this.#scheduler)
    this.#gateway = new Gateway({
      service: this.#service,
      clock,
      log: this.log,
      onPermanentChange: (name) => this.makePermanentChange(name),
      remoteAccess,
    })
    this.#deliveries = this.#createDeliveries()
    this.#initialState = this.#createInitialState()
    this.#home = this.#loadState()
    if (webhookUrl !== undefined) this.setWebhook(webhookUrl)
  }

  /** Credentials of the first organisation. */
  get credentials(): Credentials {
    const { apiKey, userEmail, organisationId } = this.#home
    const organisation = this.#state.organisations.get(organisationId)
    return { apiKey, userEmail, webhookSecret: organisation?.webhook_secret ?? '' }
  }

  /** A key of a second organisation and its owner's e-mail; empty if there is none. */
  get otherOrganisationOwner(): Pick<Credentials, 'apiKey' | 'userEmail'> {
    const [, second] = this.#state.organisations.values()
    return second === undefined ? { apiKey: '', userEmail: '' } : findCredentials(second, this.#state)
  }

  /** Responds to a call. Without a `connection`, a fault that cuts it is an error: thrown, or of the returned promise. */
  fetch(request: Request, connection: Connection = noConnection): Response | Promise<Response> {
    return this.#gateway.fetch(request, connection)
  }

  /** Makes calls, or the requests that they create, fail; returns a function that undoes the injection. */
  inject(injection: Injection): () => void {
    if ('scenario' in injection) {
      return this.#service.scenarios.add(requireScenario(injection.scenario), injection)
    }
    return this.#gateway.faults.add(injection, injection)
  }

  clearFaults(): void {
    this.#gateway.faults.clear()
    this.#service.scenarios.clear()
  }

  /** All requests, oldest first, as a client would read them now. */
  requests(): RequestResource[] {
    const now = this.#clock.now()
    return Array.from(this.#state.requests.values(), (request) => {
      this.#service.bringUpToDate(request, now)
      return toRequestResource(request, this.#service, now, 'http://127.0.0.1')
    })
  }

  /** All waiting deliveries and the last thousand completed ones. */
  deliveries(): DeliveryRecord[] {
    return [...this.#state.deliveries.values()]
  }

  /** Returns the state of the sandbox in numbers. Times are milliseconds since the Unix epoch. */
  overview(): Overview {
    const { settings, organisations, requests, deliveries, quota } = this.#state
    const { windows, speed } = this.#service
    const now = this.#clock.now()
    this.#service.bringAllUpToDate(now)
    const statuses = { RECEIVED: 0, IN_PROGRESS: 0, PARTIAL: 0, COMPLETED: 0, ERROR: 0, CANCELLED: 0 }
    for (const { status } of requests.values()) statuses[status] += 1
    const states = { waiting: 0, delivered: 0, given_up: 0 }
    for (const { state } of deliveries.values()) states[state] += 1
    const { organisationId, apiKey } = this.#home
    const organisation = organisations.get(organisationId)
    const start = this.#service.rule('quota-window-start')
    const windowUses = findCurrentUse(quota.get(apiKey) ?? [], windows, now, start)
    return {
      now,
      clock: this.#clock instanceof ManualClock ? 'manual' : 'real',
      speed,
      seed: settings.seed,
      webhook_url: organisation?.webhook_url ?? null,
      credits: organisation?.credits ?? null,
      trial: organisation?.trial ?? 'none',
      subscription: organisation?.subscription ?? 'active',
      requests: statuses,
      deliveries: states,
      quota: windows.map(({ calls, seconds }, index) => {
        const { used, started_at } = windowUses[index] ?? { used: 0, started_at: now }
        return { calls, seconds, used, ends_at: used > 0 ? started_at + seconds * 1000 : null }
      }),
    }
  }

  rules(): RuleSetting[] {
    return listRuleSettings(this.#state.settings.rules)
  }

  /** Sets a rule. Throws an InvalidInputError if there is no such rule or choice. */
  setRule(name: string, choice: string): void {
    const choices = parseChoice(name, choice)
    this.#service.changeSettings({ rules: { ...this.#state.settings.rules, ...choices } })
  }

  /** Makes a change that an owner or the operator of the service could make to the organisation. */
  makePermanentChange(name: PermanentChange): void {
    switch (name) {
      case 'revoke-key':
        return this.#putKey(this.#home.apiKey, true)
      case 'deactivate-user':
        return this.setUserActive(this.#home.userEmail, false)
      case 'no-credits':
        return this.setCredits(0)
      case 'expire-trial':
        return this.#changeOrganisation({ trial: 'expired' })
      case 'deactivate-subscription':
        return this.#changeOrganisation({ subscription: 'inactive' })
      case 'replace-package': {
        const activePackage = [...this.#packages().values()].find(({ status }) => status === 'ACTIVE')
        if (activePackage === undefined) throw new InvalidInputError('the sandbox has no ACTIVE package')
        this.replacePackage(activePackage.id)
      }
    }
  }

  /** Revokes the key and returns a new one: "generating a new key revokes the previous one". */
  renewKey(): string {
    this.makePermanentChange('revoke-key')
    const apiKey = this.#rng.text(32, 'api key', this.#home.organisationId, this.#state.keys.size)
    this.#putKey(apiKey, false)
    this.#home = { ...this.#home, apiKey }
    return apiKey
  }

  setUserActive(email: string, active: boolean): void {
    const user = this.#state.users.get(this.#home.organisationId)?.get(email.toLowerCase())
    if (user === undefined) throw new InvalidInputError(`the sandbox has no user "${email}"`)
    this.#service.commit({ does: 'user', user: { ...user, active } })
  }

  setCredits(credits: number | null): void {
    this.#changeOrganisation({ credits })
  }

  /**
   * Sets the webhook URL: https, or http to this machine or to networks in `remoteAccess`. Throws a UsageError for any
   * other URL.
   */
  setWebhook(url: string | null): void {
    if (url !== null) checkWebhookUrl(url, this.remoteAccess !== undefined)
    this.#service.bringAllUpToDate(this.#clock.now())
    this.#changeOrganisation({ webhook_url: url })
    this.#progressWatch.watchAll()
  }

  /**
   * Replaces a package by a new version and returns the new id: "a new required field creates a new package version
   * with a new `id`". The old version becomes INACTIVE; its schema does not change. `newField`: whether the new version
   * has one more required field.
   */
  replacePackage(id: number, { newField = true }: { newField?: boolean | undefined } = {}): number {
    const packages = this.#packages()
    const oldPackage = packages.get(id)
    if (oldPackage === undefined) throw new InvalidInputError(`the sandbox has no package ${id}`)
    const successor: PackageRecord = {
      ...structuredClone(oldPackage),
      id: Math.max(...packages.keys()) + 1,
      additional_information: newField ? addRequiredField(oldPackage) : oldPackage.additional_information,
    }
    this.#service.commit({ does: 'package', package: { ...oldPackage, status: 'INACTIVE' } })
    this.#service.commit({ does: 'package', package: successor })
    return successor.id
  }

  /** Performs the next transition of a request, or of one of its checks, now. */
  advanceRequest(requestId: string, checkId?: string): void {
    this.#progressWatch.watch(this.#service.advanceRequest(requestId, checkId, this.#clock.now()))
  }

  /**
   * Sends an event again: the delivery with this id, or the latest of the request with this id. Throws an
   * InvalidInputError if there is none.
   */
  redeliver(id: string): DeliveryRecord {
    return this.#deliveries.redeliver(id)
  }

  /**
   * Plays a story (the course of one request and the order in which its events are sent) and posts the events to `to`,
   * or to the organisation's webhook. Throws an InvalidInputError if there is no such story or no URL.
   */
  async trigger(name: string, to?: string): Promise<StoryResult> {
    const { organisationId, userEmail } = this.#home
    const organisation = this.#state.organisations.get(organisationId)
    const user = this.#state.users.get(organisationId)?.get(userEmail.toLowerCase())
    if (organisation === undefined || user === undefined) throw new RangeError('a sandbox without a user')
    const story = findStory(name)
    const url = to ?? organisation.webhook_url
    if (url === null) {
      throw new InvalidInputError('there is no webhook URL to deliver to', {
        hint: 'Give one with --to URL, or set one with: refcheck sandbox set webhook-url URL',
      })
    }
    checkWebhookUrl(url, this.remoteAccess !== undefined)
    // With unlimited credits, the story does not reduce the organisation's credits.
    const caller = { organisation: { ...organisation, credits: null }, user }
    return playStory(story, url, caller, this.#service, this.#deliveries, this.#clock)
  }

  /**
   * Advances a ManualClock by milliseconds; everything that becomes due happens. Throws a UsageError for another
   * clock.
   */
  async advance(ms: number): Promise<void> {
    if (!(this.#clock instanceof ManualClock)) {
      throw new UsageError('this sandbox runs on the real clock, so it cannot be advanced', {
        hint: 'To move the clock, start it with: refcheck sandbox start --clock manual',
      })
    }
    await this.#clock.advance(ms)
    this.#service.bringAllUpToDate(this.#clock.now())
    this.#service.changeSettings({ clock: this.#clock.now() })
  }

  snapshot(): Snapshot {
    this.#service.planAll()
    return this.#state.snapshot()
  }

  /** Replaces the state by that of the snapshot, and sets a ManualClock to the time of the snapshot. */
  restore(snapshot: Snapshot): void {
    this.#scheduler.clear()
    this.#progressWatch.clear()
    this.clearFaults()
    this.#service.discardPlans()
    const { seed } = this.#state.settings
    this.#service.idSalt = drawIdSalt(this.#options)
    this.#state.restore(snapshot)
    this.#state.settings = { ...this.#state.settings, seed }
    this.#options.journal?.rewrite(this.#state.changes())
    this.#home = this.#activateState()
  }

  /** Resets to the initial state. Unless a seed was given, later requests get new ids. */
  reset(): void {
    this.restore(this.#initialState)
  }

  /** Stops timers and deliveries, and closes the journal. */
  close(): void {
    this.#scheduler.close()
    this.#gateway.close()
    this.#deliveries.close()
    this.#options.journal?.close()
  }

  #putKey(key: string, isRevoked: boolean): void {
    const { organisationId } = this.#home
    this.#service.commit({ does: 'key', key: { key, organisation_id: organisationId, revoked: isRevoked } })
  }

  changePlan(plan: Partial<Pick<Organisation, 'trial' | 'subscription'>>): void {
    this.#changeOrganisation(plan)
  }

  /** Changes the first organisation, without the checks of `setWebhook`. */
  #changeOrganisation(changes: Partial<Organisation>): void {
    const organisation = this.#state.organisations.get(this.#home.organisationId)
    if (organisation === undefined) return
    this.#service.commit({ does: 'organisation', organisation: { ...organisation, ...changes } })
  }

  #packages(): ReadonlyMap<number, PackageRecord> {
    return this.#state.packages.get(this.#home.organisationId) ?? new Map<number, PackageRecord>()
  }

  #storeChange(change: Change, journal: Journal): void {
    if (journal.shouldBeRewritten) journal.rewrite(this.#state.changes())
    journal.append(change)
  }

  #createDeliveries(): Deliveries {
    const { clock, deliver } = this.#options
    return new Deliveries({
      service: this.#service,
      clock,
      rng: this.#rng,
      scheduler: this.#scheduler,
      deliver: deliver ?? httpDeliver(clock, this.remoteAccess?.networks),
      onWork: (work) => {
        work.catch((error: unknown) => this.#onFailure(error))
        if (clock instanceof ManualClock) clock.waitFor(work)
      },
      onAttempt: (delivery, at, request) =>
        this.log.add(at, toAttemptEvent(delivery), () => ({ request, response: null })),
    })
  }

  #createInitialState(): Snapshot {
    const { fixture, webhookUrl } = this.#options
    const initialState = createInitialState(fixture, this.#rng, this.#state.settings)
    const [organisation] = initialState.organisations
    if (organisation !== undefined && webhookUrl !== undefined) organisation.webhook_url = webhookUrl
    return initialState
  }

  /** Loads the state from the journal, or creates it from the fixture if the journal is empty or missing. */
  #loadState(): HomeOrganisation {
    const { journal } = this.#options
    if (journal !== undefined && journal.changes.length > 0) {
      const { settings } = this.#state
      for (const change of journal.changes) this.#state.apply(change)
      this.#state.settings = settings
    } else this.#state.restore(this.#initialState)
    journal?.rewrite(this.#state.changes())
    return this.#activateState()
  }

  /** Starts the deliveries and timers of the current state, which has been loaded or replaced. */
  #activateState(): HomeOrganisation {
    const { clock } = this.#state.settings
    if (clock !== null && this.#clock instanceof ManualClock) this.#clock.set(clock)
    this.#deliveries.resume()
    this.#progressWatch.watchAll()
    const [organisation] = this.#state.organisations.values()
    if (organisation === undefined) throw new RangeError('a sandbox needs an organisation')
    return { organisationId: organisation.id, ...findCredentials(organisation, this.#state) }
  }

  #onFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.log.add(this.#clock.now(), { kind: 'failure', message })
  }

  #onStatus(request: RequestRecord, status: RequestRecord['status'], at: number): void {
    this.log.add(at, { kind: 'status', request_id: request.request_id, status })
    this.#deliveries.announce(request, status, at)
    if (status === 'RECEIVED') this.#progressWatch.watch(request)
  }
}

/** Returns an organisation's latest valid key, and the e-mail of its first active owner or other user. */
function findCredentials({ id }: Organisation, state: State): Pick<Credentials, 'apiKey' | 'userEmail'> {
  const keys = [...state.keys.values()].filter((key) => key.organisation_id === id)
  const users = [...(state.users.get(id)?.values() ?? [])]
  const activeUsers = users.filter((user) => user.active)
  const user = activeUsers.find(({ role }) => role === 'owner') ?? activeUsers[0] ?? users[0]
  return {
    apiKey: (keys.findLast(({ revoked }) => !revoked) ?? keys.at(-1))?.key ?? '',
    userEmail: user?.email ?? '',
  }
}

/**
 * Returns the settings of the options, or else those of the journal. If neither has a seed, one is drawn, so that
 * keys cannot be guessed and ids differ from those of other sandboxes. Throws a UsageError if the journal was made
 * with another seed, because ids and keys depend on it.
 */
function createSettings({ seed: requestedSeed, rules, clock, journal }: SandboxOptions): Settings {
  const stored = journal?.changes.findLast((change) => change.does === 'settings')?.settings
  const seed = stored?.seed ?? String(requestedSeed ?? systemRandom.bytes(16).toString('hex'))
  if (requestedSeed !== undefined && seed !== String(requestedSeed)) {
    throw new UsageError(`${journal?.path} was made with the seed "${seed}", not "${requestedSeed}"`, {
      hint: 'Leave the seed out, or choose another file.',
    })
  }
  const chosenRules = rules === 'seeded' ? drawRules(seededRandom(seed)) : rules
  return {
    seed,
    // The journal of an earlier version may lack rules.
    rules: { ...listDefaultRules(), ...stored?.rules, ...chosenRules },
    clock: clock instanceof ManualClock ? (stored?.clock ?? clock.now()) : null,
  }
}

/**
 * Returns a random text from which, in addition to the seed, ids are derived, so that they differ from earlier ids.
 * Empty if the user gave a seed, so that ids repeat.
 */
function drawIdSalt({ seed }: SandboxOptions): readonly string[] {
  return seed === undefined ? [systemRandom.bytes(8).toString('hex')] : []
}

const consentField = { type: 'string', required: true, description: 'How the recipient agreed to the check.' }

function addRequiredField(pack: PackageRecord): PackageRecord['additional_information'] {
  const newEntry = { display_name: 'Consent', code: 'consent', fields: {} }
  const [first = newEntry, ...others] = structuredClone(pack.additional_information)
  return [{ ...first, fields: { ...first.fields, consent_method: consentField } }, ...others]
}
