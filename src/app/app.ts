import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

import { requireOwnFolders } from '../disk/private-modes.ts'
import { parsePackageId } from '../domain/request/id-start.ts'
import { parseDuration } from '../domain/wording/time.ts'
import {
  type FlagRepeater,
  commandsFor,
  shellWord,
  avoidExistingFileNames,
} from '../domain/wording/pasted-command.ts'
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

type ClosingAction = () => Promise<void> | void

/** Maximum total time in milliseconds of retries and waits after a 429, if neither a flag nor a setting sets it. */
const defaultBudgetMs = 120_000

/** Limits for completion on the command line: a user who types must not notice a wait. */
const completionLimits = { lockWaitMs: 300, answerMs: 300, maxConnectionMs: 1_000, reconnectMs: 0 }
/** Counting the calls must not delay the end of a command whose result is printed. */
const closingLockWaitMs = 250

/** The factory of each service. A factory gets the services that it needs from the app. */
const factories: { readonly [K in keyof Services]: (app: App) => Services[K] | Promise<Services[K]> } = {
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
  session: openSession,
  account: requireKnownAccount,
  budgetMs: async (app) =>
    app.options.timeoutMs ?? parseDuration((await app.setting('timeout')) ?? '') ?? defaultBudgetMs,

  http: (app) => openHttp(app),
  connect: createConnect,
  api: async (app) => {
    const { session, connect } = await app.services('session', 'connect')
    return connect(session)
  },
  waitingApi: async (app) => {
    const { session, connect } = await app.services('session', 'connect')
    return connect({ ...session, budgetMs: Number.POSITIVE_INFINITY })
  },
  governor: async (app) => {
    const session = await app.service('session')
    return app.usage.wrapGovernor(await openGovernor(app, session.baseUrl, session.apiKey))
  },

  store: async (app) => openStore(app, app.isClosing ? { lockWaitMs: closingLockWaitMs } : {}),
  accounts: async (app) => (await app.service('store')).accounts,
  ledger: async (app) => (await app.service('store')).ledger,
  batches: async (app) => (await app.service('store')).batches,
  inbox: async (app) => (await app.service('store')).inbox,
  unmatched: async (app) => (await app.service('store')).unmatched,
  heldRows: async (app) => (await app.service('store')).heldRows,
  maintenance: async (app) => (await app.service('store')).maintenance,
  redactedInbox: async (app) => {
    await app.readSecrets()
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
  writtenFiles: async ({ paths }) => new (await import('../store/written-files.ts')).WrittenFiles(paths.data),
  reportFolders: async ({ context: { clock, random } }) => {
    const { openReportFolders } = await import('../store/reports/folder.ts')
    const { formatCsv } = await import('../output/present.ts')
    return openReportFolders({ clock, random, pid: processId(), csv: formatCsv })
  },
}

/**
 * The context, options, messages and services of a command. Services are created at their first use and closed with
 * the app.
 */
export class App {
  readonly context: Context
  readonly startedAt: number
  readonly options: AppOptions
  readonly reporter: Reporter
  /** Texts that are never printed or stored. */
  readonly secrets: Secrets
  /** Adds to each command in a hint the flags of the current command that it has to repeat. */
  readonly repeatFlags: FlagRepeater
  /** The calls of this command that were not counted in the quota yet. They are counted when the app closes. */
  readonly usage = new QuotaUsage()
  readonly #openedServices = new Map<keyof Services, Promise<unknown>>()
  readonly #actionsBeforeClose: ClosingAction[] = []
  readonly #closeFunctions: ClosingAction[] = []
  #isClosing = false
  #paths: Paths | undefined

  constructor(context: Context, options: AppOptions) {
    this.context = context
    this.startedAt = context.clock.now()
    this.options = options
    this.secrets = context.secrets ?? secretsOf(context.env)
    const { stderr } = context.streams
    this.repeatFlags = commandsFor(context.argv ?? [])
    const terminal = terminalOf(stderr, context.env, options.noColor)
    this.reporter = new Reporter(stderr, terminal, options.quiet, (text) =>
      avoidExistingFileNames(this.repeatFlags(text), (name) => existsSync(resolve(context.cwd, name))),
    )
    // A store in memory ends with this process, so nothing is counted there.
    if (variable(context.env, 'REFCHECK_STORE') !== ':memory:')
      this.beforeClose(() => this.usage.flushUsage((baseUrl, apiKey) => openGovernor(this, baseUrl, apiKey)))
  }

  /**
   * Returns services by their names. They are created in this order, each at its first use, so that of several errors
   * always the same one is reported.
   */
  async services<K extends keyof Services>(...names: readonly K[]): Promise<Pick<Services, K>> {
    const services: Partial<Services> = {}
    for (const name of names) services[name] = await this.service(name)
    return services as Pick<Services, K>
  }

  /** Returns one service. */
  async service<K extends keyof Services>(name: K): Promise<Services[K]> {
    let service = this.#openedServices.get(name)
    if (service === undefined) {
      service = Promise.resolve(factories[name](this))
      this.#openedServices.set(name, service)
    }
    return service as Promise<Services[K]>
  }

  /** Returns the services for finding a batch and its rows. */
  batchServices(): Promise<Pick<Services, 'batches' | 'heldRows' | 'ledger' | 'clock'>> {
    return this.services('batches', 'heldRows', 'ledger', 'clock')
  }

  /** Returns the sources of a session. */
  sessionSources(): Promise<Pick<Services, 'settings' | 'secrets' | 'env' | 'profile'>> {
    return this.services('settings', 'secrets', 'env', 'profile')
  }

  /** Returns an app for another profile, which shares the store and the connections and prints only its result. */
  async forProfile(profile: string | undefined): Promise<App> {
    const app = new App(this.context, { ...this.options, profile, quiet: true })
    await this.services('http', 'store')
    for (const name of ['http', 'store'] as const) app.#openedServices.set(name, this.service(name))
    this.onClose(() => app.close())
    return app
  }

  /** Returns a setting for the current profile, or for all profiles. */
  async setting(key: string): Promise<string | undefined> {
    const settings = await this.service('settings')
    return settings.value(key, await this.#profileInUse())
  }

  async packageSetting(): Promise<number | undefined> {
    const text = await this.setting('package')
    return text === undefined ? undefined : parsePackageId(text, 'the setting "package"')
  }

  /** Returns the account of new orders, from REFCHECK_ACCOUNT or else the setting; '' if none is set. */
  async accountInUse(): Promise<string> {
    const variableValue = variable(this.context.env, 'REFCHECK_ACCOUNT')
    if (variableValue === undefined) return (await this.setting('account')) ?? ''
    return (await import('../domain/session/setting-keys.ts')).parseAccountName(variableValue)
  }

  async #profileInUse(): Promise<string | undefined> {
    const { settings, env, profile } = await this.services('settings', 'env', 'profile')
    return profile ?? variable(env, 'REFCHECK_PROFILE') ?? (await settings.currentProfile())
  }

  /**
   * Reads the key and the webhook secret of the current profile, so that they are redacted in the output of a command
   * that calls no service. Secrets in the environment are known from the start.
   */
  async readSecrets(): Promise<void> {
    const profile = await this.#profileInUse()
    if (profile !== undefined) await this.#readProfileSecrets(profile)
  }

  /**
   * Returns the environment for a program that refcheck starts. A secret that the keychain does not return cannot be
   * removed from it.
   */
  async childEnvironment(): Promise<Record<string, string | undefined>> {
    const settings = await this.service('settings')
    const profiles = await settings.profiles().catch(() => new Map<string, unknown>())
    for (const profile of profiles.keys()) await this.#readProfileSecrets(profile)
    return childEnvironment(this.context.env, this.secrets)
  }

  async #readProfileSecrets(profile: string): Promise<void> {
    const secrets = await this.service('secrets')
    for (const name of ['api-key', 'webhook-secret'] as const) {
      await secrets.read(profile, name).catch(() => undefined)
    }
  }

  /** Returns the options for opening the store; `otherAddress`: the address of a store other than the current one. */
  async storeOptions(otherAddress?: string): Promise<StoreOptions> {
    const { paths, note: onMessage, secrets } = this
    const { clock, random, cwd, env } = this.context
    const address = otherAddress ?? variable(env, 'REFCHECK_STORE') ?? (await this.setting('store'))
    return { chosenAddress: address, paths, cwd, clock, random, env, secrets, onMessage }
  }

  /**
   * Opens the store for completion, with short time limits. Undefined if there is no store, or its address is
   * unknown.
   */
  async openStoreForCompletion(): Promise<Store | undefined> {
    const { resolveStoreAddress } = await import('../store/ledger/open.ts')
    const address = resolveStoreAddress(await this.storeOptions())
    if (address.kind === 'file' && !existsSync(address.path)) return undefined
    if (address.kind === 'postgres') {
      const { canQueryDns } = await import('../host/machine.ts')
      if (!(await canQueryDns(address.server.host, completionLimits.answerMs))) return undefined
    }
    return openStore(this, completionLimits, false)
  }

  /**
   * The folders for settings and data. Throws a UsageError for a relative path, and if neither the environment nor the
   * user's account determines the folders.
   */
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

  /** Registers an action that runs at the end of the command, while all services are still open. */
  beforeClose(action: ClosingAction): void {
    this.#actionsBeforeClose.push(action)
  }

  /** Registers a close function. The last one is called first, after all actions of `beforeClose`. */
  onClose(close: ClosingAction): void {
    this.#closeFunctions.push(close)
  }

  /** Whether the output is complete. From then on the command must not wait for anything. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  async close(): Promise<void> {
    this.reporter.clear()
    this.#isClosing = true
    for (const action of this.#actionsBeforeClose.splice(0)) await action()
    for (const close of this.#closeFunctions.splice(0).reverse()) await close()
  }

  /** Prints a message on stderr. */
  readonly note = (text: string): void => this.reporter.note(text)

  /** Creates a line for the progress of a long task. */
  progress(): Progress {
    return new Progress(this.reporter, this.context.clock)
  }

  /** Returns the prompter; undefined without a terminal. */
  prompter(): Prompter | undefined {
    const { prompter, streams, interrupts } = this.context
    if (prompter !== undefined) return prompter
    const { stdin, stderr } = streams
    if (!stdin.isTTY || !stderr.isTTY) return undefined
    const color = this.reporter.terminal.color
    return new TerminalPrompter({ input: stdin, output: stderr, color, signal: interrupts.signal })
  }
}

/** Opens the secrets. With a separate configuration folder, as in a demo or test, the user's keychain is not used. */
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

/** Returns the session. Its key is sent only to the origin that it was saved for. */
async function openSession(app: App): Promise<Services['session']> {
  const { resolveSession } = await import('../usecases/session/resolve.ts')
  // A folder that other users control is an error even for reads that do not need its caches.
  requireOwnFolders(app.paths.data)
  return resolveSession(await app.sessionSources())
}

/**
 * Returns the name of the account for new orders; '' if none is set. Throws a UsageError for an account that the store
 * does not have, before anything is stored or sent: with a misspelled account, people who were ordered before could be
 * ordered again.
 */
async function requireKnownAccount(app: App): Promise<string> {
  const name = await app.accountInUse()
  if (name === '') return name
  const accounts = await app.service('accounts')
  if ((await accounts.check(name)) === 'first') {
    app.note(`The account "${name}" becomes the first one of this store.`)
  }
  return name
}

/** Returns the authorities that this machine trusts, and one more. Loading TLS would take a tenth of a short command. */
async function trustWith(authority: string): Promise<string[]> {
  const { getCACertificates } = await import('node:tls')
  return [...getCACertificates(), authority]
}

/**
 * Creates the HTTP client for this process's environment. `authority`: an additional certificate authority (PEM), for
 * one receiver.
 */
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
    authorities: authority === undefined ? undefined : await trustWith(authority),
    userAgent: `refcheck/${options.version}`,
    onExchange(report) {
      usage.recordExchange(report.url)
      if (options.verbose) reporter.exchange(exchangeText(report))
    },
  })
  app.onClose(() => client.close())
  return client
}

async function createConnect(app: App): Promise<Connect> {
  const defaultMs = await app.service('budgetMs')
  const [{ connectApi }, http] = await Promise.all([import('../api/api.ts'), app.service('http')])
  const { usage, secrets } = app
  const { clock, random } = app.context
  return ({ baseUrl, apiKey, email = '', budgetMs = defaultMs }) => {
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
      onThrottled: (seconds, isStated) => usage.recordThrottle(seconds, isStated),
      // Package names are stored, so that later commands can show them.
      onPackages: async (packages) =>
        (await app.service('packageNames')).put({ baseUrl, userEmail: email }, packages),
    })
  }
}

async function openGovernor(app: App, baseUrl: string, apiKey: string): Promise<Governor> {
  const [{ createGovernor }, { windowsFor }] = await Promise.all([
    import('../usecases/quota/governor.ts'),
    import('../domain/quota/windows.ts'),
  ])
  const windows = windowsFor(baseUrl, variable(app.context.env, 'REFCHECK_QUOTA'))
  const { store, clock } = await app.services('store', 'clock')
  return createGovernor({ quota: store.quota, account: store.quota.account(baseUrl, apiKey), windows, clock })
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

/**
 * Opens the store. Unless `shouldErase` is false, also finishes an interrupted purge, which has not erased its files
 * yet.
 */
async function openStore(app: App, limits: Partial<StoreOptions>, shouldErase = true): Promise<Store> {
  const { openStore: open } = await import('../store/ledger/open.ts')
  const store = await open({ ...(await app.storeOptions()), ...limits })
  app.onClose(() => store.close())
  if (!shouldErase || !store.maintenance.hasFilesToErase) return store
  const { eraseFiles } = await import('../usecases/store/erase-files.ts')
  const services = await app.services('drafts', 'plans', 'writtenFiles', 'reportFolders')
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
