import type { PostgresAge } from './age.ts'
import type { Database, Sql, Values } from './connection.ts'
import { type Named, namesPerson } from '../../../domain/store/forget.ts'
import { columnsWith, statesLeft } from '../../../domain/store/forgetting.ts'
import type { Forgotten, Purged } from '../../../domain/store/told.ts'
import { waitingStates } from '../../../domain/submission/states.ts'
import { StoreBusyError } from '../../../errors/kinds.ts'
import { sqlList } from '../sql.ts'
import { chosenEvents, chosenRows } from './maintenance-statements.ts'

/** States of rows that nothing was sent of; a person who is removed is not ordered any more. */
const waiting = sqlList(waitingStates)

const named = `(s.first_name IS NOT NULL OR s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`

const tables = ['submissions', 'attempts', 'decisions', 'batches', 'events']

/** Removes what names a person, or what is old; see Maintenance. */
export async function purge(
  database: Database,
  age: PostgresAge,
  who: Forgotten,
  { dryRun, completely }: { dryRun: boolean; completely: boolean },
): Promise<Purged> {
  const { where, values } = chosenRows(who)
  const events = chosenEvents(who)
  const stays = `s.state IN ${sqlList(statesLeft(who))}`
  const settled = `${where} AND NOT ${stays}`
  const { attempts, ...found } = await database.transaction(async (sql) => {
    const count = async (from: string, more: Values): Promise<number> =>
      ((await sql.get(`SELECT count(*) AS count FROM ${from}`, more)) as { count: number }).count
    const counts = {
      rows: await count(`submissions s WHERE ${settled} AND ${named}`, values),
      events: await count(`events e WHERE ${events.where}`, events.values),
      kept: await count(`submissions s WHERE ${where} AND ${stays}`, values),
      attempts: new Set<string>(),
    }
    if (dryRun) return counts
    if (!('endedBefore' in who)) await cancelWaiting(sql, where, values)
    await removeFileNames(sql, settled, values)
    // What many were said to share may be the person's own; the rest is held again.
    await sql.run(
      `UPDATE batches SET shared = '[]' WHERE id IN (SELECT s.batch_id FROM submissions s WHERE ${settled})`,
      values,
    )
    if (completely) counts.attempts = await attemptsOf(sql, settled, values)
    await sql.run(`DELETE FROM events AS e WHERE ${events.where}`, events.values)
    await empty(sql, settled, values, completely)
    return counts
  })
  if (completely && !dryRun) age.removeFingerprints(attempts)
  const isLeftTo = dryRun ? undefined : await scrub(database)
  return { ...found, isScrubbed: isLeftTo === undefined, isLeftTo }
}

async function cancelWaiting(sql: Sql, where: string, values: Values): Promise<void> {
  await sql.run(
    `UPDATE submissions AS s SET state = 'cancelled', reason = NULL WHERE ${where} AND s.state IN ${waiting}`,
    values,
  )
}

/** A file's name can be a person's. */
async function removeFileNames(sql: Sql, settled: string, values: Values): Promise<void> {
  const found = (await sql.all(
    `SELECT DISTINCT b.id, b.name, b.path, b.results_file, b.halt_message, s.first_name, s.last_name, s.email
      FROM submissions s JOIN batches b ON b.id = s.batch_id WHERE ${settled}`,
    values,
  )) as (Named & Record<'id' | 'name' | 'path' | 'results_file' | 'halt_message', string | null>)[]
  for (const { id, name, path, results_file, halt_message, ...person } of found) {
    const texts = [name, path, results_file, halt_message]
    if (texts.some((text) => text !== null && namesPerson(text, person)))
      await forgetFile(sql, 'b.id = :id', { id })
  }
}

async function forgetFile(sql: Sql, where: string, values: Values): Promise<void> {
  await sql.run(
    `UPDATE batches AS b SET ${emptied(columnsWith('batches', 'emptied'))} WHERE ${where}`,
    values,
  )
}

async function attemptsOf(sql: Sql, settled: string, values: Values): Promise<Set<string>> {
  const rows = (await sql.all(
    `SELECT a.id FROM attempts a JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
      WHERE ${settled}`,
    values,
  )) as { id: string }[]
  return new Set(rows.map(({ id }) => id))
}

async function empty(sql: Sql, settled: string, values: Values, completely: boolean): Promise<void> {
  const rows = `SELECT s.batch_id, s.row_number FROM submissions s WHERE ${settled}`
  await sql.run(`UPDATE attempts SET reason = NULL WHERE (batch_id, row_number) IN (${rows})`, values)
  await sql.run(`UPDATE decisions SET why = 'removed' WHERE (batch_id, row_number) IN (${rows})`, values)
  const columns = columnsWith('submissions', 'emptied')
  if (completely) columns.push(...columnsWith('submissions', 'emptied with --completely'))
  await sql.run(`UPDATE submissions AS s SET ${emptied(columns)} WHERE ${settled}`, values)
  const nobody = `SELECT 1 FROM submissions s
    WHERE s.batch_id = b.id AND (s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`
  const isEmpty = `b.kind = 'file' AND NOT EXISTS (${nobody})`
  await forgetFile(sql, isEmpty, {})
  const last = columnsWith('batches', 'emptied with the last person')
  await sql.run(`UPDATE batches AS b SET ${emptied(last)} WHERE ${isEmpty}`)
}

/** What stands in for a value that may not be missing: every row that was a whole order has a fingerprint. */
const standIns = new Map([
  [
    'fingerprint',
    `CASE WHEN fingerprint IS NULL THEN NULL
      ELSE replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '') END`,
  ],
  ['shared', "'[]'"],
])

function emptied(columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${standIns.get(column) ?? 'NULL'}`).join(', ')
}

/** Who owns them, or is in a role that does, may clean them. */
const selectMayClean = `
SELECT bool_and(pg_has_role(relowner, 'USAGE')) AS may FROM pg_class
WHERE relkind = 'r' AND relnamespace = to_regnamespace('refcheck')`

/**
 * A server keeps older versions of rows until it vacuums. Answers who has to end or to clean first, where somebody has. What
 * its log, its standbys and its backups keep is for whoever runs it.
 */
async function scrub(database: Database): Promise<Purged['isLeftTo']> {
  const { may } = (await database.get(selectMayClean)) as { may: boolean }
  if (!may) return 'the owner'
  try {
    for (const table of tables) await database.run(`VACUUM ${table}`)
    return undefined
  } catch (error) {
    if (error instanceof StoreBusyError) return 'another process'
    throw error
  }
}
