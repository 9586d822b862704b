import { IoError, StoreDownError } from '../../../errors/kinds.ts'
import type { PostgresServer } from '../../../domain/store/postgres-address.ts'

/** The oldest release of PostgreSQL that is still supported by its makers. */
const oldestVersion = 140_000

/**
 * From now on a commit is on the server's disk when it is answered (a role may have switched that off), no lock is
 * waited for without end, and a machine that vanished loses its locks. `lock` and `statement`:
 * milliseconds that one may take.
 */
export const settle = `
SELECT set_config('synchronous_commit',
    CASE WHEN current_setting('synchronous_commit') = 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)
    AS synchronous_commit,
  set_config('lock_timeout', CAST(:lock AS text), false),
  set_config('statement_timeout', CAST(:statement AS text), false),
  set_config('idle_in_transaction_session_timeout', '60s', false),
  set_config('tcp_keepalives_idle', '20', false),
  set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '4', false),
  set_config('tcp_user_timeout', '45000', false),
  set_config('search_path', 'refcheck', false),
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('client_min_messages', 'warning', false),
  set_config('TimeZone', 'UTC', false),
  current_setting('fsync') AS fsync,
  current_setting('server_version_num')::int AS version,
  current_setting('server_encoding') AS encoding,
  pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS read_only`

export interface Settled {
  synchronous_commit: string
  fsync: string
  version: number
  encoding: string
  read_only: boolean
}

/** Throws IoError where a commit would not be safe, StoreDownError where nothing can be written just now. */
export function requireDurable({ shown }: PostgresServer, settled: Settled | undefined): void {
  const refused = (why: string, hint: string): IoError =>
    new IoError(`cannot use the store "${shown}": ${why}`, { hint })
  if (settled === undefined || settled.version < oldestVersion) {
    throw refused('the server is older than PostgreSQL 14', 'Use PostgreSQL 14 or later.')
  }
  if (settled.fsync !== 'on') {
    throw refused(
      'the server does not write to its disk at a commit (fsync is off)',
      'Set fsync = on at the server.',
    )
  }
  if (!['on', 'remote_apply'].includes(settled.synchronous_commit)) {
    throw refused('synchronous_commit cannot be switched on', 'Set synchronous_commit = on at the server.')
  }
  if (settled.encoding !== 'UTF8') {
    throw refused(`its encoding is ${settled.encoding}`, 'Use a database whose encoding is UTF8.')
  }
  if (settled.read_only) {
    throw new StoreDownError(`cannot use the store "${shown}": the database is read-only`, {
      hint: 'Run it again once the database can be written to, or name the primary in REFCHECK_STORE.',
    })
  }
}
