import { signingKey } from '../../contract/signature.ts'
import { type ForwardResult, isAccepted, type NextTry, retryDelay } from '../../domain/webhook/delivery.ts'
import type { InboxEvent, StoredEvent, ReceivedEvent } from '../../domain/webhook/events.ts'
import { readEvent } from '../../domain/webhook/read-event.ts'
import { type SigningKey, verifyWith } from '../../domain/webhook/verify.ts'
import { RefcheckError, StoreBusyError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { ProgramRun } from '../../host/run-program.ts'
import type { Listener } from '../../server/listen.ts'
import type { serveSmallRequests, SmallResponse, SmallRequest } from '../../server/small-requests.ts'
import type { Lease } from '../../store/ledger/store-part.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import { type DeliveryOptions, postEvent } from './send.ts'
import { WakeableSleep } from './wakeable-sleep.ts'
import type { Services } from '../services.ts'

export interface ListenServices extends Pick<Services, 'inbox' | 'clock'> {
  serve: typeof serveSmallRequests
  /** Forwards an event; undefined if events are not forwarded. */
  deliver: ((event: InboxEvent) => Promise<ForwardResult>) | undefined
}

interface ListenPlan {
  secret: string
  /** URL of the service that delivers; undefined if only its secret is configured. */
  baseUrl: string | undefined
  host: string
  port: number
  /** The path of deliveries; any other path is answered with 404. */
  path: string
  tls: { cert: string; key: string } | undefined
  onStored: (event: StoredEvent) => void
  onRefused: (why: string) => void
  /** Called when another process has locked the store. `message`: what is delayed and tried again. */
  onDelayed: (message: string, error: Error) => void
  /** The number of refused attempts after which an event is dropped; undefined for no limit. */
  maxAttempts: number | undefined
  onDelivered: (event: InboxEvent, result: ForwardResult, next: NextTry) => void
}

export interface RunningReceiver {
  /** URL for deliveries, with the path. */
  url: string
  /** Aborted when the store can no longer be used; `finish` returns the error. */
  storeFailedSignal: AbortSignal
  /** Closes the listener, and ends when every waiting event is forwarded or `giveUp` aborts. */
  finish(giveUp: AbortSignal): Promise<RefcheckError | undefined>
}

/** "The receiver must return a 2xx within 10 seconds": the service gives up a request that takes longer. */
const requestTimeoutMs = 10_000
const idleTimeoutMs = 5_000
const maxBytes = 1024 * 1024
/** A process without the forwarding lease tries to acquire it at this interval. */
const takeoverCheckMs = 5_000

/** Starts a receiver, and a relay that forwards its events. */
export async function startListening(services: ListenServices, plan: ListenPlan): Promise<RunningReceiver> {
  const { inbox, clock, deliver } = services
  const stopController = new AbortController()
  const { signal } = stopController
  const { host, port, path, tls, maxAttempts, onDelivered, onDelayed } = plan
  const relay = deliver && new Relay({ inbox, clock, deliver, signal, maxAttempts, onDelivered })
  // Other receivers on the store announce their events. Events whose announcement is lost are found by polling.
  await inbox.onArrival?.(() => relay?.wake())
  const storeFailedController = new AbortController()
  const state: { isFinishing: boolean; failure?: unknown } = { isFinishing: false }
  const stopForFailure = (failure: unknown): void => {
    state.failure ??= failure
    storeFailedController.abort()
  }
  const listener: Listener = await services.serve(
    createReceiver({
      ...plan,
      inbox,
      clock,
      key: signingKey(plan.secret),
      shouldForward: relay !== undefined,
      onStored(event) {
        plan.onStored(event)
        relay?.wake()
      },
      onUnstored(error) {
        if (error instanceof StoreBusyError) onDelayed('A delivery was neither kept nor acknowledged', error)
        else stopForFailure(error)
      },
    }),
    { host, port, tls, maxBytes, requestTimeoutMs, idleTimeoutMs },
  )
  const relayOptions = { signal, shouldEndWhenEmpty: () => state.isFinishing, onDelayed }
  const relayRun = relay && runRelay(services, relay, relayOptions).catch(stopForFailure)
  return {
    url: `${listener.url}${path}`,
    storeFailedSignal: storeFailedController.signal,
    async finish(giveUp) {
      state.isFinishing = true
      giveUp.addEventListener('abort', () => stopController.abort(), { once: true })
      if (giveUp.aborted || storeFailedController.signal.aborted) stopController.abort()
      await listener.close()
      relay?.wake()
      await relayRun
      if (state.failure === undefined || state.failure instanceof RefcheckError) return state.failure
      throw state.failure
    },
  }
}

interface RelayRunOptions {
  signal: AbortSignal
  shouldEndWhenEmpty: () => boolean
  onDelayed: ListenPlan['onDelayed']
}

/**
 * Runs the relay while this process has the forwarding lease: one process relays for all receivers on a store, and
 * another takes over when it ends. Waits for a store that another process has locked, unless the command is ending.
 */
async function runRelay(
  { inbox, clock }: ListenServices,
  relay: Relay,
  { signal, shouldEndWhenEmpty, onDelayed }: RelayRunOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await inbox.leaseForwarding()
      if (lease !== undefined) {
        try {
          if ((await relay.run(shouldEndWhenEmpty, lease)) === 'done') return
        } finally {
          await lease.release()
        }
      }
    } catch (error) {
      if (!(error instanceof StoreBusyError) || shouldEndWhenEmpty()) throw error
      onDelayed('Forwarding waits', error)
    }
    // Events that this process received are forwarded by the process that has the lease.
    if (shouldEndWhenEmpty()) return
    await clock.sleep(takeoverCheckMs, signal).catch(() => undefined)
  }
}

interface ReceiverOptions
  extends Pick<ListenPlan, 'path' | 'onStored' | 'onRefused'>, Partial<Pick<ListenPlan, 'baseUrl'>> {
  inbox: Pick<Inbox, 'add'>
  key: SigningKey
  clock: Clock
  /** Whether events are stored for forwarding. */
  shouldForward: boolean
  /** Called for a verified delivery that could not be stored, and is therefore not acknowledged. */
  onUnstored: (error: unknown) => void
}

const signatureHeaderName = 'x-service-signature'

/**
 * Handles deliveries: verifies the exact bytes, stores the event with an fsync, and only then acknowledges it.
 * Deliveries that arrive at the same time share an fsync.
 */
export function createReceiver(options: ReceiverOptions): (request: SmallRequest) => Promise<SmallResponse> {
  const storeEvent = createGroupCommit(options)
  return async ({ method, path, headers, body }) => {
    const isRead = method === 'GET' || method === 'HEAD'
    if (isRead && (path === '/' || path === options.path)) return healthResponse
    if (path !== options.path) return { status: 404, text: 'not found\n' }
    if (method !== 'POST') {
      return { status: 405, text: 'only POST is allowed\n', headers: { allow: 'GET, HEAD, POST' } }
    }
    const signatures = [...headers(signatureHeaderName)]
    const { failure } = verifyWith({ body, signatures }, options.key)
    if (failure !== undefined) {
      options.onRefused(failure.message)
      return { status: 401, text: `${failure.message}\n` }
    }
    let storedEvent: StoredEvent
    try {
      storedEvent = await storeEvent(
        readEvent(body, signatures[0] ?? '', options.clock.now(), options.baseUrl),
      )
    } catch (error) {
      options.onUnstored(error)
      return { status: 500, text: 'it could not be recorded\n' }
    }
    options.onStored(storedEvent)
    return { status: 204 }
  }
}

const healthResponse: SmallResponse = {
  status: 200,
  text: '{"status":"ok"}\n',
  contentType: 'application/json',
}

interface WaitingEvent {
  event: ReceivedEvent
  resolve: (event: StoredEvent) => void
  reject: (error: unknown) => void
}

/**
 * Commits in one transaction the events that wait at the same time. Events that arrive during a commit are
 * committed together after it. The promise of each event is resolved after its commit.
 */
function createGroupCommit({
  inbox,
  shouldForward,
}: ReceiverOptions): (event: ReceivedEvent) => Promise<StoredEvent> {
  let waitingEvents: WaitingEvent[] = []
  let isFlushing = false
  const flush = async (): Promise<void> => {
    const group = waitingEvents
    waitingEvents = []
    try {
      const results = await inbox.add(
        group.map(({ event }) => event),
        shouldForward,
      )
      for (const [index, { event, resolve, reject }] of group.entries()) {
        const result = results[index]
        if (result === undefined) reject(new Error('the inbox lost count'))
        else resolve({ ...event, ...result })
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
  const flushAll = async (): Promise<void> => {
    while (waitingEvents.length > 0) await flush()
    isFlushing = false
  }
  return (event) =>
    new Promise((resolve, reject) => {
      waitingEvents.push({ event, resolve, reject })
      if (isFlushing) return
      isFlushing = true
      setImmediate(() => void flushAll())
    })
}

interface RelayOptions extends Pick<ListenPlan, 'onDelivered'>, Partial<Pick<ListenPlan, 'maxAttempts'>> {
  inbox: Inbox
  clock: Clock
  deliver: (event: InboxEvent) => Promise<ForwardResult>
  /** Ends the relay once the deliveries under way have ended. */
  signal: AbortSignal
}

/** The greatest number of events that are forwarded at the same time. */
const maxConcurrent = 8

/** Other processes add events to the inbox too, so it is polled at least this often. */
const maxPauseMs = 1_000

/** Forwards events until they are accepted: in order within a request, different requests concurrently. */
export class Relay {
  readonly #options: RelayOptions
  /**
   * Results of accepted deliveries by the id of the event, until the store has recorded them: this process does not send
   * these events a second time.
   */
  readonly #unrecordedResults = new Map<number, ForwardResult>()
  readonly #arrivals: WakeableSleep

  constructor(options: RelayOptions) {
    this.#options = options
    this.#arrivals = new WakeableSleep(options.clock)
  }

  /** Ends the pause: there may be a new event. */
  wake(): void {
    this.#arrivals.wake()
  }

  /**
   * Runs until the signal is aborted, or until no event waits if `shouldEndWhenEmpty` returns true. Returns
   * 'lost' if another process may have the lease. Throws the errors of the store, after all deliveries under
   * way have ended; the relay can be run again.
   */
  async run(shouldEndWhenEmpty: () => boolean, lease?: Pick<Lease, 'isLost'>): Promise<'done' | 'lost'> {
    const { inbox, clock, signal } = this.#options
    while (!signal.aborted) {
      const dueEvents = await inbox.listDue(clock.now(), maxConcurrent)
      // Checked after the query, since a lost lease shows only when the connection is used.
      if (lease?.isLost?.() === true) return 'lost'
      const results = await Promise.allSettled(dueEvents.map((event) => this.#forwardEvent(event)))
      const rejectedResult = results.find((result) => result.status === 'rejected')
      if (rejectedResult !== undefined) throw rejectedResult.reason
      if (dueEvents.length > 0) continue
      const nextDueTime = await inbox.findNextDueTime()
      if (nextDueTime === undefined && shouldEndWhenEmpty()) return 'done'
      const pauseMs = nextDueTime === undefined ? maxPauseMs : Math.max(1, nextDueTime - clock.now())
      // An aborted sleep needs no handling: the loop ends.
      await this.#arrivals.sleep(Math.min(maxPauseMs, pauseMs), signal).catch(() => undefined)
    }
    return 'done'
  }

  async #forwardEvent(event: InboxEvent): Promise<void> {
    const { inbox, clock, deliver, onDelivered } = this.#options
    const result = this.#unrecordedResults.get(event.id) ?? (await deliver(event))
    const now = clock.now()
    if (result.isAccepted) {
      this.#unrecordedResults.set(event.id, result)
      await inbox.recordForwarded(event.id, now, result.answer)
      this.#unrecordedResults.delete(event.id)
      return onDelivered(event, result, undefined)
    }
    const next = retryDelay(event.attempts + 1, this.#options.maxAttempts)
    if (next === 'dropped') await inbox.drop(event.id, result.answer)
    else await inbox.recordRefused(event.id, now + next, result.answer)
    onDelivered(event, result, next)
  }
}

export interface DeliverTargets {
  /** The URL that events are posted to, with its options. */
  urlTarget: DeliveryOptions | undefined
  /** Runs the user's program with the event on its standard input. */
  program: ((event: InboxEvent) => Promise<ProgramRun>) | undefined
}

/**
 * Returns a function that forwards an event: first to the URL with its original bytes and signature, then to the
 * program.
 */
export function createDelivery({
  urlTarget,
  program,
}: DeliverTargets): (event: InboxEvent) => Promise<ForwardResult> {
  // Ids of events that the URL has accepted and the program has not.
  const postedIds = new Set<number>()
  return async (event) => {
    let answer = ''
    if (urlTarget !== undefined && !postedIds.has(event.id)) {
      const delivery = { body: event.body, signatures: [event.signature] }
      const reply = await postEvent(delivery, urlTarget)
      answer = reply.failure ?? String(reply.status)
      if (!isAccepted(reply)) return { isAccepted: false, answer }
      postedIds.add(event.id)
    }
    if (program !== undefined) {
      const run = await program(event)
      answer = run.failure ?? `exit ${run.code}`
      if (run.code !== 0) return { isAccepted: false, answer }
    }
    postedIds.delete(event.id)
    return { isAccepted: true, answer }
  }
}
