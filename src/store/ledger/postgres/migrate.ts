import type { Database, Sql } from './connection.ts'
import { IoError } from '../../../errors/kinds.ts'
import type { Random } from '../../../host/random.ts'
import { fingerprintKeyBytes, fingerprintKeyName } from '../fingerprints.ts'
import { databaseNow } from './locking.ts'
import { metaText, setMeta } from './meta.ts'
import { first } from './migrations/0001-first.ts'
import { checks } from './migrations/0002-checks.ts'

/** In order; `format` in a store's `meta` counts those it has been through. */
const migrations: readonly string[] = [first, checks]

const formatName = 'format'

/** In the schema itself there may be nothing yet. */
const selectFormat = `SELECT to_regclass('refcheck.meta') IS NOT NULL AS made`

const lockSchema = `SELECT pg_advisory_xact_lock(hashtextextended('refcheck migrate', 0))`

const insertEpoch = `
INSERT INTO epoch (one, system, timeline, accepted_at)
SELECT 1, (SELECT system_identifier::text FROM pg_control_system()),
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), ${databaseNow}`

/** Of the newest store that this program can use. */
export const newestFormat = migrations.length

/** How many changes of format a database has been through; 0 for one without a store. */
export async function formatOf(sql: Sql): Promise<number> {
  const { made } = (await sql.get(selectFormat)) as { made: boolean }
  return made ? Number((await metaText(sql, formatName)) ?? 0) : 0
}

/** Refuses a database without a store, or with one of another format than this program's. Changes nothing. */
export async function inspect(sql: Sql, location: string): Promise<void> {
  const format = await formatOf(sql)
  const refused = (why: string, hint: string): IoError =>
    new IoError(`cannot use the store "${location}": ${why}`, { hint })
  if (format === 0) {
    throw refused('the database has no tables of refcheck', 'Make them with: refcheck store migrate')
  }
  if (format < newestFormat) {
    throw refused(
      `it is of format ${format}, and this refcheck uses ${newestFormat}`,
      'Bring it up to date, once all who use it have this refcheck, with: refcheck store migrate',
    )
  }
  if (format > newestFormat) {
    throw refused(
      `it was made by a newer refcheck (format ${format}; this version supports up to ${newestFormat})`,
      'Update refcheck, or choose another store with REFCHECK_STORE.',
    )
  }
}

/**
 * Brings the store to the newest format; others wait. `formerKey`: of a store that stood in the same place, so that a
 * new one knows its people. Answers the formats before and after.
 */
export async function migrate(
  database: Database,
  random: Random,
  formerKey?: Uint8Array,
): Promise<{ from: number; to: number }> {
  return database.transaction(async (sql) => {
    await sql.run(lockSchema)
    const from = await formatOf(sql)
    if (from > newestFormat) await inspect(sql, database.location)
    if (from === 0) await sql.run('CREATE SCHEMA IF NOT EXISTS refcheck')
    for (const migration of migrations.slice(from)) await sql.run(migration)
    if (from === 0) {
      await setMeta(sql, fingerprintKeyName, formerKey ?? random.bytes(fingerprintKeyBytes))
      await setMeta(sql, 'store_id', random.uuid())
      await sql.run(insertEpoch)
    }
    await setMeta(sql, formatName, String(newestFormat))
    return { from, to: newestFormat }
  })
}
