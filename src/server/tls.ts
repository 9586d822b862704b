import { InvalidInputError } from '../errors/kinds.ts'

/** Makes a server of a certificate and its key; what OpenSSL says of two that are no pair helps nobody. */
export function withTls<T>(create: () => T): T {
  try {
    return create()
  } catch (error) {
    throw new InvalidInputError('the TLS certificate and its key cannot be used', {
      hint: 'Both are PEM files, the key is the certificate’s own and has no pass phrase.',
      cause: error,
    })
  }
}
