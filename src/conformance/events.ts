import { setTimeout } from 'node:timers/promises'

import type { Secrets } from '../host/secrets.ts'
import { listen, type Listener } from '../server/listen.ts'
import { field, parsed } from './answer.ts'
import { unless } from './case.ts'
import { type Journey, journeys, terminal } from './journey.ts'
import type { Visit } from './visit.ts'

/** One event as it arrived. */
export interface Delivery {
  method: string
  contentType: string | null
  signature: string | null
  /** As it came: the signature is over these bytes. */
  body: Buffer
  /** The body read as JSON; undefined where it is none. */
  json: unknown
  /** By the clock that the suite goes by. */
  at: number
  /** What it was answered with; null: nothing, the sender was left waiting. */
  answered: number | null
}

/** What the receiver says to a delivery; `hold`: nothing, until it is released. */
export type Reply = number | 'hold'

/** Where redirects lead; what arrives there is no delivery of its own. */
const elsewhere = '/elsewhere'

/** Real milliseconds that an answer may take to arrive. */
const answerMs = 100

/** An endpoint for webhook events that keeps what comes, and misbehaves when asked to. */
export class Receiver {
  readonly deliveries: Delivery[] = []
  /** Decides what each delivery is answered with. */
  replyTo: (delivery: Delivery) => Reply = () => 204
  now: () => number = () => 0
  readonly #held: { delivery: Delivery; answer: (status: number) => void }[] = []
  readonly #secrets: Secrets
  #listener: Listener | undefined

  /** `secrets`: replaced in the headers that are kept. */
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

/** What arrived at the receiver, as cases read it. */

export function receiverOf({ receiver }: Visit): Receiver {
  unless(
    receiver !== undefined,
    'events are not received: add --webhook-port PORT, or --control on a sandbox',
  )
  return receiver
}

export const about = (delivery: Delivery, requestId: string): boolean =>
  String(field(delivery.json, 'request_id')).toLowerCase() === requestId.toLowerCase()

export const statusOf = (delivery: Delivery): string => String(field(delivery.json, 'status'))

/** "The pair (request_id, status) identifies a status update". */
export const updateOf = (delivery: Delivery): string =>
  `${String(field(delivery.json, 'request_id'))} ${statusOf(delivery)}`

/** Statuses that a request was seen to take, and no event reported. */
export function unannounced({ ordered, sightings }: Journey, deliveries: readonly Delivery[]): string[] {
  const sent = new Set(deliveries.filter((each) => about(each, ordered.requestId)).map(statusOf))
  const [first = '', ...changes] = new Set(sightings.map(({ status }) => status))
  const expected = first === 'RECEIVED' ? changes : [first, ...changes]
  return expected.filter((status) => !sent.has(status))
}

/** How far on a status is; a request never goes back. */
const ranks = ['RECEIVED', 'IN_PROGRESS', 'PARTIAL']
export const rankOf = (status: string): number =>
  terminal.has(status) ? ranks.length : ranks.indexOf(status)

/** Milliseconds that events may take, and between two looks, where time is moved; nothing says how late one may be. */
const patience = { longest: 3_600_000, step: 60_000 }

/** Everything that arrived, once the requests that can be followed have been. */
export async function arrived(visit: Visit): Promise<readonly Delivery[]> {
  const receiver = receiverOf(visit)
  const followed = await journeys(visit)
  unless(
    followed.some(({ sightings }) => new Set(sightings.map(({ status }) => status)).size > 1),
    'no request changed its status: follow it for longer with --watch',
  )
  await visit.once('last events', async () => {
    const ended = followed.filter((each) => each.ended)
    const there = (): boolean => ended.every((each) => unannounced(each, receiver.deliveries).length === 0)
    const { longest, step } = visit.pace.exact ? patience : { longest: visit.watchMs, step: 200 }
    for (let waited = 0; !there() && waited < longest; waited += step) await visit.pace.pause(step)
  })
  return receiver.deliveries
}
