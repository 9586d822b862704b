import { createRequire } from 'node:module'

import type { AsyncEntry } from '@napi-rs/keyring'

import type { Random } from '../../host/random.ts'

/** The system's keychain, an entry an account. Every method may reject: locked, refused, gone. */
export interface Keychain {
  read(account: string): Promise<string | undefined>
  write(account: string, secret: string): Promise<void>
  /** Resolves once the account is not there (any more). */
  remove(account: string): Promise<void>
}

/** Undefined where this machine has none. */
export type LoadKeychain = () => Promise<Keychain | undefined>

/** The name our entries stand under. */
const service = 'refcheck'

/**
 * macOS Keychain, Windows Credential Manager, or the Secret Service on Linux. Never the Linux kernel's
 * keyring, which the library falls back to by default: its entries end with the login session, and a
 * second process may be refused them, while the service shows an API key only once.
 */
export const systemKeychain: LoadKeychain = async () => {
  let keyring: typeof import('@napi-rs/keyring')
  try {
    // An import() in code that is compiled from the code cache prints Node's ExperimentalWarning.
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

/** Whether an entry can be written, read back and removed: the only way to know. */
export async function keychainWorks(keychain: Keychain, random: Random): Promise<boolean> {
  const account = `probe/${random.bytes(8).toString('hex')}`
  try {
    await keychain.write(account, account)
    const back = await keychain.read(account)
    await keychain.remove(account)
    return back === account
  } catch {
    return false
  }
}
