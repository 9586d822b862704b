import type { RequestResource } from '../../contract/request.ts'
import { terminalStatuses } from '../../contract/statuses.ts'
import { earlierMs, pauseAfter, safetyPause } from '../../domain/request/pause.ts'
import type { Clock } from '../../host/clock.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'

/** A request that still has to be read. Times are monotonic, in ms. */
export interface Due {
  id: string
  /** When to read it next. */
  at: number
  /** As last read; undefined before the first read. */
  status: string | undefined
  changedAt: number
  /** An event told of another status; it overtakes those that are read for safety. */
  isNews: boolean
  /** Failed reads in a row. */
  failures: number
}

/** How often the inbox is looked into; it costs no call. */
const lookEveryMs = 1000

/**
 * Which of the requests that are waited for to read next, and when. An event in the inbox that tells of
 * another status than was read makes its request due at once. Once a read has confirmed an event, a
 * receiver is known to run, and what it is silent about is read for safety alone; a change that it
 * did not tell of ends that.
 */
export class WaitSchedule {
  readonly #clock: Clock
  readonly #inbox: Pick<Inbox, 'latestStatus' | 'list'> | undefined
  readonly #baseUrl: string
  readonly #queue: Due[]
  /** The newest status that an event told of, by request. */
  readonly #told = new Map<string, string>()
  readonly #since: number
  #seenEvent = 0
  #lookedAt: number | undefined
  #isToldOf = false

  constructor(
    requestIds: readonly string[],
    clock: Clock,
    inbox: Pick<Inbox, 'latestStatus' | 'list'> | undefined,
    baseUrl: string,
  ) {
    const now = clock.monotonic()
    this.#clock = clock
    this.#baseUrl = baseUrl
    this.#inbox = inbox
    this.#since = clock.now() - earlierMs
    const fresh = { at: now, status: undefined, changedAt: now, isNews: false, failures: 0 }
    this.#queue = requestIds.map((id) => ({ id, ...fresh }))
  }

  /** The request to read next; undefined when none is left. */
  async next(): Promise<Due | undefined> {
    await this.#look()
    return this.#queue.reduce<Due | undefined>(
      (first, each) => (first === undefined || goesBefore(each, first) ? each : first),
      undefined,
    )
  }

  /** How long to sleep for it at most: until it is due, or an event may have changed that. */
  patience(due: Due): number {
    const untilDue = Math.ceil(Math.max(0, due.at - this.#clock.monotonic()))
    return this.#inbox === undefined ? untilDue : Math.min(untilDue, lookEveryMs)
  }

  /** The inbox is worth a look now. */
  expectNews(): void {
    this.#lookedAt = this.#clock.monotonic() - lookEveryMs
  }

  /** It is finished, and not read again. */
  drop(due: Due): void {
    this.#queue.splice(this.#queue.indexOf(due), 1)
  }

  /** A read brought this; it goes on being waited for. */
  read(due: Due, { status }: RequestResource): void {
    const now = this.#clock.monotonic()
    const told = this.#told.get(due.id)
    if (due.status !== status) {
      // The first read is no change.
      if (told === status) this.#trust()
      else if (due.status !== undefined) this.#distrust()
      due.changedAt = now
    }
    due.status = status
    due.isNews = false
    due.failures = 0
    const isSilent = this.#isToldOf && !terminalStatuses.includes(status)
    due.at = now + (isSilent ? this.#safetyMs() : pauseAfter(now - due.changedAt))
  }

  /** A read failed; the next one in `ms`. */
  postpone(due: Due, ms: number): void {
    due.isNews = false
    due.at = this.#clock.monotonic() + ms
  }

  #trust(): void {
    if (this.#isToldOf) return
    this.#isToldOf = true
    const later = this.#clock.monotonic() + this.#safetyMs()
    for (const due of this.#queue) {
      const isStill = due.status !== undefined && (this.#told.get(due.id) ?? due.status) === due.status
      if (isStill) due.at = later
    }
  }

  #distrust(): void {
    if (!this.#isToldOf) return
    this.#isToldOf = false
    const now = this.#clock.monotonic()
    for (const due of this.#queue) due.at = Math.min(due.at, now + pauseAfter(now - due.changedAt))
  }

  #safetyMs(): number {
    return Math.max(safetyPause.leastMs, safetyPause.perRequestMs * this.#queue.length)
  }

  async #look(): Promise<void> {
    const now = this.#clock.monotonic()
    if (this.#inbox === undefined) return
    if (this.#lookedAt !== undefined && now - this.#lookedAt < lookEveryMs) return
    if (this.#lookedAt === undefined) await this.#lookBack(this.#inbox)
    this.#lookedAt = now
    const waited = new Map(this.#queue.map((due) => [due.id, due]))
    for await (const event of this.#inbox.list({
      baseUrl: this.#baseUrl,
      after: this.#seenEvent,
      since: this.#since,
    })) {
      this.#seenEvent = event.id
      const { requestId, status, oddity } = event
      const due = requestId === undefined ? undefined : waited.get(requestId)
      if (due === undefined || status === undefined || oddity !== undefined) continue
      this.#told.set(due.id, status)
      if (due.status === undefined || due.status === status) continue
      due.isNews = true
      due.at = Math.min(due.at, now)
    }
  }

  async #lookBack(inbox: Pick<Inbox, 'latestStatus'>): Promise<void> {
    for (const { id } of this.#queue) {
      const latest = await inbox.latestStatus(this.#baseUrl, id)
      if (latest !== undefined) this.#told.set(id, latest.status)
    }
  }
}

function goesBefore(one: Due, other: Due): boolean {
  return one.isNews === other.isNews ? one.at < other.at : one.isNews
}
