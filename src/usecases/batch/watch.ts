import type { Batch } from '../../domain/batch/batch.ts'
import { InternalError, InterruptedError } from '../../errors/kinds.ts'
import type { BatchPorts } from './standing.ts'

const everyMs = 500

export interface WatchOptions {
  signal: AbortSignal
  /** With the batch as it stands, when it changed. */
  onChange: (batch: Batch) => void | Promise<void>
}

/** Follows a batch in the store until no process runs it. Throws InterruptedError on Ctrl-C. */
export async function watchBatch(
  { batches, clock }: BatchPorts,
  batchId: string,
  { signal, onChange }: WatchOptions,
): Promise<void> {
  for (let seen = -1; ;) {
    const batch = await batches.find(batchId)
    if (batch === undefined) throw new InternalError(`batch ${batchId} is gone from the store`)
    if (batch.changedAt !== seen) await onChange(batch)
    seen = batch.changedAt
    if (batch.holder === undefined) return
    try {
      await clock.sleep(everyMs, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      throw new InterruptedError('stopped watching; the batch continues')
    }
  }
}
