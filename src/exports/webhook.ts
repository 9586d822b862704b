import { sign as signature, signingKey, verify as matches } from '../contract/signature.ts'
import { bytesOf, readSignature, requireSecret, signedEvent } from '../domain/webhook/read-event.ts'
import type { WebhookEvent } from './types.ts'

export { RefcheckError } from '../errors/kinds.ts'
export { BadSignatureError, InvalidInputError, UsageError } from '../errors/kinds.ts'
export type { RequestStatus, WebhookEvent } from './types.ts'

/** Name of the header that carries the signature. */
export const signatureHeader = 'X-Service-Signature'

/**
 * The event of a delivery whose signature is right. `rawBody` is the exact bytes of the body, before any parsing; a
 * string stands for its UTF-8 bytes. `received` is the value of X-Service-Signature as it came, undefined where there
 * was none. Throws BadSignatureError for any other signature, InvalidInputError for a body that is signed and yet
 * no event, and UsageError for an empty secret. Constant-time.
 */
export function verify(
  rawBody: Uint8Array | string,
  received: string | readonly string[] | null | undefined,
  secret: string,
): WebhookEvent {
  const key = signingKey(requireSecret(secret))
  const body = bytesOf(rawBody)
  return signedEvent(body, matches(body, readSignature(received), key))
}

/** The signature that a sender with this secret makes: 64 lowercase hexadecimal characters. Throws UsageError for an empty secret. */
export function sign(rawBody: Uint8Array | string, secret: string): string {
  return signature(bytesOf(rawBody), signingKey(requireSecret(secret)))
}
