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
 * All that use cases work with. One that uses two of them takes `Pick<Services, 'ledger' | 'clock'>`; src/app makes each of
 * them when it is first asked for.
 */
export interface Services extends Pick<
  Store,
  'accounts' | 'ledger' | 'batches' | 'inbox' | 'unmatched' | 'waiting' | 'maintenance'
> {
  clock: Clock
  random: Random
  env: Environment
  files: FileTarget
  reporter: Reporter
  /** Undefined without a terminal. */
  prompter: Prompter | undefined

  /** `--profile`. */
  profile: string | undefined
  settings: Settings
  secrets: Secrets
  /** Who calls which service. */
  session: Session
  /** The account that is ordered for, which the store has; '' where none was named. */
  account: string
  /** The milliseconds that retries and waits on a 429 of one command may take together. */
  budgetMs: number

  http: HttpClient
  /** Makes the API of credentials that are not those of the session. */
  connect: Connect
  /** The service of the session. */
  api: Api
  /** The same for waits, whose reads wait as long as the quota takes. */
  patientApi: Api
  /** Who may call next with the key of the session. */
  governor: Governor

  /** Where orders, events and the quota are stored. */
  store: Store
  /** The store's inbox for a command that shows events: the secrets of the profile are known and are redacted. */
  inboxToShow: Store['inbox']
  /** Of the service and user of the session. */
  schemas: SchemaCache
  packageNames: PackageNames
  mappings: Mappings
  drafts: Drafts
  plans: OrderPlans
  written: WrittenFiles
  reportFolders: ReportFolders
}

/** Where files are read from. */
export interface FileTarget {
  /** What a relative path starts from. */
  cwd: string
  stdin: { isTTY: boolean; stream: AsyncIterable<Uint8Array | string> }
}

/** Without a key only what needs none can be called. */
export type Connect = (to: {
  baseUrl: string
  apiKey?: string | undefined
  email?: string | undefined
  budgetMs?: number | undefined
}) => Api

/** Where schemas are kept between runs; keyed by the service and user that it was made for. */
export interface SchemaCache {
  get(packageId: number): Promise<PackageSchema | undefined>
  put(schema: PackageSchema): Promise<void>
}
