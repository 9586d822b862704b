import TinyQueue from 'tinyqueue'

import type { Clock } from '../../host/clock.ts'
import type { Service } from './service.ts'
import type { RequestRecord } from './schemas.ts'

interface Entry {
  at: number
  order: number
  job: () => void
}

const byTime = (a: Entry, b: Entry): number => a.at - b.at || a.order - b.order

/** Runs jobs when they are due; jobs of the same time run in the order in which they were added. */
export class Scheduler {
  readonly #clock: Clock
  #queue = new TinyQueue<Entry>([], byTime)
  readonly #onError: (error: unknown) => void
  #order = 0
  #waiting: { until: number; stop: AbortController } | undefined
  #closed = false

  /** `onError` is called with the error of a job; other jobs still run. */
  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock
    this.#onError = onError
  }

  add(at: number, job: () => void): void {
    this.#order += 1
    this.#queue.push({ at, order: this.#order, job })
    this.#wait()
  }

  clear(): void {
    this.#queue = new TinyQueue<Entry>([], byTime)
    this.#wait()
  }

  close(): void {
    this.#closed = true
    this.clear()
  }

  #wait(): void {
    const first = this.#closed ? undefined : this.#queue.peek()
    if (first !== undefined && this.#waiting !== undefined && this.#waiting.until <= first.at) return
    this.#waiting?.stop.abort()
    this.#waiting = undefined
    if (first === undefined) return
    const stop = new AbortController()
    this.#waiting = { until: first.at, stop }
    this.#clock.sleep(Math.max(0, first.at - this.#clock.now()), stop.signal).then(
      () => this.#run(stop),
      () => {},
    )
  }

  #run(stop: AbortController): void {
    if (this.#waiting?.stop !== stop) return
    const now = this.#clock.now()
    for (let first = this.#queue.peek(); first !== undefined && first.at <= now; first = this.#queue.peek()) {
      this.#queue.pop()
      try {
        first.job()
      } catch (error) {
        this.#onError(error)
      }
    }
    this.#waiting = undefined
    this.#wait()
  }
}

/**
 * Updates requests by the clock while their organisation has a webhook. Without a webhook, requests are updated when
 * they are read, so that a hundred thousand requests need no timers.
 */
export class QuietWatch {
  readonly #service: Service
  readonly #clock: Clock
  readonly #timetable: Scheduler
  readonly #watched = new Set<RequestRecord>()

  constructor(service: Service, clock: Clock, timetable: Scheduler) {
    this.#service = service
    this.#clock = clock
    this.#timetable = timetable
  }

  follow(request: RequestRecord): void {
    const { organisations, requests } = this.#service.state
    if (this.#watched.has(request)) return
    if (organisations.get(request.organisation_id)?.webhook_url === null) return
    const at = this.#service.nextAt(request)
    if (at === undefined) return
    this.#watched.add(request)
    this.#timetable.add(at, () => {
      this.#watched.delete(request)
      if (requests.get(request.request_id) !== request) return
      this.#service.bringUpToDate(request, this.#clock.now())
      this.follow(request)
    })
  }

  followAll(): void {
    for (const request of this.#service.state.requests.values()) this.follow(request)
  }

  /** Forgets the watched requests; called after the scheduler was cleared. */
  clear(): void {
    this.#watched.clear()
  }
}
