import type { App } from './app.ts'
import type { Batch } from '../domain/batch/batch.ts'
import type { BatchProgressNow } from '../domain/overview/overview.ts'
import { timeToSend } from './time-to-send.ts'

/** What shows how a batch of that service gets on. */
export async function batchWatching(app: App, baseUrl: string) {
  const [{ BatchWatch }, { progressOf }, secondsFor] = await Promise.all([
    import('../output/views/progress.ts'),
    import('../domain/batch/run-policy.ts'),
    timeToSend(app, baseUrl),
  ])
  const watch = new BatchWatch(app.reporter, app.context.clock)
  return {
    onLook: async (batch: Batch, now: BatchProgressNow): Promise<void> => {
      const progress = progressOf(batch.counts, await secondsFor(batch.counts.pending))
      watch.show({ ...now, batch, progress, nextIn: await secondsFor(1) })
    },
  }
}
