import { signingKey } from '../../contract/signature.ts'
import { type LoggedDelivery, readLog } from '../../domain/webhook/capture.ts'
import { isAccepted } from '../../domain/webhook/delivery.ts'
import {
  type EventFilter,
  formatExportLine,
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

/**
 * Maximum number of events that an import adds at once. This limits its memory: a log of a quarter of a GiB
 * has more than a million events.
 */
const maxEventsAtOnce = 1_000

/**
 * Adds captured events to the inbox, after the signature of each was verified. An interrupted import can be repeated.
 */
export async function importEvents(
  inbox: Pick<Inbox, 'add'>,
  bytes: Uint8Array,
  { secret, baseUrl, now, name }: { secret: string; baseUrl: string | undefined; now: number; name: string },
): Promise<Imported> {
  const imported: Imported = { read: 0, added: 0, repeated: 0 }
  const key = signingKey(secret)
  for (const logged of readLog(bytes)) requireVerified(logged, key, name)
  let events: ReceivedEvent[] = []
  const addCollected = async (): Promise<void> => {
    const results = events.length === 0 ? [] : await inbox.add(events, false)
    const repeated = results.filter((each) => each.repeated).length
    imported.read += events.length
    imported.added += events.length - repeated
    imported.repeated += repeated
    events = []
  }
  for (const { delivery, receivedAt } of readLog(bytes)) {
    if (delivery === undefined) continue
    // An event that was captured on another machine keeps the time at which it was received there.
    const receivedTime = receivedAt === undefined || receivedAt > now ? now : receivedAt
    events.push(readEvent(delivery.body, delivery.signatures[0] ?? '', receivedTime, baseUrl))
    if (events.length === maxEventsAtOnce) await addCollected()
  }
  await addCollected()
  return imported
}

function requireVerified({ position, delivery, fault }: LoggedDelivery, key: SigningKey, name: string): void {
  const failure = delivery === undefined ? fault : verifyWith(delivery, key).failure?.message
  if (delivery !== undefined && failure === undefined) return
  throw new InvalidInputError(`${name}: ${position}: ${failure ?? 'it is not a delivery'}`, {
    hint: `Nothing was imported. See what is wrong with each line: refcheck webhook verify --all ${shellWord(name)}`,
  })
}

/** Yields the events with all their fields, one event a line. */
export async function* exportLines(inbox: Inbox, filter: EventFilter): AsyncGenerator<Uint8Array> {
  for await (const event of inbox.list(filter)) yield new TextEncoder().encode(`${formatExportLine(event)}\n`)
}

/**
 * Drops events that wait to be forwarded. Throws an InvalidInputError if an event does not wait; no event is
 * dropped then.
 */
export async function dropEvents(inbox: Inbox, events: readonly InboxEvent[]): Promise<void> {
  for (const event of events) {
    if (event.forward === 'waiting' || event.forward === 'dropped') continue
    throw new InvalidInputError(`event ${event.id} ${whyNotDropped(event)}`, {
      hint: 'Nothing was dropped. See which events wait: refcheck webhook events list',
    })
  }
  for (const { id } of events) await inbox.drop(id)
}

/** Throws for an event about an erased person, whose body and signature are no longer stored. */
function requireNotErased(events: readonly InboxEvent[]): void {
  const erased = events.find(({ signature }) => signature === '')
  if (erased === undefined) return
  throw new InvalidInputError(`event ${erased.id} is about a person who was removed`, {
    hint: 'Nothing was forwarded: of such an event only the status is kept.',
  })
}

/** Queues events for forwarding by the receiver that runs on the store. */
export async function requeueEvents(inbox: Inbox, events: readonly InboxEvent[]): Promise<void> {
  requireNotErased(events)
  for (const { id } of events) await inbox.requeue(id)
}

/** Posts events with their original bytes and signatures, one after another. */
export async function replayEvents(
  events: readonly InboxEvent[],
  options: Omit<DeliveryOptions, 'secret'>,
): Promise<{ replies: ReplayReply[]; failure: IncompleteError | undefined }> {
  requireNotErased(events)
  const replies: ReplayReply[] = []
  let missedCount = 0
  for (const { id, body, signature } of events) {
    const reply = await postEvent({ body, signatures: [signature] }, { ...options, secret: '' })
    if (!isAccepted(reply)) missedCount += 1
    replies.push({ id, status: reply.status, failure: reply.failure })
  }
  const failure =
    missedCount === 0
      ? undefined
      : new IncompleteError(notForwardedMessage(missedCount, events.length), {
          hint: 'A receiver has to answer 2xx within 10 seconds.',
        })
  return { replies, failure }
}
