import { get, run } from '../engine.ts'
import type { MoveParts } from '../move.ts'
import { closedName } from '../tables.ts'
import type { StoreLogs } from '../store-logs.ts'
import { movedState } from './failure.ts'

const makeFence = `
CREATE OR REPLACE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION USING ERRCODE = '${movedState}', MESSAGE = (
  SELECT convert_from(value, 'UTF8')::json -> 'move' ->> 'to' FROM meta WHERE name = '${closedName}'
); END $$`

/** Moving a store in a PostgreSQL database. */
export function postgresMove(logs: StoreLogs): MoveParts {
  return {
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
    left: (to) => logs.leave(to),
  }
}
