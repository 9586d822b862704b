import TinyQueue from 'tinyqueue'

import type { Clock } from '../../host/clock.ts'
import type { Service } from './service.ts'
import type { RequestRecord } from './schemas.ts'

interface ScheduledJob {
  at: number
  sequence: number
  job: () => void
}

const byTime = (a: ScheduledJob, b: ScheduledJob): number => a.at - b.at || a.sequence - b.sequence

/** Runs jobs when they are due. Jobs of the same time run in the order in which they were added. */
export class Scheduler {
  readonly #clock: Clock
  #queue = new TinyQueue<ScheduledJob>([], byTime)
  readonly #onError: (error: unknown) => void
  #lastSequence = 0
  #timer: { until: number; stopController: AbortController } | undefined
  #isClosed = false

  /** `onError` is called with the error of a job; other jobs still run. */
  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock
    this.#onError = onError
  }

  add(at: number, job: () => void): void {
    this.#lastSequence += 1
    this.#queue.push({ at, sequence: this.#lastSequence, job })
    this.#setTimer()
  }

  clear(): void {
    this.#queue = new TinyQueue<ScheduledJob>([], byTime)
    this.#setTimer()
  }

  close(): void {
    this.#isClosed = true
    this.clear()
  }

  #setTimer(): void {
    const nextJob = this.#isClosed ? undefined : this.#queue.peek()
    if (nextJob !== undefined && this.#timer !== undefined && this.#timer.until <= nextJob.at) return
    this.#timer?.stopController.abort()
    this.#timer = undefined
    if (nextJob === undefined) return
    const stopController = new AbortController()
    this.#timer = { until: nextJob.at, stopController }
    this.#clock.sleep(Math.max(0, nextJob.at - this.#clock.now()), stopController.signal).then(
      () => this.#runDueJobs(stopController),
      () => {},
    )
  }

  #runDueJobs(stopController: AbortController): void {
    if (this.#timer?.stopController !== stopController) return
    const now = this.#clock.now()
    for (
      let nextJob = this.#queue.peek();
      nextJob !== undefined && nextJob.at <= now;
      nextJob = this.#queue.peek()
    ) {
      this.#queue.pop()
      try {
        nextJob.job()
      } catch (error) {
        this.#onError(error)
      }
    }
    this.#timer = undefined
    this.#setTimer()
  }
}

/**
 * Updates requests by the clock while their organisation has a webhook. Without a webhook, requests are updated only
 * when they are read, so that a hundred thousand requests need no timers.
 */
export class ProgressWatch {
  readonly #service: Service
  readonly #clock: Clock
  readonly #scheduler: Scheduler
  readonly #watchedRequests = new Set<RequestRecord>()

  constructor(service: Service, clock: Clock, scheduler: Scheduler) {
    this.#service = service
    this.#clock = clock
    this.#scheduler = scheduler
  }

  watch(request: RequestRecord): void {
    const { organisations, requests } = this.#service.state
    if (this.#watchedRequests.has(request)) return
    if (organisations.get(request.organisation_id)?.webhook_url === null) return
    const at = this.#service.findNextStepClockTime(request)
    if (at === undefined) return
    this.#watchedRequests.add(request)
    this.#scheduler.add(at, () => {
      this.#watchedRequests.delete(request)
      if (requests.get(request.request_id) !== request) return
      this.#service.bringUpToDate(request, this.#clock.now())
      this.watch(request)
    })
  }

  watchAll(): void {
    for (const request of this.#service.state.requests.values()) this.watch(request)
  }

  /** Clears the watched requests. Called after the scheduler was cleared. */
  clear(): void {
    this.#watchedRequests.clear()
  }
}
