import { statusRank } from '../../contract/statuses.ts'
import { maxForwardDelayMs } from '../../domain/webhook/delivery.ts'
import { serviceOf } from '../../domain/submission/identity.ts'
import {
  type EventFilter,
  identityOf,
  type InboxEvent,
  notUuid,
  type ReceivedEvent,
  withoutBody,
} from '../../domain/webhook/events.ts'
import { all, get, insertRows, run, runShared, type Work, readPages, updateRows } from './engine.ts'
import { sha256 } from './fingerprints.ts'
import { type Lease, StorePart, shortWait } from './store-part.ts'
import { sqlIsOfService, sqlStatusRank } from './submission-rows.ts'

/** The channel on which processes that wait for events or queued batches are notified. */
export const newsChannel = 'refcheck_news'

/** Events that are stored already, by their identities, and events of requests whose person was erased. */
export const selectKnown = `
SELECT 'stored' AS kind, identity, id FROM events WHERE {isIn identity, identities}
UNION ALL
SELECT 'erased', came.identity, 0
FROM {rows requests, requestId text, baseUrl text, identity text} CROSS JOIN submissions s
WHERE s.request_id = came.request_id AND s.email IS NULL AND s.body IS NULL
  AND ${sqlIsOfService('s', 'came.base_url')}`

export const countRepeats = `
UPDATE events AS e SET repeats = e.repeats + came.times
FROM {rows repeated, identity text, times integer} WHERE e.identity = came.identity`

/**
 * Events may arrive in any order, but "terminal statuses never transition further": only a status of a higher rank
 * replaces another. Events do not contain the request's checks.
 */
export const updateStatuses = `
UPDATE submissions AS s SET request_status = came.status, request_status_at = came.at, checks = NULL
FROM {rows statuses, requestId text, baseUrl text, status text, at integer}
WHERE s.request_id = came.request_id AND ${sqlIsOfService('s', 'came.base_url')}
  AND ${sqlStatusRank('came.status')} > ${sqlStatusRank("coalesce(s.request_status, 'RECEIVED')")}`

/** Events; an event that no longer waits and was never forwarded has the state 'dropped'. */
const selectEvents = `
SELECT id, base_url, received_at, body, signature, request_id, status, event, oddity, repeats, attempts, last_answer,
  forwarded_at, CASE WHEN forward = 'done' AND forwarded_at IS NULL THEN 'dropped' ELSE forward END AS forward
FROM events e`

const selectPage = `${selectEvents}
WHERE id > :after
  AND (CAST(:baseUrl AS text) IS NULL OR base_url IS NULL OR base_url = :baseUrl)
  AND (CAST(:requestId AS text) IS NULL OR request_id = :requestId)
  AND (CAST(:status AS text) IS NULL OR status = :status)
  AND (CAST(:since AS bigint) IS NULL OR received_at >= :since)
  AND (CAST(:until AS bigint) IS NULL OR received_at < :until)
ORDER BY id LIMIT CAST(:limit AS bigint)`

const selectUnmatched = `
SELECT request_id, base_url, max(id) AS last FROM events e
WHERE request_id IS NOT NULL AND oddity IS DISTINCT FROM '${notUuid}'
  AND NOT EXISTS (
    SELECT 1 FROM submissions s WHERE s.request_id = e.request_id AND ${sqlIsOfService('s', 'e.base_url')}
  )
GROUP BY request_id, base_url ORDER BY last DESC`

export const selectLatest = `
SELECT status, received_at FROM events
WHERE request_id = :requestId AND (base_url IS NULL OR base_url = :baseUrl)
  AND status IS NOT NULL AND oddity IS NULL
ORDER BY ${sqlStatusRank('status')} DESC, id DESC
LIMIT 1`

/** SQL condition: no earlier event of the same request waits to be forwarded. */
const isFirstOfRequest = `NOT EXISTS (
    SELECT 1 FROM events p
    WHERE p.forward = 'waiting' AND p.request_id = e.request_id AND p.base_url IS NOT DISTINCT FROM e.base_url
      AND p.id < e.id
  )`

const selectDue = `${selectEvents}
WHERE forward = 'waiting'
  AND due_at NOT BETWEEN CAST(:now AS bigint) + 1 AND CAST(:now AS bigint) + ${maxForwardDelayMs} AND ${isFirstOfRequest}
ORDER BY id LIMIT CAST(:limit AS bigint)`

/** An event that follows a waiting event of its request is not due before it, whatever its own time is. */
const selectNextDue = `
SELECT min(due_at) AS due FROM events e WHERE forward = 'waiting' AND ${isFirstOfRequest}`

/**
 * Ends the forwarding of an event. Without `:at`, the event was not forwarded: it is dropped if it still waits.
 * `answer`: the receiver's answer to the last try.
 */
const updateEnded = `
UPDATE events SET forward = 'done', forwarded_at = CAST(:at AS bigint),
  attempts = attempts + CASE WHEN CAST(:answer AS text) IS NULL THEN 0 ELSE 1 END,
  last_answer = coalesce(CAST(:answer AS text), last_answer)
WHERE id = :id AND (CAST(:at AS bigint) IS NOT NULL OR forward = 'waiting') RETURNING *`

const updateRefused = `
UPDATE events SET due_at = :retryAt, attempts = attempts + 1, last_answer = :answer WHERE id = :id`

/** The kind of data that another process may have added; '' if the store's signal does not name it. */
export type ArrivalKind = 'event' | 'batch' | ''

interface IdentifiedEvent {
  event: ReceivedEvent
  identity: string
}

/**
 * Events that were received. Events that `add` has returned are on disk. "The pair (request_id, status)
 * identifies a status update already processed": a repeated event is counted, not stored again.
 */
export class Inbox extends StorePart {
  /**
   * Calls `wake` when another process may have added events or queued a batch; undefined if the store has no such
   * signal.
   */
  readonly onArrival?: (wake: (kind: ArrivalKind) => void) => Promise<void> = async (wake) =>
    this.engine.listen?.(newsChannel, (kind) => wake(kind as ArrivalKind))

  /**
   * Stores events with one flush to the disk. Returns, for each event, its id and whether it was stored
   * already. `shouldForward`: whether the events are queued for forwarding. An order that an event names gets
   * the event's status, unless its status already has the same or a higher rank.
   */
  add(
    events: readonly ReceivedEvent[],
    shouldForward: boolean,
  ): Promise<{ id: number; repeated: boolean }[]> {
    if (events.length === 0) return Promise.resolve([])
    const received = events.map((event) => ({ event, identity: identityOf(event, sha256) }))
    return this.engine.transaction(() => this.#addEvents(received, shouldForward), 'events')
  }

  *#addEvents(
    received: readonly IdentifiedEvent[],
    shouldForward: boolean,
  ): Work<{ id: number; repeated: boolean }[]> {
    const { stored: ids, erased } = yield* this.#findKnown(received)
    const identities = new Set(ids.keys())
    const newEvents = received.filter(({ identity }) => identities.size < identities.add(identity).size)
    const added = yield* insertRows<{ id: number; identity: string }>(
      'events',
      // An event that is to be forwarded is stored unchanged until it was forwarded.
      newEvents.map((each) =>
        eventFields(each, shouldForward ? each.event : withoutErasedPerson(each, erased), shouldForward),
      ),
      'RETURNING id, identity',
    )
    for (const { id, identity } of added) ids.set(identity, id)
    yield* this.#recordStatuses(newEvents)
    const firstReceipts = new Set(newEvents)
    yield* this.#countRepeats(received.filter((each) => !firstReceipts.has(each)))
    if (newEvents.length > 0) yield* runShared(`NOTIFY ${newsChannel}, 'event'`)
    return received.map((each) => ({ id: ids.get(each.identity) ?? 0, repeated: !firstReceipts.has(each) }))
  }

  /**
   * Returns the ids of events that are stored already, by their identities, and the identities of events whose person
   * was erased.
   */
  *#findKnown(
    received: readonly IdentifiedEvent[],
  ): Work<{ stored: Map<string, number>; erased: Set<string> }> {
    const rows = yield* all<{ kind: 'stored' | 'erased'; identity: string; id: number }>(selectKnown, {
      identities: received.map(({ identity }) => identity),
      requests: received.flatMap(({ event: { requestId, baseUrl }, identity }) =>
        requestId === undefined ? [] : { requestId: requestId.toLowerCase(), baseUrl, identity },
      ),
    })
    const stored = rows.filter(({ kind }) => kind === 'stored')
    const erased = rows.filter(({ kind }) => kind === 'erased')
    return {
      stored: new Map(stored.map(({ identity, id }) => [identity, id])),
      erased: new Set(erased.map(({ identity }) => identity)),
    }
  }

  /** Stores the status that each event names with its order, so that lists of orders show it without a read. */
  *#recordStatuses(newEvents: readonly IdentifiedEvent[]): Work<void> {
    const latest = new Map<
      string,
      Pick<ReceivedEvent, 'requestId' | 'baseUrl'> & { status: string; at: number }
    >()
    for (const { event } of newEvents) {
      const { baseUrl, status, oddity, receivedAt: at } = event
      const requestId = event.requestId?.toLowerCase()
      if (requestId === undefined || status === undefined || oddity !== undefined) continue
      const key = `${baseUrl ?? ''} ${requestId}`
      const earlier = latest.get(key)
      if (earlier !== undefined && rankOf(earlier.status) >= rankOf(status)) continue
      latest.set(key, { requestId, baseUrl, status, at })
    }
    if (latest.size > 0) yield* run(updateStatuses, { statuses: [...latest.values()] })
  }

  *#countRepeats(repeated: readonly IdentifiedEvent[]): Work<void> {
    const repeatsByIdentity = Map.groupBy(repeated, ({ identity }) => identity)
    const rows = [...repeatsByIdentity].map(([identity, { length }]) => ({ identity, times: length }))
    if (rows.length > 0) yield* run(countRepeats, { repeated: rows })
  }

  /** Returns the events in the order of receipt. */
  list(filter: EventFilter = {}): AsyncGenerator<InboxEvent> {
    const requestId = filter.requestId?.toLowerCase()
    return readPages(
      filter,
      (after, limit) => this.engine.run(all<InboxEvent>(selectPage, { ...filter, requestId, after, limit })),
      ({ id }) => id,
    )
  }

  async get(id: number): Promise<InboxEvent | undefined> {
    return this.engine.run(get<InboxEvent>(`${selectEvents} WHERE id = :id`, { id }))
  }

  /**
   * Returns the ids of requests that no submission of their service has, the newest first. `baseUrl`: only requests
   * of this service, and of an unknown one. The status of the event may be any text.
   */
  async listUnmatchedIds(baseUrl?: string): Promise<string[]> {
    const rows = await this.engine.run(
      all<{ requestId: string; baseUrl: string | undefined }>(selectUnmatched),
    )
    const rowsOfService = rows.filter(
      (row) =>
        baseUrl === undefined || row.baseUrl === undefined || serviceOf(row.baseUrl) === serviceOf(baseUrl),
    )
    return [...new Set(rowsOfService.map(({ requestId }) => requestId))]
  }

  /**
   * Returns the status of the highest rank that events reported for a request, and when that event was received. A
   * terminal status is never followed by another.
   */
  findLatestStatus(baseUrl: string, id: string): Promise<{ status: string; receivedAt: number } | undefined> {
    return this.engine.run(get(selectLatest, { baseUrl, requestId: id.toLowerCase() }))
  }

  /**
   * Returns the events that are due to be forwarded, at most one for each request: the earliest, so that the order
   * within a request is preserved whatever fails. An event whose time is more than two minutes ahead counts as due:
   * the clock must have been set back.
   */
  async listDue(now: number, limit: number): Promise<InboxEvent[]> {
    return this.engine.run(all<InboxEvent>(selectDue, { now, limit }))
  }

  /** Returns the time at which the next event is due; undefined if none waits. */
  async findNextDueTime(): Promise<number | undefined> {
    return (await this.engine.run(get<{ due: number | undefined }>(selectNextDue)))?.due
  }

  async recordForwarded(id: number, at: number, answer: string): Promise<void> {
    await this.engine.transaction(() => this.#endForwarding({ id, at, answer }))
  }

  /**
   * Drops an event, so that later events of its request are forwarded. Returns false if the event does not wait.
   * `answer`: the answer to the last try.
   */
  drop(id: number, answer?: string): Promise<boolean> {
    return this.engine.transaction(() => this.#endForwarding({ id, answer }))
  }

  /**
   * Ends the forwarding of an event. Its unchanged body is then not needed any more, and is removed if the person was
   * erased meanwhile.
   */
  *#endForwarding(values: { id: number; at?: number; answer?: string | undefined }): Work<boolean> {
    const event = yield* get<InboxEvent>(updateEnded, values)
    if (event === undefined) return false
    const identified = { event, identity: '' }
    const { erased } = yield* this.#findKnown([identified])
    const { body, signature } = withoutErasedPerson(identified, erased)
    if (signature !== event.signature)
      yield* updateRows('events', { body: Buffer.from(body), signature }, { id: event.id })
    return true
  }

  /** Records that the receiver refused an event, which is due again at `retryAt`. */
  async recordRefused(id: number, retryAt: number, answer: string): Promise<void> {
    await this.engine.run(run(updateRefused, { id, retryAt, answer }))
  }

  /**
   * Makes this process the only one that forwards events of the store, for all receivers. Returns undefined if
   * another process does so.
   */
  leaseForwarding(): Promise<Lease | undefined> {
    return this.leases.acquire({ id: 'forwarding', kind: 'file' }, shortWait)
  }

  /** Queues an event to be forwarded again. Returns false if there is no such event. */
  async requeue(id: number): Promise<boolean> {
    return (await this.engine.run(updateRows('events', { forward: 'waiting', dueAt: 0 }, { id }))) === 1
  }
}

/** Removes the body of an event whose person was erased: a repeated event must not restore data that was erased. */
function withoutErasedPerson({ event, identity }: IdentifiedEvent, erased: Set<string>): ReceivedEvent {
  return erased.has(identity) ? withoutBody(event) : event
}

function eventFields({ identity }: IdentifiedEvent, event: ReceivedEvent, shouldForward: boolean) {
  const { baseUrl, receivedAt, body, signature, status, oddity, event: name } = event
  const requestId = event.requestId?.toLowerCase()
  const columns = { requestId, status, oddity, event: name }
  return {
    identity,
    baseUrl,
    receivedAt,
    body,
    signature,
    ...columns,
    forward: shouldForward ? 'waiting' : 'none',
  }
}

const rankOf = (status: string): number =>
  (statusRank as Readonly<Record<string, number>>)[status] ?? Math.max(...Object.values(statusRank))
