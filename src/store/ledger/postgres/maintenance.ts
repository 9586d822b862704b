import { all, get, metaText, run, type Work } from '../engine.ts'
import { closedName } from '../store-state.ts'
import { movedState } from './failure.ts'
import type { StoreServer } from '../../../domain/store/types.ts'
import { StoreBusyError, UsageError } from '../../../errors/kinds.ts'
import type { Upkeep } from '../maintenance.ts'
import type { Database } from './connection.ts'
import { formatName, formats } from './migrate.ts'

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
      const hidden = (await database.all(selectHidden)) as { hidden: string }[]
      return { replication, latencyMs, hidden: hidden.map((each) => each.hidden) }
    },

    checkTables: foreignParts,

    /** A server keeps older versions of rows until it vacuums. Its log, its standbys and its backups are not ours to clean. */
    async scrub() {
      const { may } = (await database.get(selectMayClean)) as { may: boolean }
      if (!may) return 'the owner'
      try {
        for (const table of peopleTables) await database.run(`VACUUM ${table}`)
        return undefined
      } catch (error) {
        if (error instanceof StoreBusyError) return 'another process'
        throw error
      }
    },

    backup: () =>
      Promise.reject(
        new UsageError('a store on PostgreSQL is backed up by the server’s own means', {
          hint: 'Use pg_dump, or pg_basebackup with WAL archiving.',
        }),
      ),

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
 * What the tables have that the schema does not make, in sentences: a trigger, a rule, a policy or another default changes
 * what is written without any statement of ours. The triggers of a store that was moved are ours: their function has
 * `fenceBody`. Indexes are only missed.
 */
function* foreignParts(): Work<string[]> {
  const found = yield* all<Found>(selectFound)
  const fence = found.find(({ kind, isFence }) => kind === 'function' && isFence)
  const isOurFence = fence?.text === fenceBody
  const schema = formats.join('\n')
  const defaults = defaultsOf(schema)
  const findings: string[] = []
  for (const { kind, name, table, isFence, text } of found) {
    if (kind === 'default') {
      const column = `${table}.${name}`
      const expected = defaults.get(column)
      defaults.delete(column)
      if (text.replace(/::[a-z ]+$/, '') !== expected)
        findings.push(`the default of ${column} is ${text}; refcheck makes ${expected ?? 'none'}`)
    } else if (kind === 'index') {
      continue
    } else if (!isFence || !isOurFence) {
      findings.push(
        `a ${kind} that refcheck did not make ${table === undefined ? 'is next to its tables' : `is on table ${table}`}: ${name}`,
      )
    }
  }
  for (const [column, expected] of defaults)
    findings.push(`the default of ${column} is missing; refcheck makes ${expected}`)
  const indexes = new Set(found.flatMap(({ kind, name }) => (kind === 'index' ? [name] : [])))
  for (const [, name = ''] of schema.matchAll(/^CREATE (?:UNIQUE )?INDEX (\w+)/gm))
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
