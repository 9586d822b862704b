import type { Clock } from '../../host/clock.ts'
import type { RequestRecord } from './records.ts'
import type { Service } from './service.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * Follows the progress of requests by the clock where a webhook waits for it; elsewhere a read is
 * soon enough, and a hundred thousand requests need no timer.
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

  /** Forgets everything: the timetable has been cleared. */
  clear(): void {
    this.#watched.clear()
  }
}
