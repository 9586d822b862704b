import { type LoggedDelivery, readLog } from '../../domain/webhook/capture.ts'
import { isAccepted } from '../../domain/webhook/delivery.ts'
import {
  type EventFilter,
  exportedLine,
  type Imported,
  type InboxEvent,
  toListedEvent,
  type ListedEvent,
  notForwardedMessage,
  type ReceivedEvent,
  type ReplayReply,
  whyNotDropped,
} from '../../domain/webhook/events.ts'
import { readEvent } from '../../domain/webhook/read-event.ts'
import { type SigningKey, verifyWith } from '../../domain/webhook/verify.ts'
import { shellWord } from '../../domain/wording/pasted-command.ts'
import { IncompleteError, InvalidInputError, NotFoundError } from '../../errors/kinds.ts'
import type { Inbox } from '../../store/ledger/inbox.ts'
import { type DeliveryOptions, postEvent } from './send.ts'

export async function listEvents(inbox: Inbox, filter: EventFilter): Promise<ListedEvent[]> {
  const events: ListedEvent[] = []
  for await (const event of inbox.list(filter)) events.push(toListedEvent(event))
  return events
}

export async function findEvent(inbox: Inbox, id: number): Promise<InboxEvent> {
  const event = await inbox.get(id)
  if (event !== undefined) return event
  throw new NotFoundError(`no event ${id} in this inbox`, {
    hint: 'List the events with: refcheck webhook events list',
  })
}

/** A log of a quarter of a GiB holds more than a million. */
const maxEventsAtOnce = 1_000

/** Adds captured events to the inbox once each of them has a valid signature. It may be repeated after it was interrupted. */
export async function importEvents(
  inbox: Pick<Inbox, 'add'>,
  bytes: Uint8Array,
  { key, baseUrl, now, name }: { key: SigningKey; baseUrl: string | undefined; now: number; name: string },
): Promise<Imported> {
  const imported: Imported = { read: 0, added: 0, repeated: 0 }
  for (const logged of readLog(bytes)) requireGenuine(logged, key, name)
  let events: ReceivedEvent[] = []
  const add = async (): Promise<void> => {
    const results = events.length === 0 ? [] : await inbox.add(events, false)
    const repeated = results.filter((each) => each.repeated).length
    imported.read += events.length
    imported.added += events.length - repeated
    imported.repeated += repeated
    events = []
  }
  for (const { delivery, receivedAt } of readLog(bytes)) {
    if (delivery === undefined) continue
    // One that was captured elsewhere came when it came there.
    const at = receivedAt === undefined || receivedAt > now ? now : receivedAt
    events.push(readEvent(delivery.body, delivery.signatures[0] ?? '', at, baseUrl))
    if (events.length === maxEventsAtOnce) await add()
  }
  await add()
  return imported
}

function requireGenuine({ position, delivery, fault }: LoggedDelivery, key: SigningKey, name: string): void {
  const failure = delivery === undefined ? fault : verifyWith(delivery, key).failure?.message
  if (delivery !== undefined && failure === undefined) return
  throw new InvalidInputError(`${name}: ${position}: ${failure ?? 'it is not a delivery'}`, {
    hint: `Nothing was imported. See what is wrong with each line: refcheck webhook verify --all ${shellWord(name)}`,
  })
}

/** Events whole, a line each. */
export async function* exportLines(inbox: Inbox, filter: EventFilter): AsyncGenerator<Uint8Array> {
  for await (const event of inbox.list(filter)) yield new TextEncoder().encode(`${exportedLine(event)}\n`)
}

/** Gives up forwarding events, all of them or none: each has to wait for it. */
export async function dropEvents(inbox: Inbox, events: readonly InboxEvent[]): Promise<void> {
  for (const event of events) {
    if (event.forward === 'waiting' || event.forward === 'dropped') continue
    throw new InvalidInputError(`event ${event.id} ${whyNotDropped(event)}`, {
      hint: 'Nothing was dropped. See which events wait: refcheck webhook events list',
    })
  }
  for (const { id } of events) await inbox.drop(id)
}

/** Of a person who was removed nothing is left that could be forwarded. */
function requireWhole(events: readonly InboxEvent[]): void {
  const gone = events.find(({ signature }) => signature === '')
  if (gone === undefined) return
  throw new InvalidInputError(`event ${gone.id} is about a person who was removed`, {
    hint: 'Nothing was forwarded: of such an event only the status is kept.',
  })
}

/** Queues events for the receiver that runs on the store. */
export async function requeueEvents(inbox: Inbox, events: readonly InboxEvent[]): Promise<void> {
  requireWhole(events)
  for (const { id } of events) await inbox.requeue(id)
}

/** Posts events as they came, one after another. */
export async function replayEvents(
  events: readonly InboxEvent[],
  options: Omit<DeliveryOptions, 'patienceMs' | 'secret'>,
): Promise<{ replies: ReplayReply[]; failure: IncompleteError | undefined }> {
  requireWhole(events)
  const replies: ReplayReply[] = []
  let missed = 0
  for (const { id, body, signature } of events) {
    const reply = await postEvent(
      { body, signatures: [signature] },
      { ...options, secret: '', patienceMs: 10_000 },
    )
    if (!isAccepted(reply)) missed += 1
    replies.push({ id, status: reply.status, failure: reply.failure })
  }
  const failure =
    missed === 0
      ? undefined
      : new IncompleteError(notForwardedMessage(missed, events.length), {
          hint: 'A receiver has to answer 2xx within 10 seconds.',
        })
  return { replies, failure }
}
