import { IoError } from '../../../errors/kinds.ts'
import type { Random } from '../../../host/random.ts'
import type { Database } from './connection.ts'
import { fingerprintKeyBytes, fingerprintKeyName } from '../fingerprints.ts'
import type { Listing } from './listing.ts'
import { first } from './migrations/0001-first.ts'
import { files } from './migrations/0002-files.ts'
import { quota } from './migrations/0003-quota.ts'
import { inbox } from './migrations/0004-inbox.ts'
import { byEmail } from './migrations/0005-by-email.ts'
import { byChange } from './migrations/0006-by-change.ts'
import { matching } from './migrations/0007-matching.ts'
import { witnesses } from './migrations/0008-witnesses.ts'
import { queue } from './migrations/0009-queue.ts'
import { checks } from './migrations/0010-checks.ts'

/** In order; a store's `user_version` counts those it has been through. */
const migrations: readonly (string | ((database: Database) => void))[] = [
  first,
  files,
  quota,
  inbox,
  byEmail,
  byChange,
  matching,
  witnesses,
  queue,
  checks,
]

/** Marks the file as a refcheck ledger, so that another program's database is never written to ("RFCL"). */
const applicationId = 0x52_46_43_4c

/** The triggers of a store that was moved, which only refuse; no other runs by itself in a store of ours. */
const ownTrigger =
  /^CREATE TRIGGER moved_(\w+) BEFORE INSERT ON \1\s+BEGIN SELECT RAISE\(ABORT, '(?:[^']|'')*'\); END$/

/** A view may never end, a trigger may change what is written: of a store that somebody handed over. */
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
 * Refuses a file that is not ours, or that a newer refcheck made. Changes nothing. Within a transaction
 * of its caller: another process may be making the store.
 */
export function inspect(database: Database): void {
  const version = Number(database.pragma('user_version'))
  const application = database.pragma('application_id')
  const { count } = database.get('SELECT count(*) AS count FROM sqlite_schema') as { count: number }
  if (count > 0 && application !== applicationId) {
    throw new IoError(`cannot use the store "${database.location}": it is another program’s database`, {
      hint: 'Choose another file with REFCHECK_STORE.',
    })
  }
  refuseAdded(database)
  if (version > migrations.length) {
    throw new IoError(
      `cannot use the store "${database.location}": it was made by a newer refcheck ` +
        `(format ${version}; this version supports up to ${migrations.length})`,
      { hint: 'Update refcheck, or choose another file with REFCHECK_STORE.' },
    )
  }
}

/**
 * Brings the store to the newest format. Several processes may try at once; one does it. `listing`: keeps the
 * key of a new store outside it; undefined for a store that ends with its process.
 */
export function migrate(database: Database, random: Random, listing: Listing | undefined): void {
  if (database.pragma('user_version') === migrations.length) return
  database.transaction(() => {
    inspect(database)
    const version = Number(database.pragma('user_version'))
    for (const migration of migrations.slice(version)) {
      if (typeof migration === 'string') database.exec(migration)
      else migration(database)
    }
    if (version === 0) {
      database.exec(`PRAGMA application_id = ${applicationId}`)
      database.run('INSERT INTO meta (name, value) VALUES (:name, :value)', {
        name: fingerprintKeyName,
        value: listing?.formerKey() ?? random.bytes(fingerprintKeyBytes),
      })
      listing?.announce()
    }
    database.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}
