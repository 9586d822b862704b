import { signingKey } from '../../contract/signature.ts'
import type { InboxEvent } from '../../domain/webhook/inbox-event.ts'
import type { KeptEvent } from '../../domain/webhook/received.ts'
import type { Delivered, NextTry } from '../../domain/webhook/retry.ts'
import { RefcheckError } from '../../errors/base.ts'
import { StoreBusyError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import { receiver } from './receive.ts'
import { Relay } from './relay.ts'
import type { serveSmallRequests } from '../../server/small-requests.ts'
import type { Listener } from '../../server/listen.ts'

export interface ListenPorts {
  inbox: Inbox
  clock: Clock
  serve: typeof serveSmallRequests
  /** Hands an event on; undefined where nobody asked for it. */
  deliver: ((event: InboxEvent) => Promise<Delivered>) | undefined
}

export interface ListenPlan {
  secret: string
  /** Of the service that delivers; undefined where only its secret is known. */
  baseUrl: string | undefined
  host: string
  port: number
  path: string
  tls: { cert: string; key: string } | undefined
  onKept: (event: KeptEvent) => void
  onRefused: (why: string) => void
  /** Another process has the store for itself: what that holds up. It goes on by itself. */
  onHeldUp: (what: string, error: Error) => void
  /** See `RelayOptions`. */
  mostAttempts: number | undefined
  onDelivered: (event: InboxEvent, delivered: Delivered, next: NextTry) => void
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
const lookAgainEveryMs = 5_000

/** Starts a receiver with its relay. */
export async function startListening(ports: ListenPorts, plan: ListenPlan): Promise<Listening> {
  const { inbox, clock, deliver } = ports
  const stop = new AbortController()
  const { signal } = stop
  const { mostAttempts, onDelivered } = plan
  const relay = deliver && new Relay({ inbox, clock, deliver, signal, mostAttempts, onDelivered })
  // Events that other receivers on the store keep; what is missed is found by looking.
  await inbox.onArrival?.(() => relay?.nudge())
  const broken = new AbortController()
  const state: { finishing: boolean; failure?: unknown } = { finishing: false }
  const breakOff = (failure: unknown): void => {
    state.failure ??= failure
    broken.abort()
  }
  const listener: Listener = await ports.serve(
    receiver({
      inbox,
      key: signingKey(plan.secret),
      baseUrl: plan.baseUrl,
      clock,
      path: plan.path,
      forward: relay !== undefined,
      onKept(event) {
        plan.onKept(event)
        relay?.nudge()
      },
      onRefused: plan.onRefused,
      onLost(error) {
        if (error instanceof StoreBusyError)
          plan.onHeldUp('A delivery was neither kept nor acknowledged', error)
        else breakOff(error)
      },
    }),
    {
      host: plan.host,
      port: plan.port,
      tls: plan.tls,
      maxBytes,
      requestTimeoutMs,
      idleTimeoutMs,
    },
  )
  const relayOptions = { signal, untilEmpty: () => state.finishing, onHeldUp: plan.onHeldUp }
  const relaying = relay && relayAlone(ports, relay, relayOptions).catch(breakOff)
  return {
    url: `${listener.url}${plan.path}`,
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
  { inbox, clock }: ListenPorts,
  relay: Relay,
  { signal, untilEmpty, onHeldUp }: RelayingOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const hold = await inbox.holdForwarding()
      if (hold !== undefined) {
        try {
          if ((await relay.run(untilEmpty, hold)) === 'done') return
        } finally {
          await hold.release()
        }
      }
    } catch (error) {
      if (!(error instanceof StoreBusyError) || untilEmpty()) throw error
      onHeldUp('Forwarding waits', error)
    }
    // What this process took is forwarded by the one that relays.
    if (untilEmpty()) return
    await clock.sleep(lookAgainEveryMs, signal).catch(() => undefined)
  }
}
