import type { Database } from './connection.ts'
import type { Recipient } from '../../../contract/request-body.ts'
import { personIdentities } from '../../../domain/submission/identity.ts'

export const fingerprintKeyName = 'fingerprint_key'

/** Loaded with the first fingerprint: a list of batches needs none, and it costs a fifth of bare Node. */
const crypto = () => process.getBuiltinModule('node:crypto')

/** What names a person, or a secret, without telling it: keyed by the store's own key, 64 hex characters. */
export function fingerprinting(database: Database): (identity: string) => string {
  const { createHmac, createSecretKey } = crypto()
  const { value } = database.get('SELECT value FROM meta WHERE name = :name', {
    name: fingerprintKeyName,
  }) as { value: Uint8Array }
  // Made once for all the rows of a file: from bare bytes it would be made again for each.
  const key = createSecretKey(value)
  return (identity) => createHmac('sha256', key).update(identity).digest('hex')
}

export function sha256(bytes: Uint8Array): string {
  return crypto().hash('sha256', bytes)
}

/** A person's own fingerprints, as the columns of `submissions` have them. */
export interface PersonPrints {
  person_print: string
  email_print: string
  phone_print: string
}

export function personPrints(
  fingerprint: (identity: string) => string,
  recipient: Recipient,
  { person, email, phone } = personIdentities(recipient),
): PersonPrints {
  return {
    person_print: fingerprint(person),
    email_print: fingerprint(email),
    phone_print: fingerprint(phone),
  }
}
