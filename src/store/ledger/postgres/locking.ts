import type { Sql } from './connection.ts'

/** Milliseconds of wall time by the clock that all runners share. */
export const databaseNow = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** A number that stands for a name among the locks of the database. */
const keyOf = (kind: string, name: string): string =>
  `hashtextextended(current_schema() || ' ${kind} ' || ${name}, 0)`

export const batchKey = keyOf('batch', 'CAST(:batch_id AS text)')

const lockNobody = `SELECT pg_advisory_xact_lock_shared(${keyOf('account', `''`)})`
const lockOne = `SELECT pg_advisory_xact_lock(${keyOf('account', 'CAST(:account AS text)')})`

/**
 * Until the end of the transaction nobody else compares people of an account: "two adds both inserted" where one looks and then
 * inserts. Orders of nobody's account are compared with those of all.
 */
export async function lockAccount(sql: Sql, account: string): Promise<void> {
  if (account !== '') await sql.run(lockNobody)
  await sql.run(lockOne, { account })
}

/** The same for the account of a batch. */
export async function lockAccountOf(sql: Sql, batchId: string): Promise<void> {
  const found = (await sql.get('SELECT account FROM batches WHERE id = :id', { id: batchId })) as
    | { account: string }
    | undefined
  await lockAccount(sql, found?.account ?? '')
}

/** Whether the connection of a runner `r` stands: it holds its lock as long as it does. */
export const runnerIsThere = `EXISTS (
  SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid::bigint = (r.lock >> 32) AND l.objid::bigint = (r.lock & 4294967295)
)`

/** "A row is held by session lock and lease": nobody has a row `s` whose runner let go of its batch, or has neither. */
export const nobodyHas = `NOT EXISTS (
  SELECT 1 FROM runs u JOIN runners r ON r.id = u.runner
  WHERE u.batch_id = s.batch_id AND u.runner = s.runner AND (r.leased_until >= ${databaseNow} OR ${runnerIsThere})
)`
