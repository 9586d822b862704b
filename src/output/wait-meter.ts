import { personName } from '../domain/wording/shown-name.ts'
import type { RequestResource } from '../contract/request.ts'
import { terminalStatuses } from '../contract/statuses.ts'
import { statusCounts } from '../domain/overview/people.ts'
import { progressLine } from './bar.ts'
import type { Reporter } from './reporter.ts'
import { durationInWords } from './duration.ts'

/** The newest changes that have room under the counts. */
const mostChanges = 4

type Told = Pick<RequestResource, 'request_id' | 'status' | 'recipient'>

/** How requests that are waited for get on: lines that change on a terminal, elsewhere a line for each change. */
export class WaitMeter {
  readonly #reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>
  readonly #total: number
  readonly #seen = new Map<string, Told>()
  #changes: string[] = []

  constructor(reporter: Pick<Reporter, 'isLive' | 'live' | 'note'>, total: number) {
    this.#reporter = reporter
    this.#total = total
  }

  readonly onStatus = (request: Told): void => {
    const { request_id: id, status, recipient } = request
    if (!this.#reporter.isLive) return this.#reporter.note(`${id}  ${status}`)
    this.#seen.set(id, request)
    const change = `${id.slice(0, 8)}  ${personName(recipient)}  ${status}`
    this.#changes = [...this.#changes.slice(1 - mostChanges), change]
    this.#show('')
  }

  /** The next read is so many seconds off. */
  readonly onRest = (seconds: number): void => {
    if (this.#reporter.isLive) this.#show(`; next read in ${durationInWords(seconds)}`)
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
