import type { Credentials } from './credentials.ts'
import type { SecretStorage } from './secret.ts'

/** Whom the service is called as. */
export interface Session extends Credentials {
  /** Undefined where the environment alone says it all. */
  profile: string | undefined
  keyFrom: 'environment' | SecretStorage
}
