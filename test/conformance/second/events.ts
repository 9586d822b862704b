import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Behaviour } from './behaviour.ts'

interface Delivery {
  body: string
  attempts: number
  dueAt: number
  startedAt: number
  state: 'waiting' | 'sent' | 'over'
  controller: AbortController
}

/** How long to wait for the answer of a receiver, in milliseconds of the machine's clock. */
const answerWaitMs = 500

/** Sends events, and repeats deliveries that were not acknowledged. */
export class Events {
  url: string | undefined
  readonly #behaviour: Behaviour
  readonly #secret: string
  readonly #now: () => number
  readonly #deliveries: Delivery[] = []
  readonly #sending = new Map<Promise<void>, number>()

  constructor(behaviour: Behaviour, secret: string, now: () => number) {
    this.#behaviour = behaviour
    this.#secret = secret
    this.#now = now
  }

  /** Sends an event with the status of a request. `reason` is the error_reason of an ERROR. */
  send(requestId: string, status: string, reason: string | undefined): void {
    const behaviour = this.#behaviour
    const event = behaviour.changeEvent({
      status,
      request_id: requestId,
      event: 'request.updated',
      ...(reason !== undefined && { error_reason: reason }),
      ...(behaviour.hasExtraFields && { sent_by: 'second' }),
    })
    if (event === undefined) return
    for (let copies = behaviour.hasDuplicates ? 2 : 1; copies > 0; copies -= 1) {
      this.#deliveries.push({
        body: JSON.stringify(event, null, 1),
        attempts: 0,
        dueAt: this.#now() + behaviour.eventDelayMs + (copies - 1) * 2000,
        startedAt: 0,
        state: 'waiting',
        controller: new AbortController(),
      })
    }
  }

  /** Returns the next time at which a delivery is due or times out. */
  findNextTime(): number {
    return Math.min(
      ...this.#deliveries.map(({ state, dueAt, startedAt }) => {
        if (state === 'over') return Infinity
        return state === 'waiting' ? dueAt : startedAt + this.#behaviour.acknowledgementMs
      }),
    )
  }

  /** Starts deliveries that are due, and fails deliveries that have timed out. */
  sendDue(): void {
    const now = this.#now()
    for (const delivery of this.#deliveries) {
      if (delivery.state === 'waiting' && delivery.dueAt <= now) {
        const sending = this.#attempt(delivery)
        this.#sending.set(sending, Date.now())
        void sending.finally(() => this.#sending.delete(sending))
      } else if (delivery.state === 'sent' && delivery.startedAt + this.#behaviour.acknowledgementMs <= now) {
        this.#recordFailure(delivery)
      }
    }
  }

  /** Waits for the answers of receivers, for a limited time. */
  async waitForAnswers(): Promise<void> {
    const recent = [...this.#sending].filter(([, startedAt]) => Date.now() - startedAt < answerWaitMs)
    if (recent.length > 0)
      await Promise.race([Promise.all(recent.map(([sending]) => sending)), sleep(answerWaitMs)])
  }

  close(): void {
    for (const delivery of this.#deliveries) {
      delivery.state = 'over'
      delivery.controller.abort()
    }
  }

  async #attempt(delivery: Delivery): Promise<void> {
    delivery.state = 'sent'
    delivery.startedAt = this.#now()
    delivery.attempts += 1
    delivery.controller = new AbortController()
    const { signal } = delivery.controller
    const status = await this.#post(delivery.body, signal).catch(() => 0)
    if (signal.aborted || delivery.state !== 'sent') return
    if (this.#behaviour.isAcknowledgement(status)) delivery.state = 'over'
    else this.#recordFailure(delivery)
  }

  #recordFailure(delivery: Delivery): void {
    const delaySeconds = this.#behaviour.retrySeconds[delivery.attempts - 1]
    delivery.state = delaySeconds === undefined ? 'over' : 'waiting'
    delivery.dueAt = this.#now() + (delaySeconds ?? 0) * 1000
    delivery.controller.abort()
  }

  async #post(body: string, signal: AbortSignal): Promise<number> {
    if (this.url === undefined) return 200
    const behaviour = this.#behaviour
    const hex = createHmac('sha256', this.#secret).update(body).digest('hex')
    const headers = {
      'content-type': behaviour.eventContentType,
      'x-service-signature': behaviour.formatSignature(hex, body),
    }
    const redirect = behaviour.followsRedirects ? 'follow' : 'manual'
    const answer = await fetch(this.url, { method: 'POST', headers, body, signal, redirect })
    await answer.arrayBuffer()
    return answer.status
  }
}
