import { join, resolve } from 'node:path'
import type { PostgresServer } from '../../../domain/store/address.ts'
import type { Migrated } from '../../../domain/store/types.ts'
import { AttemptLogFiles } from '../attempt-log.ts'
import { type Store, type StoreOptions, assembleStore } from '../store.ts'
import { Database, postgresEngine, withPassword } from './connection.ts'
import { Runner } from './leases.ts'
import { formatOf, inspect, migrate, postgresUpkeep } from './maintenance.ts'

const usualBusyMs = 5_000
/** A restart, a failover: that long a run waits for its database. */
const usualPatienceMs = 600_000

/** Makes the tables of a store, or brings them to the newest format; `onlyNew`: leaves a store that is there as it is. */
export async function migratePostgresStore(
  server: PostgresServer,
  options: StoreOptions,
  onlyNew: boolean,
): Promise<Migrated> {
  const database = await connect(server, options, 0)
  try {
    const format = onlyNew ? await formatOf(database, database.location) : 0
    const files = logFilesOf(options)
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

const logFilesOf = ({ paths, cwd }: StoreOptions): AttemptLogFiles =>
  new AttemptLogFiles([join(resolve(cwd, paths.config), 'attempts')])

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
      files: logFilesOf(options),
      isNew,
      close: () => database.close(),
    },
    options,
  )
}
