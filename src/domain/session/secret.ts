export type SecretName = 'api-key' | 'webhook-secret'

export type SecretStorage = 'keychain' | 'file'

export interface KeptSecret {
  value: string
  storage: SecretStorage
  /** The base URL it was saved for, and the only one it may be sent to; of an API key alone. */
  baseUrl: string | undefined
}
