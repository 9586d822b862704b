import { setTimeout } from 'node:timers/promises'

import type { Secrets } from '../host/secrets.ts'
import { listen, type Listener } from '../server/listen.ts'
import { parsed } from './answer.ts'

/** One event as it arrived. */
export interface Delivery {
  method: string
  contentType: string | null
  signature: string | null
  /** As it came: the signature is over these bytes. */
  body: Buffer
  /** The body read as JSON; undefined where it is none. */
  json: unknown
  /** Time of arrival, by the suite's clock (`now`). */
  at: number
  /** What it was answered with; null: nothing, the sender was left waiting. */
  answered: number | null
}

/** What a delivery is answered with; `hold`: nothing, until it is released. */
export type Reply = number | 'hold'

/** Where redirects lead; what arrives there is no delivery of its own. */
const elsewhere = '/elsewhere'

/** Milliseconds of real time that `release` waits for the answers to arrive. */
const answerMs = 100

/** An endpoint that stores the webhook events it receives, and answers as it is asked to. */
export class Receiver {
  readonly deliveries: Delivery[] = []
  /** Decides what each delivery is answered with. */
  replyTo: (delivery: Delivery) => Reply = () => 204
  now: () => number = () => 0
  readonly #held: { delivery: Delivery; answer: (status: number) => void }[] = []
  readonly #secrets: Secrets
  #listener: Listener | undefined

  /** `secrets` are redacted in the headers and JSON that are stored. */
  constructor(secrets: Secrets) {
    this.#secrets = secrets
  }

  /** Port 0: any free one. Throws IoError when the port cannot be had. */
  async open(port = 0): Promise<void> {
    this.#listener = await listen((request) => this.#receive(request), { port })
  }

  get url(): string {
    return `${this.#listener?.url ?? ''}/`
  }

  /** Answers what is held, and lets the answers arrive before anything else happens. */
  async release(status: number): Promise<void> {
    if (this.#held.length === 0) return
    for (const { delivery, answer } of this.#held.splice(0)) {
      delivery.answered = status
      answer(status)
    }
    await setTimeout(answerMs)
  }

  async close(): Promise<void> {
    await this.#listener?.close()
  }

  #header(request: Request, name: string): string | null {
    const value = request.headers.get(name)
    return value === null ? null : this.#secrets.redact(value)
  }

  async #receive(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === elsewhere) return new Response(null, { status: 204 })
    const body = Buffer.from(await request.arrayBuffer())
    const delivery: Delivery = {
      method: request.method,
      contentType: this.#header(request, 'Content-Type'),
      signature: this.#header(request, 'X-Service-Signature'),
      body,
      json: this.#secrets.redactAnswer(parsed(body)),
      at: this.now(),
      answered: null,
    }
    const reply = this.replyTo(delivery)
    this.deliveries.push(delivery)
    const status =
      reply === 'hold'
        ? await new Promise<number>((answer) => this.#held.push({ delivery, answer }))
        : (delivery.answered = reply)
    const headers = status >= 300 && status < 400 ? { Location: elsewhere } : undefined
    return new Response(null, { status, ...(headers !== undefined && { headers }) })
  }
}
