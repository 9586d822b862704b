import { signingKey } from '../../contract/signature.ts'
import { type ForwardResult, isAccepted, type NextTry, retryAfter } from '../../domain/webhook/delivery.ts'
import type { InboxEvent, StoredEvent, ReceivedEvent } from '../../domain/webhook/events.ts'
import { readEvent } from '../../domain/webhook/read-event.ts'
import { type SigningKey, verifyWith } from '../../domain/webhook/verify.ts'
import { RefcheckError, StoreBusyError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { ProgramRun } from '../../host/run-program.ts'
import type { Listener } from '../../server/listen.ts'
import type { serveSmallRequests, SmallAnswer, SmallRequest } from '../../server/small-requests.ts'
import type { Lease } from '../../store/ledger/store-part.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import { type DeliveryOptions, postEvent } from './send.ts'
import { WakeableSleep } from './wakeable-sleep.ts'
import type { Services } from '../services.ts'

export interface ListenServices extends Pick<Services, 'inbox' | 'clock'> {
  serve: typeof serveSmallRequests
  /** Forwards an event; undefined where forwarding was not asked for. */
  deliver: ((event: InboxEvent) => Promise<ForwardResult>) | undefined
}

interface ListenPlan {
  secret: string
  /** Of the service that delivers; undefined where only its secret is known. */
  baseUrl: string | undefined
  host: string
  port: number
  /** Where deliveries are taken; anything else is 404. */
  path: string
  tls: { cert: string; key: string } | undefined
  onStored: (event: StoredEvent) => void
  onRefused: (why: string) => void
  /** Another process has the store for itself: what that holds up. It goes on by itself. */
  onHeldUp: (what: string, error: Error) => void
  /** See `RelayOptions`. */
  maxAttempts: number | undefined
  onDelivered: (event: InboxEvent, delivered: ForwardResult, next: NextTry) => void
}

export interface Listening {
  /** With the path. */
  url: string
  /** Aborted when the store is of no use any more; `finish` says why. */
  broken: AbortSignal
  /** Takes no more deliveries and ends when all that waits is forwarded, or `giveUp` aborts. */
  finish(giveUp: AbortSignal): Promise<RefcheckError | undefined>
}

/** "The receiver must return a 2xx within 10 seconds"; a sender that takes longer to say it all is no use. */
const requestTimeoutMs = 10_000
const idleTimeoutMs = 5_000
const maxBytes = 1024 * 1024
const takeoverCheckMs = 5_000

/** Starts a receiver with its relay. */
export async function startListening(services: ListenServices, plan: ListenPlan): Promise<Listening> {
  const { inbox, clock, deliver } = services
  const stop = new AbortController()
  const { signal } = stop
  const { host, port, path, tls, maxAttempts, onDelivered, onHeldUp } = plan
  const relay = deliver && new Relay({ inbox, clock, deliver, signal, maxAttempts, onDelivered })
  // Events that other receivers on the store keep; what is missed is found by looking.
  await inbox.onArrival?.(() => relay?.nudge())
  const broken = new AbortController()
  const state: { finishing: boolean; failure?: unknown } = { finishing: false }
  const breakOff = (failure: unknown): void => {
    state.failure ??= failure
    broken.abort()
  }
  const listener: Listener = await services.serve(
    receiver({
      ...plan,
      inbox,
      clock,
      key: signingKey(plan.secret),
      forward: relay !== undefined,
      onStored(event) {
        plan.onStored(event)
        relay?.nudge()
      },
      onLost(error) {
        if (error instanceof StoreBusyError) onHeldUp('A delivery was neither kept nor acknowledged', error)
        else breakOff(error)
      },
    }),
    { host, port, tls, maxBytes, requestTimeoutMs, idleTimeoutMs },
  )
  const relayOptions = { signal, untilEmpty: () => state.finishing, onHeldUp }
  const relaying = relay && relayAlone(services, relay, relayOptions).catch(breakOff)
  return {
    url: `${listener.url}${path}`,
    broken: broken.signal,
    async finish(giveUp) {
      state.finishing = true
      giveUp.addEventListener('abort', () => stop.abort(), { once: true })
      if (giveUp.aborted || broken.signal.aborted) stop.abort()
      await listener.close()
      relay?.nudge()
      await relaying
      if (state.failure === undefined || state.failure instanceof RefcheckError) return state.failure
      throw state.failure
    },
  }
}

interface RelayingOptions {
  signal: AbortSignal
  untilEmpty: () => boolean
  onHeldUp: ListenPlan['onHeldUp']
}

/**
 * One process relays for all receivers on a store; another takes over when it ends. A store that another
 * process has for itself is waited for, unless the command is about to end.
 */
async function relayAlone(
  { inbox, clock }: ListenServices,
  relay: Relay,
  { signal, untilEmpty, onHeldUp }: RelayingOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await inbox.leaseForwarding()
      if (lease !== undefined) {
        try {
          if ((await relay.run(untilEmpty, lease)) === 'done') return
        } finally {
          await lease.release()
        }
      }
    } catch (error) {
      if (!(error instanceof StoreBusyError) || untilEmpty()) throw error
      onHeldUp('Forwarding waits', error)
    }
    // What this process took is forwarded by the one that relays.
    if (untilEmpty()) return
    await clock.sleep(takeoverCheckMs, signal).catch(() => undefined)
  }
}

interface ReceiverOptions
  extends Pick<ListenPlan, 'path' | 'onStored' | 'onRefused'>, Partial<Pick<ListenPlan, 'baseUrl'>> {
  inbox: Pick<Inbox, 'add'>
  key: SigningKey
  clock: Clock
  /** Whether deliveries are to be forwarded. */
  forward: boolean
  /** A genuine one that could not be kept, and is therefore not acknowledged. */
  onLost: (error: unknown) => void
}

const header = 'x-service-signature'

/**
 * Takes deliveries: verify the exact bytes, keep with an fsync, and only then acknowledge. What waits at the
 * same moment shares an fsync.
 */
export function receiver(options: ReceiverOptions): (request: SmallRequest) => Promise<SmallAnswer> {
  const keep = groupCommits(options)
  return async ({ method, path, headers, body }) => {
    const isRead = method === 'GET' || method === 'HEAD'
    if (isRead && (path === '/' || path === options.path)) return health
    if (path !== options.path) return { status: 404, text: 'not found\n' }
    if (method !== 'POST') {
      return { status: 405, text: 'only POST is allowed\n', headers: { allow: 'GET, HEAD, POST' } }
    }
    const signatures = [...headers(header)]
    const { failure } = verifyWith({ body, signatures }, options.key)
    if (failure !== undefined) {
      options.onRefused(failure.message)
      return { status: 401, text: `${failure.message}\n` }
    }
    let stored: StoredEvent
    try {
      stored = await keep(readEvent(body, signatures[0] ?? '', options.clock.now(), options.baseUrl))
    } catch (error) {
      options.onLost(error)
      return { status: 500, text: 'it could not be recorded\n' }
    }
    options.onStored(stored)
    return { status: 204 }
  }
}

const health: SmallAnswer = {
  status: 200,
  text: '{"status":"ok"}\n',
  contentType: 'application/json',
}

interface Waiting {
  event: ReceivedEvent
  resolve: (event: StoredEvent) => void
  reject: (error: unknown) => void
}

/** Puts events that wait at the same moment, or while others are committed, into one commit; each is answered after it. */
function groupCommits({ inbox, forward }: ReceiverOptions): (event: ReceivedEvent) => Promise<StoredEvent> {
  let waiting: Waiting[] = []
  let isFlushing = false
  const flush = async (): Promise<void> => {
    const group = waiting
    waiting = []
    try {
      const results = await inbox.add(
        group.map(({ event }) => event),
        forward,
      )
      for (const [at, { event, resolve, reject }] of group.entries()) {
        const result = results[at]
        if (result === undefined) reject(new Error('the inbox lost count'))
        else resolve({ ...event, ...result })
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
  const flushAll = async (): Promise<void> => {
    while (waiting.length > 0) await flush()
    isFlushing = false
  }
  return (event) =>
    new Promise((resolve, reject) => {
      waiting.push({ event, resolve, reject })
      if (isFlushing) return
      isFlushing = true
      setImmediate(() => void flushAll())
    })
}

interface RelayOptions {
  inbox: Inbox
  clock: Clock
  deliver: (event: InboxEvent) => Promise<ForwardResult>
  /** Ends the relay after what is in flight. */
  signal: AbortSignal
  /** An event that was refused so often is dropped; undefined: it is tried until it is taken. */
  maxAttempts?: number | undefined
  onDelivered: (event: InboxEvent, delivered: ForwardResult, next: NextTry) => void
}

const maxConcurrent = 8

/** Other processes put events into the inbox as well. */
const pollMs = 1_000

/** Hands events on until they are taken: in order within a request, requests side by side. */
export class Relay {
  readonly #options: RelayOptions
  /** What was taken although the store could not note it: forwarded once all the same, while this lives. */
  readonly #unnoted = new Map<number, ForwardResult>()
  readonly #received: WakeableSleep

  constructor(options: RelayOptions) {
    this.#options = options
    this.#received = new WakeableSleep(options.clock)
  }

  /** Something new is there. */
  nudge(): void {
    this.#received.wake()
  }

  /**
   * Until the signal is aborted, or with `untilEmpty` until nothing waits any more; `lost`: until another may have the
   * hold. Throws what the store throws, once nothing is in flight; it may be run again after that.
   */
  async run(untilEmpty: () => boolean, lease?: Pick<Lease, 'isLost'>): Promise<'done' | 'lost'> {
    const { inbox, clock, signal } = this.#options
    while (!signal.aborted) {
      const due = await inbox.due(clock.now(), maxConcurrent)
      // After that question it is known: the connection may be another one since.
      if (lease?.isLost?.() === true) return 'lost'
      const ends = await Promise.allSettled(due.map((event) => this.#handOn(event)))
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      if (due.length > 0) continue
      const next = await inbox.nextDue()
      if (next === undefined && untilEmpty()) return 'done'
      const pauseMs = next === undefined ? pollMs : Math.max(1, next - clock.now())
      // At the end of it there is nothing to tell: the loop ends.
      await this.#received.sleep(Math.min(pollMs, pauseMs), signal).catch(() => undefined)
    }
    return 'done'
  }

  async #handOn(event: InboxEvent): Promise<void> {
    const { inbox, clock, deliver, onDelivered } = this.#options
    const delivered = this.#unnoted.get(event.id) ?? (await deliver(event))
    const now = clock.now()
    if (delivered.taken) {
      this.#unnoted.set(event.id, delivered)
      await inbox.forwarded(event.id, now, delivered.answer)
      this.#unnoted.delete(event.id)
      return onDelivered(event, delivered, undefined)
    }
    const next = retryAfter(event.attempts + 1, this.#options.maxAttempts)
    if (next === 'dropped') await inbox.drop(event.id, delivered.answer)
    else await inbox.refused(event.id, now + next, delivered.answer)
    onDelivered(event, delivered, next)
  }
}

const forwardTimeoutMs = 10_000

export interface DeliverTargets {
  /** Where events are posted to. */
  to: Omit<DeliveryOptions, 'patienceMs'> | undefined
  /** Runs the person's program with the event on its standard input. */
  program: ((event: InboxEvent) => Promise<ProgramRun>) | undefined
}

/** Hands events on: to the URL with their own bytes and signature, then to the program. */
export function delivering({ to, program }: DeliverTargets): (event: InboxEvent) => Promise<ForwardResult> {
  // Of events that a program refuses after the URL has taken them.
  const posted = new Set<number>()
  return async (event) => {
    let answer = ''
    if (to !== undefined && !posted.has(event.id)) {
      const parcel = { body: event.body, signatures: [event.signature] }
      const reply = await postEvent(parcel, { ...to, patienceMs: forwardTimeoutMs })
      answer = reply.failure ?? String(reply.status)
      if (!isAccepted(reply)) return { taken: false, answer }
      posted.add(event.id)
    }
    if (program !== undefined) {
      const ran = await program(event)
      answer = ran.failure ?? `exit ${ran.code}`
      if (ran.code !== 0) return { taken: false, answer }
    }
    posted.delete(event.id)
    return { taken: true, answer }
  }
}
