import type { RequestResource } from '../../contract/request.ts'
import { controlPath } from './control-path.ts'
import { UsageError } from '../../errors/kinds.ts'
import { seedFrom } from './fixture.ts'
import { homeOf, otherOrganisationOf } from './home.ts'
import type { Clock } from '../../host/clock.ts'
import { ManualClock } from './manual-clock.ts'
import { type Overview, overview } from './overview.ts'
import type { Credentials, Sandbox, SandboxOptions } from './sandbox.ts'
import { defaultSeed, packageIds, people } from './seed.ts'
import type { Connection } from '../../server/listen.ts'
import { malformedOrBroken } from '../service/answer.ts'
import { httpDeliver } from '../service/deliver-http.ts'
import { Deliveries } from '../service/delivery.ts'
import type { Injection } from '../service/faults.ts'
import { detached, Gateway, pathOf } from '../service/gateway.ts'
import type { Journal } from '../service/journal.ts'
import { attemptEntry, Log, secretsIn } from '../service/log.ts'
import { type SeededRandom, seededRandom } from '../service/seeded-random.ts'
import { documentedQuota } from '../service/quota.ts'
import type { DeliveryRecord, Organisation, RequestRecord } from '../service/records.ts'
import { requestView } from '../service/request-view.ts'
import { checkedChoice, type RuleSetting, ruleSettings } from '../service/rules.ts'
import { checkedScenario } from '../service/scenarios.ts'
import { Service } from '../service/service.ts'
import { type Change, type Snapshot, State } from '../service/state.ts'
import type { Switch } from '../service/switch-names.ts'
import { Scheduler } from '../service/scheduler.ts'
import { QuietWatch } from '../service/quiet-watch.ts'
import { checkedWebhookUrl } from '../service/webhook-url.ts'
import { newLife, startingSettings } from './settings.ts'
import { type HomeOrganisation, Switches } from './switches.ts'

/** The composition of the sandbox; what its parts do stands with them. */
export class EmbeddedSandbox implements Sandbox {
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
      onAttempt: (delivery, at) => this.log.add(at, attemptEntry(delivery)),
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
