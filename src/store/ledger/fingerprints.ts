import type { Recipient } from '../../contract/request.ts'
import type { PersonMatch } from '../../domain/batch/reconciliation.ts'
import { personIdentities } from '../../domain/submission/identity.ts'
import { foldedName } from '../../domain/submission/similarity.ts'
import { IoError } from '../../errors/kinds.ts'
import { metaBytes, metaText, type Work } from './engine.ts'

export const fingerprintKeyName = 'fingerprint_key'
export const storeIdName = 'store_id'
export const fingerprintKeyBytes = 32

/** What names a person, or a secret, without telling it: keyed by the store's own key, 64 hex characters. */
export type Fingerprint = (identity: string) => string

/** Loaded with the first fingerprint: a list of batches needs none, and it costs a fifth of bare Node. */
const crypto = () => process.getBuiltinModule('node:crypto')

export function fingerprintWith(bytes: Uint8Array): Fingerprint {
  const { createHmac, createSecretKey } = crypto()
  // Made once for all the rows of a file: from bare bytes it would be made again for each.
  const key = createSecretKey(bytes)
  return (identity) => createHmac('sha256', key).update(identity).digest('hex')
}

/** The store's own key. It is read when the store is opened, and again once another store was moved to its place. */
export class StoreKey {
  readonly location: string
  /** Of the store itself, wherever it is. */
  storeId = ''
  #bytes: Uint8Array = new Uint8Array()
  #fingerprint: Fingerprint | undefined

  constructor(location: string) {
    this.location = location
  }

  readonly fingerprint: Fingerprint = (identity) => {
    this.#fingerprint ??= fingerprintWith(this.#bytes)
    return this.#fingerprint(identity)
  }

  /** 64 hex characters. */
  get key(): string {
    return Buffer.from(this.#bytes).toString('hex')
  }

  /** Throws IoError where the store has no key: with a new one, everybody would be new. */
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
  return crypto().hash('sha256', bytes)
}

/** A person's own fingerprints. */
export interface PersonPrints {
  personPrint: string
  emailPrint: string
  phonePrint: string
}

/** The same as a row has them, without those that were removed. */
export type StoredPrints = { readonly [print in keyof PersonPrints]: string | undefined }

export function personPrints(
  fingerprint: Fingerprint,
  recipient: Recipient,
  { person, email, phone } = personIdentities(recipient),
): PersonPrints {
  return {
    personPrint: fingerprint(person),
    emailPrint: fingerprint(email),
    phonePrint: fingerprint(phone),
  }
}

/** Of the full name alone; undefined where nothing of it is a letter. Who has it is mentioned in a plan, and nothing more. */
export function namePrint(fingerprint: Fingerprint, recipient: Recipient): string | undefined {
  const name = [foldedName(recipient.first_name), foldedName(recipient.last_name)]
  return name.join('') === '' ? undefined : fingerprint(JSON.stringify(['name', ...name]))
}

/** A row's own; undefined where one is missing. */
export function printsOf({ personPrint, emailPrint, phonePrint }: StoredPrints): PersonPrints | undefined {
  return personPrint === undefined || emailPrint === undefined || phonePrint === undefined
    ? undefined
    : { personPrint, emailPrint, phonePrint }
}

/** Whom a row was for against a person, as far as the fingerprints tell. */
export function personMatchOfPrints(prints: PersonPrints | undefined, person: PersonPrints): PersonMatch {
  if (prints === undefined) return 'unknown'
  if (prints.personPrint === person.personPrint) return 'same'
  const shares = prints.emailPrint === person.emailPrint || prints.phonePrint === person.phonePrint
  return shares ? 'similar' : 'other'
}

/** Whether a row's fingerprints are those of its person; one without any was erased, or is older than they. */
export function areOwnPrints(prints: PersonPrints | undefined, own: PersonPrints): boolean {
  if (prints === undefined) return true
  const { personPrint, emailPrint, phonePrint } = prints
  return personPrint === own.personPrint && emailPrint === own.emailPrint && phonePrint === own.phonePrint
}
