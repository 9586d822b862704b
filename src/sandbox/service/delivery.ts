import { lookup } from 'node:dns/promises'

import type { WebhookEvent } from '../../contract/request.ts'
import { signatureHeader } from '../../contract/headers.ts'
import { isLoopbackHost } from '../../contract/url.ts'
import { sign, signingKey } from '../../contract/signature.ts'
import type { RequestStatus } from '../../contract/statuses.ts'
import { InvalidInputError, UsageError } from '../../errors/kinds.ts'
import { type Clock, systemClock } from '../../host/clock.ts'
import type { HttpClient } from '../../http/client.ts'
import type { Message } from './log.ts'
import type { Networks } from './gateway.ts'
import type { DeliveryRecord, Organisation, RequestRecord } from './schemas.ts'
import type { Choice } from './rules.ts'
import type { Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { Service } from './service.ts'

/** Posts a body to a URL and returns the HTTP status; throws if there was no response. */
export type Deliver = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  signal: AbortSignal,
) => Promise<number>

/** The headers and body with which an event is posted. */
type EventMessage = Message & { body: string }

/** "The receiver must return a 2xx within 10 seconds." */
const acknowledgementMs = 10_000

/** Seconds from each failed attempt to the next one. After the last attempt, the delivery is given up. */
const schedules: Record<Choice<'webhook-retries'>, readonly number[]> = {
  backoff: [10, 60, 300, 1800, 7200],
  quick: [1, 2, 4],
  never: [],
}

/** Milliseconds from an event to its repetition. */
const repeatAfterMs = 2_000
/** Delay of the events of a request with the scenario `event-late`. */
const lateEventMs = 60_000

/** Share of events that are sent twice if the rule `repeated-events` is `sometimes`. */
const repetitionShare = 0.25

interface DeliveriesOptions {
  service: Service
  clock: Clock
  rng: SeededRandom
  scheduler: Scheduler
  deliver: Deliver
  /** Called with the promise of each attempt; it rejects if the outcome cannot be stored. */
  onWork: (work: Promise<void>) => void
  /** Called after each attempt with the message that was sent. */
  onAttempt?: ((delivery: DeliveryRecord, at: number, sent: Message) => void) | undefined
}

/** Sends `request.updated` events to the organisation's webhook, each at least once, signed over the exact bytes. */
export class Deliveries {
  readonly #options: DeliveriesOptions
  readonly #stopController = new AbortController()
  /**
   * Events of the requests that stories create, by request id. A story is a course of one request and the order in
   * which its events are sent; it delivers them itself.
   */
  readonly #eventsOfStories = new Map<string, DeliveryRecord[]>()
  /** The events of the request that `collect` is creating; undefined at other times. */
  #eventsOfNewRequest: DeliveryRecord[] | undefined

  constructor(options: DeliveriesOptions) {
    this.#options = options
  }

  /**
   * Sends the event of a change of the overall status, or collects it if a story delivers it: "Every change of the
   * overall request status triggers one `request.updated` event."
   */
  announce(request: RequestRecord, status: RequestStatus, at: number): void {
    const { service, rng } = this.#options
    const organisation = service.state.organisations.get(request.organisation_id)
    const collectedEvents = this.#eventsOfNewRequest ?? this.#eventsOfStories.get(request.request_id)
    if (organisation === undefined) return
    if (organisation.webhook_url === null && collectedEvents === undefined) return
    if (status === 'RECEIVED' && service.rule('event-on-acceptance') === 'no') return
    const { scenarios } = request
    const delivery: DeliveryRecord = {
      id: rng.uuid('delivery', request.number, status, 1, ...service.idSalt),
      organisation_id: organisation.id,
      request_id: request.request_id,
      status,
      body: JSON.stringify(createEvent(request, status)),
      state: 'waiting',
      attempts: 0,
      forged: scenarios.includes('event-forged') ? 1 : 0,
      at: at + this.#delayMs(request),
      outcome: null,
    }
    if (collectedEvents !== undefined) {
      collectedEvents.push(delivery)
      return
    }
    this.#send(delivery)
    if (scenarios.includes('event-twice') || this.#isRepeated(request, status)) {
      const id = rng.uuid('delivery', delivery.id, 2)
      this.#send({ ...delivery, id, at: delivery.at + repeatAfterMs })
    }
  }

  /**
   * Sends an event again now: the event of the delivery with this id, or the latest event of the request with
   * this id. Throws an InvalidInputError if there is none.
   */
  redeliver(id: string): DeliveryRecord {
    const { service, rng, clock, onWork } = this.#options
    const { deliveries } = service.state
    const isOfRequest = (delivery: DeliveryRecord): boolean => delivery.request_id === id.toLowerCase()
    const original = deliveries.get(id) ?? [...deliveries.values()].findLast(isOfRequest)
    if (original === undefined) {
      throw new InvalidInputError(`no event "${id}"`, {
        hint: 'Events are made while a webhook URL is set. Find their ids with: refcheck sandbox logs',
      })
    }
    const at = clock.now()
    const redelivery: DeliveryRecord = {
      ...original,
      id: rng.uuid('redelivery', original.id, at, deliveries.size),
      state: 'waiting',
      attempts: 0,
      forged: 0,
      outcome: null,
      at,
    }
    this.#store(redelivery)
    onWork(this.#attempt(redelivery.id))
    return redelivery
  }

  /** Creates a request. Its events are collected in `events` instead of being sent, until `end` is called. */
  collect(create: () => RequestRecord): {
    request: RequestRecord
    events: DeliveryRecord[]
    end: () => void
  } {
    const events: DeliveryRecord[] = []
    this.#eventsOfNewRequest = events
    try {
      const request = create()
      this.#eventsOfStories.set(request.request_id, events)
      return { request, events, end: () => void this.#eventsOfStories.delete(request.request_id) }
    } finally {
      this.#eventsOfNewRequest = undefined
    }
  }

  /**
   * Posts an event to `url` once, with a wrong signature if `hasWrongSignature` is true. Returns the outcome and the
   * real milliseconds that it took.
   */
  async deliverTo(
    url: string,
    event: DeliveryRecord,
    hasWrongSignature: boolean,
  ): Promise<{ outcome: string; ms: number }> {
    const { service, rng, clock, onAttempt } = this.#options
    const organisation = service.state.organisations.get(event.organisation_id)
    if (organisation === undefined) throw new RangeError('an event of no organisation')
    const id = rng.uuid('story delivery', event.id, service.state.deliveries.size)
    const delivery: DeliveryRecord = { ...event, id, forged: hasWrongSignature ? 1 : 0 }
    const message = this.#createMessage(delivery, organisation)
    const startedAt = systemClock.monotonic()
    const outcome = await this.#post(message, url, systemClock)
    const ms = Math.round(systemClock.monotonic() - startedAt)
    const state = /^2\d\d$/.test(outcome) ? 'delivered' : 'given_up'
    const attemptedDelivery: DeliveryRecord = { ...delivery, attempts: 1, outcome, state, at: clock.now() }
    this.#store(attemptedDelivery)
    onAttempt?.(attemptedDelivery, attemptedDelivery.at, message)
    return { outcome, ms }
  }

  /** Schedules the deliveries that are still waiting after a restart. */
  resume(): void {
    for (const delivery of this.#options.service.state.deliveries.values()) {
      if (delivery.state === 'waiting') this.#schedule(delivery)
    }
  }

  /** Stops scheduled deliveries and aborts attempts in progress. */
  close(): void {
    this.#stopController.abort()
  }

  #isRepeated({ number }: RequestRecord, status: RequestStatus): boolean {
    const { service, rng } = this.#options
    if (service.rule('repeated-events') === 'never') return false
    return rng.fraction('repeat', number, status) < repetitionShare
  }

  /** Returns the milliseconds by which the request's scenarios delay an event. */
  #delayMs(request: RequestRecord): number {
    if (request.scenarios.includes('event-late')) return lateEventMs
    if (!request.scenarios.includes('event-unordered')) return 0
    const { service, clock } = this.#options
    const lastStep = request.steps.at(-1)
    if (lastStep === undefined) return 0
    const remainingMs = request.created_at + lastStep.at / service.speed - clock.now()
    return Math.max(0, remainingMs) + 1000 * (request.steps.length - request.applied)
  }

  #send(delivery: DeliveryRecord): void {
    this.#store(delivery)
    this.#schedule(delivery)
  }

  #schedule(delivery: DeliveryRecord): void {
    const { scheduler, onWork } = this.#options
    scheduler.add(delivery.at, () => onWork(this.#attempt(delivery.id)))
  }

  async #attempt(id: string): Promise<void> {
    const { service, clock, onAttempt } = this.#options
    const delivery = service.state.deliveries.get(id)
    const organisation = service.state.organisations.get(delivery?.organisation_id ?? '')
    if (delivery?.state !== 'waiting' || organisation === undefined) return
    const message = this.#createMessage(delivery, organisation)
    const outcome = await this.#post(message, organisation.webhook_url, clock)
    if (this.#stopController.signal.aborted || service.state.deliveries.get(id) !== delivery) return
    const attempts = delivery.attempts + 1
    const pauseSeconds = schedules[service.rule('webhook-retries')][attempts - 1]
    const now = clock.now()
    const attemptedDelivery: DeliveryRecord = { ...delivery, attempts, outcome, at: now }
    if (/^2\d\d$/.test(outcome)) this.#store({ ...attemptedDelivery, state: 'delivered' })
    else if (pauseSeconds === undefined) this.#store({ ...attemptedDelivery, state: 'given_up' })
    else this.#send({ ...attemptedDelivery, at: now + pauseSeconds * 1000 })
    onAttempt?.(attemptedDelivery, now, message)
  }

  #store(delivery: DeliveryRecord): void {
    this.#options.service.commit({ does: 'delivery', delivery })
  }

  /** Returns the message of the next attempt. The first `forged` attempts get a wrong signature. */
  #createMessage(delivery: DeliveryRecord, organisation: Organisation): EventMessage {
    const { body } = delivery
    const secret = organisation.webhook_secret + (delivery.attempts < delivery.forged ? ' ' : '')
    const signature = sign(Buffer.from(body), signingKey(secret))
    return { headers: { 'Content-Type': 'application/json', [signatureHeader]: signature }, body }
  }

  /**
   * Posts an event. Returns the HTTP status as text, or the reason why there was none. `clock` measures the timeout.
   */
  async #post({ headers, body }: EventMessage, url: string | null, clock: Clock): Promise<string> {
    if (url === null) return 'no webhook is configured'
    const endController = new AbortController()
    const stopSignal = AbortSignal.any([this.#stopController.signal, endController.signal])
    try {
      const timeout = clock.sleep(acknowledgementMs, stopSignal).then(() => 'no answer within 10 s')
      const answer = this.#options.deliver(url, headers, Buffer.from(body), stopSignal).then(String)
      return await Promise.race([answer, timeout])
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      endController.abort()
    }
  }
}

function createEvent(request: RequestRecord, status: RequestStatus): WebhookEvent {
  return {
    event: 'request.updated',
    request_id: request.request_id,
    status,
    ...(status === 'ERROR' && request.error_reason !== null && { error_reason: request.error_reason }),
  }
}

/**
 * Returns a `Deliver` over HTTP(S) with a new connection per event. Plain http is allowed only to this
 * machine and to the networks `httpNetworks`.
 */
export function httpDeliver(clock: Clock, httpNetworks?: Networks): Deliver {
  /** Hosts whose address was found in `httpNetworks`. */
  const allowedHosts = new Set<string>()
  const isPlainHttpAllowed = ({ host }: URL): boolean => allowedHosts.has(host)
  let httpClient: HttpClient | undefined
  return async (url, headers, body, signal) => {
    const { HttpClient: Client } = await import('../../http/client.ts')
    httpClient ??= new Client({ clock, env: {}, userAgent: 'refcheck-sandbox', isPlainHttpAllowed })
    const { protocol, host, hostname } = new URL(url)
    if (protocol === 'http:' && httpNetworks !== undefined && !isLoopbackHost(hostname)) {
      const { address } = await lookup(hostname.replace(/^\[(.*)\]$/, '$1'))
      if (!httpNetworks.has(address))
        throw new Error(`${hostname} is at ${address}, where http is not allowed`)
      allowedHosts.add(host)
    }
    return (await httpClient.sendOnce({ method: 'POST', url, headers, body, signal })).status
  }
}

/**
 * Accepts the URL of a webhook: "An HTTPS endpoint URL" ("Webhook configuration"), or an http URL
 * of this machine, where a receiver under test listens. If `allowsHttp` is true, http to any host is
 * accepted, and the host is checked when an event is sent. Throws a UsageError for any other text. Its
 * message does not contain the whole URL, since a URL may contain a token.
 */
export function checkWebhookUrl(text: string, allowsHttp = false): void {
  if (!URL.canParse(text)) {
    throw new UsageError('the webhook is not a URL', {
      hint: 'Give a URL such as https://hooks.example.com/in, or http://127.0.0.1:4281/ on this machine.',
    })
  }
  const { protocol, host, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') {
    throw new UsageError(`the webhook at ${host} has a user name in its URL`, {
      hint: 'Remove the part before the @.',
    })
  }
  if (protocol === 'https:' || (protocol === 'http:' && (allowsHttp || isLoopbackHost(hostname)))) return
  throw new UsageError(`the webhook ${protocol}//${host} is not https`, {
    hint: 'http is allowed for this machine only (127.0.0.1, ::1, localhost), and for networks that sandbox start --allow-http-from names.',
  })
}
