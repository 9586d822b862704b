import { type Dialect, type Engine, type Lock, type Query, type ParameterRows, type Work } from '../engine.ts'
import type { Database, Sql } from './connection.ts'
import { columnOf, type Columns, type ColumnType, peopleTables } from '../schema.ts'

const arrays: Readonly<Record<ColumnType, string>> = {
  text: 'text[]',
  number: 'bigint[]',
  real: 'double precision[]',
  bytes: 'bytea[]',
}

/** A list of each column's values. */
function postgresRows(columns: Columns): ParameterRows {
  const fields = Object.keys(columns)
  const lists = Object.entries(columns).map(([field, type]) => `CAST(:${field} AS ${arrays[type]})`)
  return {
    from: `unnest(${lists.join(', ')}) WITH ORDINALITY AS came (${fields.map(columnOf).join(', ')}, place)`,
    values: (rows) =>
      Object.fromEntries(
        fields.map((field) => [field, rows.map((row) => (row as Record<string, unknown>)[field])]),
      ),
  }
}

/** All rows in one statement; identity columns count up in their order. */
function postgresInsert(table: string, columns: Columns): ReturnType<Dialect['insert']> {
  const names = Object.keys(columns).map(columnOf).join(', ')
  const { from, values } = postgresRows(columns)
  return {
    sql: `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${from} ORDER BY place`,
    values: (rows) => [values(rows)],
  }
}

/** Milliseconds of wall time by the clock that all runners share. */
export const databaseNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** A number that stands for a name among the locks of the database. */
const keyOf = (kind: string, name: string): string =>
  `hashtextextended(current_schema() || ' ${kind} ' || ${name}, 0)`

export const batchKey = keyOf('batch', 'CAST(:batch_id AS text)')

/**
 * Until the end of the transaction each statement is planned once in a session, and to look rows up by an index: what the
 * tables held by then, often nothing, says little, and planning costs several times what running a statement does.
 */
const planOnce = [
  ['plan_cache_mode', 'force_generic_plan'],
  ...['seqscan', 'sort', 'hashjoin', 'mergejoin'].map((way) => [`enable_${way}`, 'off']),
]
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ')

/**
 * Until the end of the transaction no other process compares people of an account: "two adds both inserted" where one looks
 * and then inserts. Orders without an account are compared with those of all.
 */
const lockAccount = `
SELECT ${planOnce}, CASE WHEN account <> '' THEN CAST(pg_advisory_xact_lock_shared(${keyOf('account', `''`)}) AS text) END,
  pg_advisory_xact_lock(${keyOf('account', 'account')})
FROM (SELECT coalesce((SELECT account FROM batches WHERE id = :batch_id), :account, '') AS account OFFSET 0) AS locked`

/** Whether the connection of a runner `r` stands: it holds its lock as long as it does. */
export const runnerIsThere = `EXISTS (
  SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid::bigint = (r.lock >> 32) AND l.objid::bigint = (r.lock & 4294967295)
)`

/** "A row is held by session lock and lease": a row `s` whose runner released its batch, or has neither, is free. */
export const leaseExpired = `NOT EXISTS (
  SELECT 1 FROM runs u JOIN runners r ON r.id = u.runner
  WHERE u.batch_id = s.batch_id AND u.runner = s.runner AND (r.leased_until >= ${databaseNow} OR ${runnerIsThere})
)`

/**
 * Adds of events take turns: a reader who has seen one has seen all before it. The number is any that nothing else locks.
 */
const lockEvents = `SELECT ${planOnce}, pg_advisory_xact_lock(5246434, 1)`

/** No other process writes until the transaction ends, however long another store takes meanwhile. */
const lockTables = `
LOCK TABLE meta, quota, ${peopleTables.join(', ')} IN SHARE ROW EXCLUSIVE MODE;
SET LOCAL idle_in_transaction_session_timeout = 0`

/** System identifier, timeline, and the object identifiers of the database and of the table of attempts. */
export const currentEpoch = `concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('attempts')::oid)`

export const postgresDialect: Dialect = {
  isShared: true,
  serial: 'serial',
  lockRows: (alias, others) => `FOR UPDATE OF ${alias}${others === undefined ? '' : ' SKIP LOCKED'}`,
  rowAddress: { of: (alias) => `${alias}.ctid::text`, is: 'ctid = CAST(:place AS tid)' },
  pendingOrder: (alias) => `(${alias}.row_number + 0)`,
  json: (expression) => `CAST(${expression} AS jsonb)`,
  isIn: (expression, parameter) => `${expression} = ANY(CAST(:${parameter} AS text[]))`,
  list: (values) => values,
  sameEmail: (column, other) => `lower(${column} COLLATE "C") = lower(CAST(${other} AS text) COLLATE "C")`,
  clock: databaseNow,
  epoch: currentEpoch,
  isReplicated: `(current_setting('synchronous_standby_names') <> '')`,
  rows: postgresRows,
  insert: postgresInsert,
  notify: (channel, payload) => `NOTIFY ${channel}, '${payload}'`,
}

/** Awaits each statement of the work, on the connection of its transaction. */
export function postgresEngine(database: Database): Engine {
  return {
    location: database.location,
    dialect: postgresDialect,
    session: () => String(database.session),
    run: (work) => runOn(database, work),
    transaction: (work, lock) => database.transaction((sql) => runOn(sql, work()), lock && queryOf(lock)),
    snapshot: (work) => database.snapshot((sql) => runOn(sql, work())),
    exclusively: (work) =>
      database.transaction((sql) => work((each) => runOn(sql, each)), queryOf('all tables')),
    listen: (channel, onPayload) => database.listen(channel, onPayload),
  }
}

function queryOf(lock: Lock): Query {
  if (lock === 'events') return { kind: 'run', sql: lockEvents, values: {} }
  if (lock === 'all tables') return { kind: 'run', sql: lockTables, values: {} }
  const values = 'account' in lock ? { account: lock.account } : { batch_id: lock.accountOf }
  return { kind: 'run', sql: lockAccount, values: { account: null, batch_id: null, ...values } }
}

/** All statements of `work`, one after the other. */
export async function runOn<T>(sql: Sql, work: Work<T>): Promise<T> {
  let step = work.next()
  while (step.done !== true) {
    let answer: unknown
    try {
      answer = await sql.ask(step.value)
    } catch (error) {
      step = work.throw(error)
      continue
    }
    step = work.next(answer)
  }
  return step.value
}
