import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { queryDatabase } from './postgres.ts'
import type { Session } from './session.ts'

/** Runs SQL in the store of a session, without the store’s code. */
export async function changeStore(
  { env, folder }: Pick<Session, 'env' | 'folder'>,
  store: 'SQLite' | 'PostgreSQL',
  sql: string,
): Promise<void> {
  if (store === 'PostgreSQL') {
    await queryDatabase(env['REFCHECK_STORE'] ?? '', `SET search_path = refcheck; ${sql}`)
    return
  }
  const database = new DatabaseSync(join(folder, 'data', 'ledger.sqlite'))
  database.exec(sql)
  database.close()
}
