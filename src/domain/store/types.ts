import type { Closing } from './closing.ts'
import type { SubmissionState } from '../submission/states.ts'

/** Information about a store. Times are wall time in ms. */
export interface StoreInfo {
  location: string
  /** Bytes on disk, including SQLite's journal files; 0 in memory. */
  bytes: number
  /** The number of the store's format. */
  format: number
  /** The database engine with its version, such as `SQLite 3.53.0`. */
  engine: string
  batches: number
  /** Rows by state. */
  rows: Record<SubmissionState, number>
  events: number
  /** When the first and the last of the batches were added. */
  oldest: number | undefined
  newest: number | undefined
  /** Why the store accepts no orders, as last recorded: no log is read for this. */
  closed: Closing | undefined
  /** Information about the server; undefined for a file. */
  server?: StoreServer | undefined
}

export interface StoreServer {
  /** Whether a commit waits for a standby. Without that, a standby that takes over may lack orders. */
  replication: 'none' | 'asynchronous' | 'synchronous'
  /** The duration of one query in ms. */
  latencyMs: number
  /**
   * The functions that read the epoch, by which an older state of the database is detected, and that this database
   * user may not execute: as GRANT names them, `FUNCTION pg_control_system()`.
   */
  hidden: readonly string[]
}

/** Selects the data that a purge removes. */
export type ErasureTarget =
  | { email: string }
  /** `baseUrl`: only the request of this service, since two services may use the same id. */
  | { requestId: string; baseUrl?: string | undefined }
  /** Orders that ended before this moment, and events received before it. */
  | { endedBefore: number }

export interface PurgeResult {
  /** The number of rows whose person was removed. */
  rows: number
  events: number
  /** The number of rows that may be in flight or accepted, and were not changed. */
  kept: number
  /** Whether the store's files contain no older copy of the removed data. */
  areStoreFilesClean: boolean
  /** Why an older copy remains: another process still reads it, or only the owner of the tables can clean them. */
  isLeftTo?: 'another process' | 'the owner' | undefined
  /**
   * Attempt logs of other machines that still contain fingerprints, which each machine removes when it next starts.
   */
  logsLeft: { host: string; path: string }[]
}

/** The data that a purge erases outside the store. */
export interface FilesToErase {
  /** Ids of stored drafts. */
  drafts: string[]
  /** Codes of plans that wait for approval. */
  plans: string[]
  /** Absolute paths of files. */
  files: string[]
  /** Reports, by their keys, with their lines in the manifest of the folder. */
  reports: { folder: string; keys: string[] }[]
}

/** The values by which a file's name may name a person. */
export interface PersonNames {
  firstName: string | undefined
  lastName: string | undefined
  email: string | undefined
}

/** The data by which a person is found in files. */
export interface PersonTraces {
  batches: {
    id: string
    path: string | undefined
    resultsFile: string | undefined
    /** 1 if a row of the batch is held as similar to the person: its files may show only the person's name. */
    namedAsSimilar: 1 | undefined
  }[]
  rows: (PersonNames & { requestId: string | undefined; baseUrl: string })[]
}

/** The result of migrating a store to the newest format; `from` is 0 for a new store. */
export interface MigrationResult {
  location: string
  from: number
  to: number
}

/** An account of a store; `account` is '' for orders without one. */
export interface KnownAccount {
  account: string
  /** The number of people with whom a new order is compared. */
  people: number
  attempts: number
  lastAttemptAt: number | null
}

/** Texts on what happens to the last orders when the server fails and another takes over. */
export const replicationText: Readonly<Record<StoreServer['replication'], string>> = {
  none: 'no standby',
  asynchronous: 'asynchronous standby: one that takes over may have forgotten the last orders',
  synchronous: 'synchronous standby',
}
