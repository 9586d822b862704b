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
 * The tables and the index that exist only in PostgreSQL, where several processes share a store. runners: the processes
 * that order; `lock` is the key of the advisory lock that each of them holds while it is connected. runs: the batches
 * that each runner has the lease of. submissions_alone: the index of single orders that wait for their runner. pauses:
 * the newest order of each service whose outcome is unknown.
 */
const tablesOfSharedStore = `
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

/**
 * The SQL that makes each format from the one before. `format` in the table meta is the number of formats that were
 * made.
 */
export const formats: readonly string[] = [schema + tablesOfSharedStore]

export const formatName = 'format'

/** Uses to_regclass, which returns NULL for a table or schema that does not exist. */
const selectFormat = `
SELECT to_regclass('refcheck.meta') IS NOT NULL AS has_store, to_regclass('refcheck.attempt_logs') IS NULL AS is_former`

const lockSchema = `SELECT pg_advisory_xact_lock(hashtextextended('refcheck migrate', 0))`

/**
 * Returns the format of the store in a database; 0 if there is no store. Throws an IoError if the store was made before
 * version 1.0.0.
 */
export async function readFormat(sql: Sql, location: string): Promise<number> {
  const selected = await sql.get(selectFormat)
  const { has_store: hasStore, is_former: isFormer } = selected as { has_store: boolean; is_former: boolean }
  if (hasStore && isFormer) requireKnownFormat(location, 'store', 'former', formats.length)
  return hasStore ? Number((await runOn(sql, metaText(formatName))) ?? 0) : 0
}

/** Throws an IoError if the database has no store, or a store in another format than that of this program. */
export async function inspect(sql: Sql, location: string, knownFormats = formats): Promise<void> {
  const format = await readFormat(sql, location)
  requireKnownFormat(location, 'store', format, knownFormats.length)
  if (format === knownFormats.length) return
  const [why, hint] =
    format === 0
      ? ['the database has no tables of refcheck', 'Make them with: refcheck store migrate']
      : [
          `it is of format ${format}, and this refcheck uses ${knownFormats.length}`,
          'Bring it up to date, once all who use it have this refcheck, with: refcheck store migrate',
        ]
  throw unusableStore(location, why, hint)
}

/**
 * Creates the store, or brings it to the newest format; other migrations wait meanwhile. `formerKey` returns the
 * fingerprint key of an earlier store at this address: with the same key, a new store recognises the people in the logs
 * of the earlier one. Returns the formats before and after.
 */
export async function migrate(
  database: Database,
  random: Random,
  formerKey?: () => Uint8Array | undefined,
  knownFormats = formats,
): Promise<{ from: number; to: number }> {
  return database.transaction(async (sql) => {
    await sql.run(lockSchema)
    const from = await readFormat(sql, database.location)
    if (from > knownFormats.length) await inspect(sql, database.location, knownFormats)
    if (from === 0) await sql.run('CREATE SCHEMA IF NOT EXISTS refcheck')
    for (const format of knownFormats.slice(from)) await sql.run(format)
    if (from === 0) await runOn(sql, beginStore(random, formerKey))
    await runOn(sql, setMeta(formatName, String(knownFormats.length)))
    return { from, to: knownFormats.length }
  })
}

const blockingBody = ` BEGIN RAISE EXCEPTION USING ERRCODE = '${movedState}', MESSAGE = (
  SELECT convert_from(value, 'UTF8')::json -> 'move' ->> 'to' FROM meta WHERE name = '${closedName}'
); END `

const makeBlockingFunction = `CREATE OR REPLACE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS $$${blockingBody}$$`

const selectFigures = `
SELECT current_setting('server_version') AS version,
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace('refcheck')) AS bytes`

/** Only counts the standbys, because not every user may see their states. */
const selectReplication = `
SELECT CASE
  WHEN current_setting('synchronous_standby_names') <> '' THEN 'synchronous'
  WHEN (SELECT count(*) FROM pg_stat_replication) > 0 THEN 'asynchronous'
  ELSE 'none' END AS replication`

/** Selects the functions that the epoch is read with and that this database user may not execute. */
const selectHidden = `
SELECT 'FUNCTION ' || name AS hidden
FROM unnest(ARRAY['pg_control_system()', 'pg_current_wal_insert_lsn()', 'pg_walfile_name(pg_lsn)']) AS name
WHERE NOT has_function_privilege('pg_catalog.' || name, 'EXECUTE')`

/** Selects whether this database user may vacuum the tables: as their owner, or as a member of the owner's role. */
const selectMayVacuum = `
SELECT bool_and(pg_has_role(relowner, 'USAGE')) AS may FROM pg_class
WHERE relkind = 'r' AND relnamespace = to_regnamespace('refcheck')`

/** The tables with data of people that a purge removes or overwrites. */
const vacuumedTables = ['submissions', 'attempts', 'decisions', 'batches', 'events', 'unmatched_requests']

/** Returns the operations that inspect and maintain a PostgreSQL database. */
export function postgresUpkeep(database: Database): Upkeep {
  return {
    *figures() {
      const figures = yield* get<{ version: string; bytes: number }>(selectFigures)
      return {
        bytes: figures?.bytes ?? 0,
        format: Number((yield* metaText(formatName)) ?? 0),
        engine: `PostgreSQL ${figures?.version.replace(/ .*/s, '')}`,
      }
    },

    async server() {
      const latencyMs = await database.latency()
      const { replication } = (await database.get(selectReplication)) as Pick<StoreServer, 'replication'>
      const hidden = await runOn(database, all<{ hidden: string }>(selectHidden))
      return { replication, latencyMs, hidden: hidden.map((each) => each.hidden) }
    },

    checkTables: findForeignParts,

    /**
     * Vacuums the tables, because until then the server stores older versions of rows. Copies in the server's log, its
     * standbys and its backups are not removed. Returns 'the owner' if only the owner of the tables may vacuum them.
     */
    async scrub() {
      const { may } = (await database.get(selectMayVacuum)) as { may: boolean }
      if (!may) return 'the owner'
      for (const table of vacuumedTables) await database.run(`VACUUM ${table}`)
      return undefined
    },

    async backup() {
      const hint = 'Use pg_dump, or pg_basebackup with WAL archiving.'
      throw new UsageError('a store on PostgreSQL is backed up by the server’s own means', { hint })
    },

    problems: async () => [],
    *blockInserts(table) {
      yield* run(makeBlockingFunction)
      yield* run(
        `CREATE OR REPLACE TRIGGER moved BEFORE INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION moved()`,
      )
    },
    *allowInserts(table) {
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

/**
 * Selects the triggers, rules, policies, defaults and valid indexes of the store's tables, and the functions that a
 * trigger or a rule could call.
 */
const selectParts = `
SELECT 'trigger' AS kind, t.tgname AS name, c.relname AS "table", t.tgtype = 6 AND f.proname = 'moved' AS blocks_inserts, '' AS text
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

interface SchemaPart {
  kind: 'trigger' | 'function' | 'rule' | 'policy' | 'default' | 'index'
  name: string
  table: string | undefined
  blocksInserts: boolean
  text: string
}

/**
 * Returns sentences about the parts of the tables that refcheck did not make: a trigger, a rule, a policy or another
 * default changes rows without a statement of refcheck. The triggers of a moved store are refcheck's if their function
 * has the text `blockingBody`. Missing defaults and indexes are also reported; additional indexes are not.
 */
function* findForeignParts(): Work<string[]> {
  const parts = yield* all<SchemaPart>(selectParts)
  const isFunctionOfRefcheck = parts.some(({ blocksInserts, text }) => blocksInserts && text === blockingBody)
  const sql = formats.join('\n')
  const defaults = readDefaults(sql)
  const findings: string[] = []
  for (const { kind, name, table, blocksInserts, text } of parts) {
    if (kind === 'default') {
      const column = `${table}.${name}`
      const expected = defaults.get(column)
      defaults.delete(column)
      if (text.replace(/::[a-z ]+$/, '') !== expected)
        findings.push(`the default of ${column} is ${text}; refcheck makes ${expected ?? 'none'}`)
    } else if (kind !== 'index' && !(blocksInserts && isFunctionOfRefcheck)) {
      const positionText = table === undefined ? 'is next to its tables' : `is on table ${table}`
      findings.push(`a ${kind} that refcheck did not make ${positionText}: ${name}`)
    }
  }
  for (const [column, expected] of defaults)
    findings.push(`the default of ${column} is missing; refcheck makes ${expected}`)
  const indexes = new Set(parts.flatMap(({ kind, name }) => (kind === 'index' ? [name] : [])))
  for (const [, name = ''] of sql.matchAll(/^CREATE (?:UNIQUE )?INDEX (\w+)/gm))
    if (!indexes.has(name)) findings.push(`the index ${name} is missing or not valid`)
  return findings
}

/** Returns the defaults in the SQL of the tables, by `table.column`. */
function readDefaults(sql: string): Map<string, string> {
  const defaults = new Map<string, string>()
  for (const [, table = '', body = ''] of sql.matchAll(/^CREATE TABLE (\w+) \(\n(.*?)^\)/gms))
    for (const [, column = '', value = ''] of body.matchAll(/^ {2}(\w+) .*DEFAULT (\d+|'[^']*')/gm))
      defaults.set(`${table}.${column}`, value)
  return defaults
}

const defaultLockWaitMs = 5_000
/** The time for which a run waits for its database, for example during a restart or a failover. */
const defaultPatienceMs = 600_000

/** Creates a store, or brings it to the newest format. With `onlyIfMissing`, an existing store is not changed. */
export async function migratePostgresStore(
  server: PostgresServer,
  options: StoreOptions,
  onlyIfMissing: boolean,
): Promise<MigrationResult> {
  const database = await connect(server, options, 0)
  try {
    const format = onlyIfMissing ? await readFormat(database, database.location) : 0
    const files = attemptLogFiles(options)
    files.requireNoFormerLog(database.location)
    const formatChange =
      format === 0
        ? await migrate(database, options.random, () => files.findKey(database.location))
        : { from: format, to: format }
    if (formatChange.from === 0) await (await assemble(database, options, true)).close()
    return { location: database.location, ...formatChange }
  } finally {
    await database.close()
  }
}

/** Opens an existing store. Throws an IoError if the database has no store, or a store in another format. */
export async function openPostgresStore(server: PostgresServer, options: StoreOptions): Promise<Store> {
  const database = await connect(server, options, options.reconnectMs ?? defaultPatienceMs)
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
  { env = {}, secrets, lockWaitMs = defaultLockWaitMs, ...options }: StoreOptions,
  reconnectMs: number,
): Promise<Database> {
  const serverWithPassword = await withPassword(server, env, options.onMessage)
  secrets?.add('store password', serverWithPassword.password)
  return new Database(serverWithPassword, { ...options, lockWaitMs, reconnectMs })
}

function assemble(database: Database, options: StoreOptions, isNew = false): Promise<Store> {
  return assembleStore(
    {
      engine: postgresEngine(database),
      leases: new Runner(database, options.random),
      upkeep: postgresUpkeep(database),
      files: attemptLogFiles(options),
      isNew,
      close: () => database.close(),
    },
    options,
  )
}
