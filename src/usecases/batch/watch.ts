import type { Batch } from '../../domain/batch/batch.ts'
import type { BatchProgressNow } from '../../domain/overview/overview.ts'
import { InternalError, InterruptedError } from '../../errors/kinds.ts'
import type { BatchPorts } from './standing.ts'

const everyMs = 500
/** What others than the runner write, such as statuses, is read again after so long. */
const readAgainMs = 5000

export interface WatchOptions {
  signal: AbortSignal
  read: (batch: Batch) => Promise<BatchProgressNow>
  /** At each look, whether something changed or only time went by. */
  onLook: (batch: Batch, now: BatchProgressNow) => void | Promise<void>
}

/** Follows a batch in the store until no process runs it. Throws InterruptedError on Ctrl-C. */
export async function watchBatch(
  { batches, clock }: BatchPorts,
  batchId: string,
  { signal, read, onLook }: WatchOptions,
): Promise<void> {
  let last: { changedAt: number; readAt: number; now: BatchProgressNow } | undefined
  for (;;) {
    const batch = await batches.find(batchId)
    if (batch === undefined) throw new InternalError(`batch ${batchId} is gone from the store`)
    if (batch.holder === undefined) return
    const at = clock.monotonic()
    if (last?.changedAt !== batch.changedAt || at - last.readAt >= readAgainMs)
      last = { changedAt: batch.changedAt, readAt: at, now: await read(batch) }
    await onLook(batch, last.now)
    try {
      await clock.sleep(everyMs, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      throw new InterruptedError('stopped watching; the batch continues')
    }
  }
}
