import type { Api } from '../api/api.ts'
import type { Context } from './context.ts'
import type { QuotaWindow } from '../domain/quota/windows.ts'
import type { Credentials } from '../domain/session/credentials.ts'
import { defaultTimeoutMs, parseDuration } from './flags/duration.ts'
import { parsePackageId } from './flags/identifiers.ts'
import { variable } from '../host/env.ts'
import { type Paths, resolvePaths } from '../host/paths.ts'
import type { HttpClient } from '../http/client.ts'
import type { ExchangeReport } from '../http/types.ts'
import { Progress } from '../output/progress.ts'
import { Reporter } from '../output/reporter.ts'
import { terminalOf } from '../output/terminal.ts'
import { createEventText, exchangeText, retryNoticeText } from '../output/views/notices.ts'
import type { Prompter } from '../prompt/prompter.ts'
import { TerminalPrompter } from '../prompt/terminal.ts'
import type { Ledger } from '../store/ledger/ledger.ts'
import type { Store } from '../store/ledger/store.ts'
import type { SchemaCache } from '../usecases/form/load-schema.ts'
import type { Governor } from '../usecases/quota/governor.ts'
import { QuotaUsage } from '../usecases/quota/usage.ts'
import { tellingOfOrders } from '../usecases/request/order-on-its-way.ts'
import type { Ordering } from '../usecases/request/ports.ts'
import type { SessionSources } from '../usecases/session/resolve.ts'

export interface ServiceOptions {
  profile: string | undefined
  noColor: boolean
  quiet: boolean
  verbose: boolean
  /** Milliseconds, from --timeout. */
  timeoutMs: number | undefined
}

/** The composition root: what commands are given, each made when it is first asked for. */
export class Services {
  readonly context: Context
  readonly reporter: Reporter
  readonly paths: Paths
  readonly #version: string
  readonly #options: ServiceOptions
  readonly #closers: (() => Promise<void> | void)[] = []
  readonly #usage = new QuotaUsage()
  #http: Promise<HttpClient> | undefined
  #sources: Promise<SessionSources> | undefined
  #api: Promise<Api> | undefined
  #store: Promise<Store> | undefined
  #busyMs: number | undefined

  constructor(context: Context, version: string, options: ServiceOptions) {
    this.context = context
    this.#version = version
    this.#options = options
    this.paths = resolvePaths(context.env)
    const { stderr } = context.streams
    this.reporter = new Reporter(stderr, terminalOf(stderr, context.env, options.noColor), options.quiet)
  }

  async close(): Promise<void> {
    this.reporter.done()
    // Counting keeps nobody waiting whose answer is out; and a store in memory would forget it again.
    this.#busyMs = 250
    const isKept = this.#store !== undefined || variable(this.context.env, 'REFCHECK_STORE') !== ':memory:'
    if (isKept) await this.#usage.settle((baseUrl, apiKey) => this.#governorOf(baseUrl, apiKey))
    for (const close of this.#closers.splice(0).reverse()) await close()
  }

  /** The service as the chosen profile or the environment says. */
  api(): Promise<Api> {
    this.#api ??= this.#connected(this.#options.timeoutMs)
    return this.#api
  }

  /** The same for waits, whose reads may wait out the quota as long as it takes. */
  patientApi(): Promise<Api> {
    return this.#connected(Number.POSITIVE_INFINITY)
  }

  /** For ping: no key, no user. */
  async publicApi(): Promise<Api> {
    const { resolveBaseUrl } = await import('../usecases/session/resolve.ts')
    const baseUrl = await resolveBaseUrl(await this.sessionSources())
    return this.#connect(baseUrl, undefined, await this.#budgetMs())
  }

  /** Makes the API of credentials that are not saved yet. */
  async connector(): Promise<(credentials: Credentials) => Api> {
    const budgetMs = await this.#budgetMs()
    const [{ connectApi }, http] = await Promise.all([import('../api/service.ts'), this.#httpClient()])
    return ({ baseUrl, apiKey, email }) => {
      this.#usage.of(baseUrl, apiKey)
      const credentials = { apiKey, userEmail: email }
      return connectApi({ ...this.#apiOptions(http, budgetMs), baseUrl, credentials })
    }
  }

  /** The bare wire, for what must not stand on the API's own reading of it. */
  http(): Promise<HttpClient> {
    return this.#httpClient()
  }

  /** Profiles, settings, secrets and the environment: what sessions are made of. */
  sessionSources(): Promise<SessionSources> {
    this.#sources ??= this.#openSources()
    return this.#sources
  }

  async webhookSecret(): Promise<string> {
    const { resolveWebhookSecret } = await import('../usecases/session/webhook-secret.ts')
    return (await resolveWebhookSecret(await this.sessionSources())).secret
  }

  /** A default of `refcheck config`, for the profile in use or for all. */
  async setting(key: string): Promise<string | undefined> {
    const { settings, env, profile } = await this.sessionSources()
    const name = profile ?? variable(env, 'REFCHECK_PROFILE') ?? (await settings.currentProfile())
    return settings.value(key, name)
  }

  async packageSetting(): Promise<number | undefined> {
    const text = await this.setting('package')
    return text === undefined ? undefined : parsePackageId(text, 'the setting "package"')
  }

  /** Every setting that there is. */
  async settingKeys() {
    return (await import('../domain/session/setting-keys.ts')).settingDefinitions
  }

  /** Schemas kept here, of the service and user in use. */
  async schemas(): Promise<SchemaCache> {
    const { openSchemaCache } = await import('../store/schemas/schema-cache.ts')
    const { random } = this.context
    const cache = openSchemaCache({ paths: this.paths, random, onNotice: this.#note })
    const { baseUrl, userEmail } = await this.api()
    return {
      get: (packageId) => cache.get({ baseUrl, userEmail, packageId }),
      put: (schema) => cache.put({ baseUrl, userEmail, packageId: schema.id }, schema),
    }
  }

  /** Orders, events and the quota, all in one place. */
  store(): Promise<Store> {
    this.#store ??= this.#openStore()
    return this.#store
  }

  async ledger(): Promise<Ledger> {
    return (await this.store()).ledger
  }

  /** What reading and moving batches needs. */
  async batches() {
    const { ledger, batches } = await this.store()
    return { ledger, batches, clock: this.context.clock }
  }

  /** What placing an order needs. */
  async ordering(signal: AbortSignal) {
    const { clock, random } = this.context
    // Loaded before anything is journaled: the program may be replaced under a long run.
    await Promise.all([import('../api/endpoints/requests.ts'), import('../api/endpoints/schemas.ts')])
    const ordering: Ordering = {
      api: tellingOfOrders(await this.api(), signal, this.#note),
      ledger: await this.ledger(),
      governor: await this.governor(),
      clock,
      random,
      signal,
      onEvent: (event) => this.reporter.note(createEventText(event)),
    }
    return {
      ...ordering,
      inbox: (await this.store()).inbox,
      cache: await this.schemas(),
      patientApi: await this.patientApi(),
      waitBudgetMs: await this.#budgetMs(),
      onStatus: ({ request_id, status }: { request_id: string; status: string }) =>
        this.reporter.note(`${request_id}  ${status}`),
    }
  }

  /** --timeout, in milliseconds; undefined where it was not given. */
  get timeoutMs(): number | undefined {
    return this.#options.timeoutMs
  }

  /** The service's windows, or those a sandbox was started with. */
  async quotaWindows(baseUrl?: string): Promise<readonly QuotaWindow[]> {
    const { windowsFor } = await import('../domain/quota/windows.ts')
    const said = variable(this.context.env, 'REFCHECK_QUOTA')
    return windowsFor(baseUrl ?? (await this.api()).baseUrl, said)
  }

  /** Who may call next with the key in use. */
  async governor(): Promise<Governor> {
    const { resolveSession } = await import('../usecases/session/resolve.ts')
    const { baseUrl, apiKey } = await resolveSession(await this.sessionSources())
    return this.#usage.through(await this.#governorOf(baseUrl, apiKey))
  }

  async #governorOf(baseUrl: string, apiKey: string): Promise<Governor> {
    const { governor } = await import('../usecases/quota/governor.ts')
    const windows = await this.quotaWindows(baseUrl)
    const { quota } = await this.store()
    return governor({ quota, account: quota.account(baseUrl, apiKey), windows, clock: this.context.clock })
  }

  /** A line for how far a long job has come. */
  progress(): Progress {
    return new Progress(this.reporter, this.context.clock)
  }

  /** Undefined where nobody can be asked. */
  prompter(): Prompter | undefined {
    const { prompter, streams, interrupts } = this.context
    if (prompter !== undefined) return prompter
    const { stdin, stderr } = streams
    if (!stdin.isTTY || !stderr.isTTY) return undefined
    const color = this.reporter.terminal.color
    return new TerminalPrompter({ input: stdin, output: stderr, color, signal: interrupts.signal })
  }

  /** Tables to be filled in. */
  async templateSheets() {
    return import('../sheets/template.ts')
  }

  /** The service as OpenAPI 3.1. */
  async openApi(baseUrl: string) {
    return (await import('../contract/openapi.ts')).openApi(baseUrl)
  }

  /** What a tester can ask a sandbox for. */
  async sandboxScenarios() {
    return (await import('../sandbox/service/scenarios.ts')).scenarioTable
  }

  /** What the document leaves open, as a sandbox does it unless told otherwise. */
  async sandboxRules() {
    const { ruleSettings, usualRules } = await import('../sandbox/service/rules.ts')
    return ruleSettings(usualRules())
  }

  readonly #note = (text: string): void => this.reporter.note(text)

  async #connected(budgetMs: number | undefined): Promise<Api> {
    const { resolveSession } = await import('../usecases/session/resolve.ts')
    const { baseUrl, apiKey, email } = await resolveSession(await this.sessionSources())
    this.#usage.of(baseUrl, apiKey)
    return this.#connect(baseUrl, { apiKey, userEmail: email }, budgetMs ?? (await this.#budgetMs()))
  }

  async #connect(
    baseUrl: string,
    credentials: { apiKey: string; userEmail: string } | undefined,
    budgetMs: number,
  ): Promise<Api> {
    const [{ connectApi }, http] = await Promise.all([import('../api/service.ts'), this.#httpClient()])
    return connectApi({ ...this.#apiOptions(http, budgetMs), baseUrl, credentials })
  }

  #apiOptions(http: HttpClient, budgetMs: number) {
    const { clock, random } = this.context
    return {
      http,
      clock,
      random,
      budgetMs,
      onNotice: (notice: Parameters<typeof retryNoticeText>[0]) => this.#note(retryNoticeText(notice)),
      onThrottled: (seconds: number, understood: boolean) => this.#usage.throttled(seconds, understood),
    }
  }

  async #budgetMs(): Promise<number> {
    if (this.#options.timeoutMs !== undefined) return this.#options.timeoutMs
    const kept = await this.setting('timeout')
    return (kept === undefined ? undefined : parseDuration(kept)) ?? defaultTimeoutMs
  }

  #httpClient(): Promise<HttpClient> {
    this.#http ??= this.#openHttp()
    return this.#http
  }

  async #openHttp(): Promise<HttpClient> {
    const { openHttp } = await import('../compose/http.ts')
    const onExchange = (report: ExchangeReport): void => {
      this.#usage.exchange(report.url)
      if (this.#options.verbose) this.reporter.exchange(exchangeText(report))
    }
    const http = openHttp(this.context, this.#version, onExchange, (text) => this.reporter.warn(text))
    this.#closers.push(() => http.close())
    return http
  }

  async #openSources(): Promise<SessionSources> {
    const { openSessionSources } = await import('../compose/session.ts')
    return openSessionSources(this.context, this.paths, this.#options.profile, this.#note)
  }

  async #openStore(): Promise<Store> {
    const { openStore } = await import('../store/ledger/open.ts')
    const { clock, random, cwd, env } = this.context
    const chosen = variable(env, 'REFCHECK_STORE') ?? (await this.setting('store'))
    const common = { paths: this.paths, cwd, clock, random, busyMs: this.#busyMs, onNotice: this.#note }
    const store = await openStore({ chosen, ...common })
    this.#closers.push(() => store.close())
    return store
  }
}
