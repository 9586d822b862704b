import type { Recipient } from '../../contract/request.ts'
import type { PersonMatch } from '../../domain/batch/reconciliation.ts'
import { personIdentities } from '../../domain/submission/identity.ts'
import { foldedName } from '../../domain/submission/similarity.ts'
import { IoError } from '../../errors/kinds.ts'
import { metaBytes, metaText, type Work } from './engine.ts'

export const fingerprintKeyName = 'fingerprint_key'
export const storeIdName = 'store_id'
export const fingerprintKeyBytes = 32

/**
 * Returns the fingerprint of an identity (a person or a secret): an HMAC under the store's own key, as 64 hex
 * characters, which does not reveal the identity.
 */
export type Fingerprint = (identity: string) => string

/**
 * Loads node:crypto with the first fingerprint: loading it takes a fifth of the start time of bare Node, and a list
 * of batches needs no fingerprint.
 */
const loadCrypto = () => process.getBuiltinModule('node:crypto')

export function createFingerprint(keyBytes: Uint8Array): Fingerprint {
  const { createHmac, createSecretKey } = loadCrypto()
  // The key object is made once for all rows of a file. With a plain array of bytes, createHmac would make one for
  // each row.
  const key = createSecretKey(keyBytes)
  return (identity) => createHmac('sha256', key).update(identity).digest('hex')
}

/**
 * The store's own key. It is read when the store is opened, and again after another store was moved to this store's
 * location.
 */
export class StoreKey {
  readonly location: string
  /** The id of the store, which stays the same when the store is moved. */
  storeId = ''
  #bytes: Uint8Array = new Uint8Array()
  #fingerprint: Fingerprint | undefined

  constructor(location: string) {
    this.location = location
  }

  readonly fingerprint: Fingerprint = (identity) => {
    this.#fingerprint ??= createFingerprint(this.#bytes)
    return this.#fingerprint(identity)
  }

  /** The key as 64 hex characters. */
  get key(): string {
    return Buffer.from(this.#bytes).toString('hex')
  }

  /** Reads the key. Throws IoError if the store has none: with a new key, all people would count as new. */
  *loadKey(): Work<void> {
    const bytes = yield* metaBytes(fingerprintKeyName)
    if (bytes === undefined) {
      throw new IoError(`the store "${this.location}" is damaged: the key of its fingerprints is missing`, {
        hint: 'Nothing was sent. Restore a backup of the store.',
      })
    }
    this.#bytes = bytes
    this.#fingerprint = undefined
    this.storeId = (yield* metaText(storeIdName)) ?? ''
  }
}

export function sha256(bytes: Uint8Array): string {
  return loadCrypto().hash('sha256', bytes)
}

/** The fingerprints of one person. */
export interface PersonFingerprints {
  personPrint: string
  emailPrint: string
  phonePrint: string
}

/** The fingerprints of a row; those that were erased are undefined. */
export type StoredFingerprints = { readonly [print in keyof PersonFingerprints]: string | undefined }

export function fingerprintPerson(
  fingerprint: Fingerprint,
  recipient: Recipient,
  { person, email, phone } = personIdentities(recipient),
): PersonFingerprints {
  return {
    personPrint: fingerprint(person),
    emailPrint: fingerprint(email),
    phonePrint: fingerprint(phone),
  }
}

/** Returns the fingerprints of people as parameters of a statement. */
export function fingerprintLists(fingerprints: readonly PersonFingerprints[]) {
  return {
    persons: fingerprints.map(({ personPrint }) => personPrint),
    emails: fingerprints.map(({ emailPrint }) => emailPrint),
    phones: fingerprints.map(({ phonePrint }) => phonePrint),
  }
}

/**
 * Returns the fingerprint of the full name; undefined if the name has no letter or digit. A person with the same name
 * is only mentioned in a plan.
 */
export function fingerprintName(fingerprint: Fingerprint, recipient: Recipient): string | undefined {
  const name = [foldedName(recipient.first_name), foldedName(recipient.last_name)]
  return name.join('') === '' ? undefined : fingerprint(JSON.stringify(['name', ...name]))
}

/** Returns the fingerprints of a row; undefined if one is missing. */
export function completeFingerprints({
  personPrint,
  emailPrint,
  phonePrint,
}: StoredFingerprints): PersonFingerprints | undefined {
  return personPrint === undefined || emailPrint === undefined || phonePrint === undefined
    ? undefined
    : { personPrint, emailPrint, phonePrint }
}

/** Compares the person of a row with another person, as far as their fingerprints show. */
export function matchPersons(row: StoredFingerprints | undefined, person: PersonFingerprints): PersonMatch {
  const rowFingerprints = row && completeFingerprints(row)
  if (rowFingerprints === undefined) return 'unknown'
  if (rowFingerprints.personPrint === person.personPrint) return 'same'
  const shares =
    rowFingerprints.emailPrint === person.emailPrint || rowFingerprints.phonePrint === person.phonePrint
  return shares ? 'similar' : 'other'
}

/**
 * Returns whether a row's fingerprints belong to its person; true for a row without fingerprints, which was erased or
 * is older than fingerprints.
 */
export function areFingerprintsOf(row: PersonFingerprints | undefined, person: PersonFingerprints): boolean {
  if (row === undefined) return true
  const { personPrint, emailPrint, phonePrint } = person
  return row.personPrint === personPrint && row.emailPrint === emailPrint && row.phonePrint === phonePrint
}
