import type { StoreInfo } from '../store/types.ts'
import type { MachineReport } from './finding.ts'

/** What a bug report may say of a machine: versions, counts, and names that this program gave. */
export interface BugReport {
  refcheck_bug_report: 1
  version: string
  machine: MachineFacts
  /** Names of the variables that are set, never what they are set to. */
  environment: string[]
  /** Names of the settings that are set. */
  settings: string[]
  profiles: number | null
  checks: { check: string; level: string }[]
  /** The code of the first failure. */
  failure: string | null
  store: StoreFacts | null
}

export interface MachineFacts {
  node: string
  platform: string
  architecture: string
  /** Of the system's kernel. */
  release: string
}

interface StoreFacts {
  engine: string
  format: number
  /** Rounded up to a power of two. */
  bytes: number
  batches: number
  rows: Readonly<Record<string, number>>
  events: number
  takes_orders: boolean
}

/** Variables that change what a command does. */
const variables = [
  'REFCHECK_PROFILE',
  'REFCHECK_BASE_URL',
  'REFCHECK_API_KEY',
  'REFCHECK_USER_EMAIL',
  'REFCHECK_WEBHOOK_SECRET',
  'REFCHECK_ACCOUNT',
  'REFCHECK_STORE',
  'REFCHECK_QUOTA',
  'REFCHECK_CONFIG_DIR',
  'REFCHECK_DATA_DIR',
  'REFCHECK_SANDBOX_TOKEN',
  'REFCHECK_STARTED_BY_AGENT',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NO_COLOR',
  'CI',
]

export interface Observed {
  version: string
  machine: MachineFacts
  isSet: (variable: string) => boolean
  settings: readonly string[]
  profiles: number | null
  report: MachineReport
  store: StoreInfo | undefined
}

/** Nothing is copied that a person, a service or this machine's owner named: no path, address, message or id. */
export function bugReport({
  version,
  machine,
  isSet,
  settings,
  profiles,
  report,
  store,
}: Observed): BugReport {
  return {
    refcheck_bug_report: 1,
    version,
    machine,
    environment: variables.filter(isSet),
    settings: [...settings],
    profiles,
    checks: report.findings.map(({ check, level }) => ({ check, level })),
    failure: report.failure?.code ?? null,
    store: store === undefined ? null : storeFacts(store),
  }
}

function storeFacts({ engine, format, bytes, batches, rows, events, closed }: StoreInfo): StoreFacts {
  return {
    engine,
    format,
    bytes: bytes === 0 ? 0 : 2 ** Math.ceil(Math.log2(bytes)),
    batches,
    rows,
    events,
    takes_orders: closed === undefined,
  }
}
