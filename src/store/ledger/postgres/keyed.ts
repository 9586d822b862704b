import type { Sql } from './connection.ts'
import { IoError } from '../../../errors/kinds.ts'
import { type Fingerprint, fingerprintKeyName, fingerprintWith } from '../fingerprints.ts'
import { metaBytes } from './meta.ts'

/** A store by its name, with what names its people. */
export interface Keyed {
  location: string
  fingerprint: Fingerprint
  /** 64 hex characters; for the lists of attempts. */
  key: string
}

/** The key is read once: it never changes. */
export async function keyed(sql: Sql, location: string): Promise<Keyed> {
  const bytes = await metaBytes(sql, fingerprintKeyName)
  if (bytes === undefined) {
    throw new IoError(`the store "${location}" is damaged: the key of its fingerprints is missing`, {
      hint: 'Nothing was sent. Restore a backup of the database.',
    })
  }
  return { location, fingerprint: fingerprintWith(bytes), key: bytes.toString('hex') }
}
