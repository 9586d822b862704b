import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

import { requireOwnFolders } from '../disk/private-modes.ts'
import { parsePackageId } from '../domain/request/id-start.ts'
import { parseDuration } from '../domain/wording/time.ts'
import { type FlagRepeater, commandsFor, shellWord, withFreeFiles } from '../domain/wording/pasted-command.ts'
import { RefcheckError, UsageError } from '../errors/kinds.ts'
import { variable, processId } from '../host/process.ts'
import { childEnvironment, type Secrets, secretsOf } from '../host/secrets.ts'
import { NoHomeError, type Paths, RelativeFolderError, resolvePaths } from '../host/paths.ts'
import type { HttpClient } from '../http/client.ts'
import { Progress, Reporter } from '../output/reporter.ts'
import { terminalOf } from '../output/terminal.ts'
import { exchangeText, retryText } from '../output/views/events.ts'
import type { Prompter } from '../prompt/prompter.ts'
import { TerminalPrompter } from '../prompt/terminal.ts'
import type { Store, StoreOptions } from '../store/ledger/store.ts'
import type { Governor } from '../usecases/quota/governor.ts'
import { QuotaUsage } from '../usecases/quota/usage.ts'
import type { Connect, Services } from '../usecases/services.ts'
import type { Context } from './context.ts'

export interface AppOptions {
  version: string
  profile: string | undefined
  noColor: boolean
  quiet: boolean
  verbose: boolean
  /** Milliseconds, from --timeout. */
  timeoutMs: number | undefined
}

type Close = () => Promise<void> | void

/** Milliseconds that retries and waits on a 429 take together where neither a flag nor a setting says it. */
const defaultBudgetMs = 120_000

/** Who is typing waits for nothing that takes longer than a person notices. */
const shortLimits = { busyMs: 300, answerMs: 300, wholeMs: 1_000, patienceMs: 0 }
/** Counting delays no command whose result is printed. */
const busyMsAtTheEnd = 250

/** How each service is made; those that it needs are asked for by name. */
const makers: { readonly [K in keyof Services]: (app: App) => Services[K] | Promise<Services[K]> } = {
  clock: ({ context }) => context.clock,
  random: ({ context }) => context.random,
  env: ({ context }) => context.env,
  files: ({ context }) => ({ cwd: context.cwd, stdin: context.streams.stdin }),
  reporter: ({ reporter }) => reporter,
  prompter: (app) => app.prompter(),

  profile: ({ options }) => options.profile,
  settings: async ({ paths, context: { clock }, note: onMessage }) =>
    (await import('../store/config/settings.ts')).openSettings({ paths, clock, onMessage }),
  secrets: openSecrets,
  session: resolvedSession,
  account: knownAccount,
  budgetMs: async (app) =>
    app.options.timeoutMs ?? parseDuration((await app.setting('timeout')) ?? '') ?? defaultBudgetMs,

  http: (app) => openHttp(app),
  connect: connector,
  api: async (app) => {
    const { session, connect } = await app.services('session', 'connect')
    return connect(session)
  },
  patientApi: async (app) => {
    const { session, connect } = await app.services('session', 'connect')
    return connect({ ...session, budgetMs: Number.POSITIVE_INFINITY })
  },
  governor: async (app) => {
    const session = await app.service('session')
    return app.usage.wrapGovernor(await governorOf(app, session.baseUrl, session.apiKey))
  },

  store: async (app) => openStore(app, app.isClosing ? { busyMs: busyMsAtTheEnd } : {}),
  accounts: async (app) => (await app.service('store')).accounts,
  ledger: async (app) => (await app.service('store')).ledger,
  batches: async (app) => (await app.service('store')).batches,
  inbox: async (app) => (await app.service('store')).inbox,
  unmatched: async (app) => (await app.service('store')).unmatched,
  waiting: async (app) => (await app.service('store')).waiting,
  maintenance: async (app) => (await app.service('store')).maintenance,
  inboxToShow: async (app) => {
    await app.learnSecrets()
    return app.service('inbox')
  },
  schemas: openSchemas,
  packageNames: async ({ paths, context: { random } }) =>
    (await import('../store/schemas/package-names.ts')).openPackageNames({ paths, random }),
  mappings: async ({ paths }) => (await import('../store/config/mappings.ts')).openMappings(paths),
  drafts: async ({ paths, context: { random }, note: onMessage }) =>
    (await import('../store/drafts/drafts.ts')).openDrafts({ paths, random, onMessage }),
  plans: async ({ paths, context: { random } }) =>
    (await import('../store/plans/order-plans.ts')).openOrderPlans({ paths, random }),
  written: async ({ paths }) => new (await import('../store/written-files.ts')).WrittenFiles(paths.data),
  reportFolders: async ({ context: { clock, random } }) => {
    const { reportFolders } = await import('../store/reports/folder.ts')
    const { csv } = await import('../output/present.ts')
    return reportFolders({ clock, random, pid: processId(), csv })
  },
}

/** What a command runs with: its context and options, its messages on stderr, and services, closed with it. */
export class App {
  readonly context: Context
  readonly options: AppOptions
  readonly reporter: Reporter
  /** What is printed and stored nowhere. */
  readonly secrets: Secrets
  /** The flags of the present command that a command in a hint repeats. */
  readonly keep: FlagRepeater
  /** What this command uses of the quota, counted at its end. */
  readonly usage = new QuotaUsage()
  readonly #made = new Map<keyof Services, Promise<unknown>>()
  readonly #settlers: Close[] = []
  readonly #closers: Close[] = []
  #isClosing = false
  #paths: Paths | undefined

  constructor(context: Context, options: AppOptions) {
    this.context = context
    this.options = options
    this.secrets = context.secrets ?? secretsOf(context.env)
    const { stderr } = context.streams
    this.keep = commandsFor(context.argv ?? [])
    const terminal = terminalOf(stderr, context.env, options.noColor)
    this.reporter = new Reporter(stderr, terminal, options.quiet, (text) =>
      withFreeFiles(this.keep(text), (name) => existsSync(resolve(context.cwd, name))),
    )
    // A store in memory would forget it again.
    if (variable(context.env, 'REFCHECK_STORE') !== ':memory:')
      this.beforeClose(() => this.usage.flushUsage((baseUrl, apiKey) => governorOf(this, baseUrl, apiKey)))
  }

  /**
   * Services by their names. They are made in this order, each when it is first asked for, so that of several that cannot be
   * made always the same one is reported.
   */
  async services<K extends keyof Services>(...names: readonly K[]): Promise<Pick<Services, K>> {
    const found: Partial<Services> = {}
    for (const name of names) found[name] = await this.service(name)
    return found as Pick<Services, K>
  }

  /** One of them. */
  async service<K extends keyof Services>(name: K): Promise<Services[K]> {
    let service = this.#made.get(name)
    if (service === undefined) {
      service = Promise.resolve(makers[name](this))
      this.#made.set(name, service)
    }
    return service as Promise<Services[K]>
  }

  /** What finding a batch and its rows takes. */
  batchServices(): Promise<Pick<Services, 'batches' | 'waiting' | 'ledger' | 'clock'>> {
    return this.services('batches', 'waiting', 'ledger', 'clock')
  }

  /** Where a session comes from. */
  sessionSources(): Promise<Pick<Services, 'settings' | 'secrets' | 'env' | 'profile'>> {
    return this.services('settings', 'secrets', 'env', 'profile')
  }

  /** The same program for another profile: it shares the store and the connections, and prints its result alone. */
  async forProfile(profile: string | undefined): Promise<App> {
    const app = new App(this.context, { ...this.options, profile, quiet: true })
    await this.services('http', 'store')
    for (const name of ['http', 'store'] as const) app.#made.set(name, this.service(name))
    this.onClose(() => app.close())
    return app
  }

  /** A default of `refcheck config`, for the profile in use or for all. */
  async setting(key: string): Promise<string | undefined> {
    const settings = await this.service('settings')
    return settings.value(key, await this.#profileInUse())
  }

  async packageSetting(): Promise<number | undefined> {
    const text = await this.setting('package')
    return text === undefined ? undefined : parsePackageId(text, 'the setting "package"')
  }

  /** REFCHECK_ACCOUNT, else the setting: the account of the people ordered; without one, all share a single account. */
  async accountInUse(): Promise<string> {
    const named = variable(this.context.env, 'REFCHECK_ACCOUNT')
    if (named === undefined) return (await this.setting('account')) ?? ''
    return (await import('../domain/session/setting-keys.ts')).accountName(named)
  }

  async #profileInUse(): Promise<string | undefined> {
    const { settings, env, profile } = await this.services('settings', 'env', 'profile')
    return profile ?? variable(env, 'REFCHECK_PROFILE') ?? (await settings.currentProfile())
  }

  /**
   * Reads the key and the webhook secret of the profile in use, so that they are redacted from what a command without calls of
   * its own prints. Those in the environment are known from the start.
   */
  async learnSecrets(): Promise<void> {
    const profile = await this.#profileInUse()
    if (profile !== undefined) await this.#readSecrets(profile)
  }

  /** The environment of a program that this one starts. Secrets that a keychain does not hand out cannot be looked for. */
  async childEnvironment(): Promise<Record<string, string | undefined>> {
    const settings = await this.service('settings')
    const profiles = await settings.profiles().catch(() => new Map<string, unknown>())
    for (const profile of profiles.keys()) await this.#readSecrets(profile)
    return childEnvironment(this.context.env, this.secrets)
  }

  async #readSecrets(profile: string): Promise<void> {
    const secrets = await this.service('secrets')
    for (const name of ['api-key', 'webhook-secret'] as const) {
      await secrets.read(profile, name).catch(() => undefined)
    }
  }

  /** Where the store is, and what opens it; `chosen` where it is not the one in use. */
  async storeOptions(chosen?: string): Promise<StoreOptions> {
    const { paths, note: onMessage, secrets } = this
    const { clock, random, cwd, env } = this.context
    const path = chosen ?? variable(env, 'REFCHECK_STORE') ?? (await this.setting('store'))
    return { chosen: path, paths, cwd, clock, random, env, secrets, onMessage }
  }

  /**
   * The store of the command line. Undefined where there is no store yet, or its path is not known.
   */
  async storeWithShortTimeouts(): Promise<Store | undefined> {
    const { resolveStoreAddress } = await import('../store/ledger/open.ts')
    const path = resolveStoreAddress(await this.storeOptions())
    if (path.kind === 'file' && !existsSync(path.path)) return undefined
    if (path.kind === 'postgres') {
      const { isNameAnswered } = await import('../host/machine.ts')
      if (!(await isNameAnswered(path.server.host, shortLimits.answerMs))) return undefined
    }
    return openStore(this, shortLimits, false)
  }

  /** Throws a UsageError where neither the environment nor the account says where they are, or by a relative path. */
  get paths(): Paths {
    try {
      return (this.#paths ??= resolvePaths(this.context.env))
    } catch (cause) {
      if (cause instanceof RelativeFolderError) {
        const { variable: name, path } = cause
        throw new UsageError(`${name} is not an absolute path: "${path}"`, {
          hint: `Nothing was sent. Set it with: export ${name}=${shellWord(resolve(this.context.cwd, path))}`,
          cause,
        })
      }
      if (!(cause instanceof NoHomeError)) throw cause
      throw new UsageError(
        'this account has no home folder, so there is no place for settings and the store',
        {
          hint: 'Set REFCHECK_CONFIG_DIR and REFCHECK_DATA_DIR to folders on a volume that lasts.',
          cause,
        },
      )
    }
  }

  /** Done at the end, while all that was made is still open. */
  beforeClose(action: Close): void {
    this.#settlers.push(action)
  }

  /** Done at the very end, what was made last first. */
  onClose(close: Close): void {
    this.#closers.push(close)
  }

  /** Whether the answer is out, so that nothing more is worth a wait. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  async close(): Promise<void> {
    this.reporter.done()
    this.#isClosing = true
    for (const action of this.#settlers.splice(0)) await action()
    for (const close of this.#closers.splice(0).reverse()) await close()
  }

  /** A line that stays, on stderr. */
  readonly note = (text: string): void => this.reporter.note(text)

  /** A line for how far a long job has come. */
  progress(): Progress {
    return new Progress(this.reporter, this.context.clock)
  }

  /** Undefined where there is no terminal to ask questions on. */
  prompter(): Prompter | undefined {
    const { prompter, streams, interrupts } = this.context
    if (prompter !== undefined) return prompter
    const { stdin, stderr } = streams
    if (!stdin.isTTY || !stderr.isTTY) return undefined
    const color = this.reporter.terminal.color
    return new TerminalPrompter({ input: stdin, output: stderr, color, signal: interrupts.signal })
  }
}

/** A folder of its own is a world of its own: keys of a demo or a test do not go into the person's keychain. */
async function openSecrets({
  paths,
  secrets: known,
  context,
  note: onMessage,
}: App): Promise<Services['secrets']> {
  const { clock, random, env } = context
  const keychain = variable(env, 'REFCHECK_CONFIG_DIR') === undefined ? 'try' : 'never'
  const { openSecrets: open } = await import('../store/config/secrets.ts')
  return open({ paths, clock, random, known, keychain, onMessage })
}

/** The key goes to the origin it was saved for and nowhere else. */
async function resolvedSession(app: App): Promise<Services['session']> {
  const { resolveSession } = await import('../usecases/session/resolve.ts')
  // A folder that cannot be trusted is an error also where a read could do without its caches.
  requireOwnFolders(app.paths.data)
  return resolveSession(await app.sessionSources())
}

/**
 * Throws UsageError for an account that the store does not have, before anything is stored or sent, so that a misspelled name
 * does not make everybody new.
 */
async function knownAccount(app: App): Promise<string> {
  const name = await app.accountInUse()
  if (name === '') return name
  const accounts = await app.service('accounts')
  if ((await accounts.check(name)) === 'first') {
    app.note(`The account "${name}" becomes the first one of this store.`)
  }
  return name
}

/** The wire as this process's environment wants it; `authority`: one more certificate authority (PEM), for one receiver. */
export async function openHttp(app: App, authority?: string): Promise<HttpClient> {
  const { HttpClient: Client } = await import('../http/client.ts')
  const { reporter, options, usage } = app
  const { clock, env } = app.context
  if (variable(env, 'NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    reporter.warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored for other machines; their certificates are still verified.',
    )
  }
  const client = new Client({
    clock,
    env,
    authority,
    userAgent: `refcheck/${options.version}`,
    onExchange(report) {
      usage.recordExchange(report.url)
      if (options.verbose) reporter.exchange(exchangeText(report))
    },
  })
  app.onClose(() => client.close())
  return client
}

async function connector(app: App): Promise<Connect> {
  const usual = await app.service('budgetMs')
  const [{ connectApi }, http] = await Promise.all([import('../api/api.ts'), app.service('http')])
  const { usage, secrets } = app
  const { clock, random } = app.context
  return ({ baseUrl, apiKey, email = '', budgetMs = usual }) => {
    if (apiKey !== undefined) usage.setKey(baseUrl, apiKey)
    secrets.add('API key', apiKey)
    return connectApi({
      http,
      clock,
      random,
      secrets,
      baseUrl,
      credentials: apiKey === undefined ? undefined : { apiKey, userEmail: email },
      budgetMs,
      onRetry: (event) => app.note(retryText(event)),
      onThrottled: (seconds, understood) => usage.recordThrottle(seconds, understood),
      // For showing requests of them later.
      onPackages: async (packages) =>
        (await app.service('packageNames')).put({ baseUrl, userEmail: email }, packages),
    })
  }
}

async function governorOf(app: App, baseUrl: string, apiKey: string): Promise<Governor> {
  const [{ governor }, { windowsFor }] = await Promise.all([
    import('../usecases/quota/governor.ts'),
    import('../domain/quota/windows.ts'),
  ])
  const windows = windowsFor(baseUrl, variable(app.context.env, 'REFCHECK_QUOTA'))
  const { store, clock } = await app.services('store', 'clock')
  return governor({ quota: store.quota, account: store.quota.account(baseUrl, apiKey), windows, clock })
}

async function openSchemas(app: App): Promise<Services['schemas']> {
  const { openSchemaCache } = await import('../store/schemas/schema-cache.ts')
  const { paths, note: onMessage } = app
  const { api, random } = await app.services('api', 'random')
  const cache = openSchemaCache({ paths, random, onMessage })
  const { baseUrl, userEmail } = api
  return {
    get: (packageId) => cache.get({ baseUrl, userEmail, packageId }),
    put: (schema) => cache.put({ baseUrl, userEmail, packageId: schema.id }, schema),
  }
}

/** A purge that was interrupted before it had erased its files is ended. */
async function openStore(app: App, limits: Partial<StoreOptions>, erases = true): Promise<Store> {
  const { openStore: open } = await import('../store/ledger/open.ts')
  const store = await open({ ...(await app.storeOptions()), ...limits })
  app.onClose(() => store.close())
  if (!erases || !store.maintenance.hasFilesToErase) return store
  const { eraseFiles } = await import('../usecases/store/files-of-person.ts')
  const services = await app.services('drafts', 'plans', 'written', 'reportFolders')
  try {
    await store.maintenance.finishErasure(async (files) => {
      await eraseFiles(services, files)
    })
  } catch (error) {
    if (!(error instanceof RefcheckError)) throw error
    app.note(`Files of a purge that was interrupted are not all removed yet: ${error.message}.`)
  }
  return store
}
