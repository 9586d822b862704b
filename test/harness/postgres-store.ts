import { currentEpoch } from '../../src/store/ledger/postgres/dialect.ts'
import { asked, askedOften, madeDatabase } from './postgres.ts'
import { storeTemplate } from './shared-postgres.ts'

let suite: Promise<string> | undefined

/** A store of PostgreSQL, as `store migrate` makes it, for the tests of a file one after the other; goes away with the run. */
export function suiteStore(): Promise<string> {
  suite ??= madeStore()
  return suite
}

/** The same for one who drops it. */
export async function madeStore(): Promise<string> {
  const url = await madeDatabase(storeTemplate)
  await asked(
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

/** As it was made, for the next test. */
export async function emptyStore(url: string): Promise<void> {
  const retained = `name IN ('format', 'fingerprint_key', 'store_id', 'generation', 'epoch', 'without_log')`
  // Other servers take over an address of a pair, where a connection would end.
  const ask = url === (await suite) ? askedOften : asked
  await ask(
    url,
    `SET search_path = refcheck; ${tables.map((table) => `DELETE FROM ${table};`).join(' ')}
     DELETE FROM meta WHERE NOT ${retained};
     UPDATE meta SET value = convert_to(${currentEpoch}, 'UTF8') WHERE name = 'epoch';
     ALTER TABLE events ALTER COLUMN id RESTART`,
  )
}

/** As if all orders of a store had been made so much earlier; its times are those of the database's clock. */
export async function madeEarlier(ms: number, url?: string): Promise<void> {
  await asked(
    url ?? (await suiteStore()),
    `UPDATE refcheck.attempts SET began_at = began_at - ${ms}, ended_at = ended_at - ${ms};
     UPDATE refcheck.submissions SET changed_at = changed_at - ${ms}`,
  )
}
