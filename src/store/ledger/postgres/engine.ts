import type { Dialect, Engine, Lock, Within, Work } from '../engine.ts'
import { peopleTables } from '../tables.ts'
import type { Database, Sql } from './connection.ts'
import { databaseNow, lockAccount, lockAccountOf } from './locking.ts'
import { postgresInsert, postgresRows } from './rows.ts'

/**
 * Adds of events take turns: a reader who has seen one has seen all before it. The number is any that nothing else locks.
 */
const lockEvents = 'SELECT pg_advisory_xact_lock(5246434, 1)'

/** No other process writes until the transaction ends, however long another store takes meanwhile. */
const lockTables = `
LOCK TABLE meta, quota, ${peopleTables.join(', ')} IN SHARE ROW EXCLUSIVE MODE;
SET LOCAL idle_in_transaction_session_timeout = 0`

/** System identifier, timeline, and the object identifiers of the database and of the table of attempts. */
export const currentEpoch = `concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('attempts')::oid)`

export const postgresDialect: Dialect = {
  name: 'postgres',
  isShared: true,
  serial: 'serial',
  lockRows: (alias, others) => `FOR UPDATE OF ${alias}${others === undefined ? '' : ' SKIP LOCKED'}`,
  rowPlace: { of: (alias) => `${alias}.ctid::text`, is: 'ctid = CAST(:place AS tid)' },
  pendingOrder: (alias) => `(${alias}.row_number + 0)`,
  json: (expression) => `CAST(${expression} AS jsonb)`,
  isIn: (expression, parameter) => `${expression} = ANY(CAST(:${parameter} AS text[]))`,
  list: (values) => values,
  sameEmail: (column, other) => `lower(${column} COLLATE "C") = lower(CAST(${other} AS text) COLLATE "C")`,
  bytewise: 'COLLATE "C"',
  clock: databaseNow,
  epoch: currentEpoch,
  isReplicated: `(current_setting('synchronous_standby_names') <> '')`,
  rows: postgresRows,
  insert: postgresInsert,
  notify: (channel, payload) => `NOTIFY ${channel}, '${payload}'`,
}

/** Awaits each statement of the work, on the connection of its transaction. */
export class PostgresEngine implements Engine {
  readonly location: string
  readonly dialect = postgresDialect
  readonly #database: Database

  constructor(database: Database) {
    this.location = database.location
    this.#database = database
  }

  session(): string {
    return String(this.#database.session)
  }

  run<T>(work: Work<T>): Promise<T> {
    return runOn(this.#database, work)
  }

  transaction<T>(work: () => Work<T>, lock?: Lock): Promise<T> {
    return this.#database.transaction(async (sql) => {
      await takeLock(sql, lock)
      return runOn(sql, work())
    })
  }

  snapshot<T>(work: () => Work<T>): Promise<T> {
    return this.#database.snapshot((sql) => runOn(sql, work()))
  }

  exclusively<T>(work: (within: Within) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (sql) => {
      await takeLock(sql, 'all tables')
      return work((each) => runOn(sql, each))
    })
  }

  readonly listen = (channel: string, onPayload: (payload: string) => void): Promise<void> =>
    this.#database.listen(channel, onPayload)
}

async function takeLock(sql: Sql, lock: Lock | undefined): Promise<void> {
  if (lock === undefined) return
  if (lock === 'events') await sql.run(lockEvents)
  else if (lock === 'all tables') await sql.run(lockTables)
  else if ('account' in lock) await lockAccount(sql, lock.account)
  else await lockAccountOf(sql, lock.accountOf)
}

/** All statements of `work`, one after the other. */
export async function runOn<T>(sql: Sql, work: Work<T>): Promise<T> {
  let step = work.next()
  while (step.done !== true) {
    let answer: unknown
    try {
      const { kind, sql: text, values } = step.value
      answer = await sql[kind](text, values)
    } catch (error) {
      step = work.throw(error)
      continue
    }
    step = work.next(answer)
  }
  return step.value
}
