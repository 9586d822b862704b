import {
  type EventFilter,
  identityOf,
  type InboxEvent,
  type ReceivedEvent,
  withoutBody,
} from '../../../domain/webhook/inbox-event.ts'
import { sha256 } from '../fingerprints.ts'
import { shortWait, type Holds } from '../holds.ts'
import { eventOf, type EventRow } from '../inbox-rows.ts'
import type { Arrival, Inbox } from '../inbox.ts'
import type { Hold } from '../ledger.ts'
import type { Database, Sql, Values } from './connection.ts'
import {
  newsChannel,
  notify,
  insert,
  repeat,
  selectDue,
  selectForgotten,
  selectLatest,
  selectNextDue,
  selectPage,
  selectUnclaimed,
  takeTurn,
  updateBody,
  updateDropped,
  updateForwarded,
  updateLatestStatus,
} from './inbox-statements.ts'

const pageEvents = 500

interface Numbered {
  id: number
  identity: string
}

/** Received events in a PostgreSQL database, from any number of receivers. */
export class PostgresInbox implements Inbox {
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
    if (events.length === 0) return []
    const came = events.map((event) => ({ event, identity: identityOf(event, sha256) }))
    const seen = new Set<string>()
    const firsts = came.filter(({ identity }) => seen.size < seen.add(identity).size)
    return this.#database.transaction(async (sql) => {
      await sql.run(takeTurn)
      // What is to be forwarded is kept as it came until it was.
      const kept = forward
        ? undefined
        : await asKept(
            sql,
            firsts.map(({ event }) => event),
          )
      const added = (await sql.all(insert, {
        ...columnsOf(firsts.map(({ event, identity }, at) => ({ event: kept?.[at] ?? event, identity }))),
        forward: forward ? 'waiting' : 'none',
      })) as Numbered[]
      const ids = new Map(added.map(({ id, identity }) => [identity, id]))
      const fresh = new Set(ids.keys())
      await tellOrders(
        sql,
        firsts.filter(({ identity }) => fresh.has(identity)).map(({ event }) => event),
      )
      const answers = came.map(({ identity }) => ({ identity, repeated: !fresh.delete(identity) }))
      await countRepeats(sql, answers, ids)
      if (added.length > 0) await sql.run(notify('event'))
      return answers.map(({ identity, repeated }) => ({ id: ids.get(identity) ?? 0, repeated }))
    })
  }

  async *list(filter: EventFilter = {}): AsyncGenerator<InboxEvent> {
    let left = filter.limit ?? Number.POSITIVE_INFINITY
    for (let after = filter.after ?? 0; left > 0;) {
      const limit = Math.min(pageEvents, left)
      const page = (await this.#database.all(selectPage, {
        after,
        request_id: filter.requestId?.toLowerCase() ?? null,
        status: filter.status ?? null,
        since: filter.since ?? null,
        until: filter.until ?? null,
        limit,
      })) as EventRow[]
      yield* page.map(eventOf)
      const last = page.at(-1)
      if (last === undefined || page.length < limit) return
      after = last.id
      left -= page.length
    }
  }

  async get(id: number): Promise<InboxEvent | undefined> {
    const row = await this.#database.get('SELECT * FROM events WHERE id = :id', { id })
    return row === undefined ? undefined : eventOf(row as EventRow)
  }

  async unclaimed(): Promise<string[]> {
    return (await this.#database.all(selectUnclaimed)).map(
      (row) => (row as { request_id: string }).request_id,
    )
  }

  async latestStatus(requestId: string): Promise<{ status: string; receivedAt: number } | undefined> {
    const row = (await this.#database.get(selectLatest, { request_id: requestId.toLowerCase() })) as
      | { status: string; received_at: number }
      | undefined
    return row && { status: row.status, receivedAt: row.received_at }
  }

  async due(now: number, limit: number): Promise<InboxEvent[]> {
    return ((await this.#database.all(selectDue, { now, limit })) as EventRow[]).map(eventOf)
  }

  async nextDue(): Promise<number | undefined> {
    return ((await this.#database.get(selectNextDue)) as { due: number | null }).due ?? undefined
  }

  async forwarded(id: number, at: number, answer: string): Promise<void> {
    await this.#end(updateForwarded, { id, at, answer })
  }

  async drop(id: number, answer?: string): Promise<boolean> {
    return this.#end(updateDropped, { id, answer: answer ?? null })
  }

  /** What was to be forwarded as it came is not needed any more, should its person have been removed meanwhile. */
  async #end(update: string, values: Values): Promise<boolean> {
    return this.#database.transaction(async (sql) => {
      const row = (await sql.get(update, values)) as EventRow | undefined
      if (row === undefined) return false
      const [event] = await asKept(sql, [eventOf(row)])
      if (event !== undefined && event.signature !== row.signature) {
        const { id, body, signature } = event
        await sql.run(updateBody, { id, body: Buffer.from(body), signature })
      }
      return true
    })
  }

  async refused(id: number, retryAt: number, answer: string): Promise<void> {
    await this.#database.run(
      `UPDATE events SET due_at = :due_at, attempts = attempts + 1, last_answer = :answer WHERE id = :id`,
      { id, due_at: retryAt, answer },
    )
  }

  holdForwarding(): Promise<Hold | undefined> {
    return this.#holds.take({ id: 'forwarding', kind: 'file' }, shortWait)
  }

  async requeue(id: number): Promise<boolean> {
    const queue = `UPDATE events SET forward = 'waiting', due_at = 0 WHERE id = :id`
    return (await this.#database.run(queue, { id })) === 1
  }

  onArrival(wake: (what: Arrival) => void): Promise<void> {
    return this.#database.listen(newsChannel, (what) =>
      wake(what === 'event' || what === 'batch' ? what : ''),
    )
  }
}

/** "What was purged stays so: a repeated event … brings nothing back." */
async function asKept<Event extends ReceivedEvent>(sql: Sql, events: readonly Event[]): Promise<Event[]> {
  const requests = events.flatMap(({ requestId }) => requestId?.toLowerCase() ?? [])
  const found = (await sql.all(selectForgotten, { requests })) as { request_id: string }[]
  const forgotten = new Set(found.map(({ request_id }) => request_id))
  return events.map((event) =>
    forgotten.has(event.requestId?.toLowerCase() ?? '') ? withoutBody(event) : event,
  )
}

function columnsOf(came: readonly { event: ReceivedEvent; identity: string }[]): Values {
  return {
    identities: came.map(({ identity }) => identity),
    received: came.map(({ event }) => event.receivedAt),
    bodies: came.map(({ event }) => Buffer.from(event.body)),
    signatures: came.map(({ event }) => event.signature),
    requests: came.map(({ event }) => event.requestId?.toLowerCase() ?? null),
    statuses: came.map(({ event }) => event.status ?? null),
    events: came.map(({ event }) => event.event ?? null),
    oddities: came.map(({ event }) => event.oddity ?? null),
  }
}

/** What events tell of requests is known to whoever lists orders, without a read. */
async function tellOrders(sql: Sql, events: readonly ReceivedEvent[]): Promise<void> {
  const telling = events.flatMap(({ requestId, status, oddity, receivedAt }) =>
    requestId === undefined || status === undefined || oddity !== undefined
      ? []
      : [{ request: requestId.toLowerCase(), status, at: receivedAt }],
  )
  if (telling.length === 0) return
  await sql.run(updateLatestStatus, {
    requests: telling.map(({ request }) => request),
    statuses: telling.map(({ status }) => status),
    times: telling.map(({ at }) => at),
  })
}

/** Adds the ids of those that were there before to `ids`. */
async function countRepeats(
  sql: Sql,
  answers: readonly { identity: string; repeated: boolean }[],
  ids: Map<string, number>,
): Promise<void> {
  const times = new Map<string, number>()
  for (const { identity, repeated } of answers) {
    if (repeated) times.set(identity, (times.get(identity) ?? 0) + 1)
  }
  if (times.size === 0) return
  const values = { identities: [...times.keys()], times: [...times.values()] }
  for (const { id, identity } of (await sql.all(repeat, values)) as Numbered[]) ids.set(identity, id)
}
