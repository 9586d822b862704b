import type { Batch } from '../../domain/batch/batch.ts'
import type { BatchRef } from '../../domain/submission/submission.ts'
import type { Hold } from './ledger.ts'

/** To send its rows, which runners share where the store can keep them apart row by row; or to do what nobody may beside. */
export type HeldFor = 'sending' | 'a change'

/** Who runs which batch, among all processes that use the store. */
export interface Holds {
  /** Undefined while somebody else has it, or this very process. */
  take(batch: BatchRef, how?: { waitMs?: number; for?: HeldFor }): Promise<Hold | undefined>
  /** Who holds the batch of a file. */
  holder(batchId: string): Promise<Batch['holder']>
}

/** Looking who holds a batch takes its lock for a moment. */
export const shortWait = { waitMs: 250 }

/** A hold by somebody who may order: refused on a store that is closed, or is to be. */
export async function holdForOrdering(
  take: () => Promise<Hold | undefined>,
  age: { begin: () => Promise<void> | void },
): Promise<Hold | undefined> {
  const hold = await take()
  if (hold === undefined) return undefined
  try {
    await age.begin()
    return hold
  } catch (error) {
    await hold.release()
    throw error
  }
}
