import { parseJsonBytes, propertyOf } from '../../contract/parse-json.ts'
import { isoTime, localTime } from '../wording/time.ts'

/** A delivery with a valid signature. */
export interface ReceivedEvent {
  /** The base URL of the service that sent the event; undefined if only the secret of the service is known. */
  baseUrl?: string | undefined
  /** Wall time in ms. */
  receivedAt: number
  /** The exact bytes. */
  body: Uint8Array
  /** 64 lowercase hex characters. */
  signature: string
  /** This, `status` and `event` are undefined if the body is not an event of the API document. */
  requestId: string | undefined
  status: string | undefined
  event: string | undefined
  /** The difference from the API document, such as an unknown status or a body that is not JSON. */
  oddity: string | undefined
}

export interface InboxEvent extends ReceivedEvent {
  /** Increases in the order of receipt. An id is never used twice. */
  id: number
  /** The number of further deliveries of the event. */
  repeats: number
  /** `none`: forwarding was not requested. `dropped`: there are no further attempts. */
  forward: 'none' | 'waiting' | 'done' | 'dropped'
  /** The number of attempts to forward the event. */
  attempts: number
  /** The result of the last attempt. */
  lastAnswer: string | undefined
  forwardedAt: number | undefined
}

export interface EventFilter {
  /** Selects the events of this service, and those whose service is unknown. */
  baseUrl?: string | undefined
  requestId?: string | undefined
  status?: string | undefined
  /** Selects the events that were received at this wall time or later. */
  since?: number | undefined
  /** Selects the events that were received before this wall time. */
  until?: number | undefined
  /** Selects the events with a higher id. */
  after?: number | undefined
  limit?: number | undefined
}

/** The oddity of an event whose request cannot be read. */
export const notUuid = 'the request_id is not a UUID'

/** Returns an event without personal data: its body has only the event type, the request and the status. */
export function withoutBody<Event extends ReceivedEvent>(received: Event): Event {
  const { requestId: request_id, status, event } = received
  const body = new TextEncoder().encode(JSON.stringify({ event, request_id, status }))
  return { ...received, body, signature: '' }
}

/**
 * Returns a key that is equal for deliveries of the same event: the service and "the pair (request_id, status)". For
 * an event with an oddity, the hash of the body replaces the pair.
 */
export function identityOf(
  { baseUrl, requestId, status, oddity, body }: ReceivedEvent,
  sha256: (bytes: Uint8Array) => string,
): string {
  const pair = oddity === undefined ? `${requestId?.toLowerCase() ?? ''} ${status ?? ''}` : sha256(body)
  return baseUrl === undefined ? pair : `${baseUrl} ${pair}`
}

/** A delivery after it was stored or recognised as a repetition. */
export interface StoredEvent extends ReceivedEvent {
  id: number
  /** Whether an event with the same key was stored before. */
  repeated: boolean
}

/** Returns an event with its signature and body. `body_base64` is null if the body is valid UTF-8. */
export function toDetailedEvent(event: InboxEvent) {
  const { text, base64 } = textOf(event.body)
  return { ...toListedEvent(event), signature: event.signature, body: text, body_base64: base64 }
}

/** Returns the line of an export, which `webhook verify --all` and `webhook events import` read. */
export function formatExportLine(event: InboxEvent): string {
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

/** Returns an event of the inbox in the form of a list. Times are in ISO 8601. */
export function toListedEvent(event: InboxEvent) {
  return {
    id: event.id,
    received_at: isoTime(event.receivedAt),
    request_id: event.requestId ?? null,
    status: event.status ?? null,
    /** The reason in an event with status ERROR. */
    error_reason: errorReasonOf(event.body) ?? null,
    forwarded: event.forward === 'done',
    /** Whether there are no further attempts to forward the event. */
    dropped: event.forward === 'dropped',
    /** The state of forwarding for a table: "-", "waits", "dropped", or the time. */
    forwarding: forwardingText(event),
    repeats: event.repeats,
    attempts: event.attempts,
    last_answer: event.lastAnswer ?? null,
    oddity: event.oddity ?? null,
  }
}

function forwardingText({ forward, forwardedAt }: InboxEvent): string {
  if (forward === 'none') return '-'
  if (forward === 'dropped') return 'dropped'
  return forward === 'waiting' || forwardedAt === undefined ? 'waits' : localTime(forwardedAt)
}

/** Returns why an event cannot be dropped, as the end of the sentence "event 3 …". */
export function whyNotDropped({ forward, forwardedAt = 0 }: InboxEvent): string {
  return forward === 'done' ? `was forwarded at ${localTime(forwardedAt)}` : 'does not wait to be forwarded'
}

export function notForwardedMessage(missedCount: number, eventCount: number): string {
  return eventCount === 1
    ? 'the event was not acknowledged'
    : `${missedCount} of ${eventCount} events were not acknowledged`
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
  /** The HTTP status; null if there was no answer, or if the event was only queued. */
  status: number | null
  failure: string | null
}

/** Returns `error_reason` of the body ("Present only when status is ERROR; diagnostic text"), or undefined. */
export function errorReasonOf(body: Uint8Array): string | undefined {
  const reason = propertyOf(parseJsonBytes(body), 'error_reason')
  return typeof reason === 'string' && reason !== '' ? reason : undefined
}
