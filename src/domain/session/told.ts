import type { User } from '../../contract/user.ts'
import { RefcheckError } from '../../errors/base.ts'
import type { SecretName, SecretStorage } from './secret.ts'
import type { Session } from './session.ts'

export interface LoginResult {
  profile: string
  storage: SecretStorage
  user: User
  /**
   * Other profiles on the same base URL with another key. "Generating a new key revokes the previous
   * one": if they are of the same organisation, their keys may be revoked.
   */
  replaced: string[]
}

export interface ProfileEntry {
  profile: string
  current: boolean
  base_url: string
  user_email: string
  /** Where the key is kept; null where there is none. */
  key_from: SecretStorage | null
  /** Its last four characters; null where there is none or the keychain will not hand it out. */
  key: string | null
  webhook_secret_from: SecretStorage | null
}

export interface LogoutResult {
  profile: string
  /** Which secrets it had. */
  removed: SecretName[]
  /** Those of them that the keychain did not give up; nothing refers to them any more. */
  left_in_keychain: SecretName[]
}

/** A setting that there is, with its value where it has one. */
export interface SettingEntry {
  key: string
  value: string | null
  from: 'profile' | 'settings' | null
  meaning: string
}

export interface SessionStatus {
  /** Null where the environment alone says it all. */
  profile: string | null
  base_url: string
  user_email: string
  key_from: Session['keyFrom']
  /** Its last four characters. */
  key: string
  /** Whether the service takes it now (GET /v1/users). */
  works: boolean
  /** Who that is; null where it does not work. */
  user: User | null
}

export interface StatusAnswer {
  status: SessionStatus
  /** Why it does not work. */
  error: RefcheckError | undefined
}
