import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import { signingKey } from '../contract/signature.ts'
import { carry, isTaken } from '../domain/webhook/courier.ts'
import { type KeptEvent, receiver } from '../domain/webhook/receive.ts'
import { type Delivered, Relay } from '../domain/webhook/relay.ts'
import { IoError } from '../errors/io.ts'
import { runProgram } from '../host/run-program.ts'
import { takeIn } from '../server/intake.ts'
import type { Listener } from '../server/listen.ts'
import type { Hold } from '../store/ledger/ledger.ts'
import type { InboxEvent } from '../store/ledger/inbox.ts'
import { receiverAt } from './receiver-url.ts'
import type { Services } from './services.ts'

export interface ListenPlan {
  secret: string
  host: string
  port: number
  path: string
  tlsCert: string | undefined
  tlsKey: string | undefined
  forwardTo: string | undefined
  /** The words of --exec. */
  exec: readonly string[] | undefined
  onKept: (event: KeptEvent) => void
  onRefused: (why: string) => void
  onDelivered: (event: InboxEvent, delivered: Delivered, retryInMs: number | undefined) => void
}

export interface Listening {
  /** With the path. */
  url: string
  /** Takes no more deliveries and ends when all that waits is handed on, or `giveUp` aborts. */
  finish(giveUp: AbortSignal): Promise<void>
}

/** "The receiver must return a 2xx within 10 seconds"; a sender that takes longer to say it all is no use. */
const requestTimeoutMs = 10_000
const idleTimeoutMs = 5_000
const maxConnections = 512
const maxBytes = 1024 * 1024
const forwardPatienceMs = 10_000
const execPatienceMs = 60_000
const takeOverEveryMs = 5_000

/** Starts a receiver with its relay. */
export async function startListening(services: Services, plan: ListenPlan): Promise<Listening> {
  const { clock } = services.context
  const { inbox } = await services.store()
  const tls = await tlsFiles(services, plan)
  const forward = plan.forwardTo !== undefined || plan.exec !== undefined
  const stop = new AbortController()
  const deliver = await delivery(services, plan)
  const relay = new Relay({ inbox, clock, deliver, signal: stop.signal, onDelivered: plan.onDelivered })
  const state = { finishing: false }
  const relaying = forward
    ? relayAlone(services, relay, stop.signal, () => state.finishing)
    : Promise.resolve()
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
    }),
    { host: plan.host, port: plan.port, tls, maxBytes, requestTimeoutMs, idleTimeoutMs, maxConnections },
  )
  return {
    url: `${listener.url}${plan.path}`,
    async finish(giveUp) {
      state.finishing = true
      giveUp.addEventListener('abort', () => stop.abort(), { once: true })
      if (giveUp.aborted) stop.abort()
      await listener.close()
      relay.nudge()
      await relaying
    },
  }
}

/** One process relays for all receivers on a store; another takes over when it ends. */
async function relayAlone(
  services: Services,
  relay: Relay,
  signal: AbortSignal,
  untilEmpty: () => boolean,
): Promise<void> {
  const { clock } = services.context
  const { inbox } = await services.store()
  for (let hold: Hold | undefined; !signal.aborted;) {
    hold = await inbox.holdForwarding()
    if (hold !== undefined) {
      try {
        return await relay.run(untilEmpty)
      } finally {
        await hold.release()
      }
    }
    // What this process took is handed on by the one that relays.
    if (untilEmpty()) return
    await clock.sleep(takeOverEveryMs, signal).catch(() => undefined)
  }
}

async function delivery(
  services: Services,
  { forwardTo, exec, secret }: ListenPlan,
): Promise<(event: InboxEvent) => Promise<Delivered>> {
  const to = forwardTo === undefined ? undefined : await receiverAt(services, forwardTo)
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

async function tlsFiles(
  { context: { cwd } }: Services,
  { tlsCert, tlsKey }: ListenPlan,
): Promise<{ cert: string; key: string } | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  const [cert, key] = await Promise.all(
    [tlsCert, tlsKey].map((file) =>
      readFile(resolve(cwd, file), 'utf8').catch((cause: unknown) => {
        throw new IoError(`${file} cannot be read`, { hint: 'Name a PEM file.', cause })
      }),
    ),
  )
  return { cert: cert ?? '', key: key ?? '' }
}
