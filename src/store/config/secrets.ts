import { dirname, join } from 'node:path'

import { readPrivate } from '../../disk/private-modes.ts'
import { removeTemporaries, writeFileAtomically } from '../../disk/whole-file.ts'
import {
  checkProfileName,
  type StoredSecret,
  type SecretName,
  type SecretStorage,
} from '../../domain/session/session.ts'
import { IoError } from '../../errors/kinds.ts'
import type { Clock } from '../../host/clock.ts'
import type { Paths } from '../../host/paths.ts'
import type { Random } from '../../host/random.ts'
import type { Secrets as KnownSecrets } from '../../host/secrets.ts'
import { type Keychain, canUseKeychain, type LoadKeychain, systemKeychain } from './keychain.ts'
import { withLock } from './locked.ts'
import type { StoredEntry, SecretsFile } from './json-files.ts'

interface SaveOptions {
  baseUrl?: string | undefined
  /** Stores the secret in the file even if there is a keychain. */
  insecure?: boolean | undefined
}

/** The secrets of each profile, in the system's keychain if there is one, else in a private file. */
export interface Secrets {
  /** The absolute path of the file, which also lists the secrets that are in the keychain. */
  readonly path: string
  /** Returns where a secret is stored, without using the keychain; undefined if there is none. */
  storage(profile: string, name: SecretName): Promise<SecretStorage | undefined>
  /** Returns a secret; undefined if there is none. Throws IoError if it cannot be read from the keychain. */
  read(profile: string, name: SecretName): Promise<StoredSecret | undefined>
  /** Stores a secret and removes the older one. Returns where the new one is stored. */
  save(profile: string, name: SecretName, value: string, options?: SaveOptions): Promise<SecretStorage>
  /**
   * Removes one secret of a profile, or both. `leftInKeychain`: secrets that could not be deleted from the keychain;
   * they are no longer used.
   */
  remove(profile: string, name?: SecretName): Promise<{ removed: SecretName[]; leftInKeychain: SecretName[] }>
}

export interface SecretsOptions {
  paths: Paths
  clock: Clock
  random: Random
  /** Every secret that is read or saved is added, so that it is redacted in output. */
  known?: KnownSecrets | undefined
  keychain: 'try' | 'never'
  /** Replaces the system's keychain. */
  loadKeychain?: LoadKeychain | undefined
  /** Called with a warning: permissions were corrected, or an old secret remains in the keychain. */
  onMessage?: ((text: string) => void) | undefined
}

const maxBytes = 1024 * 1024

const secretNames = ['api-key', 'webhook-secret'] as const

const displayNames: Readonly<Record<SecretName, string>> = {
  'api-key': 'API key',
  'webhook-secret': 'webhook secret',
}

/** Returns the secrets without reading the file yet. The keychain's library is only loaded when it is needed. */
export function openSecrets(options: SecretsOptions): Secrets {
  return new StoredSecrets(options)
}

class StoredSecrets implements Secrets {
  readonly path: string
  readonly #options: SecretsOptions
  #keychain: Promise<Keychain | undefined> | undefined
  #isKeychainUsable: Promise<boolean> | undefined

  constructor(options: SecretsOptions) {
    this.#options = options
    this.path = join(options.paths.config, 'credentials.json')
  }

  async storage(profile: string, name: SecretName): Promise<SecretStorage | undefined> {
    const entry = entryOf(await this.#read(), profile, name)
    if (entry?.keychain !== undefined) return 'keychain'
    return entry?.value === undefined ? undefined : 'file'
  }

  async read(profile: string, name: SecretName): Promise<StoredSecret | undefined> {
    const entry = entryOf(await this.#read(), profile, name)
    if (entry === undefined) return undefined
    const baseUrl = entry.base_url
    if (entry.keychain === undefined) {
      return entry.value === undefined ? undefined : { value: entry.value, storage: 'file', baseUrl }
    }
    const value = await this.#readFromKeychain(entry.keychain, profile, name)
    this.#options.known?.add(displayNames[name], value)
    return value === undefined ? undefined : { value, storage: 'keychain', baseUrl }
  }

  async save(
    profile: string,
    name: SecretName,
    value: string,
    options: SaveOptions = {},
  ): Promise<SecretStorage> {
    checkProfileName(profile)
    this.#options.known?.add(displayNames[name], value)
    const account = options.insecure === true ? undefined : await this.#saveInKeychain(profile, name, value)
    const entry: StoredEntry = account === undefined ? { value } : { keychain: account }
    if (options.baseUrl !== undefined) entry.base_url = options.baseUrl
    let replacedEntry: StoredEntry | undefined
    try {
      await this.#update((file) => {
        replacedEntry = entryOf(file, profile, name)
        const entries = { ...ownProperty(file.secrets, profile), [name]: entry }
        return { ...file, secrets: { ...file.secrets, [profile]: entries } }
      })
    } catch (error) {
      if (account !== undefined) await this.#removeFromKeychain(account)
      throw error
    }
    if (replacedEntry?.keychain !== undefined && !(await this.#removeFromKeychain(replacedEntry.keychain))) {
      this.#options.onMessage?.(
        `The old ${displayNames[name]} of profile "${profile}" could not be removed from the keychain.`,
      )
    }
    return account === undefined ? 'file' : 'keychain'
  }

  async remove(
    profile: string,
    name?: SecretName,
  ): Promise<{ removed: SecretName[]; leftInKeychain: SecretName[] }> {
    checkProfileName(profile)
    const names = name === undefined ? secretNames : [name]
    const found = new Map<SecretName, StoredEntry>()
    await this.#update((file) => {
      const entries = { ...ownProperty(file.secrets, profile) }
      for (const secretName of names) {
        const entry = entries[secretName]
        if (entry !== undefined) found.set(secretName, entry)
        delete entries[secretName]
      }
      if (found.size === 0) return undefined
      const { [profile]: _old, ...others } = { ...file.secrets }
      const secrets = Object.keys(entries).length === 0 ? others : { ...others, [profile]: entries }
      return { ...file, secrets }
    })
    const leftInKeychain: SecretName[] = []
    for (const [each, entry] of found) {
      if (entry.keychain !== undefined && !(await this.#removeFromKeychain(entry.keychain)))
        leftInKeychain.push(each)
    }
    return { removed: [...found.keys()], leftInKeychain }
  }

  async #read(): Promise<SecretsFile> {
    const file = await readPrivate(this.path, maxBytes, dirname(this.path))
    if (file === undefined) return {}
    if (file.warning !== undefined) this.#options.onMessage?.(file.warning)
    const { parseSecretsFile } = await import('./json-files.ts')
    const content = parseSecretsFile(this.path, file.text)
    for (const entries of Object.values(content.secrets ?? {})) {
      for (const name of secretNames) this.#options.known?.add(displayNames[name], entries[name]?.value)
    }
    return content
  }

  /** Replaces the content of the file by the result of `change`; writes nothing if it is undefined. */
  async #update(change: (file: SecretsFile) => SecretsFile | undefined): Promise<void> {
    await withLock(this.path, this.#options, async () => {
      await removeTemporaries(this.path)
      const next = change(await this.#read())
      if (next === undefined) return
      await writeFileAtomically(this.path, `${JSON.stringify(next, null, 2)}\n`, {
        random: this.#options.random,
      })
    })
  }

  /** Loads the keychain once. Undefined if there is none, or if it must not be used. */
  #loadKeychain(): Promise<Keychain | undefined> {
    if (this.#options.keychain === 'never') return Promise.resolve(undefined)
    this.#keychain ??= (this.#options.loadKeychain ?? systemKeychain)()
    return this.#keychain
  }

  /**
   * Stores a secret in the keychain under a new account, so that config folders never share one. Returns the account;
   * undefined if the secret could not be stored.
   */
  async #saveInKeychain(profile: string, name: SecretName, value: string): Promise<string | undefined> {
    const keychain = await this.#loadKeychain()
    if (keychain === undefined) return undefined
    this.#isKeychainUsable ??= canUseKeychain(keychain, this.#options.random)
    if (!(await this.#isKeychainUsable)) return undefined
    const account = `${profile}/${name}/${this.#options.random.bytes(8).toString('hex')}`
    return keychain.write(account, value).then(
      () => account,
      () => undefined,
    )
  }

  async #readFromKeychain(account: string, profile: string, name: SecretName): Promise<string | undefined> {
    const keychain = await this.#loadKeychain()
    try {
      if (keychain !== undefined) return await keychain.read(account)
    } catch {
      // The keychain's message differs by system and does not help.
    }
    throw new IoError(
      `cannot read the ${displayNames[name]} of profile "${profile}" from the system keychain`,
      {
        hint:
          name === 'api-key'
            ? 'Unlock the keychain, set REFCHECK_API_KEY, or keep the key in a file with: refcheck auth login --insecure-storage'
            : 'Unlock the keychain, or set REFCHECK_WEBHOOK_SECRET.',
      },
    )
  }

  async #removeFromKeychain(account: string): Promise<boolean> {
    const keychain = await this.#loadKeychain()
    if (keychain === undefined) return false
    return keychain.remove(account).then(
      () => true,
      () => false,
    )
  }
}

function entryOf(file: SecretsFile, profile: string, name: SecretName): StoredEntry | undefined {
  return ownProperty(file.secrets, checkProfileName(profile))?.[name]
}

function ownProperty<T>(map: Record<string, T> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
}
