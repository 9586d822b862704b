import type { Api } from '../api/api.ts'
import type { PackageSchema } from '../contract/package-schema.ts'
import type { Session } from '../domain/session/session.ts'
import type { HttpClient } from '../http/client.ts'
import type { Clock } from '../host/clock.ts'
import type { Environment } from '../host/process.ts'
import type { Random } from '../host/random.ts'
import type { Reporter } from '../output/reporter.ts'
import type { Prompter } from '../prompt/prompter.ts'
import type { Mappings } from '../store/config/mappings.ts'
import type { Secrets } from '../store/config/secrets.ts'
import type { Settings } from '../store/config/settings.ts'
import type { Drafts } from '../store/drafts/drafts.ts'
import type { Store } from '../store/ledger/store.ts'
import type { OrderPlans } from '../store/plans/order-plans.ts'
import type { ReportFolders } from '../store/reports/folder.ts'
import type { PackageNames } from '../store/schemas/package-names.ts'
import type { WrittenFiles } from '../store/written-files.ts'
import type { Governor } from './quota/governor.ts'

/**
 * All services of the use cases. A use case that needs two of them has the parameter type `Pick<Services, 'ledger' |
 * 'clock'>`; src/app creates each service at its first use.
 */
export interface Services extends Pick<
  Store,
  'accounts' | 'ledger' | 'batches' | 'inbox' | 'unmatched' | 'heldRows' | 'maintenance'
> {
  clock: Clock
  random: Random
  env: Environment
  files: FileSource
  reporter: Reporter
  /** Asks the user; undefined if there is no terminal. */
  prompter: Prompter | undefined

  /** Name of the profile, from `--profile`. */
  profile: string | undefined
  settings: Settings
  secrets: Secrets
  /** The user and the service of the current profile. */
  session: Session
  /** The account of the orders, which is registered in the store; '' if none is set. */
  account: string
  /** Maximum time in milliseconds that all retries and waits on a 429 of one command may take together. */
  budgetMs: number

  http: HttpClient
  /** Creates an API client for credentials other than those of the session. */
  connect: Connect
  /** The API client of the session. */
  api: Api
  /** The API client of the session for commands that wait: its reads wait as long as the quota requires. */
  waitingApi: Api
  /** Decides when requests with the API key of the session may be sent. */
  governor: Governor

  /** The store of orders, events and the use of the quota. */
  store: Store
  /** The store's inbox for a command that shows events; secrets of the profile are redacted. */
  redactedInbox: Store['inbox']
  /** Schemas for the service and user of the session. */
  schemas: SchemaCache
  packageNames: PackageNames
  mappings: Mappings
  drafts: Drafts
  plans: OrderPlans
  writtenFiles: WrittenFiles
  reportFolders: ReportFolders
}

/** The sources that files are read from. */
export interface FileSource {
  /** The folder that relative paths start from. */
  cwd: string
  stdin: { isTTY: boolean; stream: AsyncIterable<Uint8Array | string> }
}

/** Creates an API client. Without a key, only endpoints that need no key can be called. */
export type Connect = (connection: {
  baseUrl: string
  apiKey?: string | undefined
  email?: string | undefined
  budgetMs?: number | undefined
}) => Api

/** Stores schemas between runs. A cache belongs to one service and user. */
export interface SchemaCache {
  get(packageId: number): Promise<PackageSchema | undefined>
  put(schema: PackageSchema): Promise<void>
}
