import type { Batch } from '../../domain/batch/batch.ts'
import type { BatchKind, BatchRef, Submission } from '../../domain/submission/submission.ts'
import type { Engine } from './engine.ts'

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
  readonly beganAt: number
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
  acquire(batch: BatchRef, how?: { waitMs?: number; for?: LeaseUse }): Promise<Lease | undefined>
  /** Who holds the batch of a file. */
  holder(batchId: string): Promise<Batch['holder']>
}

/** Looking who holds a batch takes its lock for a moment. */
export const shortWait = { waitMs: 250 }

/** A lease for a process that may order: refused on a store that is closed, or is to be. */
export async function leaseForOrdering(
  acquire: () => Promise<Lease | undefined>,
  rollbacks: { begin: () => Promise<void> },
): Promise<Lease | undefined> {
  const lease = await acquire()
  if (lease === undefined) return undefined
  try {
    await rollbacks.begin()
    return lease
  } catch (error) {
    await lease.release()
    throw error
  }
}
