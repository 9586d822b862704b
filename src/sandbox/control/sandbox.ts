import type { RequestResource } from '../../contract/request.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import { systemRandom } from '../../host/random.ts'
import type { Connection } from '../../server/listen.ts'
import { malformedOrBroken } from '../service/answer.ts'
import { checkedWebhookUrl, type Deliver, Deliveries, httpDeliver } from '../service/delivery.ts'
import { detached, Gateway, type Reach } from '../service/gateway.ts'
import type { Journal } from '../service/journal.ts'
import { attemptEntry, Log, secretsIn } from '../service/log.ts'
import { requestView } from '../service/requests.ts'
import {
  checkedChoice,
  type Choices,
  drawnRules,
  type RuleSetting,
  ruleSettings,
  type Switch,
  usualRules,
} from '../service/rules.ts'
import { checkedScenario } from '../service/scenarios.ts'
import { QuietWatch, Scheduler } from '../service/scheduler.ts'
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
import { type Change, currentUse, documentedQuota, type QuotaWindow, State } from '../service/state.ts'
import { findStory, playStory } from '../service/stories.ts'
import { builtIn, builtInNames, packageIds, people, seedFrom } from './fixture.ts'
import { ManualClock } from './manual-clock.ts'
import type { Fixture } from './read-inputs.ts'

export interface SandboxOptions {
  /** Under a ManualClock nothing happens until it is advanced. */
  clock: Clock
  /** Ids, credentials and random draws follow from it; the same seed gives the same sandbox. Default: a random one. */
  seed?: string | number | undefined
  /** How many times faster than the clock requests progress; nothing else is touched. Default 1. */
  speed?: number | undefined
  /** Default: the document's 60 a minute and 1,000 an hour. */
  quota?: readonly QuotaWindow[] | undefined
  /** The organisation's webhook. */
  webhookUrl?: string | undefined
  /** What to hold instead of the built-in people and packages. */
  fixture?: Fixture | undefined
  /** Choices among what the document leaves open; `seeded` draws each from the seed. */
  rules?: Partial<Choices> | 'seeded' | undefined
  /** Where the state is stored; it goes on from there. Default: in memory only. */
  data?: Journal | undefined
  /** How webhook events travel; default: over HTTP. */
  deliver?: Deliver | undefined
  /** How other machines reach it; default: only this machine does. */
  reach?: Reach | undefined
}

export interface Credentials {
  apiKey: string
  userEmail: string
  webhookSecret: string
}

/** Whose key the sandbox gives out: the first organisation's. */
interface HomeOrganisation {
  organisationId: string
  apiKey: string
  userEmail: string
}

/** Answers a call that is no part of the service, such as one that controls the sandbox; undefined for any other. */
type AnswerOutside = (
  sandbox: Sandbox,
  request: Request,
  connection: Connection,
) => Promise<Response> | undefined

/** The whole service of the document, in this process. What its parts do is described where they are. */
export class Sandbox {
  /** The people and packages of the built-in fixture. */
  readonly people = people
  readonly packageIds = packageIds
  readonly log = new Log(undefined, () => secretsIn(this.#state, this.#options.reach))
  /** The answer to what never became a request, or broke on the way: for `onError` of `listen`. */
  readonly refuse = malformedOrBroken
  readonly #options: SandboxOptions
  readonly #answerOutside: AnswerOutside
  readonly #clock: Clock
  readonly #rng: SeededRandom
  readonly #state: State
  readonly #service: Service
  readonly #gateway: Gateway
  readonly #deliveries: Deliveries
  readonly #timetable: Scheduler
  readonly #watch: QuietWatch
  readonly #beginning: Snapshot
  #home: HomeOrganisation

  constructor(options: SandboxOptions, answerOutside: AnswerOutside) {
    const { clock, data, webhookUrl, reach } = options
    if (webhookUrl !== undefined) checkedWebhookUrl(webhookUrl, reach !== undefined)
    this.#options = options
    this.#answerOutside = answerOutside
    this.#clock = clock
    this.#state = new State(startingSettings(options))
    const { seed } = this.#state.settings
    this.#rng = seededRandom(seed)
    this.#timetable = new Scheduler(clock, (error) => this.#onFailure(error))
    this.#service = new Service({
      state: this.#state,
      rng: this.#rng,
      windows: options.quota ?? documentedQuota,
      speed: options.speed ?? 1,
      onChange: data === undefined ? undefined : (change) => this.#keep(change, data),
      onStatus: (request, status, at) => this.#onStatus(request, status, at),
    })
    this.#service.life = newLife(options)
    this.#watch = new QuietWatch(this.#service, clock, this.#timetable)
    this.#gateway = new Gateway({
      service: this.#service,
      clock,
      log: this.log,
      onSwitch: (name) => this.flipSwitch(name),
      reach,
    })
    this.#deliveries = this.#newDeliveries()
    this.#beginning = this.#newBeginning()
    this.#home = this.#open()
    if (webhookUrl !== undefined) this.setWebhook(webhookUrl)
  }

  /** Of the first organisation. */
  get credentials(): Credentials {
    const { apiKey, userEmail, organisationId } = this.#home
    const organisation = this.#state.organisations.get(organisationId)
    return { apiKey, userEmail, webhookSecret: organisation?.webhook_secret ?? '' }
  }

  /** A key of another organisation, and its owner's e-mail; empty where there is none. */
  get otherOrganisation(): Pick<Credentials, 'apiKey' | 'userEmail'> {
    const [, second] = this.#state.organisations.values()
    return second === undefined ? { apiKey: '', userEmail: '' } : credentialsOf(second, this.#state)
  }

  /** Answers one call. Without a connection a cut shows as a rejection. */
  fetch(request: Request, connection: Connection = detached): Response | Promise<Response> {
    return this.#answerOutside(this, request, connection) ?? this.#gateway.fetch(request, connection)
  }

  /** Makes calls, or the requests they create, go wrong; returns what takes it back. */
  inject(injection: Injection): () => void {
    if ('scenario' in injection) {
      return this.#service.scenarios.add(checkedScenario(injection.scenario), injection)
    }
    return this.#gateway.faults.add(injection)
  }

  clearFaults(): void {
    this.#gateway.faults.clear()
    this.#service.scenarios.clear()
  }

  /** Every request there is, oldest first, as a client would read it now. */
  requests(): RequestResource[] {
    const now = this.#clock.now()
    return Array.from(this.#state.requests.values(), (request) => {
      this.#service.bringUpToDate(request, now)
      return requestView(request, this.#service, now, 'http://127.0.0.1')
    })
  }

  /** Every delivery that waits, and the last thousand that are over. */
  deliveries(): DeliveryRecord[] {
    return [...this.#state.deliveries.values()]
  }

  /** What is going on, in numbers. Times are milliseconds since the epoch. */
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
    const uses = currentUse(quota.get(apiKey) ?? [], windows, now, start)
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
        const { used, started_at } = uses[index] ?? { used: 0, started_at: now }
        return { calls, seconds, used, ends_at: used > 0 ? started_at + seconds * 1000 : null }
      }),
    }
  }

  rules(): RuleSetting[] {
    return ruleSettings(this.#state.settings.rules)
  }

  /** Throws InvalidInputError where there is no such rule or choice. */
  setRule(name: string, choice: string): void {
    const chosen = checkedChoice(name, choice)
    this.#service.changeSettings({ rules: { ...this.#state.settings.rules, ...chosen } })
  }

  /** Something that an owner, or the operator of the service, could do to the organisation. */
  flipSwitch(name: Switch): void {
    switch (name) {
      case 'revoke-key':
        return this.#putKey(this.#home.apiKey, true)
      case 'deactivate-user':
        return this.setUserActive(this.#home.userEmail, false)
      case 'no-credits':
        return this.setCredits(0)
      case 'expire-trial':
        return this.changePlan({ trial: 'expired' })
      case 'deactivate-subscription':
        return this.changePlan({ subscription: 'inactive' })
      case 'replace-package': {
        const active = [...this.#packages().values()].find(({ status }) => status === 'ACTIVE')
        if (active === undefined) throw new InvalidInputError('the sandbox has no ACTIVE package')
        this.replacePackage(active.id)
      }
    }
  }

  /** "generating a new key revokes the previous one"; the new key. */
  renewKey(): string {
    this.flipSwitch('revoke-key')
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

  changePlan(plan: Partial<Pick<Organisation, 'trial' | 'subscription'>>): void {
    this.#changeOrganisation(plan)
  }

  /** https, or http to this machine and to what `reach` names; throws UsageError for any other. */
  setWebhook(url: string | null): void {
    if (url !== null) checkedWebhookUrl(url, this.#options.reach !== undefined)
    this.#service.bringAllUpToDate(this.#clock.now())
    this.#changeOrganisation({ webhook_url: url })
    this.#watch.followAll()
  }

  /**
   * "a new required field creates a new package version with a new `id`": the old one becomes
   * INACTIVE, its schema stays as it was. The id of the successor.
   */
  replacePackage(id: number, { newField = true }: { newField?: boolean | undefined } = {}): number {
    const packages = this.#packages()
    const old = packages.get(id)
    if (old === undefined) throw new InvalidInputError(`the sandbox has no package ${id}`)
    const successor: PackageRecord = {
      ...structuredClone(old),
      id: Math.max(...packages.keys()) + 1,
      additional_information: newField ? withNewField(old) : old.additional_information,
    }
    this.#service.commit({ does: 'package', package: { ...old, status: 'INACTIVE' } })
    this.#service.commit({ does: 'package', package: successor })
    return successor.id
  }

  /** Makes the next turn of a request, or of one of its checks, happen now. */
  advanceRequest(requestId: string, checkId?: string): void {
    this.#watch.follow(this.#service.advanceRequest(requestId, checkId, this.#clock.now()))
  }

  /** Sends an event once more: of that id, or the latest of the request of that id. Throws InvalidInputError where there is none. */
  redeliver(id: string): DeliveryRecord {
    return this.#deliveries.redeliver(id)
  }

  /** Plays a story of that name to `to`, or to the webhook of the organisation. Throws InvalidInputError where there is no such story or no URL. */
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
    checkedWebhookUrl(url, this.#options.reach !== undefined)
    // Without credits there is nothing to count down.
    const caller = { organisation: { ...organisation, credits: null }, user }
    return playStory(story, url, {
      service: this.#service,
      deliveries: this.#deliveries,
      clock: this.#clock,
      caller,
    })
  }

  /** Moves a ManualClock by milliseconds, and everything with it. Throws UsageError under another clock. */
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

  /** Holds what the snapshot held; a ManualClock is set to the moment of the snapshot. */
  restore(snapshot: Snapshot): void {
    this.#timetable.clear()
    this.#watch.clear()
    this.clearFaults()
    this.#service.forget()
    const { seed } = this.#state.settings
    this.#service.life = newLife(this.#options)
    this.#state.restore(snapshot)
    this.#state.settings = { ...this.#state.settings, seed }
    this.#options.data?.rewrite(this.#state.changes())
    this.#home = this.#takeUp()
  }

  /** Back to the beginning. Without a seed that was given, ids of what is made from now on are new ones. */
  reset(): void {
    this.restore(this.#beginning)
  }

  /** Ends timers and deliveries, and closes the data. */
  close(): void {
    this.#timetable.close()
    this.#gateway.close()
    this.#deliveries.close()
    this.#options.data?.close()
  }

  #putKey(key: string, revoked: boolean): void {
    const { organisationId } = this.#home
    this.#service.commit({ does: 'key', key: { key, organisation_id: organisationId, revoked } })
  }

  #changeOrganisation(part: Partial<Organisation>): void {
    const organisation = this.#state.organisations.get(this.#home.organisationId)
    if (organisation === undefined) return
    this.#service.commit({ does: 'organisation', organisation: { ...organisation, ...part } })
  }

  #packages(): ReadonlyMap<number, PackageRecord> {
    return this.#state.packages.get(this.#home.organisationId) ?? new Map<number, PackageRecord>()
  }

  #keep(change: Change, data: Journal): void {
    if (data.isLong) data.rewrite(this.#state.changes())
    data.append(change)
  }

  #newDeliveries(): Deliveries {
    const { clock, deliver, reach } = this.#options
    return new Deliveries({
      service: this.#service,
      clock,
      rng: this.#rng,
      timetable: this.#timetable,
      deliver: deliver ?? httpDeliver(clock, reach?.networks),
      onWork: (work) => {
        work.catch((error: unknown) => this.#onFailure(error))
        if (clock instanceof ManualClock) clock.waitFor(work)
      },
      onAttempt: (delivery, at, request) =>
        this.log.add(at, attemptEntry(delivery), () => ({ request, response: null })),
    })
  }

  #newBeginning(): Snapshot {
    const { fixture, webhookUrl } = this.#options
    const { settings } = this.#state
    const made = seedFrom(
      fixture ?? builtIn,
      this.#rng,
      settings,
      fixture === undefined ? builtInNames : undefined,
    )
    const [first] = made.organisations
    if (first !== undefined && webhookUrl !== undefined) first.webhook_url = webhookUrl
    return made
  }

  /** Goes on from the data where there is some, else begins. */
  #open(): HomeOrganisation {
    const { data } = this.#options
    if (data !== undefined && data.changes.length > 0) {
      const { settings } = this.#state
      for (const change of data.changes) this.#state.apply(change)
      this.#state.settings = settings
    } else this.#state.restore(this.#beginning)
    data?.rewrite(this.#state.changes())
    return this.#takeUp()
  }

  /** What a new state asks of the clock. */
  #takeUp(): HomeOrganisation {
    const { clock } = this.#state.settings
    if (clock !== null && this.#clock instanceof ManualClock) this.#clock.set(clock)
    this.#deliveries.resume()
    this.#watch.followAll()
    const [first] = this.#state.organisations.values()
    if (first === undefined) throw new RangeError('a sandbox needs an organisation')
    return { organisationId: first.id, ...credentialsOf(first, this.#state) }
  }

  #onFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.log.add(this.#clock.now(), { kind: 'failure', message })
  }

  #onStatus(request: RequestRecord, status: RequestRecord['status'], at: number): void {
    this.log.add(at, { kind: 'status', request_id: request.request_id, status })
    this.#deliveries.announce(request, status, at)
    if (status === 'RECEIVED') this.#watch.follow(request)
  }
}

/** Its key that is not revoked, and its first active owner or else user. */
function credentialsOf({ id }: Organisation, state: State): Pick<Credentials, 'apiKey' | 'userEmail'> {
  const keys = [...state.keys.values()].filter((key) => key.organisation_id === id)
  const users = [...(state.users.get(id)?.values() ?? [])]
  const active = users.filter((user) => user.active)
  const user = active.find(({ role }) => role === 'owner') ?? active[0] ?? users[0]
  return {
    apiKey: (keys.findLast(({ revoked }) => !revoked) ?? keys.at(-1))?.key ?? '',
    userEmail: user?.email ?? '',
  }
}

/**
 * What holds for a sandbox: its data first, then what was asked for. Without a seed one is drawn, so that its keys
 * cannot be guessed and no other sandbox has its ids. Throws UsageError where another seed is asked for than the data
 * was made with, as ids and keys come from it.
 */
function startingSettings({ seed, rules, clock, data }: SandboxOptions): Settings {
  const stored = data?.changes.findLast((change) => change.does === 'settings')?.settings
  const wanted = seed === undefined ? undefined : String(seed)
  if (data !== undefined && stored !== undefined && wanted !== undefined && stored.seed !== wanted) {
    throw new UsageError(`${data.path} was made with the seed "${stored.seed}", not "${wanted}"`, {
      hint: 'Leave the seed out, or choose another file.',
    })
  }
  const chosen = stored?.seed ?? wanted ?? systemRandom.bytes(16).toString('hex')
  const manual = clock instanceof ManualClock
  return {
    seed: chosen,
    // Data of an earlier version knows fewer rules.
    rules: { ...usualRules(), ...stored?.rules, ...chosenRules(rules, chosen) },
    clock: manual ? (stored?.clock ?? clock.now()) : null,
  }
}

/** A part of all ids that are made from now on and of none before; empty for a seed that was given, so that ids repeat. */
function newLife({ seed }: SandboxOptions): readonly string[] {
  return seed === undefined ? [systemRandom.bytes(8).toString('hex')] : []
}

function chosenRules(rules: SandboxOptions['rules'], seed: string): Partial<Choices> {
  return rules === 'seeded' ? drawnRules(seededRandom(seed)) : (rules ?? {})
}

const newField = { type: 'string', required: true, description: 'How the recipient agreed to the check.' }

function withNewField(pack: PackageRecord): PackageRecord['additional_information'] {
  const [first, ...rest] = structuredClone(pack.additional_information)
  if (first === undefined) {
    return [{ display_name: 'Consent', code: 'consent', fields: { consent_method: newField } }]
  }
  return [{ ...first, fields: { ...first.fields, consent_method: newField } }, ...rest]
}
