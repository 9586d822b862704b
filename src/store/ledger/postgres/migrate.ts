import { schema } from '../schema.ts'
import { type Database, runOn, type Sql } from './connection.ts'
import { IoError } from '../../../errors/kinds.ts'
import type { Random } from '../../../host/random.ts'
import { metaText, setMeta } from '../engine.ts'
import { beginStore, requireKnownFormat } from '../store-state.ts'

/**
 * What lets several processes share a database. runners: processes that order; `lock` is the key of the
 * lock that each holds as long as its connection stands. runs: which batches each goes through. pauses: the last order of
 * a service whose outcome is unknown.
 */
const ownTables = `
-- Orders of one row that wait for their runner.
CREATE INDEX submissions_alone ON submissions (batch_id) WHERE state = 'pending' AND runner IS NOT NULL;

CREATE TABLE runners (
  id text COLLATE "C" PRIMARY KEY,
  lock bigint NOT NULL,
  machine text NOT NULL,
  pid bigint NOT NULL,
  began_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  leased_until bigint NOT NULL
);

CREATE TABLE runs (
  batch_id text COLLATE "C" NOT NULL,
  runner text COLLATE "C" NOT NULL REFERENCES runners (id) ON DELETE CASCADE,
  since bigint NOT NULL,
  PRIMARY KEY (batch_id, runner)
);

CREATE INDEX runs_by_runner ON runs (runner);

CREATE TABLE pauses (
  service text COLLATE "C" PRIMARY KEY,
  attempt_id text COLLATE "C" NOT NULL,
  at bigint NOT NULL
);
`

/** In order, each as SQL; `format` in a store's `meta` counts those it has been through. */
export const formats: readonly string[] = [schema + ownTables]

export const formatName = 'format'

/** In the schema itself there may be nothing yet. */
const selectFormat = `
SELECT to_regclass('refcheck.meta') IS NOT NULL AS made, to_regclass('refcheck.attempt_logs') IS NULL AS is_former`

const lockSchema = `SELECT pg_advisory_xact_lock(hashtextextended('refcheck migrate', 0))`

/** How many changes of format a database has been through; 0 for one without a store. Throws for one from before 1.0.0. */
export async function formatOf(sql: Sql, location: string): Promise<number> {
  const { made, is_former } = (await sql.get(selectFormat)) as { made: boolean; is_former: boolean }
  requireKnownFormat(location, 'store', { isFormer: made && is_former, format: 0, known: formats })
  return made ? Number((await runOn(sql, metaText(formatName))) ?? 0) : 0
}

/** Refuses a database without a store, or with one of another format than this program's. Changes nothing. */
export async function inspect(sql: Sql, location: string, known = formats): Promise<void> {
  const format = await formatOf(sql, location)
  requireKnownFormat(location, 'store', { isFormer: false, format, known })
  if (format === known.length) return
  const [why, hint] =
    format === 0
      ? ['the database has no tables of refcheck', 'Make them with: refcheck store migrate']
      : [
          `it is of format ${format}, and this refcheck uses ${known.length}`,
          'Bring it up to date, once all who use it have this refcheck, with: refcheck store migrate',
        ]
  throw new IoError(`cannot use the store "${location}": ${why}`, { hint })
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
      const { epoch } = (await sql.get('SELECT {epoch} AS epoch')) as { epoch: string }
      await runOn(sql, beginStore(random, formerKey, epoch))
    }
    await runOn(sql, setMeta(formatName, String(known.length)))
    return { from, to: known.length }
  })
}
