import { join, resolve } from 'node:path'

import { PostgresAge } from './age.ts'
import { PostgresBatches } from './batches.ts'
import { Database } from './connection.ts'
import { Runner } from './holds.ts'
import { PostgresInbox } from './inbox.ts'
import { keyed } from './keyed.ts'
import { PostgresLedger } from './ledger.ts'
import { Listing } from './listing.ts'
import { PostgresMaintenance } from './maintenance.ts'
import { formatOf, inspect, migrate } from './migrate.ts'
import { withPassword } from './place.ts'
import { PostgresOrphans } from './orphans.ts'
import { PostgresQuota } from './quota.ts'
import { PostgresWaiting } from './waiting.ts'
import type { Random } from '../../../host/random.ts'
import type { PostgresServer } from '../../../domain/store/postgres-address.ts'
import type { Migrated } from '../../../domain/store/told.ts'
import { AttemptLists } from '../attempt-lists.ts'
import type { StoreOptions } from '../options.ts'
import type { Store } from '../store.ts'

const usualBusyMs = 5_000
/** A restart, a failover: that long a run waits for its database. */
const usualPatienceMs = 600_000

/** Makes the tables of a store, or brings them to the newest format; `onlyNew`: leaves a store that is there as it is. */
export async function migratePostgresStore(
  server: PostgresServer,
  options: StoreOptions,
  onlyNew: boolean,
): Promise<Migrated> {
  const { clock, random, busyMs = usualBusyMs, env = {}, onNotice } = options
  const database = new Database(await withPassword(server, env, onNotice), { clock, busyMs })
  try {
    const format = onlyNew ? await formatOf(database) : 0
    const lists = listsOf(options)
    const migrated =
      format === 0
        ? await migrate(database, random, lists.keyOf(database.location))
        : { from: format, to: format }
    if (migrated.from === 0) await announce(database, lists, random)
    return { location: database.location, ...migrated }
  } finally {
    await database.close()
  }
}

/**
 * Keeps the key of a new store on this machine, in a list without attempts: a copy from before its first order knows the
 * people of the store that took its place.
 */
async function announce(database: Database, lists: AttemptLists, random: Random): Promise<void> {
  const { location, key } = await keyed(database, database.location)
  if (lists.find(undefined, location, undefined, key).length === 0)
    lists.create(random.uuid(), { store: location, key }, '')
}

const listsOf = ({ paths, cwd }: StoreOptions): AttemptLists =>
  new AttemptLists([join(resolve(cwd, paths.config), 'attempts')])

/** A store that was made with `store migrate`; throws IoError where it was not. */
export async function openPostgresStore(server: PostgresServer, options: StoreOptions): Promise<Store> {
  const { clock, random, busyMs = usualBusyMs, onNotice, env = {} } = options
  const { patienceMs = usualPatienceMs, answerMs, wholeMs } = options
  const known = await withPassword(server, env, onNotice)
  const database = new Database(known, { clock, busyMs, patienceMs, answerMs, wholeMs, onNotice })
  try {
    await inspect(database, database.location)
    const key = await keyed(database, database.location)
    const lists = listsOf(options)
    const runner = new Runner(database, random)
    const listing = new Listing(database, key, lists)
    const age = new PostgresAge(database, key, listing, runner, { clock, random, onNotice })
    const maintenance = new PostgresMaintenance(database, key, age)
    return {
      location: database.location,
      ledger: new PostgresLedger(database, key, runner, age),
      batches: new PostgresBatches(database, key, runner, age),
      quota: new PostgresQuota(database, key.fingerprint),
      inbox: new PostgresInbox(database, runner),
      orphans: new PostgresOrphans(database),
      maintenance,
      waiting: new PostgresWaiting(database, key),
      problems: async () => [],
      async moving() {
        const { PostgresMoving } = await import('./moving.ts')
        return new PostgresMoving(database, { listing, lists, clock })
      },
      close() {
        lists.close()
        return database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
