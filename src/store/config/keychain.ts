import { createRequire } from 'node:module'

import type { AsyncEntry } from '@napi-rs/keyring'

import type { Random } from '../../host/random.ts'

/**
 * The system's keychain, with an entry for each account. Every method may reject, because the keychain is locked,
 * refuses access or is missing.
 */
export interface Keychain {
  read(account: string): Promise<string | undefined>
  write(account: string, secret: string): Promise<void>
  /** Removes an account; resolves also if there is none. */
  remove(account: string): Promise<void>
}

/** Loads the keychain; undefined if this machine has none. */
export type LoadKeychain = () => Promise<Keychain | undefined>

/** The service name of this program's entries. */
const service = 'refcheck'

/**
 * Loads macOS Keychain, Windows Credential Manager, or the Secret Service on Linux. Not the Linux kernel's keyring,
 * which is the library's fallback: its entries end with the login session and may be refused to another process, but
 * the service shows an API key only once.
 */
export const systemKeychain: LoadKeychain = async () => {
  let keyring: typeof import('@napi-rs/keyring')
  try {
    // An import() in code from the compile cache would print Node's ExperimentalWarning.
    keyring = createRequire(import.meta.url)('@napi-rs/keyring') as typeof import('@napi-rs/keyring')
  } catch {
    return undefined
  }
  const entry = (account: string): AsyncEntry =>
    new keyring.AsyncEntry(service, account, { linux: { store: 'secret-service' } })
  return {
    read: async (account) => (await entry(account).getPassword()) ?? undefined,
    write: async (account, secret) => entry(account).setPassword(secret),
    async remove(account) {
      await entry(account).deleteCredential()
    },
  }
}

/**
 * Returns whether the keychain works, by writing, reading and removing an entry: there is no other way to find out.
 */
export async function canUseKeychain(keychain: Keychain, random: Random): Promise<boolean> {
  const account = `probe/${random.bytes(8).toString('hex')}`
  try {
    await keychain.write(account, account)
    const readValue = await keychain.read(account)
    await keychain.remove(account)
    return readValue === account
  } catch {
    return false
  }
}
