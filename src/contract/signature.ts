import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

/** The form of a signature header: 64 lowercase hexadecimal characters ("Events", delivery request headers). */
export const signaturePattern = /^[0-9a-f]{64}$/

/**
 * Creates the key of a webhook secret, once for all deliveries: a KeyObject verifies several times faster than a
 * string. Throws RangeError if the secret is empty.
 */
export function signingKey(secret: string | Uint8Array): KeyObject {
  if (secret.length === 0) throw new RangeError('a webhook secret cannot be empty')
  return createSecretKey(typeof secret === 'string' ? Buffer.from(secret, 'utf8') : secret)
}

/** Returns the HMAC-SHA256 of the exact bytes in lowercase hexadecimal. */
export function sign(body: Uint8Array, key: KeyObject): string {
  return createHmac('sha256', key).update(body).digest('hex')
}

/** The buffers of a comparison. They are shared, because `verify` fills and compares them synchronously. */
const expected = Buffer.alloc(64)
const received = Buffer.alloc(64)

/** Whether `signature` is the signature of this body with this key. The comparison takes constant time. */
export function verify(body: Uint8Array, signature: string, key: KeyObject): boolean {
  // Only 64 ASCII characters fill exactly 64 bytes of UTF-8, so another text cannot have the bytes of a signature.
  if (signature.length !== 64 || received.write(signature) !== 64) return false
  expected.write(sign(body, key), 'latin1')
  return timingSafeEqual(expected, received)
}
