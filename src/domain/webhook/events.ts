import { IncompleteError, InvalidInputError, NotFoundError } from '../../errors/kinds.ts'
import type { EventFilter, Inbox, InboxEvent } from '../../store/ledger/inbox.ts'
import { carry, type CourierOptions, isTaken } from './courier.ts'
import { readLog } from './log.ts'
import { read } from './receive.ts'
import { type SigningKey, verifyWith } from './verify.ts'

/** An event of the inbox as it is listed. Times are ISO 8601. */
export interface ListedEvent {
  id: number
  received_at: string
  request_id: string | null
  status: string | null
  forwarded: boolean
  /** In words: "-", "waits", or when. */
  forwarding: string
  repeats: number
  attempts: number
  last_answer: string | null
  oddity: string | null
}

export async function listEvents(inbox: Inbox, filter: EventFilter): Promise<ListedEvent[]> {
  const events: ListedEvent[] = []
  for await (const event of inbox.list(filter)) events.push(listed(event))
  return events
}

export async function findEvent(inbox: Inbox, id: number): Promise<InboxEvent> {
  const event = await inbox.get(id)
  if (event !== undefined) return event
  throw new NotFoundError(`there is no event ${id} in this inbox`, {
    hint: '"refcheck webhook events list" shows them.',
  })
}

/** An event whole: its body as text, and as base64 where it is no text. */
export function shownEvent(event: InboxEvent) {
  const { text, base64 } = textOf(event.body)
  return { ...listed(event), signature: event.signature, body: text, body_base64: base64 }
}

/** One line of an export: what `webhook verify --all` and `webhook events import` read. */
function exportedLine(event: InboxEvent): string {
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

/** Takes captured events in, all of them or none: each has to be genuine. */
export async function importEvents(
  inbox: Inbox,
  bytes: Uint8Array,
  { key, now, name }: { key: SigningKey; now: number; name: string },
): Promise<Imported> {
  const events = []
  for (const { place, delivery, fault } of readLog(bytes)) {
    const failure = delivery === undefined ? fault : verifyWith(delivery, key).failure?.message
    if (delivery === undefined || failure !== undefined) {
      throw new InvalidInputError(`${name}: ${place}: ${failure ?? 'it is no delivery'}`, {
        hint: 'Nothing was taken in. "refcheck webhook verify --all" tells what is wrong with each.',
      })
    }
    events.push(read(delivery.body, delivery.signatures[0] ?? '', now))
  }
  const results = events.length === 0 ? [] : await inbox.add(events, false)
  const repeated = results.filter((each) => each.repeated).length
  return { read: events.length, added: events.length - repeated, repeated }
}

function listed(event: InboxEvent): ListedEvent {
  return {
    id: event.id,
    received_at: new Date(event.receivedAt).toISOString(),
    request_id: event.requestId ?? null,
    status: event.status ?? null,
    forwarded: event.forward === 'done',
    forwarding: forwardingOf(event),
    repeats: event.repeats,
    attempts: event.attempts,
    last_answer: event.lastAnswer ?? null,
    oddity: event.oddity ?? null,
  }
}

function forwardingOf({ forward, forwardedAt }: InboxEvent): string {
  if (forward === 'none') return '-'
  return forward === 'waiting' || forwardedAt === undefined
    ? 'waits'
    : new Date(forwardedAt).toISOString().slice(0, 19)
}

function notTaken(missed: number, of: number): string {
  return of === 1 ? 'the event was not taken' : `${missed} of ${of} events were not taken`
}

function textOf(body: Uint8Array): { text: string; base64: string | null } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body), base64: null }
  } catch {
    return { text: Buffer.from(body).toString('latin1'), base64: Buffer.from(body).toString('base64') }
  }
}

/** Events whole, a line each. */
export async function* exportLines(inbox: Inbox, filter: EventFilter): AsyncGenerator<Uint8Array> {
  for await (const event of inbox.list(filter)) yield new TextEncoder().encode(`${exportedLine(event)}\n`)
}

/** Queues events for the receiver that runs on the store. */
export async function requeueEvents(inbox: Inbox, events: readonly InboxEvent[]): Promise<void> {
  for (const { id } of events) await inbox.requeue(id)
}

export interface ReplayReply {
  id: number
  /** Null where no answer came, or none was waited for. */
  status: number | null
  failure: string | null
}

/** Posts events as they came, one after another. */
export async function replayEvents(
  events: readonly InboxEvent[],
  options: Omit<CourierOptions, 'patienceMs' | 'secret'>,
): Promise<{ replies: ReplayReply[]; failure: IncompleteError | undefined }> {
  const replies: ReplayReply[] = []
  let missed = 0
  for (const { id, body, signature } of events) {
    const reply = await carry(
      { body, signatures: [signature] },
      { ...options, secret: '', patienceMs: 10_000 },
    )
    if (!isTaken(reply)) missed += 1
    replies.push({ id, status: reply.status, failure: reply.failure })
  }
  const failure =
    missed === 0
      ? undefined
      : new IncompleteError(notTaken(missed, events.length), {
          hint: 'A receiver has to answer 2xx within 10 seconds.',
        })
  return { replies, failure }
}
