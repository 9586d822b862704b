import { isUnfinished } from '../../contract/statuses.ts'
import type { RequestResource } from '../../contract/request.ts'
import type { Batch, BatchCounts } from '../../domain/batch/batch.ts'
import type { RunEvent, BatchProgress } from '../../domain/batch/run-policy.ts'
import { statusCounts, statusesInOrder } from '../../domain/overview/people.ts'
import { formatBytes, personName, formatCount } from '../../domain/wording/text.ts'
import type { Clock } from '../../host/clock.ts'
import { formatDuration, progressLine, statusStyle, styled } from '../terminal.ts'
import type { View } from '../view.ts'
import type { Progress, Reporter } from '../reporter.ts'
import { batchProgressText, runEventText, rowsText } from './batches.ts'
import { type AttentionKind, attentionKinds } from '../../domain/overview/attention.ts'
import type { BatchOverview } from '../../domain/overview/overview.ts'
import type { CheckCounts } from '../../domain/request/listed-request.ts'
import { sanitize } from '../../host/text.ts'
import type { FilingEvent } from '../../domain/report/filed.ts'
import { attentionLines, attentionWords } from './attention.ts'

interface BatchMeterParts {
  clock: Clock
  /** Returns the seconds that the quota needs for `creates` orders, if each call takes `callMs`. */
  secondsFor: (creates: number, callMs: number) => number
  progress: Progress
  note: (text: string) => void
}

/** How long an estimate of the remaining time is reused. */
const estimateLifetimeMs = 1000

/** Creates the handlers that count the events of a running batch and show its progress. */
export async function createBatchMeter({ clock, secondsFor, progress, note }: BatchMeterParts) {
  const { progressOf } = await import('../../domain/batch/run-policy.ts')
  const startedAt = clock.monotonic()
  let counts: BatchCounts | undefined
  let finished = 0
  let waitedMs = 0
  let estimate: { madeAt: number; endsAt: number } | undefined
  const secondsLeft = (pending: number): number => {
    const now = clock.monotonic()
    if (estimate === undefined || now - estimate.madeAt >= estimateLifetimeMs) {
      const callMs = finished === 0 ? 0 : Math.max(0, now - startedAt - waitedMs) / finished
      estimate = { madeAt: now, endsAt: now + secondsFor(pending, callMs) * 1000 }
    }
    return Math.max(0, estimate.endsAt - now) / 1000
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
        estimate = undefined
      }
      const text = runEventText(event)
      if (text !== undefined) note(text)
      show()
    },
  }
}

/** The number of newest changes that are shown below the counts. */
const maxChanges = 4

type ShownChange = Pick<RequestResource, 'request_id' | 'status' | 'recipient'>

/**
 * Shows the progress of requests that a command waits for. On a terminal, the progress is in live lines;
 * otherwise there is a note per change.
 */
export class WaitMeter {
  readonly #reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>
  readonly #total: number
  readonly #requests = new Map<string, ShownChange>()
  #changes: string[] = []

  constructor(reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>, total: number) {
    this.#reporter = reporter
    this.#total = total
  }

  readonly onStatus = (request: ShownChange): void => {
    const { request_id: id, status, recipient } = request
    if (!this.#reporter.isLive) return this.#reporter.note(`${id}  ${status}`)
    this.#requests.set(id, request)
    const change = `${id.slice(0, 8)}  ${personName(recipient)}  ${status}`
    this.#changes = [...this.#changes.slice(1 - maxChanges), change]
    this.#show('')
  }

  /** Shows the seconds until the next read. */
  readonly onSleep = (seconds: number): void => {
    if (this.#reporter.isLive) this.#show(`; next read in ${formatDuration(seconds)}`)
  }

  #show(suffix: string): void {
    const requests = [...this.#requests.values()]
    const finished = requests.filter(({ status }) => !isUnfinished(status)).length
    const counts = statusCounts(requests).map(([status, count]) => `${count} ${status}`)
    const unreadCount = this.#total - requests.length
    this.#reporter.live([
      progressLine(finished / this.#total, `${finished} of ${this.#total} finished${suffix}`),
      [...counts, ...(unreadCount === 0 ? [] : [`${unreadCount} not read yet`])].join(', '),
      ...this.#changes,
    ])
  }
}

/** Returns the counts of requests by status: `2 COMPLETED, 1 ERROR`. */
function requestsText(statuses: BatchOverview['statuses']): string {
  return statusesInOrder(Object.entries(statuses))
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')
}

/** The maximum number of groups of the list "Needs a person"; more do not fit on a screen of 24 lines. */
const maxAttentionGroups = 4
/** Milliseconds between two notes outside a terminal. */
const noteIntervalMs = 15_000
/** A wait for the quota that is not longer than this is not shown. */
const shortWaitSeconds = 2
/** The reporter dims whole live lines, so the lines have no colours of their own. */
const plainTerminal = { columns: 80, color: false }

interface WatchedBatch extends Pick<BatchOverview, 'statuses' | 'attention'> {
  batch: Batch
  progress: BatchProgress
  /** Seconds until the quota allows the next order. */
  secondsToNext: number
}

/**
 * Shows the progress of a batch that another process runs. On a terminal, the progress is in live lines;
 * otherwise there are notes about changes.
 */
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
      const itemsOfKind = attention.filter((each) => each.kind === kind)
      const [firstItem] = itemsOfKind
      if (firstItem === undefined || this.#reportedKinds.has(kind)) continue
      this.#reportedKinds.add(kind)
      this.#reporter.note(`${itemsOfKind.length} ${attentionWords[kind]}. See: ${firstItem.command}`)
    }
    const now = this.#clock.monotonic()
    const text = [rowsText(batch.counts), requestsText(statuses)].filter((each) => each !== '').join('; ')
    if (
      text === this.#lastLine?.text ||
      now - (this.#lastLine?.at ?? Number.NEGATIVE_INFINITY) < noteIntervalMs
    )
      return
    this.#lastLine = { at: now, text }
    this.#reporter.note(`${batchProgressText(progress)}  (${text})`)
  }
}

function liveLines({ batch, progress, statuses, attention, secondsToNext }: WatchedBatch): string[] {
  const requests = requestsText(statuses)
  const isWaiting = batch.counts.pending > 0 && secondsToNext > shortWaitSeconds
  return [
    batchProgressText(progress),
    `rows      ${rowsText(batch.counts)}`,
    ...(requests === '' ? [] : [`requests  ${requests}`]),
    ...(isWaiting ? [`quota     used up; next order in ${formatDuration(secondsToNext)}`] : []),
    ...(attention.length === 0
      ? []
      : [
          '',
          'Needs a person',
          ...attentionLines(attention, plainTerminal, maxAttentionGroups).map((line) => `  ${line}`),
        ]),
  ]
}

/** Milliseconds between two updates of the live line on a terminal. */
const liveIntervalMs = 100

/** Returns the seconds that the quota needs for reading a number of requests. */
export type ReadingTime = (requests: number) => Promise<number>

/**
 * Shows the progress of saving reports as files: the numbers of files and bytes, an estimate of all
 * files, and the remaining time.
 */
export class ReportProgress {
  readonly #reporter: Pick<Reporter, 'note' | 'status' | 'terminal'>
  readonly #clock: { monotonic(): number }
  readonly #readingTime: ReadingTime | undefined
  readonly #startedAt: number
  #requestCount = 0
  #unreadRequests = 0
  /** The time on the monotonic clock at which the quota will have allowed all requests to be read. */
  #allReadAt = 0
  /** The number of files of the requests that were read. */
  #plannedFiles = 0
  #finishedFiles = 0
  /** The number of finished files without the files that were in the folder already, which take no time. */
  #downloadedFiles = 0
  #bytes = 0
  #shownAt: number

  /** `readingTime` is undefined if no requests have to be read because the reports are known. */
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
    if (event.name === 'requestsFound') return this.#addRequests(event.requests)
    if (event.name === 'requestRead') this.#unreadRequests -= 1
    else if (event.name === 'filesFound') this.#plannedFiles += event.files
    else if (event.name === 'fileFinished') this.#countFile(event.skipped)
    else this.#bytes += event.bytes
    const now = this.#clock.monotonic()
    const isLive = this.#isLive
    if (now - this.#shownAt < (isLive ? liveIntervalMs : noteIntervalMs)) return
    this.#shownAt = now
    const secondsLeft = this.#secondsLeft(now)
    const total = this.#unreadRequests > 0 ? Math.round(this.#estimatedFiles) : this.#plannedFiles
    const aboutText = total > this.#plannedFiles ? 'about ' : ''
    const countText = `${this.#finishedFiles} of ${aboutText}${formatCount(total, 'file')}, ${formatBytes(this.#bytes)}`
    if (isLive) this.#reporter.status(progressLine(this.#finishedFraction, countText, secondsLeft))
    else
      this.#reporter.note(
        secondsLeft === undefined ? countText : `${countText}; ${formatDuration(secondsLeft)} left`,
      )
  }

  #countFile(isSkipped: boolean): void {
    this.#finishedFiles += 1
    if (!isSkipped) this.#downloadedFiles += 1
  }

  #addRequests(requests: number): void {
    this.#requestCount += requests
    this.#unreadRequests += requests
    const now = this.#clock.monotonic()
    // Fails without a store, which contains the calls so far. The estimate then depends only on the speed so far.
    this.#readingTime?.(requests).then(
      (seconds) => (this.#allReadAt = now + seconds * 1000),
      () => undefined,
    )
  }

  /** Returns the number of files of all requests, estimated from the files of the requests that were read. */
  get #estimatedFiles(): number {
    const readCount = this.#requestCount - this.#unreadRequests
    if (readCount <= 0) return this.#plannedFiles
    return Math.max(this.#plannedFiles, (this.#plannedFiles / readCount) * this.#requestCount)
  }

  get #finishedFraction(): number {
    return this.#finishedFiles / Math.max(1, this.#estimatedFiles)
  }

  /**
   * Returns the remaining time at the speed so far. If the quota will have allowed all requests to be read
   * later than that, the time until then is returned. Returns undefined before the first download.
   */
  #secondsLeft(now: number): number | undefined {
    const filesLeft = this.#estimatedFiles - this.#finishedFiles
    if (this.#downloadedFiles === 0 || filesLeft <= 0) return undefined
    const msLeft = ((now - this.#startedAt) / this.#downloadedFiles) * filesLeft
    return Math.max(msLeft, this.#unreadRequests > 0 ? this.#allReadAt - now : 0) / 1000
  }

  get #isLive(): boolean {
    return this.#reporter.terminal.columns !== undefined
  }
}

/** Shows `statusView`, the progress of the checks of the batch, and the rows that need a person. */
export function followedBatchView(
  statusView: View,
  { statuses, checks, otherOrders, attention }: BatchOverview,
): View {
  const counts = statusesInOrder(Object.entries(statuses))
  // The reason for the halt is left out, because `statusView` shows it.
  const attentionItems = attention.map((each) => (each.kind === 'halted' ? { ...each, reason: null } : each))
  return {
    json: { ...(statusView.json as object), statuses, checks, attention },
    text: (terminal) => {
      const shown = counts.map(
        ([status, count]) => `${count} ${styled(terminal, statusStyle(status), status)}`,
      )
      const otherText = otherOrders === 0 ? '' : ` (${otherOrders} ordered by other files or commands)`
      return [
        statusView.text(terminal),
        ...(shown.length === 0 ? [] : ['', `requests  ${shown.join(', ')}${otherText}`]),
        ...checkLines(checks, sum(Object.values(statuses))),
        ...(attentionItems.length === 0
          ? []
          : [
              '',
              styled(terminal, 'bold', 'Needs a person'),
              ...indentAll(attentionLines(attentionItems, terminal)),
            ]),
      ].join('\n')
    },
  }
}

const checkStatusTexts: Readonly<Record<string, readonly [one: string, many: string]>> = {
  RECEIVED: ['not started', 'not started'],
  IN_PROGRESS: ['in progress', 'in progress'],
  COMPLETED: ['completed', 'completed'],
  CANCELLED: ['cancelled', 'cancelled'],
  ERROR: ['needs attention', 'need attention'],
}

/** Returns the counts of checks by status, also per type if there are several types. */
function checkLines({ requests, by_type: byType }: CheckCounts, requestCount: number): string[] {
  const types = Object.entries(byType)
  if (types.length === 0) return []
  const total: Record<string, number> = {}
  for (const [, statuses] of types)
    for (const [status, count] of Object.entries(statuses)) total[status] = (total[status] ?? 0) + count
  const readText =
    requests === requestCount ? '' : ` (${requests} of ${formatCount(requestCount, 'request')} read)`
  return [
    `checks    ${formatChecks(total)}${readText}`,
    ...(types.length === 1 ? [] : types.map(([type, statuses]) => `  ${type}: ${formatChecks(statuses)}`)),
  ]
}

const formatChecks = (statuses: Readonly<Record<string, number>>): string =>
  statusesInOrder(Object.entries(statuses))
    .map(([status, count]) => {
      const [one, many] = checkStatusTexts[status] ?? [status, status]
      return `${count} ${sanitize(count === 1 ? one : many)}`
    })
    .join(', ')

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)

const indentAll = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`)
