import type { Client, Notification, QueryResult } from 'pg'

import type { PostgresServer } from '../../../domain/store/postgres-address.ts'
import { InternalError, NoAnswerError, StoreDownError } from '../../../errors/kinds.ts'
import { type Clock, systemClock } from '../../../host/clock.ts'
import type { Values } from '../engine.ts'
import { requireDurable, type Settled, settle } from './durability.ts'
import { endsSession, isDeadlock, isRefusal, noAnswer, storeFailure } from './failure.ts'
import { clientOptions, longestStatementMs } from './place.ts'
import { numbered, type Statement, storable } from './statement.ts'

export type { Values } from '../engine.ts'

/** What statements are asked of: the database itself, or a transaction. */
export interface Sql {
  /** int8 and numeric come as numbers, bytea as a Buffer. */
  all(sql: string, values?: Values): Promise<unknown[]>
  /** The first row. */
  get(sql: string, values?: Values): Promise<unknown>
  /** How many rows it changed. */
  run(sql: string, values?: Values): Promise<number>
}

export interface DatabaseOptions {
  clock: Clock
  /** Milliseconds to wait for a lock of another process. */
  busyMs: number
  /** Milliseconds to wait for a database that is gone, once it was there; 0 unless told. */
  patienceMs?: number | undefined
  /** Milliseconds to wait for a connection, and for each answer; the usual limits unless told. */
  answerMs?: number | undefined
  /** Milliseconds after which a connection is given up, whatever it does; none unless told. */
  wholeMs?: number | undefined
  /** Told in one sentence when it is waited for, and when it is there again. */
  onNotice?: ((notice: string) => void) | undefined
  /** Ends waiting. */
  signal?: AbortSignal | undefined
}

const firstPauseMs = 100
/** Two processes that each wait for a row of the other: the server undid one of them, which goes once more. */
const mostDeadlocks = 10
const longestPauseMs = 2_000

/**
 * One connection, made when it is first needed and again after a loss. Failures are the program's own. Statements and
 * transactions take turns. What failed before a commit was asked for changed nothing (StoreDownError) and is tried
 * again within the patience; a commit without an answer is NoAnswerError, which its caller looks up.
 */
export class Database implements Sql {
  /** Without the password. */
  readonly location: string
  readonly #server: PostgresServer
  readonly #options: DatabaseOptions
  readonly #statements = new Map<string, Statement>()
  readonly #onSession: ((sql: Sql) => Promise<void>)[] = []
  readonly #channels = new Map<string, (payload: string) => void>()
  #client: Client | undefined
  #sessions = 0
  #wasThere = false
  #isClosed = false
  #turn: Promise<unknown> = Promise.resolve()

  constructor(server: PostgresServer, options: DatabaseOptions) {
    this.location = server.shown
    this.#server = server
    this.#options = options
  }

  /** Which connection this is, counted from 1: locks of a session end with it. 0 before the first. */
  get session(): number {
    return this.#client === undefined ? 0 : this.#sessions
  }

  all(sql: string, values: Values = {}): Promise<unknown[]> {
    return this.#inTurn(async (client) => (await this.#alone(client, sql, values)).rows)
  }

  async get(sql: string, values: Values = {}): Promise<unknown> {
    return (await this.all(sql, values))[0]
  }

  run(sql: string, values: Values = {}): Promise<number> {
    return this.#inTurn(async (client) => (await this.#alone(client, sql, values)).rowCount ?? 0)
  }

  /**
   * All of `work` or none of it. It may be called again after a loss, so it changes nothing but through its argument.
   * Committed to the server's disk, and to a synchronous standby where there is one.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTransaction('BEGIN', work)
  }

  /** Reads of one moment. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTransaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work)
  }

  #inTransaction<T>(begin: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(async (client) => {
      await this.#send(client, begin, {})
      let result: T
      try {
        result = await work(this.#within(client))
      } catch (error) {
        await this.#rollBack(client)
        throw error
      }
      await this.#commit(client)
      return result
    })
  }

  /** Milliseconds of one question and its answer. */
  async latency(): Promise<number> {
    const { clock } = this.#options
    await this.get('SELECT 1')
    const before = clock.monotonic()
    await this.get('SELECT 1')
    return clock.monotonic() - before
  }

  /** Runs on each new connection before anything else, such as for the locks that ended with the one before. */
  onSession(work: (sql: Sql) => Promise<void>): void {
    this.#onSession.push(work)
  }

  /** Calls back for each NOTIFY on a channel, as long as a connection stands: a hint, for some are lost. */
  async listen(channel: string, onNotify: (payload: string) => void): Promise<void> {
    this.#channels.set(channel, onNotify)
    await this.run(`LISTEN ${channel}`)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    const ended = client.end().catch(() => undefined)
    // By a real clock, and no longer than it takes: what the program's own clock says is told to people.
    const patience = new AbortController()
    await Promise.race([ended, systemClock.sleep(1_000, patience.signal).catch(() => undefined)])
    patience.abort()
    destroy(client)
  }

  /** One after the other, each with a connection that stands; again where the loss of it changed nothing. */
  async #inTurn<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const before = this.#turn
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#turn = promise
    try {
      await before
      return await this.#patiently(work)
    } finally {
      resolve()
    }
  }

  async #patiently<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { clock, patienceMs = 0, onNotice, signal } = this.#options
    const start = clock.monotonic()
    let isTold = false
    let deadlocks = 0
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        const result = await work(await this.#connected())
        if (isTold) onNotice?.(`The store "${this.location}" can be used again.`)
        return result
      } catch (error) {
        const failure = storeFailure(this.#server, error)
        if (isDeadlock(failure.cause) && (deadlocks += 1) < mostDeadlocks) continue
        const mayWait = this.#wasThere && !this.#isClosed && clock.monotonic() - start < patienceMs
        if (!(failure instanceof StoreDownError) || !mayWait) throw failure
        if (!isTold)
          onNotice?.(failure.message.replace('cannot use the store', 'Waiting for the store') + '.')
        isTold = true
      }
      await clock.sleep(pauseMs, signal)
    }
  }

  async #connected(): Promise<Client> {
    if (this.#isClosed) throw new InternalError('the store is closed')
    if (this.#client !== undefined) return this.#client
    const { Client: PgClient } = await import('pg')
    const { answerMs, wholeMs } = this.#options
    const client = new PgClient(await clientOptions(this.#server, answerMs))
    if (wholeMs !== undefined) setTimeout(() => destroy(client), wholeMs).unref()
    // Without a listener the process would end with the connection.
    client.on('error', () => this.#lose(client))
    client.on('end', () => this.#lose(client))
    client.on('notification', ({ channel, payload }: Notification) =>
      this.#channels.get(channel)?.(payload ?? ''),
    )
    try {
      await client.connect()
      const sql = this.#within(client)
      const limits = { lock: String(this.#options.busyMs), statement: String(longestStatementMs - 5_000) }
      requireDurable(this.#server, (await sql.get(settle, limits)) as Settled | undefined)
      for (const work of this.#onSession) await work(sql)
      for (const channel of this.#channels.keys()) await sql.run(`LISTEN ${channel}`)
    } catch (error) {
      destroy(client)
      throw storeFailure(this.#server, error)
    }
    this.#client = client
    this.#sessions += 1
    this.#wasThere = true
    return client
  }

  #within(client: Client): Sql {
    return {
      all: async (sql, values = {}) => (await this.#send(client, sql, values)).rows,
      get: async (sql, values = {}) => (await this.#send(client, sql, values)).rows[0] as unknown,
      run: async (sql, values = {}) => (await this.#send(client, sql, values)).rowCount ?? 0,
    }
  }

  /** A statement that is its own transaction: unless it only reads, its answer is the answer to a commit. */
  async #alone(client: Client, sql: string, values: Values): Promise<QueryResult> {
    if (/^\s*(?:SELECT|SHOW|LISTEN)\b/i.test(sql)) return this.#send(client, sql, values)
    return this.#surely(client, () => this.#ask(client, sql, values))
  }

  async #commit(client: Client): Promise<void> {
    const { command } = await this.#surely(client, () => this.#ask(client, 'COMMIT', {}))
    // What a server answers to the COMMIT of a transaction in which a statement failed.
    if (command === 'ROLLBACK') throw new InternalError('a failed transaction was committed')
  }

  /**
   * Takes nothing for an answer but the server's own: it warns (01000) where it stopped waiting for its standby, and
   * then says that all is well.
   */
  async #surely(client: Client, ask: () => Promise<QueryResult>): Promise<QueryResult> {
    let warning: object | undefined
    const onNotice = (notice: { code?: string | undefined }): void => {
      if (notice.code === '01000') warning = notice
    }
    client.on('notice', onNotice)
    try {
      const result = await ask()
      if (warning !== undefined) throw noAnswer(this.#server, warning)
      return result
    } catch (error) {
      if (isRefusal(error)) throw storeFailure(this.#server, error)
      this.#lose(client)
      throw error instanceof NoAnswerError ? error : noAnswer(this.#server, error)
    } finally {
      client.off('notice', onNotice)
    }
  }

  async #send(client: Client, sql: string, values: Values): Promise<QueryResult> {
    try {
      return await this.#ask(client, sql, values)
    } catch (error) {
      if (endsSession(error)) this.#lose(client)
      throw storeFailure(this.#server, error)
    }
  }

  #ask(client: Client, sql: string, values: Values): Promise<QueryResult> {
    const { name, text, order } = this.#statement(sql)
    if (order.length === 0) return client.query(text)
    return client.query({ name, text, values: order.map((each) => storable(values[each])) })
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const made = numbered(sql, `s${this.#statements.size}`)
    this.#statements.set(sql, made)
    return made
  }

  /** The failure that led here is the one to tell; a connection that cannot even roll back is given up. */
  async #rollBack(client: Client): Promise<void> {
    try {
      await this.#ask(client, 'ROLLBACK', {})
    } catch {
      this.#lose(client)
    }
  }

  #lose(client: Client): void {
    if (this.#client === client) this.#client = undefined
    destroy(client)
  }
}

/** At once, whatever it waits for; a second time does nothing. */
function destroy(client: Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }
  connection.stream.destroy()
}
