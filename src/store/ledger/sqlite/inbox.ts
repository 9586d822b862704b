import type { Database, Values } from './connection.ts'
import {
  type EventFilter,
  identityOf,
  type InboxEvent,
  type ReceivedEvent,
  withoutBody,
} from '../../../domain/webhook/inbox-event.ts'
import { shortWait, type Holds } from '../holds.ts'
import { sha256 } from '../fingerprints.ts'
import { eventOf, type EventRow } from '../inbox-rows.ts'
import {
  insert,
  repeat,
  selectDue,
  selectForgotten,
  selectLatest,
  selectNextDue,
  selectUnclaimed,
  updateBody,
  updateDropped,
  updateForwarded,
  updateLatestStatus,
} from './inbox-statements.ts'
import type { Inbox } from '../inbox.ts'
import type { Hold } from '../ledger.ts'

const pageEvents = 500

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
        request_id: filter.requestId?.toLowerCase() ?? null,
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
    const row = this.#database.get(selectLatest, { request_id: requestId.toLowerCase() }) as
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
    this.#end(updateForwarded, { id, at, answer })
  }

  async drop(id: number, answer?: string): Promise<boolean> {
    return this.#end(updateDropped, { id, answer: answer ?? null })
  }

  /** What was to be forwarded as it came is not needed any more, should its person have been removed meanwhile. */
  #end(update: string, values: Values & { id: number }): boolean {
    return this.#database.transaction(() => {
      const row = this.#database.get(update, values) as EventRow | undefined
      if (row === undefined) return false
      const event = eventOf(row)
      if (this.#isForgotten(event)) {
        const { body, signature } = withoutBody(event)
        this.#database.run(updateBody, { id: event.id, body, signature })
      }
      return true
    })
  }

  async refused(id: number, retryAt: number, answer: string): Promise<void> {
    this.#database.run(
      `UPDATE events SET due_at = :due_at, attempts = attempts + 1, last_answer = :answer WHERE id = :id`,
      { id, due_at: retryAt, answer },
    )
  }

  holdForwarding(): Promise<Hold | undefined> {
    return this.#holds.take({ id: 'forwarding', kind: 'file' }, shortWait)
  }

  async requeue(id: number): Promise<boolean> {
    const queue = `UPDATE events SET forward = 'waiting', due_at = 0 WHERE id = :id`
    return this.#database.run(queue, { id }) === 1
  }

  /** What an event tells of a request is known to whoever lists orders, without a read. */
  #tellOrders({ requestId, status, oddity, receivedAt }: ReceivedEvent): void {
    if (requestId === undefined || status === undefined || oddity !== undefined) return
    this.#database.run(updateLatestStatus, { request_id: requestId.toLowerCase(), status, at: receivedAt })
  }

  /** "What was purged stays so: a repeated event … brings nothing back." */
  #isForgotten({ requestId }: ReceivedEvent): boolean {
    const values = { request_id: requestId?.toLowerCase() ?? null }
    return this.#database.get(selectForgotten, values) !== undefined
  }

  #add(event: ReceivedEvent, forward: boolean): { id: number; repeated: boolean } {
    const identity = identityOf(event, sha256)
    // What is to be forwarded is kept as it came until it was.
    const kept = !forward && this.#isForgotten(event) ? withoutBody(event) : event
    const row = this.#database.get(insert, {
      identity,
      received_at: event.receivedAt,
      body: kept.body,
      signature: kept.signature,
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
