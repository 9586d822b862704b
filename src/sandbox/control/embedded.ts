import type { RequestResource } from '../../contract/request.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import { systemRandom } from '../../host/random.ts'
import type { Connection } from '../../server/listen.ts'
import { malformedOrBroken } from '../service/answer.ts'
import { checkedWebhookUrl, Deliveries, httpDeliver } from '../service/delivery.ts'
import type { Injection } from '../service/faults.ts'
import { detached, Gateway, pathOf } from '../service/gateway.ts'
import type { Journal } from '../service/journal.ts'
import { attemptEntry, Log, secretsIn } from '../service/log.ts'
import { findStory, playStory, type StoryResult } from '../service/play-story.ts'
import { QuietWatch, Scheduler } from '../service/scheduler.ts'
import {
  type Change,
  type DeliveryRecord,
  documentedQuota,
  type Organisation,
  type RequestRecord,
  type Settings,
  type Snapshot,
  State,
} from '../service/state.ts'
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
import { type SeededRandom, seededRandom } from '../service/seeded-random.ts'
import { Service } from '../service/service.ts'
import { controlPath } from './client.ts'
import { defaultSeed, packageIds, people, seedFrom } from './fixture.ts'
import { ManualClock } from './manual-clock.ts'
import { type Credentials, type Overview, overview, type Sandbox, type SandboxOptions } from './sandbox.ts'
import { type HomeOrganisation, Switches } from './switches.ts'

export type { Sandbox, SandboxOptions } from './sandbox.ts'

/** The whole service of the document, in this process. Data that it cannot go on from is let go of again. */
export function createSandbox(options: SandboxOptions): Sandbox {
  try {
    return new EmbeddedSandbox(options)
  } catch (error) {
    options.data?.close()
    throw error
  }
}

/** The composition of the sandbox; what its parts do stands with them. */
class EmbeddedSandbox implements Sandbox {
  readonly people = people
  readonly packageIds = packageIds
  readonly log = new Log(undefined, () => secretsIn(this.#state, this.#options.reach))
  readonly refuse = malformedOrBroken
  readonly #options: SandboxOptions
  readonly #clock: Clock
  readonly #rng: SeededRandom
  readonly #state: State
  readonly #service: Service
  readonly #gateway: Gateway
  readonly #deliveries: Deliveries
  readonly #switches: Switches
  readonly #timetable: Scheduler
  readonly #watch: QuietWatch
  readonly #beginning: Snapshot
  #home: HomeOrganisation

  constructor(options: SandboxOptions) {
    const { clock, data, webhookUrl, reach } = options
    if (webhookUrl !== undefined) checkedWebhookUrl(webhookUrl, reach !== undefined)
    this.#options = options
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
    this.#switches = new Switches(this.#service, this.#rng, () => this.#home)
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

  get credentials(): Credentials {
    const { apiKey, userEmail, organisationId } = this.#home
    const organisation = this.#state.organisations.get(organisationId)
    return { apiKey, userEmail, webhookSecret: organisation?.webhook_secret ?? '' }
  }

  get otherOrganisation(): { apiKey: string; userEmail: string } {
    return otherOrganisationOf(this.#state)
  }

  fetch(request: Request, connection: Connection = detached): Response | Promise<Response> {
    const path = pathOf(request.url)
    const isPage = path === '/' && request.method === 'GET'
    if (isPage || path.startsWith(controlPath)) return this.#controlled(request, connection)
    if (path === '/openapi.json') return this.#described(request)
    return this.#gateway.fetch(request, connection)
  }

  inject(injection: Injection): () => void {
    if ('scenario' in injection) {
      const { scenario, times = 1, after = 0 } = injection
      return this.#service.armScenario(checkedScenario(scenario), times, after)
    }
    return this.#gateway.faults.add(injection)
  }

  clearFaults(): void {
    this.#gateway.faults.clear()
    this.#service.disarmScenarios()
  }

  requests(): RequestResource[] {
    const now = this.#clock.now()
    return Array.from(this.#state.requests.values(), (request) => {
      this.#service.bringUpToDate(request, now)
      return requestView(request, this.#service, now, 'http://127.0.0.1')
    })
  }

  deliveries(): DeliveryRecord[] {
    return [...this.#state.deliveries.values()]
  }

  overview(): Overview {
    const { organisationId, apiKey } = this.#home
    return overview({
      service: this.#service,
      now: this.#clock.now(),
      manual: this.#clock instanceof ManualClock,
      organisationId,
      apiKey,
    })
  }

  rules(): RuleSetting[] {
    return ruleSettings(this.#state.settings.rules)
  }

  setRule(name: string, choice: string): void {
    const chosen = checkedChoice(name, choice)
    this.#service.changeSettings({ rules: { ...this.#state.settings.rules, ...chosen } })
  }

  flipSwitch(name: Switch): void {
    this.#switches.throw(name)
  }

  renewKey(): string {
    const key = this.#switches.renewKey()
    this.#home = { ...this.#home, apiKey: key }
    return key
  }

  setUserActive(email: string, active: boolean): void {
    this.#switches.setUserActive(email, active)
  }

  setCredits(credits: number | null): void {
    this.#switches.change({ credits })
  }

  changePlan(plan: Partial<Pick<Organisation, 'trial' | 'subscription'>>): void {
    this.#switches.change(plan)
  }

  setWebhook(url: string | null): void {
    if (url !== null) checkedWebhookUrl(url, this.#options.reach !== undefined)
    this.#service.bringAllUpToDate(this.#clock.now())
    this.#switches.change({ webhook_url: url })
    this.#watch.followAll()
  }

  replacePackage(id: number, options?: { newField?: boolean | undefined }): number {
    return this.#switches.replacePackage(id, options)
  }

  advanceRequest(requestId: string, checkId?: string): void {
    this.#watch.follow(this.#service.advanceRequest(requestId, checkId, this.#clock.now()))
  }

  redeliver(id: string): DeliveryRecord {
    return this.#deliveries.redeliver(id)
  }

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

  reset(): void {
    this.restore(this.#beginning)
  }

  close(): void {
    this.#timetable.close()
    this.#gateway.close()
    this.#deliveries.close()
    this.#options.data?.close()
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
        if (clock instanceof ManualClock) clock.hold(work)
      },
      onAttempt: (delivery, at, request) =>
        this.log.add(at, attemptEntry(delivery), () => ({ request, response: null })),
    })
  }

  #newBeginning(): Snapshot {
    const { fixture, webhookUrl } = this.#options
    const { settings } = this.#state
    const made =
      fixture === undefined ? defaultSeed(this.#rng, settings) : seedFrom(fixture, this.#rng, settings)
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
    return homeOf(this.#state)
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

  async #described(request: Request): Promise<Response> {
    const { described } = await import('./openapi.ts')
    return described(this.#options.reach?.publicUrl ?? new URL(request.url).origin)
  }

  async #controlled(request: Request, connection: Connection): Promise<Response> {
    const { control } = await import('./routes.ts')
    return control(this, request, connection, this.#options.reach)
  }
}

/** Whose key the sandbox gives out: the first organisation's, with its first active owner or else user. */
function homeOf(state: State): HomeOrganisation {
  const [first] = state.organisations.values()
  if (first === undefined) throw new RangeError('a sandbox needs an organisation')
  return { organisationId: first.id, ...credentialsOf(first, state) }
}

/** The same of another organisation, empty where there is none. */
function otherOrganisationOf(state: State): { apiKey: string; userEmail: string } {
  const [, second] = state.organisations.values()
  return second === undefined ? { apiKey: '', userEmail: '' } : credentialsOf(second, state)
}

function credentialsOf({ id }: Organisation, state: State): { apiKey: string; userEmail: string } {
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
  const kept = data?.changes.findLast((change) => change.does === 'settings')?.settings
  const wanted = seed === undefined ? undefined : String(seed)
  if (data !== undefined && kept !== undefined && wanted !== undefined && kept.seed !== wanted) {
    throw new UsageError(`${data.path} was made with the seed "${kept.seed}", not "${wanted}"`, {
      hint: 'Leave the seed out, or choose another file.',
    })
  }
  const chosen = kept?.seed ?? wanted ?? systemRandom.bytes(16).toString('hex')
  const manual = clock instanceof ManualClock
  return {
    seed: chosen,
    // Data of an earlier version knows fewer rules.
    rules: { ...usualRules(), ...kept?.rules, ...chosenRules(rules, chosen) },
    clock: manual ? (kept?.clock ?? clock.now()) : null,
  }
}

/** A part of the ids of all that is made from now on, which no former life had: with a seed that was given none, so that they repeat. */
function newLife({ seed }: SandboxOptions): readonly string[] {
  return seed === undefined ? [systemRandom.bytes(8).toString('hex')] : []
}

function chosenRules(rules: SandboxOptions['rules'], seed: string): Partial<Choices> {
  return rules === 'seeded' ? drawnRules(seededRandom(seed)) : (rules ?? {})
}
