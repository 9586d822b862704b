import { Counter, Gauge, Registry } from 'prom-client'

import type { WorkerEvent } from '../domain/worker/events.ts'

/** The gauges of a worker, computed for each scrape. */
export interface WorkerStatus {
  /** Rows of queued batches. */
  rows: { pending: number; unknown: number; held: number }
  /** How long the oldest batch with rows to send has been queued, in seconds; 0 if no batch has rows to send. */
  lagSeconds: number
  /** Whether the store is closed to orders, because it is older than its attempt log. */
  isClosed: boolean
  /** The windows of each profile's quota: `seconds` is the length of a window, `left` the calls left in it. */
  quota: readonly { profile: string; seconds: number; left: number }[]
}

/** The metrics of a worker in the format of Prometheus. No label contains data of a person. */
export class WorkerMetrics {
  readonly #registry = new Registry()
  readonly #orders = this.#counter('orders_total', 'Orders by outcome', ['outcome'])
  readonly #failures = this.#counter('failures_total', 'Failures by what failed and their code', [
    'what',
    'code',
  ])
  readonly #reports = this.#counter('reports_total', 'Reports that were filed', [])
  readonly #rows = this.#gauge('queue_rows', 'Rows of queued batches by state', ['state'])
  readonly #lag = this.#gauge('queue_lag_seconds', 'Since when the oldest batch with rows to send waits', [])
  readonly #quota = this.#gauge('quota_left', 'Calls left in a window', ['profile', 'window_seconds'])
  readonly #closed = this.#gauge('store_closed', '1 where the store has forgotten orders and takes none', [])

  record(event: WorkerEvent): void {
    if (event.name === 'row') this.#orders.inc({ outcome: event.state })
    if (event.name === 'filed') this.#reports.inc(event.reports)
    if ('code' in event && event.code !== undefined)
      this.#failures.inc({ what: event.name, code: event.code })
  }

  contentType(): string {
    return this.#registry.contentType
  }

  text({ rows, lagSeconds, isClosed, quota }: WorkerStatus): Promise<string> {
    for (const [state, count] of Object.entries(rows)) this.#rows.set({ state }, count)
    this.#lag.set(lagSeconds)
    this.#closed.set(isClosed ? 1 : 0)
    this.#quota.reset()
    for (const { profile, seconds, left } of quota) {
      this.#quota.set({ profile, window_seconds: String(seconds) }, left)
    }
    return this.#registry.metrics()
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name: `refcheck_${name}`, help, labelNames, registers: [this.#registry] })
  }

  #gauge(name: string, help: string, labelNames: string[]): Gauge {
    return new Gauge({ name: `refcheck_${name}`, help, labelNames, registers: [this.#registry] })
  }
}
