import { carry } from './carry.ts'
import type { Services } from '../../cli/services.ts'
import { receiverAt } from '../../compose/receiver.ts'
import { signingKey } from '../../contract/signature.ts'
import type { InboxEvent } from '../../domain/webhook/inbox-event.ts'
import { isTaken } from '../../domain/webhook/parcel.ts'
import type { KeptEvent } from '../../domain/webhook/received.ts'
import type { Delivered } from '../../domain/webhook/retry.ts'
import { RefcheckError } from '../../errors/base.ts'
import { runProgram } from '../../host/run-program.ts'
import { receiver } from './receive.ts'
import { Relay } from './relay.ts'
import { takeIn } from '../../server/intake.ts'
import type { Listener } from '../../server/listen.ts'
import { StoreBusyError } from '../../errors/kinds.ts'

export interface ListenPlan {
  secret: string
  host: string
  port: number
  path: string
  tls: { cert: string; key: string } | undefined
  forwardTo: string | undefined
  /** The words of --exec. */
  exec: readonly string[] | undefined
  onKept: (event: KeptEvent) => void
  onRefused: (why: string) => void
  /** Another process has the store for itself: what that holds up. It goes on by itself. */
  onHeldUp: (what: string, error: Error) => void
  onDelivered: (event: InboxEvent, delivered: Delivered, retryInMs: number | undefined) => void
}

export interface Listening {
  /** With the path. */
  url: string
  /** Aborted when the store is of no use any more; `finish` says why. */
  broken: AbortSignal
  /** Takes no more deliveries and ends when all that waits is handed on, or `giveUp` aborts. */
  finish(giveUp: AbortSignal): Promise<RefcheckError | undefined>
}

/** "The receiver must return a 2xx within 10 seconds"; a sender that takes longer to say it all is no use. */
const requestTimeoutMs = 10_000
const idleTimeoutMs = 5_000
const maxConnections = 512
const maxBytes = 1024 * 1024
const forwardPatienceMs = 10_000
const execPatienceMs = 60_000
const lookAgainEveryMs = 5_000

/** Starts a receiver with its relay. */
export async function startListening(services: Services, plan: ListenPlan): Promise<Listening> {
  const { clock } = services.context
  const { inbox } = await services.store()
  const forward = plan.forwardTo !== undefined || plan.exec !== undefined
  const stop = new AbortController()
  const deliver = await delivery(services, plan)
  const relay = new Relay({ inbox, clock, deliver, signal: stop.signal, onDelivered: plan.onDelivered })
  const broken = new AbortController()
  const state: { finishing: boolean; failure?: unknown } = { finishing: false }
  const breakOff = (failure: unknown): void => {
    state.failure ??= failure
    broken.abort()
  }
  const listener: Listener = await takeIn(
    receiver({
      inbox,
      key: signingKey(plan.secret),
      clock,
      path: plan.path,
      forward,
      onKept(event) {
        plan.onKept(event)
        relay.nudge()
      },
      onRefused: plan.onRefused,
      onLost(error) {
        if (error instanceof StoreBusyError)
          plan.onHeldUp('A delivery was not kept and not acknowledged', error)
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
      maxConnections,
    },
  )
  const relayOptions = { signal: stop.signal, untilEmpty: () => state.finishing, onHeldUp: plan.onHeldUp }
  const relaying = forward ? relayAlone(services, relay, relayOptions).catch(breakOff) : undefined
  return {
    url: `${listener.url}${plan.path}`,
    broken: broken.signal,
    async finish(giveUp) {
      state.finishing = true
      giveUp.addEventListener('abort', () => stop.abort(), { once: true })
      if (giveUp.aborted || broken.signal.aborted) stop.abort()
      await listener.close()
      relay.nudge()
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
  services: Services,
  relay: Relay,
  { signal, untilEmpty, onHeldUp }: RelayingOptions,
): Promise<void> {
  const { clock } = services.context
  const { inbox } = await services.store()
  while (!signal.aborted) {
    try {
      const hold = await inbox.holdForwarding()
      if (hold !== undefined) {
        try {
          return await relay.run(untilEmpty)
        } finally {
          await hold.release()
        }
      }
    } catch (error) {
      if (!(error instanceof StoreBusyError) || untilEmpty()) throw error
      onHeldUp('Handing on waits', error)
    }
    // What this process took is handed on by the one that relays.
    if (untilEmpty()) return
    await clock.sleep(lookAgainEveryMs, signal).catch(() => undefined)
  }
}

async function delivery(
  services: Services,
  { forwardTo, exec, secret }: ListenPlan,
): Promise<(event: InboxEvent) => Promise<Delivered>> {
  const to = forwardTo === undefined ? undefined : await receiverAt(services, forwardTo, '--forward-to')
  const { clock, env } = services.context
  // Of events that a program refuses after the URL has taken them.
  const posted = new Set<number>()
  return async (event) => {
    let answer = ''
    if (to !== undefined && !posted.has(event.id)) {
      const parcel = { body: event.body, signatures: [event.signature] }
      const reply = await carry(parcel, { ...to, clock, secret, patienceMs: forwardPatienceMs })
      answer = reply.failure ?? String(reply.status)
      if (!isTaken(reply)) return { taken: false, answer }
      posted.add(event.id)
    }
    if (exec !== undefined) {
      const ran = await runProgram(exec, {
        env: withoutSecrets(env),
        input: event.body,
        timeoutMs: execPatienceMs,
      })
      answer = ran.failure ?? `exit ${ran.code}`
      if (ran.code !== 0) return { taken: false, answer }
    }
    posted.delete(event.id)
    return { taken: true, answer }
  }
}

function withoutSecrets(env: Services['context']['env']): Record<string, string | undefined> {
  const secrets = new Set(['REFCHECK_API_KEY', 'REFCHECK_WEBHOOK_SECRET'])
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name)))
}
