import type { InboxEvent } from './inbox-event.ts'
import { errorReasonOf } from './error-reason.ts'
import { localTime } from '../wording/local-time.ts'

/** An event of the inbox as it is listed. Times are ISO 8601. */
export interface ListedEvent {
  id: number
  received_at: string
  request_id: string | null
  status: string | null
  /** Why, of one that tells of ERROR. */
  error_reason: string | null
  forwarded: boolean
  /** Given up: nobody tries to forward it any more. */
  dropped: boolean
  /** In words: "-", "waits", "dropped", or when. */
  forwarding: string
  repeats: number
  attempts: number
  last_answer: string | null
  oddity: string | null
}

/** An event whole: its body as text, and as base64 where it is no text. */
export function shownEvent(event: InboxEvent) {
  const { text, base64 } = textOf(event.body)
  return { ...listed(event), signature: event.signature, body: text, body_base64: base64 }
}

/** One line of an export: what `webhook verify --all` and `webhook events import` read. */
export function exportedLine(event: InboxEvent): string {
  const { text, base64 } = textOf(event.body)
  return JSON.stringify({
    id: event.id,
    received_at: new Date(event.receivedAt).toISOString(),
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

export function listed(event: InboxEvent): ListedEvent {
  return {
    id: event.id,
    received_at: new Date(event.receivedAt).toISOString(),
    request_id: event.requestId ?? null,
    status: event.status ?? null,
    error_reason: errorReasonOf(event.body) ?? null,
    forwarded: event.forward === 'done',
    dropped: event.forward === 'dropped',
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

export function notForwarded(missed: number, of: number): string {
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
