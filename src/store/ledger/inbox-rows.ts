import type { InboxEvent } from '../../domain/webhook/inbox-event.ts'

export interface EventRow {
  id: number
  base_url: string | null
  received_at: number
  body: Uint8Array
  signature: string
  request_id: string | null
  status: string | null
  event: string | null
  oddity: string | null
  repeats: number
  forward: 'none' | 'waiting' | 'done'
  attempts: number
  last_answer: string | null
  forwarded_at: number | null
}

export function eventOf(row: EventRow): InboxEvent {
  return {
    id: row.id,
    baseUrl: row.base_url ?? undefined,
    receivedAt: row.received_at,
    body: row.body,
    signature: row.signature,
    requestId: row.request_id ?? undefined,
    status: row.status ?? undefined,
    event: row.event ?? undefined,
    oddity: row.oddity ?? undefined,
    repeats: row.repeats,
    // Given up is what waits no more and was never taken.
    forward: row.forward === 'done' && row.forwarded_at === null ? 'dropped' : row.forward,
    attempts: row.attempts,
    lastAnswer: row.last_answer ?? undefined,
    forwardedAt: row.forwarded_at ?? undefined,
  }
}
