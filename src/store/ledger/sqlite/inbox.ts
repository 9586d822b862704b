import type { Hold } from '../ledger.ts'
import type { EventFilter, Inbox, InboxEvent, ReceivedEvent } from '../inbox.ts'
import type { Database, Values } from './database.ts'
import { sha256 } from './fingerprints.ts'
import { aMoment, type Holds } from './holds.ts'

const pageEvents = 500

const insert = `
INSERT INTO events (identity, received_at, body, signature, request_id, status, event, oddity, forward)
VALUES (:identity, :received_at, :body, :signature, :request_id, :status, :event, :oddity, :forward)
ON CONFLICT (identity) DO NOTHING
RETURNING id`

const repeat = 'UPDATE events SET repeats = repeats + 1 WHERE identity = :identity RETURNING id'

const selectUnclaimed = `
SELECT request_id, max(id) AS last FROM events e
WHERE request_id IS NOT NULL AND oddity IS NULL
  AND NOT EXISTS (SELECT 1 FROM submissions s WHERE s.request_id = e.request_id)
GROUP BY request_id ORDER BY last DESC`

/** Events may come out of order, but "terminal statuses never transition further". */
const selectLatest = `
SELECT status, received_at FROM events
WHERE request_id = :request_id AND status IS NOT NULL AND oddity IS NULL
ORDER BY status IN ('COMPLETED', 'ERROR', 'CANCELLED') DESC, status = 'PARTIAL' DESC, id DESC
LIMIT 1`

/** Whether no earlier event of its request waits. */
const isFirst = `NOT EXISTS (
    SELECT 1 FROM events p
    WHERE p.forward = 'waiting' AND p.request_id = e.request_id AND p.id < e.id
  )`

/** Nobody puts an event off for longer (ms): what is due later than this was put off before the clock was set back. */
const longestWait = 120_000

const selectDue = `
SELECT * FROM events e
WHERE forward = 'waiting' AND due_at NOT BETWEEN :now + 1 AND :now + ${longestWait} AND ${isFirst}
ORDER BY id LIMIT :limit`

/** One behind another is not due before that one, whatever its own time says. */
const selectNextDue = `
SELECT min(due_at) AS due FROM events e WHERE forward = 'waiting' AND ${isFirst}`

/** Received events in an SQLite file. */
export class SqliteInbox implements Inbox {
  readonly #database: Database
  readonly #holds: Holds

  constructor(database: Database, holds: Holds) {
    this.#database = database
    this.#holds = holds
  }

  async add(
    events: readonly ReceivedEvent[],
    forward: boolean,
  ): Promise<{ id: number; repeated: boolean }[]> {
    return this.#database.transaction(() => events.map((event) => this.#add(event, forward)))
  }

  async *list(filter: EventFilter = {}): AsyncGenerator<InboxEvent> {
    let left = filter.limit ?? Number.POSITIVE_INFINITY
    for (let after = filter.after ?? 0; left > 0;) {
      const values: Values = {
        after,
        request_id: filter.requestId ?? null,
        status: filter.status ?? null,
        since: filter.since ?? null,
        until: filter.until ?? null,
        limit: Math.min(pageEvents, left),
      }
      const page = this.#database.all(
        `SELECT * FROM events WHERE id > :after
          AND (:request_id IS NULL OR request_id = :request_id)
          AND (:status IS NULL OR status = :status)
          AND (:since IS NULL OR received_at >= :since)
          AND (:until IS NULL OR received_at < :until)
          ORDER BY id LIMIT :limit`,
        values,
      ) as EventRow[]
      yield* page.map(eventOf)
      const last = page.at(-1)
      if (last === undefined || page.length < Number(values['limit'])) return
      after = last.id
      left -= page.length
    }
  }

  async get(id: number): Promise<InboxEvent | undefined> {
    const row = this.#database.get('SELECT * FROM events WHERE id = :id', { id })
    return row === undefined ? undefined : eventOf(row as EventRow)
  }

  async unclaimed(): Promise<string[]> {
    return this.#database.all(selectUnclaimed).map((row) => (row as { request_id: string }).request_id)
  }

  async latestStatus(requestId: string): Promise<{ status: string; receivedAt: number } | undefined> {
    const row = this.#database.get(selectLatest, { request_id: requestId }) as
      | { status: string; received_at: number }
      | undefined
    return row && { status: row.status, receivedAt: row.received_at }
  }

  async due(now: number, limit: number): Promise<InboxEvent[]> {
    return (this.#database.all(selectDue, { now, limit }) as EventRow[]).map(eventOf)
  }

  async nextDue(): Promise<number | undefined> {
    return (this.#database.get(selectNextDue) as { due: number | null }).due ?? undefined
  }

  async forwarded(id: number, at: number, answer: string): Promise<void> {
    this.#database.run(
      `UPDATE events SET forward = 'done', forwarded_at = :at, attempts = attempts + 1, last_answer = :answer
        WHERE id = :id`,
      { id, at, answer },
    )
  }

  async refused(id: number, retryAt: number, answer: string): Promise<void> {
    this.#database.run(
      `UPDATE events SET due_at = :due_at, attempts = attempts + 1, last_answer = :answer WHERE id = :id`,
      { id, due_at: retryAt, answer },
    )
  }

  holdForwarding(): Promise<Hold | undefined> {
    return this.#holds.take({ id: 'forwarding', kind: 'file' }, aMoment)
  }

  async requeue(id: number): Promise<boolean> {
    const queue = `UPDATE events SET forward = 'waiting', due_at = 0 WHERE id = :id`
    return this.#database.run(queue, { id }) === 1
  }

  /** What an event tells of a request is known to whoever lists orders, without a read. */
  #tellOrders({ requestId, status, oddity, receivedAt }: ReceivedEvent): void {
    if (requestId === undefined || status === undefined || oddity !== undefined) return
    this.#database.run(tell, { request_id: requestId.toLowerCase(), status, at: receivedAt })
  }

  #add(event: ReceivedEvent, forward: boolean): { id: number; repeated: boolean } {
    const identity = identityOf(event)
    const row = this.#database.get(insert, {
      identity,
      received_at: event.receivedAt,
      body: event.body,
      signature: event.signature,
      request_id: event.requestId?.toLowerCase() ?? null,
      status: event.status ?? null,
      event: event.event ?? null,
      oddity: event.oddity ?? null,
      forward: forward ? 'waiting' : 'none',
    }) as { id: number } | undefined
    if (row !== undefined) {
      this.#tellOrders(event)
      return { id: row.id, repeated: false }
    }
    return { ...(this.#database.get(repeat, { identity }) as { id: number }), repeated: true }
  }
}

/** Events come out of order: a status is only ever followed by one that is further on. */
const tell = `
UPDATE submissions SET request_status = :status, request_status_at = :at
WHERE request_id = :request_id AND ${rank(':status')} > ${rank('request_status')}`

function rank(status: string): string {
  return `CASE ${status} WHEN 'RECEIVED' THEN 0 WHEN 'IN_PROGRESS' THEN 1 WHEN 'PARTIAL' THEN 2 ELSE 3 END`
}

/** An odd one is only ever the same as itself. */
function identityOf({ requestId, status, oddity, body }: ReceivedEvent): string {
  return oddity === undefined ? `${requestId?.toLowerCase() ?? ''} ${status ?? ''}` : sha256(body)
}

interface EventRow {
  id: number
  received_at: number
  body: Uint8Array
  signature: string
  request_id: string | null
  status: string | null
  event: string | null
  oddity: string | null
  repeats: number
  forward: InboxEvent['forward']
  attempts: number
  last_answer: string | null
  forwarded_at: number | null
}

function eventOf(row: EventRow): InboxEvent {
  return {
    id: row.id,
    receivedAt: row.received_at,
    body: row.body,
    signature: row.signature,
    requestId: row.request_id ?? undefined,
    status: row.status ?? undefined,
    event: row.event ?? undefined,
    oddity: row.oddity ?? undefined,
    repeats: row.repeats,
    forward: row.forward,
    attempts: row.attempts,
    lastAnswer: row.last_answer ?? undefined,
    forwardedAt: row.forwarded_at ?? undefined,
  }
}
