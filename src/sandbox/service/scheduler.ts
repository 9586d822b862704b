import type { Clock } from '../../host/clock.ts'
import type { Service } from './service.ts'
import type { RequestRecord } from './state.ts'

interface Entry {
  at: number
  order: number
  job: () => void
}

/** Jobs by the moment they are due; those of one moment in the order they were told. */
export class Scheduler {
  readonly #clock: Clock
  readonly #heap: Entry[] = []
  readonly #onError: (error: unknown) => void
  #order = 0
  #waiting: { until: number; stop: AbortController } | undefined
  #closed = false

  /** `onError` hears of jobs that throw; the others are done all the same. */
  constructor(clock: Clock, onError: (error: unknown) => void) {
    this.#clock = clock
    this.#onError = onError
  }

  add(at: number, job: () => void): void {
    this.#order += 1
    this.#heap.push({ at, order: this.#order, job })
    this.#rise(this.#heap.length - 1)
    this.#wait()
  }

  clear(): void {
    this.#heap.length = 0
    this.#wait()
  }

  close(): void {
    this.#closed = true
    this.clear()
  }

  #wait(): void {
    const first = this.#closed ? undefined : this.#heap[0]
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
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      this.#takeFirst()
      try {
        first.job()
      } catch (error) {
        this.#onError(error)
      }
    }
    this.#waiting = undefined
    this.#wait()
  }

  #takeFirst(): void {
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return
    this.#heap[0] = last
    this.#sink(0)
  }

  #rise(place: number): void {
    for (let child = place; child > 0;) {
      const parent = (child - 1) >> 1
      if (!this.#swapIfEarlier(child, parent)) return
      child = parent
    }
  }

  #sink(place: number): void {
    for (let parent = place; ;) {
      const left = 2 * parent + 1
      const child = this.#earlier(left + 1, left) ? left + 1 : left
      if (!this.#swapIfEarlier(child, parent)) return
      parent = child
    }
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    if (!this.#earlier(child, parent)) return false
    const lower = this.#heap[child]
    const upper = this.#heap[parent]
    if (lower === undefined || upper === undefined) return false
    this.#heap[parent] = lower
    this.#heap[child] = upper
    return true
  }

  #earlier(place: number, than: number): boolean {
    const one = this.#heap[place]
    const other = this.#heap[than]
    if (one === undefined || other === undefined) return false
    return one.at === other.at ? one.order < other.order : one.at < other.at
  }
}

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
