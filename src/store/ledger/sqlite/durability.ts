import { IoError } from '../../../errors/kinds.ts'
import type { Database } from './connection.ts'

/**
 * From now on a commit is on the disk when it returns, what is deleted is overwritten, and nothing goes
 * to temporary files. NORMAL instead of FULL would let a POST leave before its journal is safe.
 */
export function makeDurable(database: Database): void {
  const mode = database.pragma('journal_mode')
  if (mode !== 'memory' && mode !== 'wal' && database.pragma('journal_mode = WAL') !== 'wal') {
    throw new IoError(
      `cannot use the store "${database.location}": its disk does not support a write-ahead log`,
      {
        hint: 'Choose a file on a local disk with REFCHECK_STORE.',
      },
    )
  }
  for (const setting of [
    'synchronous = FULL',
    'fullfsync = ON',
    'foreign_keys = ON',
    'secure_delete = ON',
    'temp_store = MEMORY',
    'trusted_schema = OFF',
  ]) {
    database.exec(`PRAGMA ${setting}`)
  }
}
