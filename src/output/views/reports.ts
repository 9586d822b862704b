import { relative } from 'node:path'

import {
  type FilingEvent,
  type FilingResult,
  isMissing,
  type MissingReport,
  type StoredReport,
} from '../../domain/report/filed.ts'
import { formatCount } from '../../domain/wording/count-in-words.ts'
import { sanitize } from '../../host/text.ts'
import { failureJson } from '../failure.ts'
import { formatDuration, progressLine, wrapped } from '../format.ts'
import type { Reporter } from '../reporter.ts'
import { styled, type Terminal } from '../terminal.ts'
import type { View } from '../view.ts'

/** Files as a person would name them from `cwd`, and what could not be had; in JSON each in its place. */
export function reportsView({ reports, stored, missing }: FilingResult, cwd: string): View {
  return {
    json: reports.map((each) => (isMissing(each) ? missingJson(each) : each)),
    text: (terminal) =>
      reports.length > 1
        ? `${lines(stored, missing, cwd, terminal)}\n\n${totals(stored, missing.length)}`
        : lines(stored, missing, cwd, terminal) || 'There are no reports to download.',
  }
}

/** `12 stored (4.2 MB), 3 already there, 1 unavailable`. */
function totals(stored: readonly StoredReport[], missing: number): string {
  const fresh = stored.filter((each) => !each.skipped)
  const there = stored.length - fresh.length
  const bytes = fresh.reduce((sum, each) => sum + each.bytes, 0)
  return [
    `${formatCount(fresh.length, 'report')} stored${fresh.length === 0 ? '' : ` (${size(bytes)})`}`,
    ...(there === 0 ? [] : [`${there} already there`]),
    ...(missing === 0 ? [] : [`${missing} unavailable`]),
  ].join(', ')
}

function missingJson({ requestId, checkId, refereeId, error }: MissingReport) {
  return { request_id: requestId, check_id: checkId, referee_id: refereeId, error: failureJson(error) }
}

/** What bringing a folder up to date came to: what is new, and what could not be had. */
export function syncView(result: FilingResult, folder: string, cwd: string): View {
  const fresh = result.stored.filter((each) => !each.skipped)
  return {
    json: {
      folder,
      stored: fresh,
      missing: result.missing.map((each) => ({ ...missingJson(each), reason: each.error.message })),
      skipped: result.stored.length - fresh.length,
      unfinished: result.unfinished,
    },
    text: (terminal) => lines(fresh, result.missing, cwd, terminal),
  }
}

/** `2 stored, 120 there already, 3 requests not finished`. */
export function syncSummary({ stored, unfinished }: FilingResult): string {
  const fresh = stored.filter((each) => !each.skipped).length
  const open = `${formatCount(unfinished, 'request')} not finished`
  return `${fresh} stored, ${stored.length - fresh} already there, ${open}`
}

function lines(
  stored: readonly StoredReport[],
  missing: readonly MissingReport[],
  cwd: string,
  terminal: Terminal,
): string {
  return [
    ...stored.map((report) => line(report, cwd, terminal)),
    ...missing.map((each) =>
      wrapped(`${styled(terminal, 'yellow', 'unavailable')}  ${missingText(each)}`, terminal.columns),
    ),
  ].join('\n')
}

function line(report: StoredReport, cwd: string, terminal: Terminal): string {
  const word = report.skipped ? styled(terminal, 'dim', 'exists') : styled(terminal, 'green', 'stored')
  return `${word}  ${sanitize(shortest(report.path, cwd))}  ${size(report.bytes)}`
}

function missingText({ requestId, person, error }: MissingReport): string {
  return `${sanitize(person ?? `request ${requestId}`)}: ${sanitize(error.message)}`
}

function shortest(path: string, cwd: string): string {
  const local = relative(cwd, path)
  return local.startsWith('..') || local.length >= path.length ? path : local
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Milliseconds between two looks of a line that changes in place, and between two lines where none can. */
const everyMs = { live: 100, plain: 15_000 }

/** Seconds from now until so many requests have been read, by the quota. */
export type ReadingTime = (requests: number) => Promise<number>

/** How far the filing of reports has come: files and bytes, of all that is known so far. */
export class ReportProgress {
  readonly #reporter: Pick<Reporter, 'note' | 'status' | 'terminal'>
  readonly #clock: { monotonic(): number }
  readonly #readingTime: ReadingTime | undefined
  readonly #startedAt: number
  /** Requests that are not looked at yet, and all. */
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

  /** Of all files there are likely to be: those of requests that were looked at tell of the rest. */
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
