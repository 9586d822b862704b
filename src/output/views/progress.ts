import type { RequestResource } from '../../contract/request.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import type { Batch, BatchCounts } from '../../domain/batch/batch.ts'
import type { RunEvent, BatchProgress } from '../../domain/batch/run-policy.ts'
import { statusCounts, statusesInOrder } from '../../domain/overview/people.ts'
import { personName, formatCount } from '../../domain/wording/text.ts'
import type { Clock } from '../../host/clock.ts'
import { formatDuration, progressLine } from '../terminal.ts'
import type { Progress, Reporter } from '../reporter.ts'
import { batchProgressText, runEventText, rowsText } from './batches.ts'
import { type AttentionKind, attentionKinds } from '../../domain/overview/attention.ts'
import type { BatchOverview } from '../../domain/overview/overview.ts'
import type { FilingEvent } from '../../domain/report/filed.ts'
import { attentionLines, attentionWords } from './overview.ts'
import { size } from './requests.ts'

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
  const { progressOf } = await import('../../domain/batch/run-policy.ts')
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

/** `2 COMPLETED, 1 ERROR`: requests by status. */
function requestsText(statuses: BatchOverview['statuses']): string {
  return statusesInOrder(Object.entries(statuses))
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')
}

/** Which rows need a person, as far as a screen of 24 lines has room under the counts. */
const maxWatchedGroups = 4
/** Milliseconds between two lines where none can change in place. */
const plainEveryMs = 15_000
/** Seconds for which a wait of the quota is not worth a word. */
const shortWait = 2
/** Undrawn: the live lines are dimmed as a whole. */
const plain = { columns: 80, color: false }

interface WatchedBatch extends Pick<BatchOverview, 'statuses' | 'attention'> {
  batch: Batch
  progress: BatchProgress
  /** Seconds until the quota allows the next order. */
  nextIn: number
}

/** How a batch that another process runs gets on: lines that change on a terminal, elsewhere a line now and then for what changed. */
export class BatchWatch {
  readonly #reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>
  readonly #clock: { monotonic(): number }
  readonly #reportedKinds = new Set<AttentionKind>()
  #lastLine: { at: number; text: string } | undefined

  constructor(reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>, clock: { monotonic(): number }) {
    this.#reporter = reporter
    this.#clock = clock
  }

  readonly show = (watched: WatchedBatch): void => {
    if (this.#reporter.isLive) this.#reporter.live(liveLines(watched))
    else this.#note(watched)
  }

  #note({ batch, progress, statuses, attention }: WatchedBatch): void {
    for (const kind of attentionKinds) {
      const of = attention.filter((each) => each.kind === kind)
      const [first] = of
      if (first === undefined || this.#reportedKinds.has(kind)) continue
      this.#reportedKinds.add(kind)
      this.#reporter.note(`${of.length} ${attentionWords[kind]}. See: ${first.command}`)
    }
    const now = this.#clock.monotonic()
    const text = [rowsText(batch.counts), requestsText(statuses)].filter((each) => each !== '').join('; ')
    if (
      text === this.#lastLine?.text ||
      now - (this.#lastLine?.at ?? Number.NEGATIVE_INFINITY) < plainEveryMs
    )
      return
    this.#lastLine = { at: now, text }
    this.#reporter.note(`${batchProgressText(progress)}  (${text})`)
  }
}

function liveLines({ batch, progress, statuses, attention, nextIn }: WatchedBatch): string[] {
  const requests = requestsText(statuses)
  const isWaiting = batch.counts.pending > 0 && nextIn > shortWait
  return [
    batchProgressText(progress),
    `rows      ${rowsText(batch.counts)}`,
    ...(requests === '' ? [] : [`requests  ${requests}`]),
    ...(isWaiting ? [`quota     used up; next order in ${formatDuration(nextIn)}`] : []),
    ...(attention.length === 0
      ? []
      : [
          '',
          'Needs a person',
          ...attentionLines(attention, plain, maxWatchedGroups).map((line) => `  ${line}`),
        ]),
  ]
}

/** Milliseconds between two updates of a line that changes in place, and between two lines where none can. */
const everyMs = { live: 100, plain: 15_000 }

/** Seconds from now until so many requests have been read, by the quota. */
export type ReadingTime = (requests: number) => Promise<number>

/** How far the filing of reports has come: files and bytes, of all that is known so far. */
export class ReportProgress {
  readonly #reporter: Pick<Reporter, 'note' | 'status' | 'terminal'>
  readonly #clock: { monotonic(): number }
  readonly #readingTime: ReadingTime | undefined
  readonly #startedAt: number
  /** Requests that are not read yet, and all. */
  #unseen = 0
  #wanted = 0
  /** When the quota has let all of them through, on the monotonic clock. */
  #readBy = 0
  #planned = 0
  #filed = 0
  /** Without what was there already, which takes no time. */
  #fetched = 0
  #bytes = 0
  #shownAt: number

  /** `readingTime`: where requests are read whose number of reports is not known. */
  constructor(
    reporter: Pick<Reporter, 'note' | 'status' | 'terminal'>,
    clock: { monotonic(): number },
    readingTime?: ReadingTime,
  ) {
    this.#reporter = reporter
    this.#clock = clock
    this.#readingTime = readingTime
    this.#startedAt = clock.monotonic()
    this.#shownAt = this.#isLive ? Number.NEGATIVE_INFINITY : this.#startedAt
  }

  readonly record = (event: FilingEvent): void => {
    if (event.name === 'wanted') return this.#begin(event.requests)
    if (event.name === 'looked') this.#unseen -= 1
    else if (event.name === 'planned') this.#planned += event.files
    else if (event.name === 'filed') this.#finishOne(event.skipped)
    else this.#bytes += event.bytes
    const now = this.#clock.monotonic()
    const isLive = this.#isLive
    if (now - this.#shownAt < (isLive ? everyMs.live : everyMs.plain)) return
    this.#shownAt = now
    const left = this.#secondsLeft(now)
    const total = this.#unseen > 0 ? Math.round(this.#expected) : this.#planned
    const about = total > this.#planned ? 'about ' : ''
    const count = `${this.#filed} of ${about}${formatCount(total, 'file')}, ${size(this.#bytes)}`
    if (isLive) this.#reporter.status(progressLine(this.#part, count, left))
    else this.#reporter.note(left === undefined ? count : `${count}; ${formatDuration(left)} left`)
  }

  #finishOne(skipped: boolean): void {
    this.#filed += 1
    if (!skipped) this.#fetched += 1
  }

  #begin(requests: number): void {
    this.#wanted += requests
    this.#unseen += requests
    const at = this.#clock.monotonic()
    // The book cannot be had where the store cannot; then the pace so far has to do.
    this.#readingTime?.(requests).then(
      (seconds) => (this.#readBy = at + seconds * 1000),
      () => undefined,
    )
  }

  /** Of all files there are likely to be: estimated from those of the requests that were read. */
  get #expected(): number {
    const seen = this.#wanted - this.#unseen
    return seen <= 0 ? this.#planned : Math.max(this.#planned, (this.#planned / seen) * this.#wanted)
  }

  get #part(): number {
    return this.#filed / Math.max(1, this.#expected)
  }

  /** By the pace so far, and not before the quota lets the last request be read; undefined before there is a pace. */
  #secondsLeft(now: number): number | undefined {
    const left = this.#expected - this.#filed
    if (this.#fetched === 0 || left <= 0) return undefined
    const byPace = ((now - this.#startedAt) / this.#fetched) * left
    return Math.max(byPace, this.#unseen > 0 ? this.#readBy - now : 0) / 1000
  }

  get #isLive(): boolean {
    return this.#reporter.terminal.columns !== undefined
  }
}
