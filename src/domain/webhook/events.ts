import { parseJsonBytes } from '../../contract/parse-json.ts'
import { isoTime, localTime } from '../wording/time.ts'

/** A delivery that was verified, as it came. */
export interface ReceivedEvent {
  /** Base URL of the service that it is of; undefined where only its secret is known. */
  baseUrl?: string | undefined
  /** Wall time in ms. */
  receivedAt: number
  /** The exact bytes. */
  body: Uint8Array
  /** 64 lowercase hex characters. */
  signature: string
  /** As far as the body says; undefined where it does not. */
  requestId: string | undefined
  status: string | undefined
  event: string | undefined
  /** What is odd about it although its signature is good: an unknown status, no JSON. */
  oddity: string | undefined
}

export interface InboxEvent extends ReceivedEvent {
  /** Counts up in the order of receipt; never used twice. */
  id: number
  /** How often it came again. */
  repeats: number
  /** `none`: forwarding was not asked for. `dropped`: forwarding was given up. */
  forward: 'none' | 'waiting' | 'done' | 'dropped'
  /** Tries so far, and what the last one came to. */
  attempts: number
  lastAnswer: string | undefined
  forwardedAt: number | undefined
}

export interface EventFilter {
  /** Of this service, or of one that is not known. */
  baseUrl?: string | undefined
  requestId?: string | undefined
  status?: string | undefined
  /** Received at this wall time or later, and before `until`. */
  since?: number | undefined
  until?: number | undefined
  /** Ids after this one. */
  after?: number | undefined
  limit?: number | undefined
}

/** What remains of an event of a person who was removed: which request it was of, and its status. */
export function withoutBody<Event extends ReceivedEvent>(received: Event): Event {
  const { requestId: request_id, status, event } = received
  const body = new TextEncoder().encode(JSON.stringify({ event, request_id, status }))
  return { ...received, body, signature: '' }
}

/**
 * What makes two deliveries one event: "the pair (request_id, status)" of one service; an odd one is only ever the same
 * as itself.
 */
export function identityOf(
  { baseUrl, requestId, status, oddity, body }: ReceivedEvent,
  sha256: (bytes: Uint8Array) => string,
): string {
  const pair = oddity === undefined ? `${requestId?.toLowerCase() ?? ''} ${status ?? ''}` : sha256(body)
  return baseUrl === undefined ? pair : `${baseUrl} ${pair}`
}

/** A delivery that was stored, or came again. */
export interface StoredEvent extends ReceivedEvent {
  id: number
  /** The same pair (request_id, status) was stored before. */
  repeated: boolean
}

/** An event whole: its body as text, and as base64 where it is no text. */
export function shownEvent(event: InboxEvent) {
  const { text, base64 } = textOf(event.body)
  return { ...toListedEvent(event), signature: event.signature, body: text, body_base64: base64 }
}

/** One line of an export: what `webhook verify --all` and `webhook events import` read. */
export function exportedLine(event: InboxEvent): string {
  const { text, base64 } = textOf(event.body)
  return JSON.stringify({
    id: event.id,
    received_at: isoTime(event.receivedAt),
    request_id: event.requestId ?? null,
    status: event.status ?? null,
    signature: event.signature,
    ...(base64 === null ? { body: text } : { body_base64: base64 }),
  })
}

export interface Imported {
  read: number
  added: number
  repeated: number
}

export type ListedEvent = ReturnType<typeof toListedEvent>

/** An event of the inbox as it is listed. Times are ISO 8601. */
export function toListedEvent(event: InboxEvent) {
  return {
    id: event.id,
    received_at: isoTime(event.receivedAt),
    request_id: event.requestId ?? null,
    status: event.status ?? null,
    /** Why, of an event with status ERROR. */
    error_reason: errorReasonOf(event.body) ?? null,
    forwarded: event.forward === 'done',
    /** Given up: not forwarded any more. */
    dropped: event.forward === 'dropped',
    /** In words: "-", "waits", "dropped", or when. */
    forwarding: forwardingOf(event),
    repeats: event.repeats,
    attempts: event.attempts,
    last_answer: event.lastAnswer ?? null,
    oddity: event.oddity ?? null,
  }
}

function forwardingOf({ forward, forwardedAt }: InboxEvent): string {
  if (forward === 'none') return '-'
  if (forward === 'dropped') return 'dropped'
  return forward === 'waiting' || forwardedAt === undefined ? 'waits' : localTime(forwardedAt)
}

/** Of an event that does not wait to be forwarded; completes "event 3 …". */
export function whyNotDropped({ forward, forwardedAt = 0 }: InboxEvent): string {
  return forward === 'done' ? `was forwarded at ${localTime(forwardedAt)}` : 'does not wait to be forwarded'
}

export function notForwardedMessage(missed: number, of: number): string {
  return of === 1 ? 'the event was not acknowledged' : `${missed} of ${of} events were not acknowledged`
}

function textOf(body: Uint8Array): { text: string; base64: string | null } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body), base64: null }
  } catch {
    return { text: Buffer.from(body).toString('latin1'), base64: Buffer.from(body).toString('base64') }
  }
}

export interface ReplayReply {
  id: number
  /** Null where no answer came, or none was waited for. */
  status: number | null
  failure: string | null
}

/** "Present only when status is ERROR; diagnostic text": what the body of an event says of why; undefined for nothing. */
export function errorReasonOf(body: Uint8Array): string | undefined {
  const event = parseJsonBytes(body) as { error_reason?: unknown } | null | undefined
  const reason = event?.error_reason
  return typeof reason === 'string' && reason !== '' ? reason : undefined
}
