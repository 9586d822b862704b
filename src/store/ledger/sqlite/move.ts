import { get, run } from '../engine.ts'
import type { MoveParts } from '../move.ts'
import type { StoreLogs } from '../store-logs.ts'

/** Moving a store in an SQLite file. */
export function sqliteMove(logs: StoreLogs): MoveParts {
  return {
    *fence(table, to) {
      yield* run(`CREATE TRIGGER IF NOT EXISTS moved_${table} BEFORE INSERT ON ${table}
BEGIN SELECT RAISE(ABORT, '${to.replaceAll("'", "''")}'); END`)
    },
    *removeFence(table) {
      yield* run(`DROP TRIGGER IF EXISTS moved_${table}`)
    },
    *newestEvent() {
      return (yield* get<{ seq: number }>(`SELECT seq FROM sqlite_sequence WHERE name = 'events'`))?.seq ?? 0
    },
    *continueNumbers(seq) {
      yield* run(`DELETE FROM sqlite_sequence WHERE name = 'events'`)
      if (seq > 0) yield* run(`INSERT INTO sqlite_sequence (name, seq) VALUES ('events', :seq)`, { seq })
    },
    left: (to) => logs.leave(to),
  }
}
