import type { Forgotten, Purged, StoreInfo } from '../../domain/store/told.ts'

/** Looking after a store as a whole. */
export interface Upkeep {
  info(): Promise<StoreInfo>
  /** What is wrong with it, in sentences; empty where it is sound. */
  check(): Promise<string[]>
  /** How many runs ordered with it that it does not know of, as one put back from a backup; 0 where it is as it was left. */
  missingRuns(): Promise<number>
  /** Goes on with a store that misses runs: a person has seen to whom they ordered. */
  acceptOlder(): Promise<void>
  /** A copy of all of it at a new file (0600), which opens as a store. */
  backup(path: string): Promise<void>
  /**
   * Removes what names a person: recipient, body, remarks, received events. Nothing of it is left in the
   * database or its journal. The keyed fingerprints stay, so that an old file run again orders nobody twice.
   * With `dryRun` it counts.
   */
  purge(who: Forgotten, options: { dryRun: boolean }): Promise<Purged>
}
