import type { AttemptAge } from './age.ts'
import type { Database, Values } from './connection.ts'
import { type Named, namesPerson } from '../../../domain/store/forget.ts'
import { columnsWith, statesLeft } from '../../../domain/store/forgetting.ts'
import type { Forgotten, Purged } from '../../../domain/store/told.ts'
import { waitingStates } from '../../../domain/submission/states.ts'
import { StoreBusyError } from '../../../errors/kinds.ts'
import { metaText, setMeta } from './meta.ts'
import { sqlList } from '../sql.ts'
import { chosenEvents, chosenRows } from './maintenance-statements.ts'

/** Set while older pages may hold what was removed. */
const unscrubbedName = 'unscrubbed'

/** States of rows that nothing was sent of; a person who is removed is not ordered any more. */
const waiting = sqlList(waitingStates)

const named = `(s.first_name IS NOT NULL OR s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`

export interface PurgeOptions {
  dryRun: boolean
  /** The fingerprints too: an old file would order the person again. */
  completely: boolean
}

/** Removes what names a person, or what is old; see Maintenance. */
export function purge(
  database: Database,
  age: AttemptAge,
  who: Forgotten,
  { dryRun, completely }: PurgeOptions,
): Purged {
  const { where, values } = chosenRows(who)
  const events = chosenEvents(who)
  const isPerson = !('endedBefore' in who)
  const stays = `s.state IN ${sqlList(statesLeft(who))}`
  const settled = `${where} AND NOT ${stays}`
  const found = database.transaction(() => {
    const count = (sql: string, more: Values): number => (database.get(sql, more) as { count: number }).count
    const counts = {
      rows: count(`SELECT count(*) AS count FROM submissions s WHERE ${settled} AND ${named}`, values),
      events: count(`SELECT count(*) AS count FROM events e WHERE ${events.where}`, events.values),
      kept: count(`SELECT count(*) AS count FROM submissions s WHERE ${where} AND ${stays}`, values),
    }
    if (dryRun) return counts
    if (isPerson) cancelWaiting(database, where, values)
    removeFileNames(database, settled, values)
    // What many were said to share may be the person's own; the rest is held again.
    database.run(
      `UPDATE batches SET shared = '[]' WHERE id IN (SELECT s.batch_id FROM submissions s WHERE ${settled})`,
      values,
    )
    if (completely) age.removeFingerprints(attemptsOf(database, settled, values))
    database.run(`DELETE FROM events AS e WHERE ${events.where}`, events.values)
    empty(database, settled, values, completely)
    if (counts.rows + counts.events > 0) setMeta(database, unscrubbedName, '1')
    return counts
  })
  const isScrubbed = dryRun ? metaText(database, unscrubbedName) === undefined : scrub(database)
  return { ...found, isScrubbed, isLeftTo: isScrubbed ? undefined : 'another process' }
}

function cancelWaiting(database: Database, where: string, values: Values): void {
  database.run(
    `UPDATE submissions AS s SET state = 'cancelled', reason = NULL WHERE ${where} AND s.state IN ${waiting}`,
    values,
  )
}

/** A file's name can be a person's. */
function removeFileNames(database: Database, settled: string, values: Values): void {
  const found = database.all(
    `SELECT DISTINCT b.id, b.name, b.path, b.results_file, b.halt_message, s.first_name, s.last_name, s.email
      FROM submissions s JOIN batches b ON b.id = s.batch_id WHERE ${settled}`,
    values,
  ) as (Named & Record<'id' | 'name' | 'path' | 'results_file' | 'halt_message', string | null>)[]
  for (const { id, name, path, results_file, halt_message, ...person } of found) {
    const texts = [name, path, results_file, halt_message]
    if (texts.some((text) => text !== null && namesPerson(text, person)))
      forgetFile(database, 'b.id = :id', { id })
  }
}

function forgetFile(database: Database, where: string, values: Values): void {
  database.run(`UPDATE batches AS b SET ${emptied(columnsWith('batches', 'emptied'))} WHERE ${where}`, values)
}

function attemptsOf(database: Database, settled: string, values: Values): Set<string> {
  const rows = database.all(
    `SELECT a.id FROM attempts a JOIN submissions s ON s.batch_id = a.batch_id AND s.row_number = a.row_number
      WHERE ${settled}`,
    values,
  ) as { id: string }[]
  return new Set(rows.map(({ id }) => id))
}

function empty(database: Database, settled: string, values: Values, completely: boolean): void {
  const rows = `SELECT s.batch_id, s.row_number FROM submissions s WHERE ${settled}`
  database.run(`UPDATE attempts SET reason = NULL WHERE (batch_id, row_number) IN (${rows})`, values)
  database.run(`UPDATE decisions SET why = 'removed' WHERE (batch_id, row_number) IN (${rows})`, values)
  const columns = columnsWith('submissions', 'emptied')
  if (completely) columns.push(...columnsWith('submissions', 'emptied with --completely'))
  database.run(`UPDATE submissions AS s SET ${emptied(columns)} WHERE ${settled}`, values)
  const nobody = `SELECT 1 FROM submissions s
    WHERE s.batch_id = b.id AND (s.email IS NOT NULL OR s.body IS NOT NULL OR s.reason IS NOT NULL)`
  const isEmpty = `b.kind = 'file' AND NOT EXISTS (${nobody})`
  forgetFile(database, isEmpty, {})
  const last = columnsWith('batches', 'emptied with the last person')
  database.run(`UPDATE batches AS b SET ${emptied(last)} WHERE ${isEmpty}`)
}

/** What stands in for a value that may not be missing: every row that was a whole order has a fingerprint. */
const standIns = new Map([
  ['fingerprint', 'iif(fingerprint IS NULL, NULL, lower(hex(randomblob(32))))'],
  ['shared', "'[]'"],
])

function emptied(columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${standIns.get(column) ?? 'NULL'}`).join(', ')
}

/**
 * secure_delete has overwritten what was removed; VACUUM and a truncated journal leave no older page either. False
 * where another process reads, or writes, and an older page stays.
 */
function scrub(database: Database): boolean {
  try {
    database.exec('VACUUM')
  } catch (error) {
    if (error instanceof StoreBusyError) return false
    throw error
  }
  const isBusy = database.location !== ':memory:' && database.pragma('wal_checkpoint(TRUNCATE)') !== 0
  if (!isBusy) setMeta(database, unscrubbedName, undefined)
  return !isBusy
}
