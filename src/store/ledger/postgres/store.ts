import type { PostgresServer } from '../../../domain/store/address.ts'
import type { MigrationResult, StoreServer } from '../../../domain/store/types.ts'
import { UsageError } from '../../../errors/kinds.ts'
import type { Random } from '../../../host/random.ts'
import { type Work, all, get, metaText, requireKnownFormat, run, setMeta, unusableStore } from '../engine.ts'
import type { Upkeep } from '../maintenance.ts'
import { schema } from '../schema.ts'
import { beginStore, closedName } from '../store-state.ts'
import { type Store, type StoreOptions, assembleStore, attemptLogFiles } from '../store.ts'
import { Database, type Sql, postgresEngine, runOn, withPassword } from './connection.ts'
import { movedState } from './failure.ts'
import { Runner } from './leases.ts'

/**
 * What lets several processes share a database. runners: processes that order; `lock` is the key of the lock that
 * each holds as long as its connection stands. submissions_alone: orders of one row that wait for their runner. runs:
 * which batches each goes through. pauses: the last order of a service whose outcome is unknown.
 */
const ownTables = `
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

/**
 * How many changes of format a database has been through; 0 for one without a store. Throws for one from before
 * 1.0.0.
 */
export async function formatOf(sql: Sql, location: string): Promise<number> {
  const { made, is_former } = (await sql.get(selectFormat)) as { made: boolean; is_former: boolean }
  if (made && is_former) requireKnownFormat(location, 'store', 'former', formats.length)
  return made ? Number((await runOn(sql, metaText(formatName))) ?? 0) : 0
}

/** Refuses a database without a store, or with one of another format than this program's. Changes nothing. */
export async function inspect(sql: Sql, location: string, known = formats): Promise<void> {
  const format = await formatOf(sql, location)
  requireKnownFormat(location, 'store', format, known.length)
  if (format === known.length) return
  const [why, hint] =
    format === 0
      ? ['the database has no tables of refcheck', 'Make them with: refcheck store migrate']
      : [
          `it is of format ${format}, and this refcheck uses ${known.length}`,
          'Bring it up to date, once all who use it have this refcheck, with: refcheck store migrate',
        ]
  throw unusableStore(location, why, hint)
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
    if (from === 0) await runOn(sql, beginStore(random, formerKey))
    await runOn(sql, setMeta(formatName, String(known.length)))
    return { from, to: known.length }
  })
}

const fenceBody = ` BEGIN RAISE EXCEPTION USING ERRCODE = '${movedState}', MESSAGE = (
  SELECT convert_from(value, 'UTF8')::json -> 'move' ->> 'to' FROM meta WHERE name = '${closedName}'
); END `

const makeFence = `CREATE OR REPLACE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS $$${fenceBody}$$`

const selectFigures = `
SELECT current_setting('server_version') AS version,
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace('refcheck')) AS bytes`

/** Every user is shown the standbys, and not what each of them does. */
const selectReplication = `
SELECT CASE
  WHEN current_setting('synchronous_standby_names') <> '' THEN 'synchronous'
  WHEN (SELECT count(*) FROM pg_stat_replication) > 0 THEN 'asynchronous'
  ELSE 'none' END AS replication`

/** What the epoch is read from. */
const selectHidden = `
SELECT 'FUNCTION ' || name AS hidden
FROM unnest(ARRAY['pg_control_system()', 'pg_current_wal_insert_lsn()', 'pg_walfile_name(pg_lsn)']) AS name
WHERE NOT has_function_privilege('pg_catalog.' || name, 'EXECUTE')`

/** The owner of the tables, or a role of which the owner is a member, may clean them. */
const selectMayClean = `
SELECT bool_and(pg_has_role(relowner, 'USAGE')) AS may FROM pg_class
WHERE relkind = 'r' AND relnamespace = to_regnamespace('refcheck')`

const peopleTables = ['submissions', 'attempts', 'decisions', 'batches', 'events', 'unmatched_requests']

/** Looking after a PostgreSQL database. */
export function postgresUpkeep(database: Database): Upkeep {
  return {
    *figures() {
      const found = yield* get<{ version: string; bytes: number }>(selectFigures)
      return {
        bytes: found?.bytes ?? 0,
        format: Number((yield* metaText(formatName)) ?? 0),
        engine: `PostgreSQL ${found?.version.replace(/ .*/s, '')}`,
      }
    },

    async server() {
      const latencyMs = await database.latency()
      const { replication } = (await database.get(selectReplication)) as Pick<StoreServer, 'replication'>
      const hidden = await runOn(database, all<{ hidden: string }>(selectHidden))
      return { replication, latencyMs, hidden: hidden.map((each) => each.hidden) }
    },

    checkTables: foreignParts,

    /**
     * A server keeps older versions of rows until it vacuums. Its log, its standbys and its backups are not ours to
     * clean.
     */
    async scrub() {
      const { may } = (await database.get(selectMayClean)) as { may: boolean }
      if (!may) return 'the owner'
      for (const table of peopleTables) await database.run(`VACUUM ${table}`)
      return undefined
    },

    async backup() {
      const hint = 'Use pg_dump, or pg_basebackup with WAL archiving.'
      throw new UsageError('a store on PostgreSQL is backed up by the server’s own means', { hint })
    },

    problems: async () => [],
    *fence(table) {
      yield* run(makeFence)
      yield* run(
        `CREATE OR REPLACE TRIGGER moved BEFORE INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION moved()`,
      )
    },
    *removeFence(table) {
      yield* run(`DROP TRIGGER IF EXISTS moved ON ${table}`)
    },
    *newestEvent() {
      const select = 'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS newest FROM events_id_seq'
      return (yield* get<{ newest: number }>(select))?.newest ?? 0
    },
    *continueNumbers(newest) {
      if (newest > 0) yield* get(`SELECT setval('events_id_seq', CAST(:newest AS bigint))`, { newest })
      yield* get(
        `SELECT setval(pg_get_serial_sequence('decisions', 'id'), max(id)) FROM decisions HAVING count(*) > 0`,
      )
    },
  }
}

/** Of the tables of the store, and of functions that a trigger or a rule could call. */
const selectFound = `
SELECT 'trigger' AS kind, t.tgname AS name, c.relname AS "table", t.tgtype = 6 AND f.proname = 'moved' AS is_fence, '' AS text
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc f ON f.oid = t.tgfoid
  WHERE c.relnamespace = to_regnamespace('refcheck') AND NOT t.tgisinternal
UNION ALL SELECT 'function', f.proname, NULL, f.proname = 'moved', f.prosrc
  FROM pg_proc f WHERE f.pronamespace = to_regnamespace('refcheck')
UNION ALL SELECT 'rule', r.rulename, c.relname, false, ''
  FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
  WHERE c.relnamespace = to_regnamespace('refcheck') AND c.relkind IN ('r', 'p')
UNION ALL SELECT 'policy', p.polname, c.relname, false, ''
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = to_regnamespace('refcheck')
UNION ALL SELECT 'default', a.attname, c.relname, false, pg_get_expr(d.adbin, d.adrelid)
  FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid
  JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  WHERE c.relnamespace = to_regnamespace('refcheck') AND c.relkind IN ('r', 'p')
UNION ALL SELECT 'index', c.relname, t.relname, false, ''
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
  WHERE c.relnamespace = to_regnamespace('refcheck') AND i.indisvalid
ORDER BY 1, 3, 2`

interface Found {
  kind: 'trigger' | 'function' | 'rule' | 'policy' | 'default' | 'index'
  name: string
  table: string | undefined
  isFence: boolean
  text: string
}

/**
 * What the tables have that the schema does not make, in sentences: a trigger, a rule, a policy or another default
 * changes what is written without any statement of ours. The triggers of a store that was moved are ours: their
 * function has `fenceBody`. Indexes are only missed.
 */
function* foreignParts(): Work<string[]> {
  const found = yield* all<Found>(selectFound)
  const hasOurFence = found.some(({ isFence, text }) => isFence && text === fenceBody)
  const made = formats.join('\n')
  const defaults = defaultsOf(made)
  const findings: string[] = []
  for (const { kind, name, table, isFence, text } of found) {
    if (kind === 'default') {
      const column = `${table}.${name}`
      const expected = defaults.get(column)
      defaults.delete(column)
      if (text.replace(/::[a-z ]+$/, '') !== expected)
        findings.push(`the default of ${column} is ${text}; refcheck makes ${expected ?? 'none'}`)
    } else if (kind !== 'index' && !(isFence && hasOurFence)) {
      const where = table === undefined ? 'is next to its tables' : `is on table ${table}`
      findings.push(`a ${kind} that refcheck did not make ${where}: ${name}`)
    }
  }
  for (const [column, expected] of defaults)
    findings.push(`the default of ${column} is missing; refcheck makes ${expected}`)
  const indexes = new Set(found.flatMap(({ kind, name }) => (kind === 'index' ? [name] : [])))
  for (const [, name = ''] of made.matchAll(/^CREATE (?:UNIQUE )?INDEX (\w+)/gm))
    if (!indexes.has(name)) findings.push(`the index ${name} is missing or not valid`)
  return findings
}

/** By table and column. */
function defaultsOf(sql: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, table = '', body = ''] of sql.matchAll(/^CREATE TABLE (\w+) \(\n(.*?)^\)/gms))
    for (const [, column = '', value = ''] of body.matchAll(/^ {2}(\w+) .*DEFAULT (\d+|'[^']*')/gm))
      found.set(`${table}.${column}`, value)
  return found
}

const usualBusyMs = 5_000
/** A restart, a failover: that long a run waits for its database. */
const usualPatienceMs = 600_000

/** Makes the tables of a store, or brings them to the newest format; `onlyNew`: leaves a store that is there as it is. */
export async function migratePostgresStore(
  server: PostgresServer,
  options: StoreOptions,
  onlyNew: boolean,
): Promise<MigrationResult> {
  const database = await connect(server, options, 0)
  try {
    const format = onlyNew ? await formatOf(database, database.location) : 0
    const files = attemptLogFiles(options)
    files.requireNoFormer(database.location)
    const migrated =
      format === 0
        ? await migrate(database, options.random, () => files.keyOf(database.location))
        : { from: format, to: format }
    if (migrated.from === 0) await (await assemble(database, options, true)).close()
    return { location: database.location, ...migrated }
  } finally {
    await database.close()
  }
}

/** A store that was made with `store migrate`; throws IoError where it was not. */
export async function openPostgresStore(server: PostgresServer, options: StoreOptions): Promise<Store> {
  const database = await connect(server, options, options.patienceMs ?? usualPatienceMs)
  try {
    await inspect(database, database.location)
    return await assemble(database, options)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function connect(
  server: PostgresServer,
  { env = {}, secrets, busyMs = usualBusyMs, ...options }: StoreOptions,
  patienceMs: number,
): Promise<Database> {
  const known = await withPassword(server, env, options.onMessage)
  secrets?.add('store password', known.password)
  return new Database(known, { ...options, busyMs, patienceMs })
}

function assemble(database: Database, options: StoreOptions, isNew = false): Promise<Store> {
  return assembleStore(
    {
      engine: postgresEngine(database),
      holds: new Runner(database, options.random),
      upkeep: postgresUpkeep(database),
      files: attemptLogFiles(options),
      isNew,
      close: () => database.close(),
    },
    options,
  )
}
