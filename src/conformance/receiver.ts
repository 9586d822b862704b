import { setTimeout } from 'node:timers/promises'

import type { Secrets } from '../host/secrets.ts'
import { listen, type Listener } from '../server/listen.ts'
import { parseBody } from './answer.ts'

/** An event that arrived at the receiver. */
export interface Delivery {
  method: string
  contentType: string | null
  signature: string | null
  /** The exact bytes over which the signature is made. */
  body: Buffer
  /** The body parsed as JSON; undefined if it is not JSON. */
  json: unknown
  /** Time of arrival by the suite's clock (`now`). */
  at: number
  /** Status of the reply; null until the reply was sent. */
  replyStatus: number | null
}

/** The status of a reply. `hold` delays the reply until it is released. */
export type Reply = number | 'hold'

/** Path to which redirects lead. A call to it is not counted as a delivery. */
const redirectPath = '/elsewhere'

/** Milliseconds of real time that `release` waits for the replies to arrive. */
const replyTransmissionMs = 100

/** A webhook endpoint that stores the events it receives and sends chosen replies. */
export class Receiver {
  readonly deliveries: Delivery[] = []
  /** Returns the reply for each delivery. */
  replyTo: (delivery: Delivery) => Reply = () => 204
  now: () => number = () => 0
  readonly #heldReplies: { delivery: Delivery; answer: (status: number) => void }[] = []
  readonly #secrets: Secrets
  #listener: Listener | undefined

  /** `secrets` are redacted in the headers and JSON that are stored. */
  constructor(secrets: Secrets) {
    this.#secrets = secrets
  }

  /** Starts the endpoint. Port 0 means any free port. Throws an IoError if the port cannot be used. */
  async start(port = 0): Promise<void> {
    this.#listener = await listen((request) => this.#receive(request), { port })
  }

  get url(): string {
    return `${this.#listener?.url ?? ''}/`
  }

  /** Sends the held replies with this status and waits until the replies have arrived. */
  async release(status: number): Promise<void> {
    if (this.#heldReplies.length === 0) return
    for (const { delivery, answer } of this.#heldReplies.splice(0)) {
      delivery.replyStatus = status
      answer(status)
    }
    await setTimeout(replyTransmissionMs)
  }

  async close(): Promise<void> {
    await this.#listener?.close()
  }

  #header(request: Request, name: string): string | null {
    const value = request.headers.get(name)
    return value === null ? null : this.#secrets.redact(value)
  }

  async #receive(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === redirectPath) return new Response(null, { status: 204 })
    const body = Buffer.from(await request.arrayBuffer())
    const delivery: Delivery = {
      method: request.method,
      contentType: this.#header(request, 'Content-Type'),
      signature: this.#header(request, 'X-Service-Signature'),
      body,
      json: this.#secrets.redactAnswer(parseBody(body)),
      at: this.now(),
      replyStatus: null,
    }
    const reply = this.replyTo(delivery)
    this.deliveries.push(delivery)
    const status =
      reply === 'hold'
        ? await new Promise<number>((answer) => this.#heldReplies.push({ delivery, answer }))
        : (delivery.replyStatus = reply)
    const headers = status >= 300 && status < 400 ? { Location: redirectPath } : undefined
    return new Response(null, { status, ...(headers !== undefined && { headers }) })
  }
}
