import type { Database, Sql } from './connection.ts'
import { IoError } from '../../../errors/kinds.ts'
import type { Random } from '../../../host/random.ts'
import { fingerprintKeyBytes, fingerprintKeyName } from '../fingerprints.ts'
import { currentEpoch, runOn } from './engine.ts'
import { beginStore } from '../store-state.ts'
import { metaText, setMeta } from './meta.ts'
import { schema } from './schema.ts'

/** In order, each as SQL; `format` in a store's `meta` counts those it has been through. */
export const formats: readonly string[] = [schema]

export const formatName = 'format'

/** In the schema itself there may be nothing yet. */
const selectFormat = `
SELECT to_regclass('refcheck.meta') IS NOT NULL AS made, to_regclass('refcheck.attempt_logs') IS NULL AS is_former`

const lockSchema = `SELECT pg_advisory_xact_lock(hashtextextended('refcheck migrate', 0))`

/** Of the newest store that this program can use. */
export const newestFormat = formats.length

/** How many changes of format a database has been through; 0 for one without a store. Throws for one from before 1.0.0. */
export async function formatOf(sql: Sql, location: string): Promise<number> {
  const { made, is_former } = (await sql.get(selectFormat)) as { made: boolean; is_former: boolean }
  if (made && is_former) {
    throw new IoError(`cannot use the store "${location}": it was made by a refcheck from before 1.0.0`, {
      hint: 'Use the refcheck that made it, or choose another store with REFCHECK_STORE. Nothing was changed.',
    })
  }
  return made ? Number((await metaText(sql, formatName)) ?? 0) : 0
}

/** Refuses a database without a store, or with one of another format than this program's. Changes nothing. */
export async function inspect(sql: Sql, location: string, known = formats): Promise<void> {
  const format = await formatOf(sql, location)
  const refused = (why: string, hint: string): IoError =>
    new IoError(`cannot use the store "${location}": ${why}`, { hint })
  if (format === 0) {
    throw refused('the database has no tables of refcheck', 'Make them with: refcheck store migrate')
  }
  if (format < known.length) {
    throw refused(
      `it is of format ${format}, and this refcheck uses ${known.length}`,
      'Bring it up to date, once all who use it have this refcheck, with: refcheck store migrate',
    )
  }
  if (format > known.length) {
    throw refused(
      `it was made by a newer refcheck (format ${format}; this version supports up to ${known.length})`,
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
  formerKey?: () => Uint8Array | undefined,
  known = formats,
): Promise<{ from: number; to: number }> {
  return database.transaction(async (sql) => {
    await sql.run(lockSchema)
    const from = await formatOf(sql, database.location)
    if (from > known.length) await inspect(sql, database.location, known)
    if (from === 0) await sql.run('CREATE SCHEMA IF NOT EXISTS refcheck')
    for (const format of known.slice(from)) await sql.run(format)
    if (from === 0) {
      await setMeta(sql, fingerprintKeyName, formerKey?.() ?? random.bytes(fingerprintKeyBytes))
      const { epoch } = (await sql.get(`SELECT ${currentEpoch} AS epoch`)) as { epoch: string }
      await runOn(sql, beginStore({ storeId: random.uuid(), generation: random.uuid() }, epoch))
    }
    await setMeta(sql, formatName, String(known.length))
    return { from, to: known.length }
  })
}
