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

/**
 * Stores an event about a request in the SQLite store of a session, as a receiver on this store does; by default an old
 * event.
 */
export async function storeEvent(
  here: Pick<Session, 'env' | 'folder'>,
  requestId: string,
  { receivedAt = 0, status = 'IN_PROGRESS', oddity = '' } = {},
): Promise<void> {
  const body = JSON.stringify({ event: 'request.updated', request_id: requestId, status })
  await changeStore(
    here,
    'SQLite',
    `INSERT INTO events (identity, received_at, body, signature, request_id, status, event, oddity, forward)
     VALUES ('${requestId}', ${receivedAt}, x'${Buffer.from(body).toString('hex')}', '', '${requestId}', '${status}',
       'request.updated', NULLIF('${oddity}', ''), 'none')`,
  )
}
