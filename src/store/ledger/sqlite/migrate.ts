import { schema } from '../schema.ts'
import { IoError } from '../../../errors/kinds.ts'
import type { Random } from '../../../host/random.ts'
import type { Database } from './engine.ts'
import { beginStore, requireKnownFormat } from '../store-state.ts'

/** In order, each as SQL; a store's `user_version` counts those it has been through. */
export const formats: readonly string[] = [schema]

/** Marks the file as a refcheck ledger, so that another program's database is never written to ("RFL1"). */
const applicationId = 0x52_46_4c_31
/** Of ledgers from before 1.0.0 ("RFCL"), whose formats are counted otherwise. */
const formerApplicationId = 0x52_46_43_4c

/** The triggers of a store that was moved, which only refuse; no other runs by itself in a store of ours. */
const ownTrigger =
  /^CREATE TRIGGER moved_(\w+) BEFORE INSERT ON \1\s+BEGIN SELECT RAISE\(ABORT, '(?:[^']|'')*'\); END$/

/** A view may never end, a trigger may change what is written: of a store from another source. */
function refuseAdded(database: Database): void {
  const added = database.all(
    `SELECT name, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL %'`,
  ) as { name: string; sql: string }[]
  const one = added.find(({ sql }) => !ownTrigger.test(sql))
  if (one === undefined) return
  throw new IoError(
    `cannot use the store "${database.location}": somebody added a view, trigger or virtual table to it (${one.name.slice(0, 60)})`,
    {
      hint: 'Keep the file, since it may hold orders, and restore a backup, or choose another file with REFCHECK_STORE.',
    },
  )
}

/**
 * Refuses a file that is not ours, or that a newer refcheck made. Changes nothing. `known`: the formats of this version. Within a transaction
 * of its caller: another process may be making the store.
 */
export function inspect(database: Database, known = formats): void {
  const version = Number(database.pragma('user_version'))
  const application = database.pragma('application_id')
  const { count } = database.get('SELECT count(*) AS count FROM sqlite_schema') as { count: number }
  const isFormer = application === formerApplicationId
  requireKnownFormat(database.location, 'file', { isFormer, format: 0, known })
  if (count > 0 && application !== applicationId) {
    throw new IoError(`cannot use the store "${database.location}": it is another program’s database`, {
      hint: 'Choose another file with REFCHECK_STORE.',
    })
  }
  refuseAdded(database)
  requireKnownFormat(database.location, 'file', { isFormer, format: version, known })
}

/**
 * Brings the store to the newest format. Several processes may try at once; one does it. `formerKey`: of a store that
 * was in the same place, so that a new one knows its people. Answers whether it was made just now.
 */
export function migrate(
  database: Database,
  random: Random,
  formerKey?: () => Uint8Array | undefined,
  known = formats,
): boolean {
  if (database.pragma('user_version') === known.length) return false
  return database.transaction(() => {
    inspect(database, known)
    const version = Number(database.pragma('user_version'))
    for (const format of known.slice(version)) database.exec(format)
    if (version === 0) {
      database.exec(`PRAGMA application_id = ${applicationId}`)
      database.runSync(beginStore(random, formerKey, undefined))
    }
    database.exec(`PRAGMA user_version = ${known.length}`)
    return version === 0
  })
}
