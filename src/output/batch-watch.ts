import type { Batch } from '../domain/batch/batch.ts'
import type { BatchProgress } from '../domain/batch/run-policy.ts'
import { attentionKinds, type AttentionKind } from '../domain/overview/attention.ts'
import type { BatchProgressNow } from '../domain/overview/overview.ts'
import { durationInWords } from './duration.ts'
import type { Reporter } from './reporter.ts'
import { attentionLines, attentionWords } from './views/overview.ts'
import { batchProgressText, rowsText } from './views/batches.ts'
import { requestsText } from './views/batch-status.ts'

/** Who needs somebody, as far as a screen of 24 lines has room under the counts. */
const mostGroups = 4
/** Milliseconds between two lines where none can change in place. */
const plainEveryMs = 15_000
/** Seconds for which a wait of the quota is not worth a word. */
const shortWait = 2
/** Undrawn: the live lines are dimmed as a whole. */
const plain = { columns: 80, color: false }

export interface WatchedBatch extends Pick<BatchProgressNow, 'statuses' | 'attention'> {
  batch: Batch
  progress: BatchProgress
  /** Seconds until the quota has a place for the next order. */
  nextIn: number
}

/** How a batch that another process runs gets on: lines that change on a terminal, elsewhere a line now and then for what changed. */
export class BatchWatch {
  readonly #reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>
  readonly #clock: { monotonic(): number }
  readonly #toldKinds = new Set<AttentionKind>()
  #told: { at: number; text: string } | undefined

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
      if (first === undefined || this.#toldKinds.has(kind)) continue
      this.#toldKinds.add(kind)
      this.#reporter.note(`${of.length} ${attentionWords[kind]}. See: ${first.command}`)
    }
    const now = this.#clock.monotonic()
    const text = [rowsText(batch.counts), requestsText(statuses)].filter((each) => each !== '').join('; ')
    if (text === this.#told?.text || now - (this.#told?.at ?? Number.NEGATIVE_INFINITY) < plainEveryMs) return
    this.#told = { at: now, text }
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
    ...(isWaiting ? [`quota     used up; next order in ${durationInWords(nextIn)}`] : []),
    ...(attention.length === 0
      ? []
      : ['', 'Needs a person', ...attentionLines(attention, plain, mostGroups).map((line) => `  ${line}`)]),
  ]
}
