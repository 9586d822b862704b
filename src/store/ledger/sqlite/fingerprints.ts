import type { Database } from './connection.ts'
import { type Fingerprint, fingerprintKeyName, fingerprintWith } from '../fingerprints.ts'

/** With the store's own key. */
export function fingerprinting(database: Database): Fingerprint {
  const { value } = database.get('SELECT value FROM meta WHERE name = :name', {
    name: fingerprintKeyName,
  }) as { value: Uint8Array }
  return fingerprintWith(value)
}
