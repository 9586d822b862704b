import { get, metaText, run } from '../engine.ts'
import { closedName } from '../store-state.ts'
import { movedState } from './failure.ts'
import type { StoreServer } from '../../../domain/store/told.ts'
import { StoreBusyError, UsageError } from '../../../errors/kinds.ts'
import type { Upkeep } from '../maintenance.ts'
import type { Database } from './connection.ts'
import { foreignParts } from './examine-schema.ts'
import { formatName } from './migrate.ts'

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

    checkTables: () => foreignParts(fenceBody),

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
