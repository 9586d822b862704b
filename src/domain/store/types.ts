import type { Closing } from './closing.ts'
import type { SubmissionState } from '../submission/states.ts'

/** What a store is and holds. Times are wall time in ms. */
export interface StoreInfo {
  location: string
  /** Bytes on disk, its journal files included; 0 in memory. */
  bytes: number
  /** How many changes of format it has been through. */
  format: number
  /** What keeps it, with its version: `SQLite 3.53.0`. */
  engine: string
  batches: number
  /** Rows by state. */
  rows: Record<SubmissionState, number>
  events: number
  oldest: number | undefined
  newest: number | undefined
  /** Why it takes no orders, as it was found last: no log is read for this. */
  closed: Closing | undefined
  /** What a server adds; undefined for a file. */
  server?: StoreServer | undefined
}

export interface StoreServer {
  /** Whether a commit waits for a standby. Without that, a standby that takes over may lack orders. */
  replication: 'none' | 'asynchronous' | 'synchronous'
  /** Of one question and its answer. */
  latencyMs: number
  /** What this user may not read of what distinguishes the database from an older state of itself, as GRANT names it. */
  hidden: readonly string[]
}

/** Whose data is to be removed. */
export type ErasureTarget =
  | { email: string }
  /** `baseUrl`: of this service alone, since two services may give out one id. */
  | { requestId: string; baseUrl?: string | undefined }
  /** Orders that came to an end before this moment, and events received before it. */
  | { endedBefore: number }

export interface Purged {
  /** Rows without a person. */
  rows: number
  events: number
  /** Rows that may be in flight or accepted, and were left as they are. */
  kept: number
  /** Whether no older copy of what was removed is left in the store's files. */
  isScrubbed: boolean
  /** What has to happen first, where one is: another process that reads it ends, or the owner of the tables cleans them. */
  isLeftTo?: 'another process' | 'the owner' | undefined
  /** Attempt logs of other machines that still hold fingerprints: each machine removes them at its next start. */
  logsLeft: { host: string; path: string }[]
}

/** What a purge erases outside the store. */
export interface FilesToErase {
  /** Ids of stored drafts. */
  drafts: string[]
  /** Codes of plans that wait. */
  plans: string[]
  /** Absolute paths. */
  files: string[]
  /** Reports with their lines in the manifest of a folder, by their keys. */
  reports: { folder: string; keys: string[] }[]
}

/** Who is removed, as far as a file's name may say it. */
export interface Named {
  firstName: string | undefined
  lastName: string | undefined
  email: string | undefined
}

/** By what a person is found in files. */
export interface Traces {
  batches: { id: string; path: string | undefined; resultsFile: string | undefined }[]
  rows: (Named & { requestId: string | undefined; baseUrl: string })[]
}

/** A store brought to the newest format; 0 for one that was not there. */
export interface Migrated {
  location: string
  from: number
  to: number
}

/** An account of a store with what is known under it; `account` is '' for orders without one. */
export interface KnownAccount {
  account: string
  /** Those whom a new order is compared with. */
  people: number
  attempts: number
  lastAttemptAt: number | null
}

/** What becomes of the last orders when the server is lost and another takes over. */
export const replicationText: Readonly<Record<StoreServer['replication'], string>> = {
  none: 'no standby',
  asynchronous: 'asynchronous standby: one that takes over may have forgotten the last orders',
  synchronous: 'synchronous standby',
}
