import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type PeerCertificate, checkServerIdentity } from 'node:tls'
import type { Client, ClientConfig, Notification, QueryResult } from 'pg'
import { diskFailure, systemErrorCode } from '../../../disk/failure.ts'
import { type PostgresServer, passwordIn } from '../../../domain/store/address.ts'
import { shellWord } from '../../../domain/wording/pasted-command.ts'
import { InternalError, NoAnswerError, StoreDownError } from '../../../errors/kinds.ts'
import { type Environment, variable } from '../../../host/process.ts'
import { hasFileModes } from '../../../host/machine.ts'
import { NoHomeError, homeFolder } from '../../../host/paths.ts'
import {
  type Engine,
  type Queries,
  type Query,
  type Values,
  type Work,
  expandSql,
  oneQuery,
  unusableStore,
} from '../engine.ts'
import type { StoreOptions } from '../store.ts'
import { lockQuery, postgresDialect } from './dialect.ts'
import { endsSession, isDeadlock, isRefusal, noAnswerError, storeFailure } from './failure.ts'

/** A statement in PostgreSQL's syntax, prepared under `name`. `order`: the names of its values `$1`, `$2` and so on. */
interface Statement {
  name: string
  text: string
  order: string[]
}

/**
 * Replaces each `:name` by `$1`, `$2` and so on, the same name by the same number; a cast (`::text`) stays.
 * `:rows.field` is the list of that field's values in the objects of the list `rows`.
 */
export function toStatement(sql: string, name: string): Statement {
  const order: string[] = []
  const text = expandSql(postgresDialect, sql).replaceAll(
    /(?<![:\w]):([a-z_][\w.]*)/gi,
    (_, value: string) => {
      if (!order.includes(value)) order.push(value)
      return `$${order.indexOf(value) + 1}`
    },
  )
  return { name, text, order }
}

function valueOf(values: Values, name: string): unknown {
  const [parameter = '', field] = name.split('.')
  const value = (values as Record<string, unknown>)[parameter]
  return field === undefined ? value : (value as Record<string, unknown>[]).map((row) => row[field])
}

/** Returns a value as it is stored: a text in PostgreSQL cannot contain NUL, and booleans are numbers in both engines. */
function storable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value === 'boolean') return Number(value)
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}

/** The number of the oldest supported release, PostgreSQL 14. */
const oldestVersion = 140_000

/**
 * Configures a session: the server answers a commit only once it is on its disk, even if the role has another default;
 * a wait for a lock has a limit; and the session of a machine that became unreachable is ended, which frees its locks.
 * A statement fails if a policy would hide rows, since a hidden person could be ordered again. `lock` and `statement`: limits in milliseconds.
 */
const configureSessionSql = `
SELECT set_config('synchronous_commit',
    CASE WHEN current_setting('synchronous_commit') = 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)
    AS synchronous_commit,
  set_config('lock_timeout', CAST(:lock AS text), false),
  set_config('statement_timeout', CAST(:statement AS text), false),
  set_config('idle_in_transaction_session_timeout', '60s', false),
  set_config('tcp_keepalives_idle', '20', false),
  set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '4', false),
  set_config('tcp_user_timeout', '45000', false),
  set_config('search_path', 'refcheck', false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('client_min_messages', 'warning', false),
  set_config('TimeZone', 'UTC', false),
  set_config('row_security', 'off', false),
  current_setting('fsync') AS fsync,
  current_setting('server_version_num')::int AS version,
  current_setting('server_encoding') AS encoding,
  pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS read_only`

/** The settings that `configureSessionSql` returns. `version`: a number such as 140005. */
export interface SessionSettings {
  synchronous_commit: string
  fsync: string
  version: number
  encoding: string
  read_only: boolean
}

/** Throws an IoError if commits would not be safe, and a StoreDownError if the database is read-only. */
export function requireDurable({ displayUrl }: PostgresServer, session: SessionSettings | undefined): void {
  const { version = 0, fsync, synchronous_commit = '', encoding, read_only } = session ?? {}
  const noFsync = 'the server does not write to its disk at a commit (fsync is off)'
  const isFlushed = ['on', 'remote_apply'].includes(synchronous_commit)
  const requirements: readonly [isMet: boolean, why: string, hint: string][] = [
    [version >= oldestVersion, 'the server is older than PostgreSQL 14', 'Use PostgreSQL 14 or later.'],
    [fsync === 'on', noFsync, 'Set fsync = on at the server.'],
    [isFlushed, 'synchronous_commit cannot be switched on', 'Set synchronous_commit = on at the server.'],
    [encoding === 'UTF8', `its encoding is ${encoding}`, 'Use a database whose encoding is UTF8.'],
  ]
  for (const [isMet, why, hint] of requirements) if (!isMet) throw unusableStore(displayUrl, why, hint)
  if (read_only === true) {
    throw new StoreDownError(`cannot use the store "${displayUrl}": the database is read-only`, {
      hint: 'Run it again once the database can be written to, or name the primary in REFCHECK_STORE.',
    })
  }
}

const connectTimeoutMs = 10_000
/** After this time without an answer a statement fails and its connection is closed: the network may drop all packets. */
const maxStatementMs = 60_000

/** OIDs of int8 and numeric, which pg returns as text by default. */
const numericOids = new Set([20, 1700])

/**
 * Returns the options of a connection to the server. All are given, so that no PG… variable of the process has an effect.
 * `answerMs`: limit for connecting and for each answer, if not the default.
 */
export async function clientOptions(server: PostgresServer, answerMs?: number): Promise<ClientConfig> {
  const { user, password, host, port, database, tls } = server
  const { types } = await import('pg')
  return {
    user,
    password: () => Promise.resolve(password as string),
    host,
    port,
    database,
    ssl: tls === 'disable' ? false : await createTlsOptions(server),
    application_name: 'refcheck',
    connectionTimeoutMillis: answerMs ?? connectTimeoutMs,
    query_timeout: answerMs ?? maxStatementMs,
    keepAlive: true,
    pipeline: true,
    types: {
      getTypeParser: (oid, format) => (numericOids.has(oid) ? Number : types.getTypeParser(oid, format)),
    },
  }
}

/**
 * Returns the server with its password: from the URL, else PGPASSWORD, else PGPASSFILE or ~/.pgpass, in libpq's
 * order. As in libpq, a password file that other users may read is not used.
 */
export async function withPassword(
  server: PostgresServer,
  env: Environment,
  onMessage?: (message: string) => void,
): Promise<PostgresServer> {
  const password = server.password ?? variable(env, 'PGPASSWORD')
  if (password !== undefined) return { ...server, password }
  const path = findPassfile(env)
  if (path === undefined) return server
  try {
    if (hasFileModes() && ((await stat(path)).mode & 0o077) !== 0) {
      onMessage?.(
        `The passfile "${path}" can be read by other users and is not used; fix it with: chmod 600 ${shellWord(path)}`,
      )
      return server
    }
    return { ...server, password: passwordIn(await readFile(path, 'utf8'), server) }
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ENOTDIR') return server
    throw diskFailure('read the passfile', path, error)
  }
}

function findPassfile(env: Environment): string | undefined {
  const namedPath = variable(env, 'PGPASSFILE')
  if (namedPath !== undefined) return namedPath
  try {
    return join(homeFolder(env), '.pgpass')
  } catch (error) {
    if (error instanceof NoHomeError) return undefined
    throw error
  }
}

/**
 * Returns the TLS options of sslmode=verify-full: a chain to a known authority, and the host's name in the
 * certificate.
 */
async function createTlsOptions({ host, rootCertificate }: PostgresServer): Promise<ClientConfig['ssl']> {
  try {
    const ca = rootCertificate === undefined ? {} : { ca: await readFile(rootCertificate, 'utf8') }
    const checkName = (_: string, peer: PeerCertificate) => checkServerIdentity(host, peer)
    return { ...ca, rejectUnauthorized: true, checkServerIdentity: checkName }
  } catch (error) {
    throw diskFailure('read sslrootcert', rootCertificate ?? '', error)
  }
}

/** Runs statements, on the database itself or in a transaction. */
export class Sql {
  /**
   * Returns one answer for each statement. Rows are as pg gives them: int8 and numeric are numbers, and bytea is a
   * Buffer.
   */
  readonly ask: (queries: Queries) => Promise<unknown[]>

  constructor(ask: Sql['ask']) {
    this.ask = ask
  }

  /** Returns the first row. */
  async get(sql: string, values: Values = {}): Promise<unknown> {
    return (await this.ask(oneQuery('get', sql, values)))[0]
  }

  /** Returns the number of rows that the statement changed. */
  async run(sql: string, values: Values = {}): Promise<number> {
    return (await this.ask(oneQuery('run', sql, values)))[0] as number
  }
}

/** `onMessage` is called with one sentence when waiting for the database begins, and when it can be used again. */
export interface DatabaseOptions extends Pick<
  StoreOptions,
  'clock' | 'reconnectMs' | 'answerMs' | 'maxConnectionMs' | 'onMessage'
> {
  /** Milliseconds to wait for a lock of another process. */
  lockWaitMs: number
}

const begin = { kind: 'run', sql: 'BEGIN', values: {} } as const
const beginSnapshot = { ...begin, sql: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' }
const commit = { ...begin, sql: 'COMMIT' }

/** The first pause before a database that is down is tried again. Each pause is twice as long, up to `maxPauseMs`. */
const firstPauseMs = 100
/**
 * Maximum number of times that a transaction is repeated after the server rolled it back because of a
 * deadlock.
 */
const maxDeadlocks = 10
const maxPauseMs = 2_000

/**
 * One connection, made when it is first needed and again after it is lost. Statements and transactions run one after
 * the other, and throw errors of this program. A failure before the commit was sent changed nothing; it is repeated
 * for `reconnectMs`, then a StoreDownError is thrown. A commit without an answer throws a NoAnswerError: the caller
 * has to look up its result.
 */
export class Database extends Sql {
  /** The address without the password. */
  readonly location: string
  readonly #server: PostgresServer
  readonly #options: DatabaseOptions
  readonly #statements = new Map<string, Statement>()
  readonly #sessionCallbacks: ((sql: Sql) => Promise<void>)[] = []
  readonly #channels = new Map<string, (payload: string) => void>()
  #client: Client | undefined
  #sessionCount = 0
  #wasConnected = false
  #isClosed = false
  #previousWork: Promise<unknown> = Promise.resolve()

  constructor(server: PostgresServer, options: DatabaseOptions) {
    super((queries) => this.#askInTurn(queries))
    this.location = server.displayUrl
    this.#server = server
    this.#options = options
  }

  /** The number of the current connection, from 1; 0 if there is none. Locks of a session end with its connection. */
  get connectionNumber(): number {
    return this.#client === undefined ? 0 : this.#sessionCount
  }

  /**
   * Makes all changes of `work` or none. `work` may be called again after a lost connection, so it must change nothing
   * except by its argument. The commit is on the server's disk, and on a synchronous standby if there is one. `first`: a
   * statement that is sent together with BEGIN.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, first?: Query): Promise<T> {
    return this.#inTransaction(first === undefined ? [begin] : [begin, first], work)
  }

  /** Runs `work` in a read-only transaction, in which all reads see the database at one moment. */
  snapshot<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTransaction([beginSnapshot], work)
  }

  #inTransaction<T>(firstQueries: readonly Query[], work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(async (client) => {
      let isCommitted = false
      const ask = ({ queries, commits }: Queries): Promise<unknown[]> => {
        if (isCommitted) throw new InternalError('a statement came after the last of its transaction')
        isCommitted = commits
        return isCommitted ? this.#commit(client, queries) : this.#sendAll(client, queries)
      }
      let result: T
      try {
        // Nothing that changes anything is sent before there is a transaction.
        await this.#sendAll(client, firstQueries)
        result = await work(new Sql(ask))
      } catch (error) {
        await this.#rollBack(client)
        throw error
      }
      if (!isCommitted) await this.#commit(client, [])
      return result
    })
  }

  /** Measures the milliseconds from a statement to its answer. */
  async latency(): Promise<number> {
    const { clock } = this.#options
    await this.get('SELECT 1')
    const startedAt = clock.monotonic()
    await this.get('SELECT 1')
    return clock.monotonic() - startedAt
  }

  /** Registers work for each new connection, such as acquiring the locks that ended with the previous connection. */
  onSession(work: (sql: Sql) => Promise<void>): void {
    this.#sessionCallbacks.push(work)
  }

  /** Calls back for each NOTIFY on a channel. Notifications are lost while there is no connection. */
  async listen(channel: string, onNotify: (payload: string) => void): Promise<void> {
    this.#channels.set(channel, onNotify)
    await this.run(`LISTEN ${channel}`)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    // A connection that does not end by itself is destroyed, and ends by that.
    const timeout = setTimeout(() => destroy(client), 1_000)
    await client.end().catch(() => undefined)
    clearTimeout(timeout)
    destroy(client)
  }

  /** Runs `work` after all earlier work, with a connection; repeats it if the connection was lost before any change. */
  async #inTurn<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const previousWork = this.#previousWork
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#previousWork = promise
    try {
      await previousWork
      return await this.#retryWhileDown(work)
    } finally {
      resolve()
    }
  }

  async #retryWhileDown<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { clock, reconnectMs = 0, onMessage } = this.#options
    const start = clock.monotonic()
    let isReported = false
    let deadlocks = 0
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        const result = await work(await this.#connect())
        if (isReported) onMessage?.(`The store "${this.location}" can be used again.`)
        return result
      } catch (error) {
        const failure = storeFailure(this.#server, error)
        if (isDeadlock(failure.cause) && (deadlocks += 1) < maxDeadlocks) continue
        const mayWait = this.#wasConnected && !this.#isClosed && clock.monotonic() - start < reconnectMs
        if (!(failure instanceof StoreDownError) || !mayWait) throw failure
        if (!isReported)
          onMessage?.(failure.message.replace('cannot use the store', 'Waiting for the store') + '.')
        isReported = true
      }
      await clock.sleep(pauseMs)
    }
  }

  async #connect(): Promise<Client> {
    if (this.#isClosed) throw new InternalError('the store is closed')
    if (this.#client !== undefined) return this.#client
    const { Client: PgClient } = await import('pg')
    const { answerMs, maxConnectionMs } = this.#options
    const client = new PgClient(await clientOptions(this.#server, answerMs))
    if (maxConnectionMs !== undefined) setTimeout(() => destroy(client), maxConnectionMs).unref()
    // Without a listener the process would end with the connection.
    client.on('error', () => this.#dropConnection(client))
    client.on('end', () => this.#dropConnection(client))
    client.on('notification', ({ channel, payload }: Notification) =>
      this.#channels.get(channel)?.(payload ?? ''),
    )
    try {
      await client.connect()
      const sql = new Sql(({ queries }) => this.#sendAll(client, queries))
      const limits = { lock: String(this.#options.lockWaitMs), statement: String(maxStatementMs - 5_000) }
      requireDurable(
        this.#server,
        (await sql.get(configureSessionSql, limits)) as SessionSettings | undefined,
      )
      for (const work of this.#sessionCallbacks) await work(sql)
      for (const channel of this.#channels.keys()) await sql.run(`LISTEN ${channel}`)
    } catch (error) {
      destroy(client)
      throw storeFailure(this.#server, error)
    }
    this.#client = client
    this.#sessionCount += 1
    this.#wasConnected = true
    return client
  }

  /** Sends the statements one after the other, each in its own transaction. */
  async #askInTurn({ queries }: Queries): Promise<unknown[]> {
    const answers: unknown[] = []
    for (const query of queries)
      answers.push(answerOf(await this.#inTurn((client) => this.#sendAlone(client, query)), query))
    return answers
  }

  /** Sends a statement that is its own transaction. Unless it only reads, its answer is the answer to a commit. */
  async #sendAlone(client: Client, query: Query): Promise<QueryResult> {
    if (/^\s*(?:SELECT|SHOW|LISTEN)\b/i.test(query.sql)) return this.#send(client, query)
    return this.#requireAnswer(client, () => this.#ask(client, query))
  }

  /** Sends the last statements of a transaction together with COMMIT, and returns their answers. */
  async #commit(client: Client, lastQueries: readonly Query[]): Promise<unknown[]> {
    const results = await this.#requireAnswer(client, () =>
      sendTogether(client, [...lastQueries, commit], (query) => this.#ask(client, query)),
    )
    // A server answers ROLLBACK to the COMMIT of a transaction in which a statement failed.
    if (results.at(-1)?.command === 'ROLLBACK') throw new InternalError('a failed transaction was committed')
    return lastQueries.map((query, index) => answerOf(results[index] as QueryResult, query))
  }

  /** Sends statements together. Throws the first error: later statements of the transaction fail because of it. */
  async #sendAll(client: Client, queries: readonly Query[]): Promise<unknown[]> {
    return sendTogether(client, queries, async (query) => answerOf(await this.#send(client, query), query))
  }

  /**
   * Throws a NoAnswerError unless the server confirms the change. A server that stopped waiting for its standby reports
   * success, but sends a warning (01000) before.
   */
  async #requireAnswer<T>(client: Client, ask: () => Promise<T>): Promise<T> {
    let warning: object | undefined
    const onWarning = (warned: { code?: string | undefined }): void => {
      if (warned.code === '01000') warning = warned
    }
    client.on('notice', onWarning)
    try {
      const result = await ask()
      if (warning !== undefined) throw noAnswerError(this.#server, warning)
      return result
    } catch (error) {
      if (!isRefusal(error) || endsSession(error)) this.#dropConnection(client)
      if (isRefusal(error)) throw storeFailure(this.#server, error)
      throw error instanceof NoAnswerError ? error : noAnswerError(this.#server, error)
    } finally {
      client.off('notice', onWarning)
    }
  }

  async #send(client: Client, query: Query): Promise<QueryResult> {
    try {
      return await this.#ask(client, query)
    } catch (error) {
      if (endsSession(error)) this.#dropConnection(client)
      throw storeFailure(this.#server, error)
    }
  }

  #ask(client: Client, { sql, values }: Query): Promise<QueryResult> {
    const statement = this.#statements.get(sql) ?? toStatement(sql, `s${this.#statements.size}`)
    this.#statements.set(sql, statement)
    const { name, text, order } = statement
    if (order.length === 0) return client.query(text)
    return client.query({ name, text, values: order.map((each) => storable(valueOf(values, each))) })
  }

  /** Rolls back, and closes a connection that cannot. The caller throws the error that caused the rollback. */
  async #rollBack(client: Client): Promise<void> {
    try {
      await this.#ask(client, { ...begin, sql: 'ROLLBACK' })
    } catch {
      this.#dropConnection(client)
    }
  }

  #dropConnection(client: Client): void {
    if (this.#client === client) this.#client = undefined
    destroy(client)
  }
}

/** The part of pg's client that the types of pg do not declare. */
interface Wire {
  connection: { stream: { cork(): void; uncork(): void; destroy(): void } }
}

/** Closes a connection at once, also while an answer is awaited. A second call does nothing. */
function destroy(client: Client): void {
  ;(client as unknown as Wire).connection.stream.destroy()
}

function answerOf({ rows, rowCount }: QueryResult, { kind }: Query): unknown {
  if (kind === 'run' || kind === 'shared') return rowCount ?? 0
  return kind === 'get' ? (rows[0] as unknown) : rows
}

/** Sends statements in one write and waits for all answers. Throws the error of the first statement that failed. */
async function sendTogether<T>(
  client: Client,
  queries: readonly Query[],
  send: (query: Query) => Promise<T>,
) {
  const { stream } = (client as unknown as Wire).connection
  stream.cork()
  const answers = queries.map((query) => send(query))
  stream.uncork()
  await Promise.allSettled(answers)
  return Promise.all(answers)
}

/** Returns the engine of a PostgreSQL database: it sends a Work's statements and awaits their answers step by step. */
export function postgresEngine(database: Database): Engine {
  return {
    location: database.location,
    allowsSeveralRunners: true,
    session: () => String(database.connectionNumber),
    run: (work) => runOn(database, work),
    transaction: (work, lock) => database.transaction((sql) => runOn(sql, work()), lock && lockQuery(lock)),
    snapshot: (work) => database.snapshot((sql) => runOn(sql, work())),
    exclusively: (work) =>
      database.transaction((sql) => work((each) => runOn(sql, each)), lockQuery('all tables')),
    listen: (channel, onPayload) => database.listen(channel, onPayload),
  }
}

/** Runs all statements of `work`, one after the other. */
export async function runOn<T>(sql: Sql, work: Work<T>): Promise<T> {
  let step = work.next()
  while (step.done !== true) {
    let answers: unknown[]
    try {
      answers = await sql.ask(step.value)
    } catch (error) {
      step = work.throw(error)
      continue
    }
    step = work.next(answers)
  }
  return step.value
}
