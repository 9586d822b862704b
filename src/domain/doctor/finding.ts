import { RefcheckError } from '../../errors/kinds.ts'
import type { StoreInfo } from '../store/types.ts'

/** The result of one check: `ok`; `warn` if the user should act; `fail` if commands cannot work. */
export type Level = 'ok' | 'warn' | 'fail'

export interface Finding {
  check: string
  level: Level
  message: string
  /** What the user can do; null if nothing is needed. */
  hint: string | null
}

/** What a check returns if it does not throw; without a `level` it is `ok`. */
export interface CheckResult {
  level?: Exclude<Level, 'fail'>
  message: string
  hint?: string | undefined
}

export interface MachineReport {
  findings: Finding[]
  /** The first failure; its exit code is that of the command. */
  failure: RefcheckError | undefined
}

interface MachineFacts {
  node: string
  platform: string
  architecture: string
  /** Version of the operating system's kernel. */
  release: string
}

/** Environment variables that affect commands. */
const reportedVariables = [
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

interface BugReportInput {
  version: string
  machine: MachineFacts
  isSet: (variable: string) => boolean
  settings: readonly string[]
  profiles: number | null
  report: MachineReport
  store: StoreInfo | undefined
}

export type BugReport = ReturnType<typeof bugReport>

/**
 * A bug report contains versions, counts and names that refcheck defines. It contains no text chosen by a
 * person, by the service or by the owner of the machine: no path, address, message or id.
 */
export function bugReport({ isSet, settings, report, store, ...facts }: BugReportInput) {
  return {
    refcheck_bug_report: 1,
    version: facts.version,
    machine: facts.machine,
    /** Names of the variables that are set, without their values. */
    environment: reportedVariables.filter(isSet),
    /** Names of the settings that are set. */
    settings: [...settings],
    profiles: facts.profiles,
    checks: report.findings.map(({ check, level }) => ({ check, level })),
    /** The code of the first failure. */
    failure: report.failure?.code ?? null,
    store: store === undefined ? null : storeFacts(store),
  }
}

function storeFacts({ engine, format, bytes, batches, rows, events, closed }: StoreInfo) {
  return {
    engine,
    format,
    /** Rounded up to a power of two. */
    bytes: bytes === 0 ? 0 : 2 ** Math.ceil(Math.log2(bytes)),
    batches,
    rows,
    events,
    takes_orders: closed === undefined,
  }
}
