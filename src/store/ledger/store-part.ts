import type { Batch } from '../../domain/batch/batch.ts'
import type { Head, LogEntry, LogOutcome } from '../../domain/store/attempt-log.ts'
import type { FenceFailure } from '../../domain/store/rollback.ts'
import type { BatchKind, BatchRef, Submission } from '../../domain/submission/submission.ts'
import { type Engine, type Work, get, resolveAmbiguousCommit } from './engine.ts'
import type { StoreKey } from './fingerprints.ts'

/** The right to run one batch. It ends with the process that has it, however that ends. */
export interface Lease {
  release(): Promise<void>
  /** Whether its connection was lost and another took it meanwhile; never where nothing is said. */
  isLost?(): boolean
}

/** To send its rows, which runners share where the store can lease them row by row; or for work that excludes any other. */
export type LeaseUse = 'sending' | 'a change'

/** This process among those that order with a store which runners share; without an id where they do not. */
export interface Runner {
  /** Makes it known to the others. */
  begin?(): Promise<void>
  readonly id?: string | undefined
  /** When it was first recorded, by the database's clock. */
  readonly beganAt?: number
}

/** A row in `sending`, or a single order that is `pending`, that no process works on any more. */
export interface Abandoned {
  row: Submission
  kind: BatchKind
  /** Finds the row, locked, if it is still abandoned; not needed while its batch is held. */
  lock?: string | undefined
}

/** Who runs which batch, among all processes that use the store. */
export interface Leases extends Runner {
  abandoned(engine: Engine): AsyncGenerator<Abandoned>
  /** Undefined while another process, or this very one, has it. */
  acquire(batch: BatchRef, how?: { waitMs?: number; for?: LeaseUse | undefined }): Promise<Lease | undefined>
  /** Who holds the batch of a file. */
  holder(batchId: string): Promise<Batch['holder']>
}

/** Looking who holds a batch takes its lock for a moment. */
export const shortWait = { waitMs: 250 }

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

  /** A lease for a process that may order: refused on a store that is closed, or is to be. */
  protected async leaseForOrdering(...asked: Parameters<Leases['acquire']>): Promise<Lease | undefined> {
    const lease = await this.holds.acquire(...asked)
    if (lease === undefined) return undefined
    try {
      await this.rollbacks.begin()
      return lease
    } catch (error) {
      await lease.release()
      throw error
    }
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
    const find = () => get<object>('SELECT 1 FROM batches WHERE id = :id {lockRows batches}', { id })
    const { result } = await resolveAmbiguousCommit<{ result: T | undefined }>(
      async () => ({ result: await this.engine.transaction(work, lock) }),
      async () => (await this.engine.transaction(find, lock)) && { result: undefined },
    )
    return result
  }
}
