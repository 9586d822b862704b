import type { Batch, BatchCounts } from '../domain/batch/batch.ts'
import type { RunEvent } from '../domain/batch/run.ts'
import type { QuotaWindow } from '../domain/quota/windows.ts'
import type { Clock } from '../host/clock.ts'
import type { Progress } from './progress.ts'
import { batchProgressText, runEventText } from './views/batches.ts'

export interface BatchMeterParts {
  clock: Clock
  windows: readonly QuotaWindow[]
  progress: Progress
  note: (text: string) => void
}

/** Counts what happens and shows it. */
export async function batchMeter({ clock, windows, progress, note }: BatchMeterParts) {
  const { progressOf } = await import('../domain/batch/progress.ts')
  const startedAt = clock.monotonic()
  let counts: BatchCounts | undefined
  let settled = 0
  const show = (): void => {
    const seconds = (clock.monotonic() - startedAt) / 1000
    if (counts !== undefined) {
      progress.show(
        batchProgressText(progressOf(counts, windows, settled > 0 ? settled / seconds : undefined)),
      )
    }
  }
  return {
    onStart: (batch: Batch): void => {
      counts = { ...batch.counts }
      show()
    },
    onEvent: (event: RunEvent): void => {
      if (event.name === 'row' && event.state !== 'pending' && counts !== undefined) {
        counts.pending -= 1
        counts[event.state] += 1
        settled += 1
      }
      const text = runEventText(event)
      if (text !== undefined) note(text)
      show()
    },
  }
}
