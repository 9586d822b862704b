import type { Batch } from '../../domain/batch/batch.ts'
import type { Head, LogEntry, LogOutcome } from '../../domain/store/attempt-log.ts'
import type { FenceFailure } from '../../domain/store/rollback.ts'
import type { BatchKind, BatchRef, Submission } from '../../domain/submission/submission.ts'
import { type Engine, type Work, get, resolveAmbiguousCommit } from './engine.ts'
import type { StoreKey } from './fingerprints.ts'

/** The right to run one batch. It ends when the process that has it ends, also after a crash. */
export interface Lease {
  release(): Promise<void>
  /** Whether the connection was lost and another process acquired the lease meanwhile; absent if that cannot happen. */
  isLost?(): boolean
}

/** `sending`: several runners may have the lease if the store is shared. `a change`: no other process may have it. */
export type LeaseUse = 'sending' | 'a change'

/** This process as a runner of a shared store; without an id if the store is not shared. */
export interface Runner {
  /** Records this runner in the store. */
  begin?(): Promise<void>
  readonly id?: string | undefined
  /** When this runner was first recorded, by the database's clock. */
  readonly beganAt?: number
}

/** A row in `sending`, or a `pending` single order, whose process has ended. */
export interface Abandoned {
  row: Submission
  kind: BatchKind
  /** A statement that locks the row and returns it if it is still abandoned; absent if the lease of its batch is held. */
  lock?: string | undefined
}

/** The leases of batches, among all processes that use the store. */
export interface Leases extends Runner {
  abandoned(engine: Engine): AsyncGenerator<Abandoned>
  /** Acquires the lease of a batch. Returns undefined if another process, or this one, has it. */
  acquire(batch: BatchRef, how?: { waitMs?: number; for?: LeaseUse | undefined }): Promise<Lease | undefined>
  /** Returns the process that has the lease of a file's batch. */
  holder(batchId: string): Promise<Batch['holder']>
}

/** Finding the holder of a batch acquires its lock for a moment, so that acquiring has to be retried for this time. */
export const shortWait = { waitMs: 250 }

/** `session`: the store was last compared with the logs on another connection, or with another replication setting. */
export type ClaimFailure = FenceFailure | 'session'

/** What a claim requires of the store (src/docs/ordering.md, section 6, "Fence"). */
export interface FenceRequirement {
  generation: string
  /** Attempts that the store must have, each under its number. */
  heads: readonly Head[]
  /** The connection or the file that was used when the store was last compared with the logs. */
  session: string
  /** Whether each commit waited for a second server when the store was last compared with the logs. */
  isReplicated: boolean
  /** The id of the log in which the attempt will be recorded. */
  logId: string | undefined
}

/** An attempt as it is recorded in the log, with the generation that its claim found in the store. */
export type RecordedAttempt = Omit<LogEntry, 'kind'>

/** The methods of RollbackDetection that other parts of a store call. */
export interface Rollbacks {
  compareStore(): Promise<void>
  ensureCompared(): Promise<void>
  readRequirement(): FenceRequirement
  handleFailedClaim(why: ClaimFailure): Promise<void>
  record(attempt: RecordedAttempt): Promise<void>
  recordOutcome(outcome: Omit<LogOutcome, 'kind'>): void
  noteHeads(): Promise<void>
}

/** The objects that all parts of a store use. */
export interface StoreContext {
  engine: Engine
  key: StoreKey
  leases: Leases
  rollbacks: Rollbacks
}

export class StorePart {
  protected readonly engine: Engine
  protected readonly key: StoreKey
  protected readonly leases: Leases
  protected readonly rollbacks: Rollbacks

  constructor({ engine, key, leases, rollbacks }: StoreContext) {
    this.engine = engine
    this.key = key
    this.leases = leases
    this.rollbacks = rollbacks
  }

  /** Acquires a lease for a process that may order. Throws an IoError if the store is closed, or has to be closed. */
  protected async leaseForOrdering(...request: Parameters<Leases['acquire']>): Promise<Lease | undefined> {
    const lease = await this.leases.acquire(...request)
    if (lease === undefined) return undefined
    try {
      await this.rollbacks.compareStore()
      return lease
    } catch (error) {
      await lease.release()
      throw error
    }
  }

  /**
   * Runs `work`, which may add a batch, in a transaction that excludes processes that compare people of its account.
   * Returns undefined if the batch was added by a commit without an answer.
   */
  protected async addOnce<T>(
    { id, account = '' }: { id: string; account?: string | undefined },
    work: () => Work<T>,
  ): Promise<T | undefined> {
    const lock = { account }
    const find = () => get<object>('SELECT 1 FROM batches WHERE id = :id {lockRows batches}', { id })
    const { result } = await resolveAmbiguousCommit<{ result: T | undefined }>(
      async () => ({ result: await this.engine.transaction(work, lock) }),
      async () => (await this.engine.transaction(find, lock)) && { result: undefined },
    )
    return result
  }
}
