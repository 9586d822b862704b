import { statusRank } from '../../contract/statuses.ts'
import { maxForwardDelayMs } from '../../domain/webhook/delivery.ts'
import {
  type EventFilter,
  identityOf,
  type InboxEvent,
  type ReceivedEvent,
  withoutBody,
} from '../../domain/webhook/events.ts'
import {
  all,
  get,
  insertRows,
  run,
  runShared,
  type Values,
  type Work,
  readPages,
  updateRows,
} from './engine.ts'
import { sha256 } from './fingerprints.ts'
import { type Lease, StorePart, shortWait } from './store-part.ts'
import { sqlIsOfService, sqlStatusRank } from './submission-rows.ts'

/** Wakes processes that wait for events or queued batches. */
export const newsChannel = 'refcheck_news'

/** By their identities, events that are stored already, and those of requests whose person was erased. */
export const selectKnown = `
SELECT 'stored' AS kind, identity, id FROM events WHERE {isIn identity, identities}
UNION ALL
SELECT 'erased', came.identity, 0
FROM {rows requests, requestId text, baseUrl text, identity text} CROSS JOIN submissions s
WHERE s.request_id = came.request_id AND s.email IS NULL AND s.body IS NULL
  AND ${sqlIsOfService('s', 'came.base_url')}`

export const countRepeats = `
UPDATE events AS e SET repeats = e.repeats + came.times
FROM {rows repeated, identity text, times number} WHERE e.identity = came.identity`

/**
 * Events may come out of order, but "terminal statuses never transition further": a status is only ever followed by one of a
 * higher rank. Events do not name the request's checks.
 */
export const updateStatuses = `
UPDATE submissions AS s SET request_status = came.status, request_status_at = came.at, checks = NULL
FROM {rows statuses, requestId text, baseUrl text, status text, at number}
WHERE s.request_id = came.request_id AND ${sqlIsOfService('s', 'came.base_url')}
  AND ${sqlStatusRank('came.status')} > ${sqlStatusRank("coalesce(s.request_status, 'RECEIVED')")}`

/** Given up is what waits no more and was never taken. */
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
SELECT request_id, max(id) AS last FROM events e
WHERE request_id IS NOT NULL AND oddity IS NULL
  AND (CAST(:baseUrl AS text) IS NULL OR base_url IS NULL OR base_url = :baseUrl)
  AND NOT EXISTS (
    SELECT 1 FROM submissions s WHERE s.request_id = e.request_id AND ${sqlIsOfService('s', 'e.base_url')}
  )
GROUP BY request_id ORDER BY last DESC`

export const selectLatest = `
SELECT status, received_at FROM events
WHERE request_id = :requestId AND (base_url IS NULL OR base_url = :baseUrl)
  AND status IS NOT NULL AND oddity IS NULL
ORDER BY ${sqlStatusRank('status')} DESC, id DESC
LIMIT 1`

/** Whether no earlier event of its request waits. */
const isFirst = `NOT EXISTS (
    SELECT 1 FROM events p
    WHERE p.forward = 'waiting' AND p.request_id = e.request_id AND p.base_url IS NOT DISTINCT FROM e.base_url
      AND p.id < e.id
  )`

const selectDue = `${selectEvents}
WHERE forward = 'waiting'
  AND due_at NOT BETWEEN CAST(:now AS bigint) + 1 AND CAST(:now AS bigint) + ${maxForwardDelayMs} AND ${isFirst}
ORDER BY id LIMIT CAST(:limit AS bigint)`

/** An event behind another is not due before that one, whatever its own time says. */
const selectNextDue = `
SELECT min(due_at) AS due FROM events e WHERE forward = 'waiting' AND ${isFirst}`

/** Without a time of forwarding it was never taken, and is dropped if it waits. */
const updateEnded = `
UPDATE events SET forward = 'done', forwarded_at = CAST(:at AS bigint),
  attempts = attempts + CASE WHEN CAST(:answer AS text) IS NULL THEN 0 ELSE 1 END,
  last_answer = coalesce(CAST(:answer AS text), last_answer)
WHERE id = :id AND (CAST(:at AS bigint) IS NOT NULL OR forward = 'waiting') RETURNING *`

const updateRefused = `
UPDATE events SET due_at = :retryAt, attempts = attempts + 1, last_answer = :answer WHERE id = :id`

/** What came; '' where the store does not say. */
export type Arrival = 'event' | 'batch' | ''

interface Identified {
  event: ReceivedEvent
  identity: string
}

/**
 * Events that were received. What `add` has answered is on disk. "The pair (request_id, status)
 * identifies a status update already processed": one that comes again is counted, not stored again.
 */
export class Inbox extends StorePart {
  /** Calls back when another process may have added events or queued a batch, where the store has such a signal. */
  readonly onArrival?: (wake: (what: Arrival) => void) => Promise<void> = async (wake) =>
    this.engine.listen?.(newsChannel, (what) => wake(what as Arrival))

  /**
   * All of them with one flush. For each its id, and whether it was there before. `forward`: they are to
   * be forwarded. An order that one tells of has its status from then on, unless it was further on already.
   */
  async add(
    events: readonly ReceivedEvent[],
    forward: boolean,
  ): Promise<{ id: number; repeated: boolean }[]> {
    if (events.length === 0) return []
    const came = events.map((event) => ({ event, identity: identityOf(event, sha256) }))
    return this.engine.transaction(() => this.#add(came, forward), 'events')
  }

  *#add(came: readonly Identified[], forward: boolean): Work<{ id: number; repeated: boolean }[]> {
    const { stored: ids, erased } = yield* this.#known(came)
    const seen = new Set(ids.keys())
    const fresh = came.filter(({ identity }) => seen.size < seen.add(identity).size)
    const added = yield* insertRows<{ id: number; identity: string }>(
      'events',
      // An event that is to be forwarded is stored as it came until it was.
      fresh.map((each) => fieldsOf(each, forward ? each.event : asStored(each, erased), forward)),
      'RETURNING id, identity',
    )
    for (const { id, identity } of added) ids.set(identity, id)
    yield* this.#recordStatuses(fresh)
    const first = new Set(fresh)
    yield* this.#countRepeats(came.filter((each) => !first.has(each)))
    if (fresh.length > 0) yield* runShared(`NOTIFY ${newsChannel}, 'event'`)
    return came.map((each) => ({ id: ids.get(each.identity) ?? 0, repeated: !first.has(each) }))
  }

  /** Ids of those that are stored already by their identity, and identities of those whose person was erased. */
  *#known(came: readonly Identified[]): Work<{ stored: Map<string, number>; erased: Set<string> }> {
    const rows = yield* all<{ kind: 'stored' | 'erased'; identity: string; id: number }>(selectKnown, {
      identities: came.map(({ identity }) => identity),
      requests: came.flatMap(({ event: { requestId, baseUrl }, identity }) =>
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

  /** Lists of orders show the status that an event names, without a read. */
  *#recordStatuses(fresh: readonly Identified[]): Work<void> {
    const latest = new Map<
      string,
      Pick<ReceivedEvent, 'requestId' | 'baseUrl'> & { status: string; at: number }
    >()
    for (const { event } of fresh) {
      const { baseUrl, status, oddity, receivedAt: at } = event
      const requestId = event.requestId?.toLowerCase()
      if (requestId === undefined || status === undefined || oddity !== undefined) continue
      const key = `${baseUrl ?? ''} ${requestId}`
      const before = latest.get(key)
      if (before !== undefined && rankOf(before.status) >= rankOf(status)) continue
      latest.set(key, { requestId, baseUrl, status, at })
    }
    if (latest.size > 0) yield* run(updateStatuses, { statuses: [...latest.values()] })
  }

  *#countRepeats(repeated: readonly Identified[]): Work<void> {
    const times = Map.groupBy(repeated, ({ identity }) => identity)
    const rows = [...times].map(([identity, { length }]) => ({ identity, times: length }))
    if (rows.length > 0) yield* run(countRepeats, { repeated: rows })
  }

  /** In the order of receipt. */
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

  /** Ids of requests that no submission of their service holds, the newest first. `baseUrl`: of this service alone. */
  async unclaimed(baseUrl?: string): Promise<string[]> {
    const rows = await this.engine.run(all<{ requestId: string }>(selectUnmatched, { baseUrl }))
    return rows.map(({ requestId }) => requestId)
  }

  /** The newest status that events reported for a request, and when it came. A terminal one is never followed by another. */
  latestStatus(baseUrl: string, id: string): Promise<{ status: string; receivedAt: number } | undefined> {
    return this.engine.run(get(selectLatest, { baseUrl, requestId: id.toLowerCase() }))
  }

  /**
   * Events that wait to be forwarded and whose time has come (or is so far off that the clock must have been
   * set back: more than two minutes), at most one a request: the earliest, so that
   * the order within a request holds whatever fails.
   */
  async due(now: number, limit: number): Promise<InboxEvent[]> {
    return this.engine.run(all<InboxEvent>(selectDue, { now, limit }))
  }

  /** When the next one is due; undefined where none waits. */
  async nextDue(): Promise<number | undefined> {
    return (await this.engine.run(get<{ due: number | undefined }>(selectNextDue)))?.due
  }

  async forwarded(id: number, at: number, answer: string): Promise<void> {
    await this.engine.transaction(() => this.#end({ id, at, answer }))
  }

  /** It is not tried again, so that later ones of its request go on; false where it does not wait. `answer`: of a last try. */
  drop(id: number, answer?: string): Promise<boolean> {
    return this.engine.transaction(() => this.#end({ id, answer }))
  }

  /** What was to be forwarded as it came is not needed any more, should its person have been erased meanwhile. */
  *#end(values: Values): Work<boolean> {
    const event = yield* get<InboxEvent>(updateEnded, values)
    if (event === undefined) return false
    const came = { event, identity: '' }
    const { erased } = yield* this.#known([came])
    const { body, signature } = asStored(came, erased)
    if (signature !== event.signature)
      yield* updateRows('events', { body: Buffer.from(body), signature }, { id: event.id })
    return true
  }

  /** It was not taken; it is due again at `retryAt`. */
  async refused(id: number, retryAt: number, answer: string): Promise<void> {
    await this.engine.run(run(updateRefused, { id, retryAt, answer }))
  }

  /** Makes this process the one that forwards for all receivers on the store; undefined where another one is. */
  leaseForwarding(): Promise<Lease | undefined> {
    return this.holds.acquire({ id: 'forwarding', kind: 'file' }, shortWait)
  }

  /** Queues an event again. */
  async requeue(id: number): Promise<boolean> {
    return (await this.engine.run(updateRows('events', { forward: 'waiting', dueAt: 0 }, { id }))) === 1
  }
}

/** "What was purged stays so: a repeated event … brings nothing back." */
function asStored({ event, identity }: Identified, erased: ReadonlySet<string>): ReceivedEvent {
  return erased.has(identity) ? withoutBody(event) : event
}

function fieldsOf({ identity }: Identified, event: ReceivedEvent, forward: boolean) {
  const { baseUrl, receivedAt, body, signature, status, oddity, event: name } = event
  const requestId = event.requestId?.toLowerCase()
  const columns = { requestId, status, oddity, event: name }
  return { identity, baseUrl, receivedAt, body, signature, ...columns, forward: forward ? 'waiting' : 'none' }
}

const rankOf = (status: string): number =>
  (statusRank as Readonly<Record<string, number>>)[status] ?? Math.max(...Object.values(statusRank))
