import { InvalidInputError } from '../errors/kinds.ts'

/** Makes a server of a certificate and its key; what OpenSSL says of two that are no pair helps nobody. */
export function withTls<T>(create: () => T): T {
  try {
    return create()
  } catch (error) {
    throw new InvalidInputError('the TLS certificate and its key cannot be used', {
      hint: 'Both have to be PEM files, and the key has to belong to the certificate and have no passphrase.',
      cause: error,
    })
  }
}
