import type { Batch, BatchCounts } from '../domain/batch/batch.ts'
import type { RunEvent } from '../domain/batch/run-policy.ts'
import type { Clock } from '../host/clock.ts'
import type { Progress } from './progress.ts'
import { batchProgressText, runEventText } from './views/batches.ts'

export interface BatchMeterParts {
  clock: Clock
  /** Seconds until so many more have been sent, by the quota; `callMs`: what one takes besides. */
  secondsFor: (creates: number, callMs: number) => number
  progress: Progress
  note: (text: string) => void
}

/** How long what was reckoned of the time left is good for. */
const reckonedMs = 1000

/** Counts what happens and shows it. */
export async function batchMeter({ clock, secondsFor, progress, note }: BatchMeterParts) {
  const { progressOf } = await import('../domain/batch/run-policy.ts')
  const startedAt = clock.monotonic()
  let counts: BatchCounts | undefined
  let settled = 0
  let waitedMs = 0
  let reckoned: { at: number; until: number } | undefined
  const secondsLeft = (pending: number): number => {
    const now = clock.monotonic()
    if (reckoned === undefined || now - reckoned.at >= reckonedMs) {
      const callMs = settled === 0 ? 0 : Math.max(0, now - startedAt - waitedMs) / settled
      reckoned = { at: now, until: now + secondsFor(pending, callMs) * 1000 }
    }
    return Math.max(0, reckoned.until - now) / 1000
  }
  const show = (): void => {
    if (counts !== undefined)
      progress.show(batchProgressText(progressOf(counts, secondsLeft(counts.pending))))
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
      if (event.name === 'paced' || event.name === 'outage') {
        waitedMs += event.seconds * 1000
        reckoned = undefined
      }
      const text = runEventText(event)
      if (text !== undefined) note(text)
      show()
    },
  }
}
