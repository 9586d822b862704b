import type { Batch } from '../../domain/batch/batch.ts'
import type { BatchProgress } from '../../domain/batch/run-policy.ts'
import { type AttentionKind, attentionKinds, groupedAttention } from '../../domain/overview/attention.ts'
import type { BatchProgressNow } from '../../domain/overview/overview.ts'
import { statusesInOrder } from '../../domain/overview/people.ts'
import type { CheckCounts } from '../../domain/request/check-counts.ts'
import { formatCount } from '../../domain/wording/count-in-words.ts'
import { sanitize } from '../../host/text.ts'
import { formatDuration, statusStyle } from '../format.ts'
import type { Reporter } from '../reporter.ts'
import { styled } from '../terminal.ts'
import type { View } from '../view.ts'
import { batchProgressText, rowsText } from './batches.ts'
import { attentionLines, attentionWords } from './overview.ts'

/** What a screen has room for under the rows. */
const maxGroups = 5

/** The state of a batch, with the progress of its checks and which rows need a person. `standing`: its rows by state. */
export function followedBatchView(statusView: View, { statuses, checks, attention }: BatchProgressNow): View {
  const counts = statusesInOrder(Object.entries(statuses))
  return {
    json: { ...(statusView.json as object), statuses, checks, attention },
    text: (terminal) => {
      const shown = counts.map(([status, count]) => {
        const style = statusStyle(status)
        return `${count} ${style === undefined ? status : styled(terminal, style, status)}`
      })
      return [
        statusView.text(terminal),
        ...(shown.length === 0 ? [] : ['', `requests  ${shown.join(', ')}`]),
        ...checkLines(checks, sum(Object.values(statuses))),
        ...(groupedAttention(attention).length === 0
          ? []
          : [
              '',
              styled(terminal, 'bold', 'Needs a person'),
              ...indented(
                attentionLines(attention, terminal, terminal.columns === undefined ? undefined : maxGroups),
              ),
            ]),
      ].join('\n')
    },
  }
}

const checkWords: Readonly<Record<string, readonly [one: string, many: string]>> = {
  RECEIVED: ['not started', 'not started'],
  IN_PROGRESS: ['in progress', 'in progress'],
  COMPLETED: ['completed', 'completed'],
  CANCELLED: ['cancelled', 'cancelled'],
  ERROR: ['needs attention', 'need attention'],
}

/** Single checks in words, by type where there are several; `requests`: how many there are. */
function checkLines({ requests, by_type: byType }: CheckCounts, all: number): string[] {
  const types = Object.entries(byType)
  if (types.length === 0) return []
  const total: Record<string, number> = {}
  for (const [, statuses] of types)
    for (const [status, count] of Object.entries(statuses)) total[status] = (total[status] ?? 0) + count
  const of = requests === all ? '' : ` (${requests} of ${formatCount(all, 'request')} read)`
  return [
    `checks    ${formatChecks(total)}${of}`,
    ...(types.length === 1 ? [] : types.map(([type, statuses]) => `  ${type}: ${formatChecks(statuses)}`)),
  ]
}

const formatChecks = (statuses: Readonly<Record<string, number>>): string =>
  statusesInOrder(Object.entries(statuses))
    .map(([status, count]) => {
      const [one, many] = checkWords[status] ?? [status, status]
      return `${count} ${sanitize(count === 1 ? one : many)}`
    })
    .join(', ')

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)

/** `2 COMPLETED, 1 ERROR`: requests by status. */
function requestsText(statuses: BatchProgressNow['statuses']): string {
  return statusesInOrder(Object.entries(statuses))
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`)

/** Which rows need a person, as far as a screen of 24 lines has room under the counts. */
const maxWatchedGroups = 4
/** Milliseconds between two lines where none can change in place. */
const plainEveryMs = 15_000
/** Seconds for which a wait of the quota is not worth a word. */
const shortWait = 2
/** Undrawn: the live lines are dimmed as a whole. */
const plain = { columns: 80, color: false }

interface WatchedBatch extends Pick<BatchProgressNow, 'statuses' | 'attention'> {
  batch: Batch
  progress: BatchProgress
  /** Seconds until the quota has a place for the next order. */
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
