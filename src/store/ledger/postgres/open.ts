import { join, resolve } from 'node:path'

import { Database, withPassword } from './connection.ts'
import { PostgresEngine } from './engine.ts'
import { Runner } from './holds.ts'
import { StoreKey } from '../fingerprints.ts'
import { RollbackDetection } from '../rollback-detection.ts'
import { StoreLogs } from '../store-logs.ts'
import { EngineLedger } from '../ledger.ts'
import { postgresUpkeep } from './maintenance.ts'
import { formatOf, inspect, migrate } from './migrate.ts'
import { HeldRows } from '../held-rows.ts'
import type { PostgresServer } from '../../../domain/store/postgres-address.ts'
import type { Migrated } from '../../../domain/store/told.ts'
import { AttemptLogFiles } from '../attempt-log.ts'
import { Accounts } from '../accounts.ts'
import { Batches } from '../batches.ts'
import { Inbox } from '../inbox.ts'
import { Maintenance } from '../maintenance.ts'
import type { Store, StoreOptions } from '../store.ts'
import { Quota } from '../quota.ts'
import { UnmatchedRequests } from '../unmatched-requests.ts'

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
  const known = await withPassword(server, env, onNotice)
  options.secrets?.add('store password', known.password)
  const database = new Database(known, { clock, busyMs })
  try {
    const format = onlyNew ? await formatOf(database, database.location) : 0
    const files = logFilesOf(options)
    files.requireNoFormer(database.location)
    const migrated =
      format === 0
        ? await migrate(database, random, () => files.keyOf(database.location))
        : { from: format, to: format }
    if (migrated.from === 0) {
      const engine = new PostgresEngine(database)
      const key = new StoreKey(database.location)
      await engine.run(key.loadKey())
      const logs = new StoreLogs(files, { engine, key, random })
      await new RollbackDetection({ engine, key, logs, clock, random }).makeLog()
      logs.close()
    }
    return { location: database.location, ...migrated }
  } finally {
    await database.close()
  }
}

const logFilesOf = ({ paths, cwd }: StoreOptions): AttemptLogFiles =>
  new AttemptLogFiles([join(resolve(cwd, paths.config), 'attempts')])

/** A store that was made with `store migrate`; throws IoError where it was not. */
export async function openPostgresStore(server: PostgresServer, options: StoreOptions): Promise<Store> {
  const { clock, random, busyMs = usualBusyMs, onNotice, env = {} } = options
  const { patienceMs = usualPatienceMs, answerMs, wholeMs } = options
  const known = await withPassword(server, env, onNotice)
  options.secrets?.add('store password', known.password)
  const database = new Database(known, { clock, busyMs, patienceMs, answerMs, wholeMs, onNotice })
  try {
    await inspect(database, database.location)
    const engine = new PostgresEngine(database)
    const key = new StoreKey(database.location)
    await engine.run(key.loadKey())
    const runner = new Runner(database, random)
    const logs = new StoreLogs(logFilesOf(options), { engine, key, random })
    const rollbacks = new RollbackDetection({ engine, key, logs, runner, clock, random, onNotice })
    const upkeep = postgresUpkeep(database)
    const maintenance = new Maintenance(engine, { key, rollbacks, upkeep })
    await maintenance.finishErasure()
    return {
      location: database.location,
      accounts: new Accounts(engine),
      ledger: new EngineLedger(engine, key, runner, rollbacks),
      batches: new Batches(engine, { key, holds: runner, rollbacks }),
      quota: new Quota(engine, key),
      inbox: new Inbox(engine, runner),
      orphans: new UnmatchedRequests(engine),
      maintenance,
      waiting: new HeldRows(engine, key),
      problems: async () => [],
      async moving() {
        const [{ Moving }, { postgresMove }] = await Promise.all([
          import('../move.ts'),
          import('./maintenance.ts'),
        ])
        return new Moving(engine, postgresMove(logs), { key, clock, random })
      },
      close() {
        logs.close()
        return database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
