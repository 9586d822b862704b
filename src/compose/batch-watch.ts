import type { Scope } from '../cli/scope.ts'
import type { Batch } from '../domain/batch/batch.ts'
import type { BatchProgressNow } from '../domain/overview/overview.ts'
import { timeToSend } from './api.ts'

/** What shows how a batch of that service gets on. */
export async function batchWatching(scope: Scope, baseUrl: string) {
  const [{ BatchWatch }, { progressOf }, secondsFor] = await Promise.all([
    import('../output/batch-watch.ts'),
    import('../domain/batch/run-policy.ts'),
    timeToSend(scope, baseUrl),
  ])
  const watch = new BatchWatch(scope.reporter, scope.context.clock)
  return {
    onLook: async (batch: Batch, now: BatchProgressNow): Promise<void> => {
      const progress = progressOf(batch.counts, await secondsFor(batch.counts.pending))
      watch.show({ ...now, batch, progress, nextIn: await secondsFor(1) })
    },
  }
}
