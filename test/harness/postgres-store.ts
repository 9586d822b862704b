import { currentEpoch } from '../../src/store/ledger/postgres/dialect.ts'
import { queryDatabase, queryOnOpenConnection, createTestDatabase } from './postgres.ts'
import { storeTemplate } from './shared-postgres.ts'

let sharedUrl: Promise<string> | undefined

/**
 * Returns the URL of one PostgreSQL store, which all tests of a file use one after the other. It is removed when the
 * test run ends.
 */
export function sharedStore(): Promise<string> {
  sharedUrl ??= createTestStore()
  return sharedUrl
}

/** Creates a PostgreSQL store, which its caller drops. Returns its URL. */
export async function createTestStore(): Promise<string> {
  const url = await createTestDatabase(storeTemplate)
  await queryDatabase(
    url,
    `SET search_path = refcheck;
     UPDATE meta SET value = convert_to(gen_random_uuid()::text, 'UTF8') WHERE name IN ('store_id', 'generation');
     UPDATE meta SET value = sha256(gen_random_uuid()::text::bytea) WHERE name = 'fingerprint_key';
     UPDATE meta SET value = convert_to(${currentEpoch}, 'UTF8') WHERE name = 'epoch'`,
  )
  return url
}

const tables = [
  'runs',
  'runners',
  'pauses',
  'decisions',
  'releases',
  'attempts',
  'request_rows',
  'submissions',
  'batches',
  'accounts',
  'attempt_logs',
  'joined_packages',
  'joined_services',
  'unmatched_requests',
  'quota',
  'events',
]

/** Resets a store to its initial state. */
export async function clearStore(url: string): Promise<void> {
  const retained = `name IN ('format', 'fingerprint_key', 'store_id', 'generation', 'epoch', 'without_log')`
  // The server behind the address of a `PostgresPair` changes, so no connection to it can be retained.
  const ask = url === (await sharedUrl) ? queryOnOpenConnection : queryDatabase
  await ask(
    url,
    `SET search_path = refcheck; ${tables.map((table) => `DELETE FROM ${table};`).join(' ')}
     DELETE FROM meta WHERE NOT ${retained};
     UPDATE meta SET value = convert_to(${currentEpoch}, 'UTF8') WHERE name = 'epoch';
     ALTER TABLE events ALTER COLUMN id RESTART`,
  )
}

/** Subtracts `ms` from the times of all orders of a store, because the database's clock sets these times. */
export async function moveOrdersToPast(ms: number, url?: string): Promise<void> {
  await queryDatabase(
    url ?? (await sharedStore()),
    `UPDATE refcheck.attempts SET began_at = began_at - ${ms}, ended_at = ended_at - ${ms};
     UPDATE refcheck.submissions SET changed_at = changed_at - ${ms}`,
  )
}
