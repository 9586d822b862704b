import { type Engine, get, resolveAmbiguousCommit, type Work } from './engine.ts'
import type { StoreKey } from './fingerprints.ts'
import type { Leases } from './leases.ts'
import type { Head, LogEntry, LogOutcome } from '../../domain/store/attempt-log.ts'
import type { FenceFailure } from '../../domain/store/rollback.ts'

/** `session`: the store was last compared on another connection, or with other replication. */
export type ClaimFailure = FenceFailure | 'session'

/** What a claim requires of the store (src/docs/ordering.md, section 6, "Fence"). */
export interface FenceRequirement {
  generation: string
  /** Attempts that have to be in the store, each under its number. */
  heads: readonly Head[]
  /** The connection, or the file, that the store was last compared on. */
  session: string
  /** Whether each commit waits for a second server, as the store has recorded it. */
  isReplicated: boolean
  /** The log that the attempt will be recorded in. */
  logId: string | undefined
}

/** An attempt as its log has it, with the generation that its claim found in the store. */
export type RecordedAttempt = Omit<LogEntry, 'kind'>

/** Rollback detection, as the other parts of a store use it (RollbackDetection). */
export interface Rollbacks {
  begin(): Promise<void>
  ready(): Promise<void>
  fence(): FenceRequirement
  failed(why: ClaimFailure): Promise<void>
  record(attempt: RecordedAttempt): Promise<void>
  recordOutcome(outcome: Omit<LogOutcome, 'kind'>): void
  noteHeads(): Promise<void>
}

/** What all parts of a store work with. */
export interface StoreContext {
  engine: Engine
  key: StoreKey
  holds: Leases
  rollbacks: Rollbacks
}

export class StorePart {
  protected readonly engine: Engine
  protected readonly key: StoreKey
  protected readonly holds: Leases
  protected readonly rollbacks: Rollbacks

  constructor({ engine, key, holds, rollbacks }: StoreContext) {
    this.engine = engine
    this.key = key
    this.holds = holds
    this.rollbacks = rollbacks
  }

  /**
   * Adds a batch, or does not; in one step for all processes that compare people of its account. Undefined where it was
   * added by a commit that was not answered.
   */
  protected async addOnce<T>(
    { id, account = '' }: { id: string; account?: string | undefined },
    work: () => Work<T>,
  ): Promise<T | undefined> {
    const lock = { account }
    const select = 'SELECT 1 FROM batches WHERE id = :id {lockRows batches}'
    const find = (): Promise<object | undefined> =>
      this.engine.transaction(() => get<object>(select, { id }), lock)
    const { result } = await resolveAmbiguousCommit<{ result: T | undefined }>(
      async () => ({ result: await this.engine.transaction(work, lock) }),
      async () => (await find()) && { result: undefined },
    )
    return result
  }
}
