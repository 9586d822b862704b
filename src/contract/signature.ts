import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

/** A signature as it travels: 64 lowercase hexadecimal characters ("Events", delivery request headers). */
export const signaturePattern = /^[0-9a-f]{64}$/

/** The webhook secret, made ready once: a KeyObject verifies several times faster than a string key. */
export function signingKey(secret: string | Uint8Array): KeyObject {
  if (secret.length === 0) throw new RangeError('a webhook secret cannot be empty')
  return createSecretKey(typeof secret === 'string' ? Buffer.from(secret, 'utf8') : secret)
}

/** Lowercase hex HMAC-SHA256 of the exact bytes. */
export function sign(body: Uint8Array, key: KeyObject): string {
  return createHmac('sha256', key).update(body).digest('hex')
}

/** The two sides of a comparison, made once: nothing comes between filling and comparing them. */
const expected = Buffer.alloc(64)
const given = Buffer.alloc(64)

/** Whether `signature` is exactly what a sender with this key would have made; constant-time. */
export function verify(body: Uint8Array, signature: string, key: KeyObject): boolean {
  // As UTF-8 no other text has the bytes of 64 digits; what does not fill the buffer holds more than digits.
  if (signature.length !== 64 || given.write(signature) !== 64) return false
  expected.write(sign(body, key), 'latin1')
  return timingSafeEqual(expected, given)
}
