import { parsePostgresServer } from '../../src/domain/store/address.ts'
import { systemClock } from '../../src/host/clock.ts'
import { systemRandom } from '../../src/host/random.ts'
import { Database } from '../../src/store/ledger/postgres/connection.ts'
import { migrate } from '../../src/store/ledger/postgres/store.ts'

/** Creates a store in an empty database, as `store migrate` does. */
export async function createStore(url: string): Promise<void> {
  const database = openDatabase(url)
  await migrate(database, systemRandom)
  await database.close()
  await allowWithoutLog(url)
}

/** Allows a store without an attempt log, because the settings folder of a test may be in memory. */
export async function allowWithoutLog(url: string): Promise<void> {
  const database = openDatabase(url)
  await database.run(`INSERT INTO meta (name, value) VALUES ('without_log', convert_to('1', 'UTF8'))`)
  await database.close()
}

function openDatabase(url: string): Database {
  const parsed = parsePostgresServer(url)
  if ('why' in parsed) throw new Error(parsed.why)
  return new Database(parsed.server, { clock: systemClock, lockWaitMs: 5_000 })
}
