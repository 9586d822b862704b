import type { RequestResource } from '../contract/request.ts'
import { terminalStatuses } from '../contract/statuses.ts'
import type { Batch, BatchCounts } from '../domain/batch/batch.ts'
import type { RunEvent } from '../domain/batch/run-policy.ts'
import { statusCounts } from '../domain/overview/people.ts'
import { personName } from '../domain/wording/shown-name.ts'
import type { Clock } from '../host/clock.ts'
import { formatDuration, progressLine } from './format.ts'
import type { Progress, Reporter } from './reporter.ts'
import { batchProgressText, runEventText } from './views/batches.ts'

interface BatchMeterParts {
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
  let finished = 0
  let waitedMs = 0
  let reckoned: { at: number; until: number } | undefined
  const secondsLeft = (pending: number): number => {
    const now = clock.monotonic()
    if (reckoned === undefined || now - reckoned.at >= reckonedMs) {
      const callMs = finished === 0 ? 0 : Math.max(0, now - startedAt - waitedMs) / finished
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
        finished += 1
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

/** The newest changes that have room under the counts. */
const maxChanges = 4

type ShownChange = Pick<RequestResource, 'request_id' | 'status' | 'recipient'>

/** How requests that are waited for get on: lines that change on a terminal, elsewhere a line for each change. */
export class WaitMeter {
  readonly #reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>
  readonly #total: number
  readonly #seen = new Map<string, ShownChange>()
  #changes: string[] = []

  constructor(reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>, total: number) {
    this.#reporter = reporter
    this.#total = total
  }

  readonly onStatus = (request: ShownChange): void => {
    const { request_id: id, status, recipient } = request
    if (!this.#reporter.isLive) return this.#reporter.note(`${id}  ${status}`)
    this.#seen.set(id, request)
    const change = `${id.slice(0, 8)}  ${personName(recipient)}  ${status}`
    this.#changes = [...this.#changes.slice(1 - maxChanges), change]
    this.#show('')
  }

  /** The next read is so many seconds off. */
  readonly onRest = (seconds: number): void => {
    if (this.#reporter.isLive) this.#show(`; next read in ${formatDuration(seconds)}`)
  }

  #show(rest: string): void {
    const seen = [...this.#seen.values()]
    const finished = seen.filter(({ status }) => terminalStatuses.includes(status)).length
    const counts = statusCounts(seen).map(([status, count]) => `${count} ${status}`)
    const unread = this.#total - seen.length
    this.#reporter.live([
      progressLine(finished / this.#total, `${finished} of ${this.#total} finished${rest}`),
      [...counts, ...(unread === 0 ? [] : [`${unread} not read yet`])].join(', '),
      ...this.#changes,
    ])
  }
}
