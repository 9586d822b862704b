import { uuid } from '../../contract/identifiers.ts'
import { requestStatuses } from '../../contract/statuses.ts'
import { webhookEvent } from '../../contract/event.ts'
import type { Clock } from '../../host/clock.ts'
import type { SmallAnswer, SmallRequest } from '../../server/intake.ts'
import type { Inbox, ReceivedEvent } from '../../store/ledger/inbox.ts'
import { type SigningKey, verifyWith } from './verify.ts'

/** A delivery that is kept, or came again. */
export interface KeptEvent extends ReceivedEvent {
  id: number
  /** The same pair (request_id, status) was kept before. */
  repeated: boolean
}

export interface ReceiverOptions {
  inbox: Inbox
  key: SigningKey
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
const statuses: ReadonlySet<string> = new Set(requestStatuses)

/**
 * Takes deliveries: verify the exact bytes, keep with an fsync, and only then acknowledge. What waits at the
 * same moment shares an fsync.
 */
export function receiver(options: ReceiverOptions): (request: SmallRequest) => Promise<SmallAnswer> {
  const keep = keeper(options)
  return async ({ method, path, headers, body }) => {
    const isRead = method === 'GET' || method === 'HEAD'
    if (isRead && (path === '/' || path === options.path)) return health
    if (path !== options.path) return { status: 404, text: 'nothing is here\n' }
    if (method !== 'POST') {
      return { status: 405, text: 'deliveries come by POST\n', headers: { allow: 'GET, HEAD, POST' } }
    }
    const signatures = [...headers(header)]
    const { failure } = verifyWith({ body, signatures }, options.key)
    if (failure !== undefined) {
      options.onRefused(failure.message)
      return { status: 401, text: `${failure.message}\n` }
    }
    let kept: KeptEvent
    try {
      kept = await keep(read(body, signatures[0] ?? '', options.clock.now()))
    } catch (error) {
      options.onLost(error)
      return { status: 500, text: 'it could not be kept\n' }
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

/** What the body of a verified delivery says, and what is odd about it. */
export function read(body: Uint8Array, signature: string, receivedAt: number): ReceivedEvent {
  const bare = { receivedAt, body, signature, requestId: undefined, status: undefined, event: undefined }
  const parsed = webhookEvent.safeParse(json(body))
  if (!parsed.success) return { ...bare, oddity: 'the body is not an event of the document' }
  const { request_id: requestId, status, event } = parsed.data
  return { ...bare, requestId, status, event, oddity: oddityOf(requestId, status, event) }
}

function oddityOf(requestId: string, status: string, event: string): string | undefined {
  if (event !== 'request.updated') return `the event "${event.slice(0, 60)}" is not known`
  if (!statuses.has(status)) return `the status "${status.slice(0, 60)}" is not known`
  return uuid.safeParse(requestId).success ? undefined : 'the request_id is not a UUID'
}

function json(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

interface Waiting {
  event: ReceivedEvent
  kept: (event: KeptEvent) => void
  failed: (error: unknown) => void
}

/** Puts events that wait at the same moment into one commit; each is answered after it. */
function keeper({ inbox, forward }: ReceiverOptions): (event: ReceivedEvent) => Promise<KeptEvent> {
  let waiting: Waiting[] = []
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
  return (event) =>
    new Promise((kept, failed) => {
      waiting.push({ event, kept, failed })
      if (waiting.length === 1) setImmediate(() => void flush())
    })
}
