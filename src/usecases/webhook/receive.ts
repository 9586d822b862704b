import type { ReceivedEvent } from '../../domain/webhook/inbox-event.ts'
import { type KeptEvent, read } from '../../domain/webhook/received.ts'
import { type SigningKey, verifyWith } from '../../domain/webhook/verify.ts'
import type { Clock } from '../../host/clock.ts'
import type { SmallAnswer, SmallRequest } from '../../server/small-requests.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'

export interface ReceiverOptions {
  inbox: Pick<Inbox, 'add'>
  key: SigningKey
  /** Of the service that delivers; undefined where only its secret is known. */
  baseUrl?: string | undefined
  clock: Clock
  /** Where deliveries are taken; anything else is 404. */
  path: string
  /** Whether they are to be forwarded. */
  forward: boolean
  onKept: (event: KeptEvent) => void
  onRefused: (why: string) => void
  /** A genuine one that could not be kept, and is therefore not acknowledged. */
  onLost: (error: unknown) => void
}

const header = 'x-service-signature'

/**
 * Takes deliveries: verify the exact bytes, keep with an fsync, and only then acknowledge. What waits at the
 * same moment shares an fsync.
 */
export function receiver(options: ReceiverOptions): (request: SmallRequest) => Promise<SmallAnswer> {
  const keep = keeper(options)
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
    let kept: KeptEvent
    try {
      kept = await keep(read(body, signatures[0] ?? '', options.clock.now(), options.baseUrl))
    } catch (error) {
      options.onLost(error)
      return { status: 500, text: 'it could not be recorded\n' }
    }
    options.onKept(kept)
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
  kept: (event: KeptEvent) => void
  failed: (error: unknown) => void
}

/** Puts events that wait at the same moment, or while others are committed, into one commit; each is answered after it. */
function keeper({ inbox, forward }: ReceiverOptions): (event: ReceivedEvent) => Promise<KeptEvent> {
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
      for (const [at, { event, kept, failed }] of group.entries()) {
        const result = results[at]
        if (result === undefined) failed(new Error('the inbox lost count'))
        else kept({ ...event, ...result })
      }
    } catch (error) {
      for (const { failed } of group) failed(error)
    }
  }
  const flushAll = async (): Promise<void> => {
    while (waiting.length > 0) await flush()
    isFlushing = false
  }
  return (event) =>
    new Promise((kept, failed) => {
      waiting.push({ event, kept, failed })
      if (isFlushing) return
      isFlushing = true
      setImmediate(() => void flushAll())
    })
}
