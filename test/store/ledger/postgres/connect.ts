import { onTestFinished } from 'vitest'

import { parsePostgresServer, type PostgresServer } from '../../../../src/domain/store/address.ts'
import { systemClock } from '../../../../src/host/clock.ts'
import { Database, type DatabaseOptions } from '../../../../src/store/ledger/postgres/connection.ts'

export function serverOf(url: string): PostgresServer {
  const parsed = parsePostgresServer(url)
  if ('why' in parsed) throw new Error(parsed.why)
  return parsed.server
}

/** Opens a database, which is closed at the end of the test. */
export function connectTo(url: string, options: Partial<DatabaseOptions> = {}): Database {
  const database = new Database(serverOf(url), { clock: systemClock, lockWaitMs: 200, ...options })
  onTestFinished(() => database.close())
  return database
}
