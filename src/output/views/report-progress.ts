import { countInWords } from '../../domain/wording/count-in-words.ts'
import type { FilingEvent } from '../../domain/report/filed.ts'
import { bar } from '../bar.ts'
import type { Reporter } from '../reporter.ts'
import { size } from './reports.ts'

/** Milliseconds between two looks of a line that changes in place, and between two lines where none can. */
const everyMs = { live: 100, plain: 15_000 }

/** How far the filing of reports has come: files and bytes, of all that is known so far. */
export class ReportProgress {
  readonly #reporter: Pick<Reporter, 'note' | 'status' | 'terminal'>
  readonly #clock: { monotonic(): number }
  #planned = 0
  #filed = 0
  #bytes = 0
  #shownAt: number

  constructor(reporter: Pick<Reporter, 'note' | 'status' | 'terminal'>, clock: { monotonic(): number }) {
    this.#reporter = reporter
    this.#clock = clock
    this.#shownAt = this.#isLive ? Number.NEGATIVE_INFINITY : clock.monotonic()
  }

  readonly take = (event: FilingEvent): void => {
    if (event.name === 'planned') this.#planned += event.files
    else if (event.name === 'filed') this.#filed += 1
    else this.#bytes += event.bytes
    const now = this.#clock.monotonic()
    const isLive = this.#isLive
    if (now - this.#shownAt < (isLive ? everyMs.live : everyMs.plain)) return
    this.#shownAt = now
    const count = `${this.#filed} of ${countInWords(this.#planned, 'file')}, ${size(this.#bytes)}`
    if (isLive) this.#reporter.status(`${bar(this.#filed / Math.max(1, this.#planned))}  ${count}`)
    else this.#reporter.note(count)
  }

  get #isLive(): boolean {
    return this.#reporter.terminal.columns !== undefined
  }
}
