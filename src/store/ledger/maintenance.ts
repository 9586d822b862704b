import type { Closed } from '../../domain/store/age.ts'
import type { Forgotten, Purged, StoreInfo } from '../../domain/store/told.ts'

/** Looking after a store as a whole. */
export interface Maintenance {
  info(): Promise<StoreInfo>
  /** What is wrong with it, in sentences; empty where it is sound. */
  check(): Promise<string[]>
  /** Why it takes no orders, where a look at the list of its attempts says so; it is closed from then on. */
  closed(): Promise<Closed | undefined>
  /** Attempts that the store did not know and that were put back as unknown, in words. */
  putBack(closed: Closed): Promise<string[]>
  /** Goes on with a store that was closed. Answers how many pending rows are held from now on. */
  acceptOlder(): Promise<{ held: number }>
  /** Goes on without a list of attempts, where none can be kept. */
  allowUnlisted(): Promise<void>
  /** A copy of all of it at a new file (0600), which opens as a store and takes no orders until it is accepted. */
  backup(path: string): Promise<void>
  /**
   * Removes what names a person: recipient, body, remarks, received events. Nothing of it is left in the
   * database or its journal. The keyed fingerprints stay, so that an old file run again orders nobody twice.
   * `completely` removes the fingerprints too. With `dryRun` it counts.
   */
  purge(who: Forgotten, options: { dryRun: boolean; completely: boolean }): Promise<Purged>
}
