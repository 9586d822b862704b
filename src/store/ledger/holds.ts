import type { BatchRef } from '../../domain/submission/submission.ts'
import type { Hold } from './ledger.ts'

/** Who runs which batch, among all processes that use the store. */
export interface Holds {
  /** Undefined while somebody else, or this very process, has it. */
  take(batch: BatchRef, patience?: { waitMs: number }): Promise<Hold | undefined>
  /** Who holds the batch of a file. */
  holder(batchId: string): Promise<{ pid: number; since: number } | undefined>
}

/** Looking who holds a batch takes its lock for a moment. */
export const shortWait = { waitMs: 250 }
