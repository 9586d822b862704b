import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Knobs } from './knobs.ts'

interface Delivery {
  body: string
  attempts: number
  dueAt: number
  startedAt: number
  state: 'waiting' | 'flying' | 'over'
  ended: AbortController
}

/** Real milliseconds in which an answer that is coming comes. */
const patience = 500

/** Sends events, and again where they were not acknowledged. */
export class Events {
  url: string | undefined
  readonly #knobs: Knobs
  readonly #secret: string
  readonly #now: () => number
  readonly #deliveries: Delivery[] = []
  readonly #flying = new Map<Promise<void>, number>()

  constructor(knobs: Knobs, secret: string, now: () => number) {
    this.#knobs = knobs
    this.#secret = secret
    this.#now = now
  }

  /** Announces that a request has this status; `reason` of an ERROR. */
  send(requestId: string, status: string, reason: string | undefined): void {
    const knobs = this.#knobs
    const event = knobs.event({
      status,
      request_id: requestId,
      event: 'request.updated',
      ...(reason !== undefined && { error_reason: reason }),
      ...(knobs.extras && { sent_by: 'second' }),
    })
    if (event === undefined) return
    for (let copies = knobs.duplicates ? 2 : 1; copies > 0; copies -= 1) {
      this.#deliveries.push({
        body: JSON.stringify(event, null, 1),
        attempts: 0,
        dueAt: this.#now() + knobs.lateMs + (copies - 1) * 2000,
        startedAt: 0,
        state: 'waiting',
        ended: new AbortController(),
      })
    }
  }

  /** When there is something to do next. */
  next(): number {
    return Math.min(
      ...this.#deliveries.map(({ state, dueAt, startedAt }) => {
        if (state === 'over') return Infinity
        return state === 'waiting' ? dueAt : startedAt + this.#knobs.acknowledgementMs
      }),
    )
  }

  /** Does what is due. */
  tick(): void {
    const now = this.#now()
    for (const delivery of this.#deliveries) {
      if (delivery.state === 'waiting' && delivery.dueAt <= now) {
        const flight = this.#attempt(delivery)
        this.#flying.set(flight, Date.now())
        void flight.finally(() => this.#flying.delete(flight))
      } else if (delivery.state === 'flying' && delivery.startedAt + this.#knobs.acknowledgementMs <= now) {
        this.#failed(delivery)
      }
    }
  }

  /** Waits for the answers under way, but not for those that do not come. */
  async waitForAnswers(): Promise<void> {
    const young = [...this.#flying].filter(([, since]) => Date.now() - since < patience)
    if (young.length > 0) await Promise.race([Promise.all(young.map(([flight]) => flight)), sleep(patience)])
  }

  close(): void {
    for (const delivery of this.#deliveries) {
      delivery.state = 'over'
      delivery.ended.abort()
    }
  }

  async #attempt(delivery: Delivery): Promise<void> {
    delivery.state = 'flying'
    delivery.startedAt = this.#now()
    delivery.attempts += 1
    delivery.ended = new AbortController()
    const { signal } = delivery.ended
    const status = await this.#post(delivery.body, signal).catch(() => 0)
    if (signal.aborted || delivery.state !== 'flying') return
    if (this.#knobs.acknowledges(status)) delivery.state = 'over'
    else this.#failed(delivery)
  }

  #failed(delivery: Delivery): void {
    const pause = this.#knobs.retries[delivery.attempts - 1]
    delivery.state = pause === undefined ? 'over' : 'waiting'
    delivery.dueAt = this.#now() + (pause ?? 0) * 1000
    delivery.ended.abort()
  }

  async #post(body: string, signal: AbortSignal): Promise<number> {
    if (this.url === undefined) return 200
    const knobs = this.#knobs
    const hex = createHmac('sha256', this.#secret).update(body).digest('hex')
    const headers = { 'content-type': knobs.eventType, 'x-service-signature': knobs.signature(hex, body) }
    const redirect = knobs.followsRedirects ? 'follow' : 'manual'
    const answer = await fetch(this.url, { method: 'POST', headers, body, signal, redirect })
    await answer.arrayBuffer()
    return answer.status
  }
}
